# The host halves of the workloads (part of pkrun itself), one line a source.
libpkrun_a_SOURCES += kernels/workloads.c
libpkrun_a_SOURCES += kernels/poisson2d.c
libpkrun_a_SOURCES += kernels/null.c

# The runtime of the host target, libpkhost.so, one line a source (kernels/host/NAME.cpp).

# Headers that plugins include; all are installed under <pkrun/kernels/>.  One line each.
kernel_headers += kernels/workload.h
kernel_headers += kernels/workloads.def
kernel_headers += kernels/shape.h
kernel_headers += kernels/poisson2d.h
kernel_headers += kernels/null.h
