# One line a source; all go into libpkrun.a, which pkrun and the unit tests link.
libpkrun_a_SOURCES += db/store.c
libpkrun_a_SOURCES += db/store_file.c
libpkrun_a_SOURCES += db/store_read.c
libpkrun_a_SOURCES += db/resume.c

# schema.sql and views.sql as C strings
nodist_libpkrun_a_SOURCES += db/sql.c
db/sql.c: $(srcdir)/db/schema.sql $(srcdir)/db/views.sql $(srcdir)/build-aux/embed
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(SHELL) $(srcdir)/build-aux/embed store_schema_sql $(srcdir)/db/schema.sql \
		store_views_sql $(srcdir)/db/views.sql >$@.tmp && mv $@.tmp $@
CLEANFILES += db/sql.c
libpkrun_a_SOURCES += db/merge.c
