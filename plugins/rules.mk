# SPDX-License-Identifier: MIT
# How plugins are built: for each enabled target, plugins/NAME.hip becomes
# plugins/TARGET/NAME.so, kernels/device.hip becomes plugins/TARGET/device.so.
# Compiled and linked by the target's C++ driver; GNU make pattern rules.

# Built things are named by their absolute path: a relative one would be looked
# for in the source tree too (VPATH), where bootstrap leaves links to build/.
here = $(abs_builddir)/

plugin_cppflags = -I$(top_srcdir)
plugin_names = $(variants) $(device_source:kernels/%.hip=%)
link_defs = -Wl,-z,defs

# --- host: the C++ compiler and libpkhost.so -------------------------------
# -O2 -g comes from CXXFLAGS.  The runtime itself is never sanitized: it
# switches stacks.
HOST_FLAGS = -std=c++17 -fPIC -ffp-contract=off -pthread -Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers \
	-DPKRUN_BUILD_HOST $(plugin_cppflags) $(WERROR)
HOST_LIBS = -l:libboost_context.a -pthread
# libpkhost.so beside it; in a bundle other libraries in lib/
HOST_RPATH = -Wl,-rpath,'$$ORIGIN:$$ORIGIN/../../lib'
# a folder down
FAULTY_RPATH = -Wl,-rpath,'$$ORIGIN/..'

AM_V_HOST = $(AM_V_HOST_@AM_V@)
AM_V_HOST_ = $(AM_V_HOST_@AM_DEFAULT_V@)
AM_V_HOST_0 = @echo "  HOST    " $@;

host_runtime = $(if $(host_sources),$(here)plugins/host/libpkhost.so)
host_plugins = $(plugin_names:%=$(here)plugins/host/%.so)
host_objects = $(host_sources:%.cpp=%.o)

kernels/host/%.o: kernels/host/%.cpp
	@$(MKDIR_P) $(@D)
	$(AM_V_HOST)$(CXX) $(HOST_FLAGS) $(CXXFLAGS) -fvisibility=hidden -MD -MP -c -o $@ $<

$(here)plugins/host/libpkhost.so: $(host_objects)
	@$(MKDIR_P) $(@D)
	$(AM_V_HOST)$(CXX) -shared $(link_defs) -Wl,-soname,libpkhost.so $(LDFLAGS) -o $@ $^ $(HOST_LIBS)

$(here)plugins/host/%.o: plugins/%.hip
	@$(MKDIR_P) $(@D)
	$(AM_V_HOST)$(CXX) $(HOST_FLAGS) $(SANITIZE) $(CXXFLAGS) -MD -MP -x c++ -c -o $@ $<

$(here)plugins/host/device.o: kernels/device.hip
	@$(MKDIR_P) $(@D)
	$(AM_V_HOST)$(CXX) $(HOST_FLAGS) $(SANITIZE) $(CXXFLAGS) -MD -MP -x c++ -c -o $@ $<

$(here)plugins/host/faulty/%.so: $(here)plugins/host/faulty/%.o $(host_runtime)
	$(AM_V_HOST)$(CXX) -shared $(link_defs) $(FAULTY_RPATH) $(SANITIZE) $(LDFLAGS) -o $@ $< \
		-Lplugins/host $(if $(host_runtime),-lpkhost) -pthread

$(here)plugins/host/%.so: $(here)plugins/host/%.o $(host_runtime)
	$(AM_V_HOST)$(CXX) -shared $(link_defs) $(HOST_RPATH) $(SANITIZE) $(LDFLAGS) -o $@ $< \
		-Lplugins/host $(if $(host_runtime),-lpkhost) -pthread

# --- hip ----------------------------------------------------------------------
HIPFLAGS = -O3
HIP_FLAGS = -std=c++17 -fPIC -ffp-contract=off -Wall -Wno-unused-parameter -DPKRUN_BUILD_HIP \
	$(plugin_cppflags) $(WERROR) $(HIP_ARCH_FLAGS)
hip_cc = env HIP_PLATFORM=amd $(HIPCC)
if HIP
hip_plugins = $(plugin_names:%=$(here)plugins/hip/%.so)
else
hip_plugins =
endif
AM_V_HIP = $(AM_V_HIP_@AM_V@)
AM_V_HIP_ = $(AM_V_HIP_@AM_DEFAULT_V@)
AM_V_HIP_0 = @echo "  HIP     " $@;

$(here)plugins/hip/%.o: plugins/%.hip
	@$(MKDIR_P) $(@D)
	$(AM_V_HIP)$(hip_cc) $(HIP_FLAGS) $(HIPFLAGS) -MD -MP -MF $(@:.o=.d) -c -o $@ $<

$(here)plugins/hip/device.o: kernels/device.hip
	@$(MKDIR_P) $(@D)
	$(AM_V_HIP)$(hip_cc) $(HIP_FLAGS) $(HIPFLAGS) -MD -MP -MF $(@:.o=.d) -c -o $@ $<

$(here)plugins/hip/%.so: $(here)plugins/hip/%.o
	$(AM_V_HIP)$(hip_cc) -shared $(link_defs) $(HOST_RPATH) $(HIP_ARCH_FLAGS) -o $@ $<

