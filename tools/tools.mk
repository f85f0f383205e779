# One line a source; all go into libpkrun.a, which pkrun and the unit tests link.
libpkrun_a_SOURCES += tools/query.c
libpkrun_a_SOURCES += tools/results.c
libpkrun_a_SOURCES += tools/rows.c
libpkrun_a_SOURCES += tools/show.c
libpkrun_a_SOURCES += tools/table.c
libpkrun_a_SOURCES += tools/list.c
libpkrun_a_SOURCES += tools/compare.c
libpkrun_a_SOURCES += tools/judge.c
libpkrun_a_SOURCES += tools/pair.c
