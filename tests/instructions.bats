#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# What the protocols rely on, in the instructions: gfx90a code objects out of the
# built plugins, disassembled, and CUDA's PTX.  No GPU needed.
load setup

# newest TOOL: the highest version of it, or the one without a number
newest() { { ls /usr/bin/"$1"-[0-9]* 2>/dev/null | sort -Vr; command -v "$1"; } | head -1; }

# file_of VARIANT: its whole name
file_of() { case $1 in launch*|graph*) echo "$1" ;; *) echo "persistent_$1" ;; esac; }

setup_file() {
  cd "$BATS_FILE_TMPDIR"
  local v so=$PKRUN_BUILDDIR/plugins/hip dump bundler
  dump=$(newest llvm-objdump); bundler=$(newest clang-offload-bundler)
  { [ -e "$so/persistent_relaxed.so" ] && [ -n "$dump" ] && [ -n "$bundler" ]; } || return 0
  for v in naive poller relaxed padded device barrier interpreter doorbell launch launch_coop; do
    objcopy -O binary --only-section=.hip_fatbin "$so/$(file_of $v).so" $v.fat
    "$bundler" --unbundle --type=o --targets=hipv4-amdgcn-amd-amdhsa--gfx90a --input=$v.fat --output=$v.co 2>/dev/null ||
      "$bundler" --unbundle --type=o --targets=hipv4-amdgcn-amd-amdhsa--gfx90a --inputs=$v.fat --outputs=$v.co || return 0
    [ -s $v.co ] && "$dump" -d $v.co >$v.dis
  done
}

# need VARIANT: its disassembly, by a tool that knows the instructions
need() {
  [ -s "$BATS_FILE_TMPDIR/$1.dis" ] || skip "no gfx90a code object, or no tool to take it apart"
  ! grep -q '\.long 0xe0a0c000' "$BATS_FILE_TMPDIR/$1.dis" || skip "this llvm-objdump does not know buffer_wbl2"
}
# spins VARIANT KERNEL: the lines of spins.awk.  Lb0: the kernel without stamps
spins() { awk -v kernel="$2" -f "$PKRUN_SRCDIR/tests/spins.awk" "$BATS_FILE_TMPDIR/$1.dis"; }
# clocks HEAD CLOCK: of the kernels for the empty step, how many are plain, of these read a clock; stamped, and read it
clocks() {
  awk -v head="$1" -v clock="$2" '
    $0 ~ head { kind = !/_kernelI9null_work/ ? "" : /stamped_|Lb1/ ? "stamped" : "plain"; n[kind]++; unread = 1 }
    kind && unread && $0 ~ clock { unread = 0; reads[kind]++ }
    END { print n["plain"] + 0, reads["plain"] + 0, n["stamped"] + 0, reads["stamped"] + 0 }'
}
# clocks_of VARIANT: what it is to say.  Beside a launch's kernel there is a norm's, and launch_pdl has that of launch too
clocks_of() {
  case $1 in barrier) echo 2 0 2 2 ;; launch_pdl) echo 3 0 2 2 ;; launch*|graph*) echo 2 0 1 1 ;; *) echo 1 0 1 1 ;; esac
}
polls='poll invl2=0 invl1=0 wbl2=0'

@test "gfx90a: a relaxed poll loop invalidates and writes back nothing; the acquire behind it once; the answer is written back" {
  for kernel in null_work poisson2dI10shape_rows poisson2dI11shape_tiles poisson2dI11shape_bands; do
    for v in relaxed padded; do
      need $v
      run spins $v "host_kernelI9$kernel.*Lb0"
      [[ $output == "$polls"*'kernel invl2=1 invl1=1 wbl2=2 stores_behind_wbl2=2' ]]
      [[ $output != *'poll invl2=1'* ]]; [[ $output != *'invl1=1 wbl2=0'* ]]; [[ $output != *'poll '*'wbl2=1'* ]]
    done
  done
}

@test "gfx90a: a sequentially consistent poll invalidates both caches each time" {
  for v in naive poller; do
    need $v
    run spins $v "host_kernelI9null_work.*Lb0"
    [[ $output == *'poll invl2=1 invl1=1 wbl2=0'* ]]
  done
}

