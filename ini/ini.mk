# One line a source; all go into libpkrun.a, which pkrun and the unit tests link.
libpkrun_a_SOURCES += ini/conf.c
