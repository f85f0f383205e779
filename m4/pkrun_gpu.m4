# SPDX-License-Identifier: MIT
# The GPU compilers: found by themselves, believed only after they have
# compiled and linked a kernel with its launch.

# PKRUN_GPU_PROBE(COMMAND) - 0 if COMMAND makes conftest.so of conftest.hip
AC_DEFUN([PKRUN_GPU_PROBE], [{ AS_ECHO(["$as_me: trying: $1"]) >&AS_MESSAGE_LOG_FD
	rm -f conftest.so; ($1) >&AS_MESSAGE_LOG_FD 2>&1 && test -s conftest.so; }])

# PKRUN_FOLDER(VARIABLE, COMMAND, UP) - the folder UP levels above COMMAND's file, links resolved
AC_DEFUN([PKRUN_FOLDER], [$1=`readlink -f "$2"`; for pk_up in $3; do $1=`dirname "$$1"`; done])

AC_DEFUN([PKRUN_HIP], [
AC_ARG_WITH([hip], [AS_HELP_STRING([--with-hip@<:@=HIPCC@:>@],
	[build the hip target (default: if hipcc is found)])], [], [with_hip=check])
AC_ARG_WITH([hip-arch], [AS_HELP_STRING([--with-hip-arch=LIST],
	[AMD architectures, e.g. "gfx90a;gfx942" (default: the GPU that is present, else these)])], [], [with_hip_arch=])
HIPCC=no
HIP_ARCH_FLAGS=
hip_summary="no: switched off"
AS_CASE([$with_hip],
	[no], [],
	[yes|check], [AC_PATH_PROG([HIPCC_FOUND], [hipcc], [no], [$PATH:/opt/rocm/bin])
		HIPCC=$HIPCC_FOUND
		hip_summary="no: no hipcc (Debian and Ubuntu: hipcc; or ROCm in /opt/rocm)"],
	[HIPCC=$with_hip])
AS_IF([test "$HIPCC" != no], [
	cat >conftest.hip <<'_EOF'
#include <hip/hip_runtime.h>
__global__ void kernel(int *x) { *x = 1; }
extern "C" int launch(int *x) { hipLaunchKernelGGL(kernel, 1, 1, 0, 0, x); return (int)hipGetLastError(); }
_EOF
	pk_hip="env HIP_PLATFORM=amd $HIPCC -std=c++17 -O1 -fPIC -shared -Wl,-z,defs conftest.hip -o conftest.so"
	AS_IF([test -z "$with_hip_arch"], [
		pk_present=`rocm_agent_enumerator 2>/dev/null | grep '^gfx' | grep -v '^gfx000' | sort -u`
		test -n "$pk_present" || pk_present=`amdgpu-arch 2>/dev/null | grep '^gfx' | sort -u`
		pk_try=$pk_present
		test -n "$pk_try" || pk_try="gfx90a gfx942"], [
		pk_present=
		pk_try=`AS_ECHO(["$with_hip_arch"]) | tr ';,' '  '`])
	pk_works=
	for pk_arch in $pk_try; do
		AC_MSG_CHECKING([whether $HIPCC builds for $pk_arch])
		AS_IF([PKRUN_GPU_PROBE([$pk_hip --offload-arch=$pk_arch])],
			[AC_MSG_RESULT([yes]); pk_works="$pk_works $pk_arch"
			 HIP_ARCH_FLAGS="$HIP_ARCH_FLAGS --offload-arch=$pk_arch"],
			[AC_MSG_RESULT([no])
			 AS_IF([test -n "$with_hip_arch"], [AC_MSG_ERROR([$HIPCC does not build for $pk_arch; see config.log])])])
	done
	rm -f conftest.hip conftest.so
	AS_IF([test -n "$pk_works"],
		[hip_summary="yes:$pk_works, by $HIPCC"
		 AS_IF([test -z "$pk_present"], [hip_summary="$hip_summary (no AMD GPU is present: built, not run here)"])],
		[hip_summary="no: $HIPCC does not build a kernel; see config.log"
		 pk_bad_hipcc=$HIPCC
		 HIPCC=no])])
AS_IF([test "$HIPCC" = no && test "$with_hip" != no && test "$with_hip" != check],
	[AC_MSG_ERROR([--with-hip: ${pk_bad_hipcc-hipcc} is not there or does not build a kernel; see config.log (Debian and Ubuntu: apt-get install hipcc)])])
AC_SUBST([HIPCC])
AC_SUBST([HIP_ARCH_FLAGS])
AM_CONDITIONAL([HIP], [test "$HIPCC" != no])
])

