# One line a source; all go into libpkrun.a, which pkrun and the unit tests link.
libpkrun_a_SOURCES += tools/compare.c
libpkrun_a_SOURCES += tools/compare_options.c
libpkrun_a_SOURCES += tools/compare_print.c
libpkrun_a_SOURCES += tools/draw.c
libpkrun_a_SOURCES += tools/export.c
libpkrun_a_SOURCES += tools/figure.c
libpkrun_a_SOURCES += tools/figure_compare.c
libpkrun_a_SOURCES += tools/figure_ladder.c
libpkrun_a_SOURCES += tools/figure_latency.c
libpkrun_a_SOURCES += tools/figure_messages.c
libpkrun_a_SOURCES += tools/figure_overhead.c
libpkrun_a_SOURCES += tools/figure_roofline.c
libpkrun_a_SOURCES += tools/figure_scaling.c
libpkrun_a_SOURCES += tools/figure_schedule.c
libpkrun_a_SOURCES += tools/figure_sync.c
libpkrun_a_SOURCES += tools/fold.c
libpkrun_a_SOURCES += tools/html.c
libpkrun_a_SOURCES += tools/judge.c
libpkrun_a_SOURCES += tools/list.c
libpkrun_a_SOURCES += tools/merge.c
libpkrun_a_SOURCES += tools/pair.c
libpkrun_a_SOURCES += tools/params.c
libpkrun_a_SOURCES += tools/plot.c
libpkrun_a_SOURCES += tools/query.c
libpkrun_a_SOURCES += tools/report.c
libpkrun_a_SOURCES += tools/results.c
libpkrun_a_SOURCES += tools/rows.c
libpkrun_a_SOURCES += tools/show.c
libpkrun_a_SOURCES += tools/show_command.c
libpkrun_a_SOURCES += tools/stamps.c
libpkrun_a_SOURCES += tools/table.c
libpkrun_a_SOURCES += tools/told.c
libpkrun_a_SOURCES += tools/trace.c
libpkrun_a_SOURCES += tools/verdict.c

# the page's style and script as C strings
nodist_libpkrun_a_SOURCES += tools/page.c
tools/page.c: $(srcdir)/tools/report.css $(srcdir)/tools/report.js $(srcdir)/build-aux/embed
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(SHELL) $(srcdir)/build-aux/embed report_css $(srcdir)/tools/report.css \
		report_js $(srcdir)/tools/report.js >$@.tmp && mv $@.tmp $@
CLEANFILES += tools/page.c
