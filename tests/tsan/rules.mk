# SPDX-License-Identifier: MIT
# The host target under ThreadSanitizer: the runtime without -fsanitize=thread
# (it only tells the checker what it does), kernels and the driver with it.

TSAN_FLAGS = -std=c++17 -O1 -g -fPIC -ffp-contract=off -pthread -Wall -Wextra -Wno-unused-parameter \
	-Wno-missing-field-initializers -DPKH_TSAN -DPKRUN_BUILD_HOST $(plugin_cppflags) $(WERROR)
tsan_on = -fsanitize=thread
tsan_link = -shared $(tsan_on) -Wl,-rpath,'$$ORIGIN' -Ltests/tsan -lpkhost

tsan_mutants = fences block_fence block_scope agent_scope no_barrier
tsan_plugins = $(variants:%=tests/tsan/%.so) $(faulty:%=tests/tsan/%.so) $(tsan_mutants:%=tests/tsan/mutant_%.so)
tsan_built = tests/tsan/libpkhost.so tests/tsan/drive $(tsan_plugins)

AM_V_TSAN = $(AM_V_TSAN_@AM_V@)
AM_V_TSAN_ = $(AM_V_TSAN_@AM_DEFAULT_V@)
AM_V_TSAN_0 = @echo "  TSAN    " $@;

tests/tsan/host_%.o: kernels/host/%.cpp
	@$(MKDIR_P) $(@D)
	$(AM_V_TSAN)$(TSAN_CXX) $(TSAN_FLAGS) -fvisibility=hidden -MD -MP -c -o $@ $<

tests/tsan/libpkhost.so: $(host_sources:kernels/host/%.cpp=tests/tsan/host_%.o) tests/tsan/host_model_tsan.o
	$(AM_V_TSAN)$(TSAN_CXX) -shared -Wl,-soname,libpkhost.so -o $@ $^ $(HOST_LIBS)

tests/tsan/%.so: plugins/%.hip tests/tsan/libpkhost.so
	$(AM_V_TSAN)$(TSAN_CXX) $(TSAN_FLAGS) $(tsan_on) -MD -MP -MT $@ -MF $(@:.so=.d) -x c++ -c -o $(@:.so=.o) $< && \
		$(TSAN_CXX) -o $@ $(@:.so=.o) $(tsan_link)

tests/tsan/%.so: plugins/faulty/%.hip tests/tsan/libpkhost.so
	$(AM_V_TSAN)$(TSAN_CXX) $(TSAN_FLAGS) $(tsan_on) -MD -MP -MT $@ -MF $(@:.so=.d) -x c++ -c -o $(@:.so=.o) $< && \
		$(TSAN_CXX) -o $@ $(@:.so=.o) $(tsan_link)

tests/tsan/mutant_%.so: tests/tsan/mutants.hip tests/tsan/libpkhost.so
	$(AM_V_TSAN)$(TSAN_CXX) $(TSAN_FLAGS) -DMUTANT=$* $(tsan_on) -MD -MP -MT $@ -MF $(@:.so=.d) -x c++ -c -o $(@:.so=.o) $< && \
		$(TSAN_CXX) -o $@ $(@:.so=.o) $(tsan_link)

tests/tsan/drive: tests/tsan/drive.cpp tests/tsan/libpkhost.so libpkrun.a
	$(AM_V_TSAN)$(TSAN_CXX) $(TSAN_FLAGS) $(tsan_on) -MD -MP -MF $@.d -o $@ $< libpkrun.a \
		$(LIBS) -Ltests/tsan -lpkhost -Wl,-rpath,'$$ORIGIN'

-include $(wildcard tests/tsan/*.d)

if HAVE_TSAN
tsan_tests = $(srcdir)/tests/tsan/tsan
check_DATA += $(tsan_built)
check-tsan: all $(tsan_built)
	@$(test_environment) $(srcdir)/tests/run $(tsan_tests)
else
tsan_tests =
check-tsan:
	@echo 'make check-tsan needs clang with ThreadSanitizer (clang-14, libclang-rt-14-dev) and a build without sanitizers' >&2; exit 1
endif
.PHONY: check-tsan

EXTRA_DIST += tests/tsan/tsan tests/tsan/drive.cpp tests/tsan/mutants.hip kernels/host/model_tsan.cpp