AC_DEFUN([PKRUN_CUDA], [
AC_ARG_WITH([cuda], [AS_HELP_STRING([--with-cuda@<:@=NVCC@:>@],
	[build the cuda target (default: if nvcc is found)])], [], [with_cuda=check])
AC_ARG_WITH([cuda-arch], [AS_HELP_STRING([--with-cuda-arch=LIST],
	[NVIDIA architectures, e.g. "sm_80;sm_90" (default: the GPU that is present, else these), the last with PTX])],
	[], [with_cuda_arch=])
NVCC=no
CUDA_ARCH_FLAGS=
CUDA_LIBDIR=
cuda_summary="no: switched off"
AS_CASE([$with_cuda],
	[no], [],
	[yes|check], [AC_PATH_PROG([NVCC_FOUND], [nvcc], [no], [$PATH:/usr/local/cuda/bin])
		NVCC=$NVCC_FOUND
		cuda_summary="no: no nvcc (in PATH or /usr/local/cuda/bin)"],
	[NVCC=$with_cuda])
AS_IF([test "$NVCC" != no], [
	cat >conftest.hip <<'_EOF'
#include <cuda_runtime.h>
__global__ void kernel(int *x) { *x = 1; }
extern "C" int launch(int *x) { kernel<<<1, 1>>>(x); return (int)cudaGetLastError(); }
_EOF
	pk_cuda="$NVCC -std=c++17 -O1 -Xcompiler -fPIC -shared --cudart shared -x cu conftest.hip -o conftest.so"
	AS_IF([test -z "$with_cuda_arch"], [
		pk_present=`nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | grep '^@<:@0-9@:>@' | tr -d . | sort -u | sed 's/^/sm_/'`
		pk_try=$pk_present
		test -n "$pk_try" || pk_try="sm_80 sm_90"], [
		pk_present=
		pk_try=`AS_ECHO(["$with_cuda_arch"]) | tr ';,' '  '`])
	pk_works=
	for pk_arch in $pk_try; do
		AC_MSG_CHECKING([whether $NVCC builds for $pk_arch])
		pk_compute=`AS_ECHO(["$pk_arch"]) | sed 's/^sm_/compute_/'`
		AS_IF([PKRUN_GPU_PROBE([$pk_cuda -gencode arch=$pk_compute,code=$pk_arch])],
			[AC_MSG_RESULT([yes]); pk_works="$pk_works $pk_arch"
			 CUDA_ARCH_FLAGS="$CUDA_ARCH_FLAGS -gencode arch=$pk_compute,code=$pk_arch"
			 pk_ptx="-gencode arch=$pk_compute,code=$pk_compute"],
			[AC_MSG_RESULT([no])
			 AS_IF([test -n "$with_cuda_arch"], [AC_MSG_ERROR([$NVCC does not build for $pk_arch; see config.log])])])
	done
	rm -f conftest.hip conftest.so
	AS_IF([test -n "$pk_works"],
		[CUDA_ARCH_FLAGS="$CUDA_ARCH_FLAGS $pk_ptx"
		 PKRUN_FOLDER([pk_toolkit], [$NVCC], [1 2])
		 for pk_dir in "$pk_toolkit/lib64" "$pk_toolkit/lib" "$pk_toolkit/targets/x86_64-linux/lib" /usr/lib/x86_64-linux-gnu; do
			AS_IF([test -z "$CUDA_LIBDIR" && ls "$pk_dir"/libcudart.so.* >/dev/null 2>&1], [CUDA_LIBDIR=$pk_dir])
		 done
		 cuda_summary="yes:$pk_works and PTX, by $NVCC"
		 AS_IF([test -z "$pk_present"], [cuda_summary="$cuda_summary (no NVIDIA GPU is present: built, not run here)"])],
		[cuda_summary="no: $NVCC does not build a kernel; see config.log"
		 pk_bad_nvcc=$NVCC
		 NVCC=no])])
AS_IF([test "$NVCC" = no && test "$with_cuda" != no && test "$with_cuda" != check],
	[AC_MSG_ERROR([--with-cuda: ${pk_bad_nvcc-nvcc} is not there or does not build a kernel; see config.log])])
AC_SUBST([NVCC])
AC_SUBST([CUDA_ARCH_FLAGS])
AC_SUBST([CUDA_LIBDIR])
AM_CONDITIONAL([CUDA], [test "$NVCC" != no])
])
