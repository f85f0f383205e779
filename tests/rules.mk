# SPDX-License-Identifier: MIT
# make check: unit tests and command-line tests, counted case by case.

LDADD = libpkrun.a
if HAVE_CMOCKA
LDADD += $(CMOCKA_LIBS)
AM_CPPFLAGS += $(CMOCKA_CFLAGS)
endif

# .c plugins that tests load; on purpose without -z defs: one has an undefined symbol;
# never sanitized: some crash and overrun on purpose
test_plugin_files = $(test_plugins:%=tests/plugins/%.so)
tests/plugins/%.so: tests/plugins/%.c
	@$(MKDIR_P) $(@D)
	$(AM_V_CCLD)$(CC) -std=gnu11 -fPIC -shared -D_GNU_SOURCE= -DPKRUN_BUILD_HOST -I$(top_srcdir) \
		$(CFLAGS) $(LDFLAGS) -MD -MP -MF $(@:.so=.d) -o $@ $<

# tests of the host target's runtime are themselves host code with kernels
if HAVE_CMOCKA
host_test_programs = $(host_tests)
else
host_test_programs =
endif
$(host_tests): %: %.cpp $(host_runtime)
	@$(MKDIR_P) $(@D)
	$(AM_V_CXXLD)$(CXX) $(HOST_FLAGS) $(SANITIZE) $(CMOCKA_CFLAGS) $(CXXFLAGS) -MD -MP -MF $@.d \
		-o $@ $< $(LDFLAGS) -Lplugins/host -lpkhost -Wl,-rpath,'$$ORIGIN/../plugins/host' $(CMOCKA_LIBS)
-include $(wildcard tests/test_*.d)

test_plugin_files += $(test_plugins_cpp:%=tests/plugins/%.so)
tests/plugins/%.so: tests/plugins/%.cpp
	@$(MKDIR_P) $(@D)
	$(AM_V_CCLD)$(CXX) -std=c++17 -fPIC -shared -DPKRUN_BUILD_HOST -I$(top_srcdir) \
		$(CXXFLAGS) $(LDFLAGS) -MD -MP -MF $(@:.so=.d) -o $@ $<

# what the tests are told of where they are
test_environment = TSAN_VARIANTS='$(variants)' PKRUN_SRCDIR='$(abs_top_srcdir)' PKRUN_BUILDDIR='$(abs_top_builddir)' \
	PKRUN='$(abs_top_builddir)/pkrun' PKRUN_NVCC='$(if $(cuda_plugins),$(NVCC))' BATS='$(BATS)'

EXTRA_PROGRAMS = $(test_tools)
check_DATA = $(test_plugin_files) $(test_tools) $(host_test_programs)
check-local: all
	@$(test_environment) $(srcdir)/tests/run $(check_PROGRAMS) $(host_test_programs) $(bats_tests:%=$(srcdir)/%) $(tsan_tests)

# ThreadSanitizer over the protocols on the host target
include tests/tsan/rules.mk

clean-local:
	-rm -rf tests/log tests/fuzz $(test_tools) $(tsan_built) tests/tsan/*.o tests/tsan/*.d $(host_tests) $(host_tests:%=%.d)

EXTRA_DIST += $(bats_tests) $(test_plugins:%=tests/plugins/%.c) \
	$(test_plugins_cpp:%=tests/plugins/%.cpp) $(test_data) tests/run tests/readme tests/setup.bash \
	$(host_tests:%=%.cpp)

# Fuzzers (clang's libFuzzer): NAME stands for tests/NAME.c; all of pkrun is compiled
# with it for coverage.  Seeds in tests/corpus/NAME are kept, what a run finds is not.
FUZZ_SECONDS = 60
fuzz_programs = $(fuzzers:%=tests/fuzz/%)
tests/fuzz/%: tests/%.c libpkrun.a
	@$(MKDIR_P) $(@D)
	@if test '$(FUZZ_CC)' = no; then echo 'make fuzz needs clang with libFuzzer (clang-14, libclang-rt-14-dev)' >&2; exit 1; fi
	$(FUZZ_CC) -std=gnu11 -g -O1 -ffp-contract=off -fsanitize=fuzzer,address,undefined \
		-fno-sanitize-recover=undefined $(AM_CPPFLAGS) -I. -o $@ $< \
		$(libpkrun_a_SOURCES:%=$(srcdir)/%) $(nodist_libpkrun_a_SOURCES) $(LIBS)
fuzz: $(fuzz_programs)
	@set -e; for f in $(fuzzers); do \
		$(MKDIR_P) tests/fuzz/$$f.found; \
		echo "fuzz: $$f, $(FUZZ_SECONDS) s"; \
		tests/fuzz/$$f -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=2048 \
			-artifact_prefix=tests/fuzz/$$f- -verbosity=0 -print_final_stats=1 \
			tests/fuzz/$$f.found $(srcdir)/tests/corpus/$$f; \
	done
.PHONY: fuzz
EXTRA_DIST += $(fuzzers:%=tests/%.c) $(wildcard $(srcdir)/tests/corpus/*/*)

# What pkrun itself costs, beside what was promised.
EXTRA_PROGRAMS += tests/bench
bench: all tests/bench
	tests/bench '$(abs_top_builddir)/pkrun' '$(abs_top_srcdir)'
.PHONY: bench
CLEANFILES += tests/bench
