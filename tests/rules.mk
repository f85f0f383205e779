# SPDX-License-Identifier: MIT
# make check: unit tests and command-line tests, counted case by case.

LDADD = libpkrun.a
if HAVE_CMOCKA
LDADD += $(CMOCKA_LIBS)
AM_CPPFLAGS += $(CMOCKA_CFLAGS)
endif

# .c plugins that tests load; on purpose without -z defs: one has an undefined symbol
test_plugin_files = $(test_plugins:%=tests/plugins/%.so)
tests/plugins/%.so: tests/plugins/%.c
	@$(MKDIR_P) $(@D)
	$(AM_V_CCLD)$(CC) -std=gnu11 -fPIC -shared -D_GNU_SOURCE= -DPKRUN_BUILD_HOST -I$(top_srcdir) \
		$(SANITIZE) $(CFLAGS) $(LDFLAGS) -MD -MP -MF $(@:.so=.d) -o $@ $<

# what the tests are told of where they are
test_environment = PKRUN_SRCDIR='$(abs_top_srcdir)' PKRUN_BUILDDIR='$(abs_top_builddir)' \
	PKRUN='$(abs_top_builddir)/pkrun' BATS='$(BATS)'

check_DATA = $(test_plugin_files)
check-local: all
	@$(test_environment) $(srcdir)/tests/run $(check_PROGRAMS) $(bats_tests:%=$(srcdir)/%)

# ThreadSanitizer over the protocols on the host target
check-tsan: all
	@$(test_environment) $(srcdir)/tests/tsan
.PHONY: check-tsan

clean-local:
	-rm -rf tests/log

EXTRA_DIST += $(bats_tests) $(test_plugins:%=tests/plugins/%.c) $(test_data) tests/run tests/setup.bash
