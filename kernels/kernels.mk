# The host halves of the workloads (part of pkrun itself), one line a source.
libpkrun_a_SOURCES += kernels/workload.c
libpkrun_a_SOURCES += kernels/workloads.c
libpkrun_a_SOURCES += kernels/poisson2d.c
libpkrun_a_SOURCES += kernels/null.c
libpkrun_a_SOURCES += kernels/busy.c
libpkrun_a_SOURCES += kernels/scale.c
libpkrun_a_SOURCES += kernels/fma.c
libpkrun_a_SOURCES += kernels/launchcost.c
libpkrun_a_SOURCES += kernels/locality.c
libpkrun_a_SOURCES += kernels/pingpong.c
libpkrun_a_SOURCES += kernels/progress.c
libpkrun_a_SOURCES += kernels/queue.c
libpkrun_a_SOURCES += kernels/relay.c
libpkrun_a_SOURCES += kernels/syncost.c

# The runtime of the host target, libpkhost.so, one line a source (kernels/host/NAME.cpp).
host_sources += kernels/host/sched.cpp
host_sources += kernels/host/fiber.cpp
host_sources += kernels/host/barrier.cpp
host_sources += kernels/host/block.cpp
host_sources += kernels/host/stop.cpp
host_sources += kernels/host/stream.cpp
host_sources += kernels/host/graph.cpp
host_sources += kernels/host/launch.cpp
host_sources += kernels/host/device.cpp

# The device's table of functions, built for every target.
device_source += kernels/device.hip

# Headers need no line: all of kernels/*.h are distributed and installed as <pkrun/kernels/NAME.h>.