@test "gfx90a: neighbours' counters are polled without an invalidate; only the host's word needs the L2" {
  for kernel in null_work poisson2dI10shape_rows; do
    need device
    run spins device "device_kernelI9${kernel}E*15neighbour_order"
    [[ $output == "$polls"* ]]
    [ "$(grep -c ^poll <<<"$output")" = "$(grep -c "^$polls" <<<"$output")" ]
    [[ $output == *'kernel invl2=1 '*' wbl2=2 stores_behind_wbl2=2' ]]
  done
}

# The one release behind the barrier waits for its own wave's stores only.
@test "gfx90a: no wave comes to a barrier before its stores are done" {
  for v in naive relaxed padded device barrier interpreter doorbell; do
    need $v
    for kernel in null_work poisson2dI10shape_rows poisson2dI11shape_tiles poisson2dI11shape_bands; do
      run spins $v "_kernelI9$kernel"
      [[ $output == *'kernel invl2='* ]]
      [[ $output != *unwaited* ]]
    done
  done
  # and it would be seen
  sed -i 's/s_waitcnt vmcnt(0) lgkmcnt(0) /s_waitcnt lgkmcnt(0) /' "$BATS_FILE_TMPDIR/relaxed.dis"
  run spins relaxed '_kernelI9null_work'
  [[ $output == *unwaited* ]]
}

@test "gfx90a: only a stamped kernel reads the clock" {
  for v in relaxed device interpreter barrier doorbell launch launch_coop; do
    need $v
    [ "$(clocks '^[0-9a-f]+ <' s_memrealtime <"$BATS_FILE_TMPDIR/$v.dis")" = "$(clocks_of $v)" ]
  done
}

@test "hip: flags in host memory are asked for as coherent and mapped" {
  so=$PKRUN_BUILDDIR/plugins/hip/device.so
  [ -e "$so" ] || skip "no hip target"
  objdump -d --no-show-raw-insn "$so" | grep -q '\$0x40000002,'
}

ptx_file() {
  "$PKRUN_NVCC" -std=c++17 -O3 -fmad=false -DPKRUN_BUILD_CUDA -I"$PKRUN_SRCDIR" -x cu -arch=sm_90 -ptx \
    "$PKRUN_SRCDIR/plugins/$(file_of $1).hip" -o "$1.ptx"
}
# ptx VARIANT: of its kernel for the empty step
ptx() {
  ptx_file "$1"
  awk '/\.entry.*_kernelI9null_work.*Lb0/ { on = 1 } on { print } on && /^}/ { exit }' "$1.ptx"
}

@test "PTX: relaxed polls at system scope, one acquire, releases for the answers, no fence" {
  [ -n "$PKRUN_NVCC" ] || skip "no nvcc"
  code=$(ptx relaxed)
  [ "$(grep -c 'ld\.acquire\.sys' <<<"$code")" = 1 ]
  [ "$(grep -c 'st\.release\.sys' <<<"$code")" = 2 ]
  [ "$(grep -c 'ld\.relaxed\.sys' <<<"$code")" -ge 2 ]
  [[ $code != *fence* ]]
  code=$(ptx naive)
  [ "$(grep -c 'fence\.sc\.sys' <<<"$code")" -ge 2 ]
}

@test "PTX: only a stamped kernel reads the clock" {
  [ -n "$PKRUN_NVCC" ] || skip "no nvcc"
  for v in relaxed device interpreter barrier doorbell launch launch_pdl graph_while; do
    ptx_file $v
    [ "$(clocks '\.(entry|func) ' globaltimer <$v.ptx)" = "$(clocks_of $v)" ]
  done
}

@test "PTX: a dependent kernel touches no memory before the one before it is complete" {
  [ -n "$PKRUN_NVCC" ] || skip "no nvcc"
  ptx_file launch_pdl
  run awk '/\.entry/ { on = /dependent_kernel/; kernels += on; waited = 0 }
    on && /griddepcontrol\.wait/ { waited = 1; waits++ }
    on && /^\t*(@!?%p[0-9]+ +)?(ld|st|atom|red)\./ && !/\.param/ { waited ? after++ : before++ }
    END { print kernels - waits, before + 0, (kernels > 0) + (after > 0) }' launch_pdl.ptx
  [ "$output" = '0 0 2' ]
}
