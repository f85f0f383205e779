#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# pkrun run: the command line, what is stored, and the plain good case.
load fakes

@test "usage errors name what is wrong and exit with 2" {
  run "$PKRUN"
  [ "$status" -eq 2 ]; [ "$output" = 'pkrun: no command and no matrix file given; see pkrun --help' ]
  run "$PKRUN" frobnicate
  [ "$status" -eq 2 ]; [[ $output == *"'frobnicate' is neither a command nor a matrix file"* ]]
  run "$PKRUN" run
  [ "$status" -eq 2 ]; [[ $output == *'no matrix file given'* ]]
  run "$PKRUN" --frobnicate a.ini
  [ "$status" -eq 2 ]; [[ $output == *"unknown option '--frobnicate'"* ]]
  run "$PKRUN" a.ini b.ini
  [ "$status" -eq 2 ]; [[ $output == *"'b.ini' after 'a.ini'"* ]]
  run "$PKRUN" --seed -1 a.ini
  [ "$status" -eq 2 ]; [[ $output == *'--seed -1: not a whole number'* ]]
  run "$PKRUN" --seed 99999999999999999999 a.ini
  [ "$status" -eq 2 ]
  run "$PKRUN" --format xml a.ini
  [ "$status" -eq 2 ]; [[ $output == *'--format xml'* ]]
  run "$PKRUN" --target gpu a.ini
  [ "$status" -eq 2 ]; [[ $output == *'--target gpu'* ]]
  run "$PKRUN" --set global.n a.ini
  [ "$status" -eq 2 ]; [[ $output == *'--set global.n: not SECTION.KEY=VALUE'* ]]
  run "$PKRUN" --db
  [ "$status" -eq 2 ]; [[ $output == *'--db needs a value'* ]]
  run "$PKRUN" missing.ini
  [ "$status" -eq 2 ]; [[ $output == *'missing.ini'* ]]
  [ ! -e pkrun.db ]
}

@test "--help and --version answer on stdout" {
  [[ $("$PKRUN" --help 2>/dev/null) == *'Commands:'*run*list*show* ]]
  [[ $("$PKRUN" run --help 2>/dev/null) == *'--dry-run'* ]]
  [[ $("$PKRUN" --version 2>/dev/null) == pkrun\ *'plugin ABI 1.2'*'targets host'* ]]
}

@test "a matrix runs: every trial verified, all rows there, exit 0" {
  matrix a.ini n=3,4 -- ok
  run --separate-stderr "$PKRUN" a.ini
  [ "$status" -eq 0 ]
  [[ $output == *ok* ]]
  [[ $stderr == *'target host'* ]]
  [ "$(sql 'SELECT status, cells, quick FROM run')" = 'complete,2,0' ]
  [ "$(sql 'SELECT DISTINCT status FROM cell')" = ok ]
  [ "$(sql 'SELECT kind, count(*), min(verified), sum(wall_ns > 0) FROM trial GROUP BY kind ORDER BY kind')" = \
    $'first,2,1,2\nodd,2,1,2\ntimed,6,1,6\nwarmup,2,1,2' ]
  [ "$(sql "SELECT DISTINCT iterations FROM trial WHERE kind = 'odd'")" = 5 ]
  [ "$(sql 'SELECT count(DISTINCT pid) FROM block')" = 2 ]
  [ "$(sql "SELECT value FROM param p JOIN cell c ON c.id = p.cell_id WHERE p.name = 'n' ORDER BY c.number")" = $'3\n4' ]
  [ "$(sql "SELECT count(*) > 10 FROM environment WHERE key IN (SELECT key FROM environment)")" = 1 ]
  [ "$(sql "SELECT blocks, threads FROM cell WHERE n = 4")" = '4,256' ]
}

@test "stdout carries only what was asked for; JSON parses; --quiet leaves stderr empty" {
  matrix a.ini -- ok flood
  run --separate-stderr "$PKRUN" --quiet --format json a.ini
  [ "$status" -eq 0 ]
  [ -z "$stderr" ]
  python3 -c 'import json, sys; r = json.loads(sys.argv[1]); assert [c["status"] for c in r] == ["ok", "ok"], r' "$output"
}

