# SPDX-License-Identifier: MIT
# For tests of the running of cells: only fake variants and a fake device
# (tests/plugins/), which need no GPU, no runtime and hardly any time.
load setup
bats_require_minimum_version 1.5.0

setup() {
  cd "$BATS_TEST_TMPDIR"
  local so name
  mkdir -p fakes/host
  for so in "$PKRUN_BUILDDIR"/tests/plugins/fake_*.so; do
    name=${so##*/fake_}
    ln -s "$so" "fakes/host/$name"
  done
  export PKRUN_PLUGIN_DIR=$PWD/fakes
  unset FAKE_DEATH FAKE_FRAME FAKE_CALL FAKE_HANG FAKE_FAIL FAKE_AT FAKE_COOPERATIVE FAKE_PROBE FAKE_KERNEL_NS FAKE_LEFT FAKE_TURN FAKE_PART FAKE_FLUSHED FAKE_PROGRESS FAKE_ROOM
}

# matrix FILE [KEY=VALUE]... -- VARIANT...: one series for each, named after it
matrix() {
  local file=$1 v
  shift
  { printf '%s\n' '[global]' 'workload = null' 'n = 3' 'iterations = 10' 'blocks_min = 1' \
      'blocks_max = 1' 'ci = 0' 'warmup = 0' 'warmup_runs = 1' 'trials = 3'
    while [ "$1" != -- ]; do printf '%s\n' "${1/=/ = }"; shift; done
    shift
    for v; do printf '[%s]\nvariant = %s\n' "$v" "${v%%:*}"; done
  } | awk -F' = ' '/ = / { if ($1 in at && !series) { line[at[$1]] = $0; next } if (!series) at[$1] = NR }
      /^\[/ && $0 != "[global]" { series = 1 } { line[NR] = $0 }
      END { for (i = 1; i <= NR; i++) if (i in line) print line[i] }' >"$file"
}

# clocked COMMAND...: every fake takes exactly as long as it means to, see tests/plugins/lib_clock.c
clocked() { LD_PRELOAD=$PKRUN_BUILDDIR/tests/plugins/lib_clock.so "$@"; }

# wait_for QUERY: until pkrun.db answers it with 1; for a minute, then the test fails
wait_for() {
  local end=$((SECONDS + 60))
  until [ "$(sql "$1" 2>/dev/null)" = 1 ]; do
    [ $SECONDS -lt $end ] || { echo "never: $1"; return 1; }
    sleep 0.05
  done
}
a_trial='SELECT count(*) > 0 FROM trial'

# sql QUERY: the rows as CSV without the head
sql() { "$PKRUN" query pkrun.db "$1" --format csv | tr -d '\r' | tail -n +2; }

# cell SERIES: its status
cell() { sql "SELECT status FROM cell WHERE series = '$1'"; }
reason() { sql "SELECT reason FROM cell WHERE series = '$1'" | sed 's/^"\(.*\)"$/\1/; s/""/"/g'; }
# alive PID: and not merely unreaped
alive() { [ -e "/proc/$1/status" ] && ! grep -q '^State:.Z' "/proc/$1/status"; }
