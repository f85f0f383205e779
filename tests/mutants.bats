#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The second report's systems with a mistake put in: what a task, a message, a
# buffer or a launch too few, too many or with another's content does is seen.
load setup

# mutant PLUGIN FILE SED: mutant.so, made of PLUGIN with FILE (of the tree) changed
mutant() {
  rm -rf src
  mkdir src
  cp -r "$PKRUN_SRCDIR/core" "$PKRUN_SRCDIR/kernels" "$PKRUN_SRCDIR/plugins" src
  sed -i "s/\"$1\"/\"mutant\"/" src/plugins/"$1".hip
  cp "src/$2" before
  sed -i "$3" "src/$2"
  ! cmp -s before "src/$2" || { echo "$3 changes nothing in $2"; false; }
  ${CXX:-g++} -std=c++17 -O1 -fPIC -shared -pthread -ffp-contract=off -DPKRUN_BUILD_HOST -Isrc -o mutant.so \
    -x c++ "src/plugins/$1.hip" -x none -L"$PKRUN_BUILDDIR/plugins/host" -lpkhost \
    -Wl,-rpath,"$PKRUN_BUILDDIR/plugins/host"
}

# is WORKLOAD STATUS [LINE]...: the mutant under that workload ends with that status of its cell
is() {
  printf '%s\n' '[global]' "workload = $1" 'target = host' 'isolation = block' 'blocks_min = 1' \
    'blocks_max = 1' 'ci = 0' 'warmup = 0' 'warmup_runs = 1' 'trials = 2' '[m]' 'variant = ./mutant.so' "${@:3}" >m.ini
  rm -f pkrun.db
  run "$PKRUN" m.ini
  echo "$output"
  [ "$("$PKRUN" query pkrun.db 'SELECT DISTINCT status FROM cell' --format csv | tail -n +2 | tr -d '\r')" = "$2" ]
  [ "$2" = ok ] || [ "$status" -eq 3 ]
}

@test "queue: a task that is lost, done twice, or done with another's length" {
  [ -e "$PKRUN_BUILDDIR/plugins/host/libpkhost.so" ]
  counter=(queue_counter plugins/queue_counter.hip)
  mutant "${counter[@]}" 's/claims = (a.tasks/claims = 0 + (a.tasks/'      # no mistake
  is queue ok 'n = 37' 'chains = 3' 'claim = 5' 'mean_steps = 50' 'threads = 4' 'blocks = 3' 'iterations = 3'
  mutant queue_counter kernels/queue_body.h '/^static .* void queue_do/,/^}/s/^{/{ if (task == 36) return;/'
  is queue wrong 'n = 37' 'chains = 3' 'claim = 5' 'mean_steps = 50' 'threads = 4' 'blocks = 3' 'iterations = 3'
  mutant queue_ring plugins/queue_ring.hip \
    's/queue_do(a, work\[0\].task, work\[0\].length);/& if (work[0].task == 7) &/'
  is queue wrong 'n = 37' 'chains = 3' 'mean_steps = 50' 'threads = 4' 'blocks = 3' 'iterations = 3'
  mutant queue_ring plugins/queue_ring.hip 's/got.length = e->length;/got.length = e->length + (got.task == 36);/'
  is queue wrong 'n = 37' 'chains = 3' 'mean_steps = 50' 'threads = 4' 'blocks = 3' 'iterations = 3'
}

@test "relay: a message that arrives or comes back with another content" {
  mutant relay_round plugins/relay_round.hip 's/a.received\[k\] += word;/a.received[k] += word + (i == 3 \&\& k == 6);/'
  is relay wrong 'n = 7' 'threads = 5' 'iterations = 20'
  mutant relay_round plugins/relay_round.hip 's/out\[k\] = word + 1;/out[k] = word + 1 + (i == 5 \&\& k == 2);/'
  is relay wrong 'n = 7' 'threads = 5' 'iterations = 20'      # by the host, that looks at every answer
  [[ $output == *'message 5: word 2 came back as '* ]]
}

@test "pingpong: one word of one buffer that is still that of the buffer before" {
  mutant pingpong_persistent kernels/pingpong_body.h \
    's/^\t\tbuffer\[k\] = first/\t\tif (i != 5 || k != 999)\n\t\t\tbuffer[k] = first/'
  is pingpong wrong 'n = 1000' 'threads = 33' 'blocks = 3' 'iterations = 7'
  [[ $output == *'buffer 5, word 999: got '* ]]
}

@test "progress: a product whose sums are rounded in another order, or read before they are there" {
  mutant progress_persistent kernels/progress_body.h 's/for (uint32_t k = 0; k < depth; k++)/for (uint32_t k = depth; k-- > 0;)/'
  is progress wrong 'n = 37' 'threads = 33' 'iterations = 3'
  mutant progress_launch kernels/progress_body.h '/b\[y\]\[x\] = /,/__syncthreads/s/__syncthreads();//'
  is progress wrong 'n = 37' 'threads = 33' 'iterations = 3'
}

@test "locality: a second stage that does not wait for the first" {
  mutant locality_persistent kernels/locality_body.h '/between\[k\] = locality_stage1/,/__syncthreads/s/__syncthreads();//'
  is locality wrong 'n = 3000' 'threads = 33' 'blocks = 2' 'iterations = 5'
}

@test "launchcost: a sequence with a launch too few" {
  mutant launchcost_plain plugins/launchcost_plain.hip 's/i = 0; i < launches; i++/i = launches == 8; i < launches; i++/'
  is launchcost wrong 'unit_steps = 300' 'threads = 3' 'iterations = 5'
}