@test "--dry-run prints the cells and makes no database" {
  matrix a.ini n=3,4,5 -- ok
  run --separate-stderr "$PKRUN" --dry-run a.ini
  [ "$status" -eq 0 ]
  [ "$(grep -c ok <<<"$output")" -eq 3 ]
  [[ $stderr == *'3 cells, 3 to run'*'at least'* ]]
  run "$PKRUN" --dry-run --quick a.ini
  [[ $output == *'3 to run, 3 blocks of 3 trials: '* ]]
  [ ! -e pkrun.db ]
}

@test "--set, --only, --db and --seed reach the run" {
  matrix a.ini -- ok sleeper
  run "$PKRUN" --quiet --set global.n=7 --only ok --db other.db --seed 18446744073709551615 a.ini
  [ "$status" -eq 0 ]
  ln -s other.db pkrun.db
  [ "$(sql 'SELECT series, n FROM cell')" = ok,7 ]
  [ "$(sql 'SELECT seed FROM run')" = 18446744073709551615 ]
}

@test "the same seed gives the same order, another one another" {
  matrix a.ini n=1..12+1 blocks_min=2 blocks_max=2 trials=1 -- ok
  order() { sql "SELECT group_concat(number, ' ') FROM (SELECT c.number FROM block b JOIN cell c ON c.id = b.cell_id
    WHERE c.run_id = $1 ORDER BY b.position)"; }
  "$PKRUN" --quiet --seed 5 a.ini >/dev/null
  "$PKRUN" --quiet --seed 5 a.ini >/dev/null
  "$PKRUN" --quiet --seed 6 a.ini >/dev/null
  [ "$(order 1)" = "$(order 2)" ]
  [ "$(order 1)" != "$(order 3)" ]
  [ "$(sql 'SELECT count(*) FROM block WHERE position < 12 AND number = 0')" -eq 36 ]
}

@test "schedule = sequential runs one cell to its end before the next" {
  matrix a.ini n=1,2,3 blocks_min=2 blocks_max=2 schedule=sequential -- ok
  "$PKRUN" --quiet a.ini >/dev/null
  [ "$(sql 'SELECT c.number, b.number FROM block b JOIN cell c ON c.id = b.cell_id ORDER BY b.position')" = \
    $'0,0\n0,1\n1,0\n1,1\n2,0\n2,1' ]
  [ "$(sql 'SELECT schedule FROM run')" = sequential ]
}

@test "isolation = block: one process for all cells of a block, a new one after a crash" {
  matrix a.ini n=1..6+1 blocks_min=2 blocks_max=2 isolation=block -- ok
  "$PKRUN" --quiet a.ini >/dev/null
  [ "$(sql 'SELECT count(DISTINCT pid) FROM block')" = 2 ]
  [ "$(sql 'SELECT count(*) FROM block')" = 12 ]
  rm pkrun.db
  matrix b.ini n=1..6+1 isolation=block -- ok dies
  run "$PKRUN" --quiet b.ini
  [ "$status" -eq 3 ]
  [ "$(sql 'SELECT series, status, count(*) FROM cell GROUP BY series, status')" = $'dies,crash,6\nok,ok,6' ]
}

@test "the block is the unit: medians of blocks, not of trials" {
  matrix a.ini blocks_min=3 blocks_max=3 -- ok
  "$PKRUN" --quiet a.ini >/dev/null
  [ "$(sql 'SELECT count(DISTINCT pid), count(DISTINCT number) FROM block')" = 3,3 ]
  [ "$(sql "SELECT count(*) FROM trial WHERE kind = 'timed'")" = 9 ]
}

@test "blocks are added until the interval is as narrow as asked for, or there are no more" {
  matrix a.ini blocks_min=6 blocks_max=12 ci=0.0001 trials=1 -- sleeper
  clocked "$PKRUN" --quiet a.ini >/dev/null
  [ "$(cell sleeper)" = ok ]
  [ "$(sql 'SELECT count(*) FROM block')" = 6 ]
  rm pkrun.db
  matrix b.ini blocks_min=6 blocks_max=8 ci=0.3 trials=1 -- noisy
  FAKE_TURN=$PWD/turn run clocked "$PKRUN" --quiet b.ini
  [ "$status" -eq 0 ]
  [ "$(cell noisy)" = imprecise ]
  [[ $(reason noisy) == *'after 8 blocks'*wanted* ]]
}