# --- cuda ---------------------------------------------------------------------
NVCCFLAGS = -O3
comma = ,
CUDA_FLAGS = -std=c++17 -fmad=false -Xcompiler -fPIC,-ffp-contract=off,-Wall,-Wno-unused-parameter \
	-DPKRUN_BUILD_CUDA $(plugin_cppflags) $(CUDA_ARCH_FLAGS) $(if $(WERROR),-Werror all-warnings)
CUDA_RPATH = -Xlinker -rpath,'$$ORIGIN:$$ORIGIN/../../lib' $(if $(CUDA_LIBDIR),-Xlinker -rpath$(comma)$(CUDA_LIBDIR))
if CUDA
cuda_plugins = $(plugin_names:%=$(here)plugins/cuda/%.so)
else
cuda_plugins =
endif
AM_V_CUDA = $(AM_V_CUDA_@AM_V@)
AM_V_CUDA_ = $(AM_V_CUDA_@AM_DEFAULT_V@)
AM_V_CUDA_0 = @echo "  CUDA    " $@;

# Kernels that launch kernels need a link of device code too.
cuda_flags_launchcost_nested = -rdc=true

$(here)plugins/cuda/%.o: plugins/%.hip
	@$(MKDIR_P) $(@D)
	$(AM_V_CUDA)$(NVCC) $(CUDA_FLAGS) $(cuda_flags_$(*F)) $(NVCCFLAGS) -MD -MP -MF $(@:.o=.d) -x cu -c -o $@ $<

$(here)plugins/cuda/device.o: kernels/device.hip
	@$(MKDIR_P) $(@D)
	$(AM_V_CUDA)$(NVCC) $(CUDA_FLAGS) $(NVCCFLAGS) -MD -MP -MF $(@:.o=.d) -x cu -c -o $@ $<

$(here)plugins/cuda/%.so: $(here)plugins/cuda/%.o
	$(AM_V_CUDA)$(NVCC) -shared --cudart shared -Xlinker -z,defs $(CUDA_ARCH_FLAGS) $(cuda_flags_$(*F)) $(CUDA_RPATH) -o $@ $<

# --- what all of it is built with, for the environment of a run -----------------
# Without what makes no other code.
bare = $(filter-out -I% -W% -D% all-warnings,$(1))
flags_core = $(CC) $(CFLAGS)
flags_host = $(if $(host_plugins),$(CXX) $(call bare,$(HOST_FLAGS)) $(SANITIZE) $(CXXFLAGS))
flags_hip = $(if $(hip_plugins),$(HIPCC) $(call bare,$(HIP_FLAGS)) $(HIPFLAGS))
flags_cuda = $(if $(cuda_plugins),$(NVCC) $(call bare,$(CUDA_FLAGS)) $(NVCCFLAGS))
in_quotes = '$(subst ','\'',$(strip $(1)))'
core/environment.$(OBJEXT): core/build_flags.h
core/build_flags.h: force
	@$(MKDIR_P) core; \
	define() { printf '%s\n' "$$2" | sed -e 's/[\\"]/\\&/g' -e "s/.*/#define PKRUN_FLAGS_$$1 \"&\"/"; }; \
	{ define CORE $(call in_quotes,$(flags_core)); define HOST $(call in_quotes,$(flags_host)); \
	define HIP $(call in_quotes,$(flags_hip)); define CUDA $(call in_quotes,$(flags_cuda)); } >$@.new; \
	if cmp -s $@ $@.new; then rm -f $@.new; else mv -f $@.new $@; fi

# --- the reports' mistakes: beside the variants, never installed ---------------
faulty_plugins = $(faulty:%=$(here)plugins/host/faulty/%.so)
if HIP
faulty_plugins += $(faulty:%=$(here)plugins/hip/faulty/%.so)
endif
if CUDA
faulty_plugins += $(faulty:%=$(here)plugins/cuda/faulty/%.so)
endif

# --- all of them -------------------------------------------------------------
all_plugins = $(host_runtime) $(host_plugins) $(hip_plugins) $(cuda_plugins) $(faulty_plugins)
# What was built once but is in no list any more, or for a target that is not built now: pkrun would
# find it and offer it still.  Only what has a .d beside it is ours.
stale_plugins = $(filter-out $(all_plugins:.so=),$(basename $(wildcard $(here)plugins/*/*.d $(here)plugins/*/*/*.d)))
all-local: $(all_plugins)
	@$(if $(stale_plugins),rm -f $(stale_plugins:%=%.so) $(stale_plugins:%=%.o) $(stale_plugins:%=%.d))
plugins/%.so: $(here)plugins/%.so ;

hostplugindir = $(pkgpluginsdir)/host
hippluginsdir = $(pkgpluginsdir)/hip
cudapluginsdir = $(pkgpluginsdir)/cuda
hostplugin_DATA = $(host_runtime) $(host_plugins)
hipplugins_DATA = $(hip_plugins)
cudaplugins_DATA = $(cuda_plugins)

.SECONDARY:
.DELETE_ON_ERROR:
-include $(wildcard plugins/*/*.d plugins/*/*/*.d kernels/host/*.d tests/plugins/*.d)

mostlyclean-local: mostlyclean-plugins
mostlyclean-plugins:
	-rm -rf plugins/host plugins/hip plugins/cuda tests/plugins
	-rm -f kernels/host/*.o kernels/host/*.d

EXTRA_DIST += $(variants:%=plugins/%.hip) $(faulty:%=plugins/faulty/%.hip) plugins/faulty/faulty.h $(device_source) $(host_sources) plugins/README.md
