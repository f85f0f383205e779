# One line a source; all go into libpkrun.a, which pkrun and the unit tests link.
libpkrun_a_SOURCES += core/child.c
libpkrun_a_SOURCES += core/message.c
libpkrun_a_SOURCES += core/paths.c
libpkrun_a_SOURCES += core/say.c
libpkrun_a_SOURCES += core/stats.c
libpkrun_a_SOURCES += core/version.c
libpkrun_a_SOURCES += core/environment.c
libpkrun_a_SOURCES += core/interrupt.c
libpkrun_a_SOURCES += core/lock.c
libpkrun_a_SOURCES += core/reference.c
libpkrun_a_SOURCES += core/schedule.c
libpkrun_a_SOURCES += core/verify.c
libpkrun_a_SOURCES += core/options.c
libpkrun_a_SOURCES += core/load.c
libpkrun_a_SOURCES += core/catalog.c
libpkrun_a_SOURCES += core/matrix.c
libpkrun_a_SOURCES += core/plan.c