@test "times that alternate between processes never converge, and that is said (d01)" {
  matrix a.ini blocks_min=6 blocks_max=10 ci=0.05 trials=1 -- noisy
  FAKE_TURN=$PWD/turn run clocked "$PKRUN" --quiet a.ini
  [ "$status" -eq 0 ]
  [ "$(cell noisy)" = imprecise ]
  [[ $(reason noisy) == *'after 10 blocks'* ]]
}

@test "a drift is said beside the result, which stands" {
  matrix a.ini blocks_min=12 blocks_max=12 trials=1 -- noisy sleeper
  FAKE_TURN=$PWD/turn FAKE_AT=drift run clocked "$PKRUN" --quiet a.ini
  [ "$status" -eq 0 ]
  [ "$(cell noisy)" = ok ]
  [ "$(reason noisy)" = 'not_steady: 125 us in the first third of the blocks, 205 us in the last' ]
  [[ $output == *'noisy n=3: ok: not_steady: 125 us'* ]]
  [ "$(sql "SELECT CAST(median_ns AS INTEGER) / 1000 FROM summary WHERE series = 'noisy'")" = 165 ]
  [ -z "$(reason sleeper)" ]
}

@test "cell_limit ends a cell as imprecise, and its row is kept" {
  matrix a.ini blocks_min=6 blocks_max=40 ci=0.0000001 cell_limit=0.3 trials=1 -- sleeper
  run "$PKRUN" --quiet a.ini
  [ "$status" -eq 0 ]
  [ "$(cell sleeper)" = imprecise ]
  [ "$(sql 'SELECT median_ns > 0 FROM summary')" = 1 ]
  [ "$(sql 'SELECT count(*) < 6 FROM block')" = 1 ]
}

@test "cell_limit does not wait for the end of a block: fewer trials, and that is said" {
  matrix a.ini blocks_min=1 blocks_max=1 cell_limit=0.5 trials=90000 warmup_runs=90000 -- sleeper ok
  run "$PKRUN" --quiet --only sleeper a.ini
  [ "$status" -eq 0 ]
  [ "$(cell sleeper)" = imprecise ]
  [[ $(reason sleeper) == 'cell_limit cut the last of 1 blocks short, after '* ]]
  [ "$(sql "SELECT count(*) BETWEEN 1 AND 11 FROM trial WHERE kind = 'timed'")" = 1 ]
  [ "$(sql 'SELECT median_ns > 0 FROM summary')" = 1 ]
}

@test "the time of the CPU's reference is not the cell's" {
  matrix a.ini workload=poisson2d n=401 iterations=400 warmup_runs=0 trials=1 blocks_min=2 blocks_max=2 cell_limit=6 -- ok
  # the reference's process is held for longer than the limit; it may be done before that, then once more
  for try in 1 2 3 4 5 6 7 8 9; do
    rm -f pkrun.db
    "$PKRUN" --quiet a.ini >/dev/null 3>&- & pid=$!
    args=()	# of the second child beside the cell's
    while [ "${args[1]}" != --worker ] && kill -0 $pid; do
      read -r worker reference <"/proc/$pid/task/$pid/children" || true
      mapfile -d '' -t args <"/proc/$reference/cmdline" || true
    done 2>/dev/null
    ! kill -STOP "$reference" 2>/dev/null || break
    wait $pid
    reference=
  done
  [ -n "$reference" ] || skip 'the reference could not be stopped in time'
  sleep 7
  kill -CONT $reference
  wait $pid
  [ "$(cell ok)" = ok ]
  [ "$(sql "SELECT count(*) FROM block WHERE status = 'ok'")" = 2 ]
}

@test "iterations = auto: 10 ms, a power of two, the same for all cells of a problem" {
  matrix a.ini iterations=auto n=3,4 -- steady sleeper
  run clocked "$PKRUN" --quiet --only steady a.ini
  [ "$status" -eq 0 ]
  [ "$(sql 'SELECT count(DISTINCT iterations) FROM cell')" = 1 ]
  n=$(sql 'SELECT DISTINCT iterations FROM cell')
  [ "$n" -eq 128 ]	# of 100 us each
  [ "$(sql "SELECT DISTINCT iterations FROM trial WHERE kind = 'timed'")" = "$n" ]
  rm pkrun.db	# one slow cell: half a second for it, rather than 10 ms for the other
  run clocked "$PKRUN" --quiet --set global.n=3 a.ini
  [ "$(sql "SELECT DISTINCT iterations FROM cell")" = 16 ]
}

