# The host halves of the workloads (part of pkrun itself), one line a source.

# The runtime of the host target, libpkhost.so, one line a source (kernels/host/NAME.cpp).

# Headers that plugins include; all are installed under <pkrun/kernels/>.  One line each.
kernel_headers += kernels/workload.h
kernel_headers += kernels/workloads.def