@test "a cell that cannot be calibrated ends there, and the others go on" {
  matrix a.ini iterations=auto -- steady dies
  run "$PKRUN" --quiet a.ini
  [ "$status" -eq 3 ]
  [ "$(cell steady)" = ok ]
  [ "$(cell dies)" = crash ]
  [ "$(reason dies)" = "killed by SIGSEGV (during 'calibrate')" ]
}

@test "--quick: 3 blocks of 3 trials, and the run says so" {
  matrix a.ini -- ok
  "$PKRUN" --quiet --quick a.ini >/dev/null
  [ "$(sql 'SELECT quick FROM run')" = 1 ]
  [ "$(sql "SELECT count(*) FROM trial WHERE kind = 'timed'")" = 9 ]
  [ "$(cell ok)" = ok ]
}

@test "a variant that sleeps is timed by the wall, not by its CPU time (d06)" {
  matrix a.ini -- sleeper
  "$PKRUN" --quiet a.ini >/dev/null
  [ "$(sql "SELECT min(wall_ns) >= 50000000, max(host_cpu_ns) < 25000000 FROM trial WHERE kind = 'timed'")" = 1,1 ]
}

@test "times below the clock's resolution are no times (d02, d03)" {
  matrix a.ini -- instant
  run clocked "$PKRUN" --quiet a.ini
  [ "$status" -eq 3 ]
  [ "$(cell instant)" = error ]
  [[ $(reason instant) == 'no time that could be trusted: 3 of 3'* ]]
  [ "$(sql "SELECT DISTINCT flags FROM trial WHERE kind = 'timed'")" = bad_clock ]
  [ -z "$(sql 'SELECT median_ns FROM summary')" ]
  rm pkrun.db	# the longest of three that were mostly too short is no median of them
  FAKE_CALL=6 run clocked "$PKRUN" --quiet a.ini
  [ "$status" -eq 3 ]
  [[ $(reason instant) == 'no time that could be trusted: 2 of 3'* ]]
  [ -z "$(sql 'SELECT median_ns FROM summary')" ]
  rm pkrun.db
  FAKE_CALL=5 run clocked "$PKRUN" --quiet a.ini
  [ "$status" -eq 0 ]
  [ "$(sql 'SELECT CAST(median_ns AS INTEGER) / 1000, trials FROM summary')" = 100,2 ]
}

@test "billions of iterations are counted as they are; so many trials are refused (d10)" {
  matrix a.ini iterations=3000000000 -- ok
  run -0 clocked "$PKRUN" --quiet a.ini
  [ "$(sql "SELECT DISTINCT iterations, wall_ns / 1000, verified FROM trial WHERE kind = 'timed'")" = 3000000000,100,1 ]
  [ "$(sql "SELECT printf('%.3g', median_ns), work FROM summary")" = 3.33e-05,steps=2 ]
  for key in trials warmup_runs blocks_max; do
    run -2 "$PKRUN" --quiet a.ini --set global.$key=3000000000
    [[ $output == *"$key: '3000000000' is outside "[01]..10* ]]
  done
}

@test "a plugin that is built anew under a run is not measured on; pkrun itself may be" {
  matrix a.ini blocks_min=2 blocks_max=2 -- leaves ok
  cp --remove-destination "$PKRUN_BUILDDIR/tests/plugins/fake_leaves.so" fakes/host/leaves.so
  FAKE_LEFT=built FAKE_TURN=$PWD/fakes/host/leaves.so run -3 "$PKRUN" --quiet a.ini
  [ "$(cell leaves)" = error ]; [ "$(cell ok)" = ok ]
  [ "$(reason leaves)" = 'another file has taken the place of its plugin since the run began' ]
  [ "$(sql "SELECT group_concat(b.status) FROM block b JOIN cell c ON c.id = b.cell_id WHERE series = 'leaves'")" = ok ]
  rm pkrun.db
  cp "$PKRUN" mine
  FAKE_LEFT=removed FAKE_TURN=$PWD/mine run -0 ./mine --quiet a.ini
  [ ! -e mine ]; [ "$(cell leaves)" = ok ]
  rm pkrun.db
  cp "$PKRUN" mine
  FAKE_LEFT=removed FAKE_TURN=$PWD/mine run -0 ./mine --quiet --wrap 'env A=1' a.ini
  [ ! -e mine ]; [ "$(cell leaves)" = ok ]; [ "$(cell ok)" = ok ]
}

@test "an outlier is marked and kept (d12)" {
  matrix a.ini trials=7 warmup_runs=0 -- spike
  clocked "$PKRUN" --quiet a.ini >/dev/null
  [ "$(sql "SELECT wall_ns / 1000000, count(*) FROM trial WHERE flags LIKE '%outlier%' GROUP BY 1")" = 30,1 ]
  [ "$(sql 'SELECT trials, CAST(median_ns AS INTEGER) / 1000, CAST(max_ns AS INTEGER) / 1000 FROM summary')" = 7,500,3000 ]
}

@test "cache = cold writes over the caches before each run, hot never does" {
  matrix a.ini cache=cold -- ok
  FAKE_FLUSHED=$PWD/flushed "$PKRUN" --quiet a.ini >/dev/null
  [ "$(stat -c %s flushed)" = "$(sql 'SELECT count(*) FROM trial')" ]
  rm flushed
  FAKE_FLUSHED=$PWD/flushed "$PKRUN" --quiet --set global.cache=hot a.ini >/dev/null
  [ ! -e flushed ]
}

@test "many cells in one process: two variants by turns, each verified (c04)" {
  matrix a.ini n=1..50+1 isolation=block trials=1 -- ok late_thread
  run "$PKRUN" --quiet a.ini
  [ "$status" -eq 0 ]
  [ "$(sql 'SELECT status, count(*) FROM cell GROUP BY status')" = ok,100 ]
  [ "$(sql 'SELECT count(DISTINCT pid), min(t.verified) FROM block b JOIN trial t ON t.block_id = b.id')" = 1,1 ]
}

@test "a variant's own time is stored beside ours, and marked when it cannot be" {
  matrix a.ini -- clocks
  clocked "$PKRUN" --quiet a.ini >/dev/null
  [ "$(sql "SELECT DISTINCT kernel_ns, flags FROM trial WHERE kind = 'timed'")" = '10000000,""' ]
  [ "$(sql "SELECT count(*), CAST(min(value) AS INTEGER), unit FROM metric m JOIN trial t ON t.id = m.trial_id WHERE name = 'legs' AND kind = 'timed'")" = 3,3,leg ]
  rm pkrun.db
  FAKE_KERNEL_NS=-5 clocked "$PKRUN" --quiet a.ini >/dev/null
  [ "$(sql "SELECT DISTINCT kernel_ns, flags FROM trial WHERE kind = 'timed'")" = -5,bad_kernel_ns ]
  rm pkrun.db	# microseconds in place of nanoseconds (d08)
  FAKE_KERNEL_NS=10000 clocked "$PKRUN" --quiet a.ini >/dev/null
  [ "$(sql "SELECT DISTINCT flags FROM trial WHERE kind = 'timed'")" = clocks_differ ]
}

@test "a database is the file of its name, whatever SQLite makes of that" {
  matrix a.ini -- ok
  for db in :memory: 'file:x.db?mode=memory' file:y.db 'a?b%20#.db' -z.db; do
    "$PKRUN" --quiet "--db=$db" a.ini >/dev/null
    [ -s "./$db" ]
    [ "$("$PKRUN" query --format csv -- "$db" 'SELECT count(*) FROM trial' | tr -d '\r' | tail -n 1)" = 6 ]
  done
}

@test "a database that is removed or replaced under a run: nothing is lost, and it is said" {
  matrix a.ini trials=40 -- sleeper
  for how in 'rm pkrun.db' 'cp pkrun.db b.db; mv b.db pkrun.db'; do
    rm -f pkrun.db*
    "$PKRUN" --quiet a.ini >out 2>err 3>&- &
    pid=$!
    wait_for 'SELECT count(*) > 0 FROM trial'
    eval "$how"
    code=0; wait $pid || code=$?
    [ "$code" -eq 2 ]
    copy=$(sed -n 's/^pkrun: pkrun.db was moved, removed or replaced while it was written; all of it is in //p' err)
    [ "$("$PKRUN" query --format csv "$copy" "SELECT status, (SELECT count(*) FROM trial WHERE kind = 'timed') FROM run" | tr -d '\r' | tail -n 1)" = complete,40 ]
  done
}

@test "a refused database is refused before the first cell runs" {
  matrix a.ini -- ok
  echo 'no database' >pkrun.db
  run "$PKRUN" a.ini
  [ "$status" -eq 2 ]
  [ "$(cat pkrun.db)" = 'no database' ]
}

@test "a speed-up counts: the baseline goes on for a cell that needs it, and a wide ratio is imprecise" {
  export FAKE_TURN=$PWD/turns
  matrix a.ini baseline=sleeper blocks_min=6 blocks_max=12 ci=0.3 trials=1 -- sleeper noisy sleeper:2
  clocked "$PKRUN" --quiet a.ini >/dev/null
  # noisy alternates by a factor of 3 and never converges
  blocks() { sql "SELECT count(*) FROM cell c JOIN block b ON b.cell_id = c.id WHERE series = '$1'"; }
  [ "$(blocks noisy)" = 12 ]; [ "$(blocks sleeper)" = 12 ]; [ "$(blocks sleeper:2)" = 6 ]
  [ "$(cell noisy)" = imprecise ]; [ "$(cell sleeper)" = ok ]; [ "$(cell sleeper:2)" = ok ]
  clocked "$PKRUN" --quiet --db b.db --set global.baseline=noisy --only 'sleeper:2' a.ini >/dev/null
  [ "$("$PKRUN" query b.db "SELECT count(*) FROM block" --format csv | tr -d '\r' | tail -1)" -lt 12 ]
}

@test "the baseline of a cell did the same work: another option of the workload is another problem" {
  export FAKE_TURN=$PWD/turns
  cat >a.ini <<'END'
[global]
workload = poisson2d
n = 5
iterations = 10
trials = 1
blocks_min = 6
blocks_max = 8
ci = 0.3
warmup = 0
warmup_runs = 1
baseline = base
[base]
variant = noisy
f_scale = 1
[mine]
variant = sleeper
f_scale = 2
END
  clocked "$PKRUN" --quiet a.ini >/dev/null
  # noisy alternates by a factor of 3; [mine] has no speed-up that could be wide
  [ "$(sql "SELECT series, status, (SELECT count(*) FROM block WHERE cell_id = cell.id), reason LIKE 'speed-up%',
    (SELECT speedup FROM result WHERE cell = cell.id) FROM cell")" = $'base,imprecise,8,0,1\nmine,ok,6,,' ]
}

@test "--wrap runs each worker under a command, with {cell} replaced, and marks the run" {
  cat >wrapper <<'END'
#!/bin/sh
echo "$@" >"$1.args"
echo "the wrapper talks"
shift 2
exec "$@"
END
  chmod +x wrapper
  matrix a.ini n=3,4 -- ok
  run --separate-stderr "$PKRUN" --quiet --wrap "./wrapper 'log {cell}' \"two words\"" a.ini
  [ "$status" -eq 0 ]
  [[ $output == *instrumented* ]]
  [ "$(cat 'log 00000-ok-ok-null-n3.args')" = "log 00000-ok-ok-null-n3 two words $(realpath "$PKRUN") --worker" ]
  [ -e 'log 00001-ok-ok-null-n4.args' ]
  [ "$(sql 'SELECT instrumented IS NOT NULL FROM run')" = 1 ]
  [ "$(sql "SELECT DISTINCT text FROM event WHERE kind = 'output'")" = 'the wrapper talks' ]
}

@test "--wrap: no end of a quote, no such command, a command that gives up" {
  matrix a.ini -- ok
  run "$PKRUN" --wrap "x 'y" a.ini
  [ "$status" -eq 2 ]; [[ $output == *"a ' has no end"* ]]
  run "$PKRUN" --wrap ' ' a.ini
  [ "$status" -eq 2 ]; [[ $output == *'no command'* ]]
  run "$PKRUN" --quiet --wrap ./nosuch a.ini
  [ "$status" -eq 3 ]; [[ $(reason ok) == 'cannot start ./nosuch: No such file or directory' ]]
  rm pkrun.db
  run "$PKRUN" --quiet --wrap false a.ini
  [ "$status" -eq 3 ]; [[ $(reason ok) == 'exited with 1 before it was done'* ]]
}

@test "--wrap: a tool has the time to write what it found, and its exit code is a verdict" {
  matrix a.ini n=3,4 -- ok
  cat >tool <<'END'
#!/bin/sh
"$@"
sleep 3	# longer than a worker gets to leave
echo "errors found: $ERRORS"
touch report
exit $ERRORS
END
  chmod +x tool
  ERRORS=0 "$PKRUN" --quiet --wrap ./tool a.ini >/dev/null
  [ -e report ]; rm pkrun.db
  ERRORS=9 run -3 "$PKRUN" --quiet --wrap ./tool --only ok/ok/null/3 a.ini
  [ "$(cell ok)" = error ]
  [ "$(reason ok)" = 'the command of --wrap exited with 9 after the cell; it printed: errors found: 9' ]
  [ "$(sql "SELECT count(*) FROM trial WHERE verified = 1")" = 6 ]
  rm pkrun.db
  run -3 "$PKRUN" --quiet --set global.iterations=auto --wrap "sh -c '\"\$@\"; exit 9' sh" a.ini
  [[ $(sql 'SELECT DISTINCT reason FROM cell') == *'exited with 9 after the cell'* ]]
  rm pkrun.db
  matrix a.ini -- leaves	# its process would not measure another cell anyway
  FAKE_LEFT=slack run -3 "$PKRUN" --quiet --wrap "sh -c '\"\$@\"; exit 9' sh" a.ini
  [[ $(reason leaves) == 'the command of --wrap exited with 9 after the cell'* ]]
}

@test "--profile: one process a cell, no warm-up, one timed trial" {
  matrix a.ini blocks_min=2 blocks_max=3 trials=4 isolation=block -- ok sleeper
  "$PKRUN" --quiet --profile a.ini >/dev/null
  [ "$(sql 'SELECT kind, count(*) FROM trial GROUP BY kind ORDER BY kind')" = $'first,2\nodd,2\ntimed,2' ]
  [ "$(sql 'SELECT count(DISTINCT pid) FROM block')" = 2 ]
  [ "$(sql 'SELECT instrumented FROM run')" = profile ]
}

@test "cells that ran before their baseline in the last round need no further one" {
  matrix a.ini baseline=sleeper blocks_min=6 blocks_max=12 ci=0.0001 trials=1 seed=3 -- sleeper sleeper:2 sleeper:3 sleeper:4 sleeper:5
  clocked "$PKRUN" --quiet a.ini >/dev/null
  [ "$(sql 'SELECT count(*) FROM block')" = 30 ]
}

@test "the command is stored as a shell would read it back" {
  matrix a.ini -- ok
  mv a.ini "it's a.ini"
  "$PKRUN" --quiet --target host --set global.n=5 --set global.trials=1 "it's a.ini" --only '*'
  line=$(sql 'SELECT argv FROM run')
  echo "$line"
  eval "set -- $line"
  [ "$*" = "pkrun run --quiet --target host --set global.n=5 --set global.trials=1 --only * it's a.ini" ]
  [ "$#" -eq 12 ]; [ "${12}" = "it's a.ini" ]
}

@test "blocks = percu:N is not for a variant of ABI 1.0, which would take it for something else" {
  matrix a.ini blocks=percu:2 -- aged ok
  run "$PKRUN" a.ini
  [ "$status" -eq 0 ]
  [ "$(cell aged)" = skipped ]
  [[ $(reason aged) == 'blocks = percu:2: aged was built for plugin ABI 1.0, which has it not (1.1 has)' ]]
  [ "$(cell ok)" != skipped ]
  matrix a.ini blocks=2 -- aged
  run "$PKRUN" --db b.db a.ini
  [ "$("$PKRUN" query b.db 'SELECT count(*) FROM trial WHERE verified = 1' --format csv | tail -1 | tr -d '\r')" = 6 ]
}
