#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# What is left after pkrun, its child or the machine was cut off, and going on
# from there; two pkruns in one file; no room for the file (b01, b03, b07, b10).
load fakes

# start ARG...: pkrun in the background, as a process group of its own
start() {
  set -m
  "$PKRUN" --quiet "$@" >out 2>err 3>&- &
  pid=$!
  set +m
}

# whole CELLS BLOCKS: complete, each block of each cell measured to its end once, the file sound
whole() {
  [ "$(sql 'PRAGMA integrity_check')" = ok ]
  [ "$(sql 'SELECT count(*), min(status), max(status) FROM run')" = 1,complete,complete ]
  [ "$(sql "SELECT count(*), min(status), max(status) FROM cell")" = "$1,ok,ok" ]
  [ "$(sql "SELECT count(*), count(DISTINCT cell_id || '/' || number) FROM block WHERE status = 'ok'")" = "$(($1 * $2)),$(($1 * $2))" ]
  [ "$(sql "SELECT count(*) FROM block WHERE status NOT IN ('ok', 'interrupted')")" = 0 ]
  [ "$(sql "SELECT count(*) FROM (SELECT block_id FROM trial JOIN block b ON b.id = block_id
     WHERE kind = 'timed' AND b.status = 'ok' GROUP BY block_id HAVING count(*) <> 3)")" = 0 ]
  [ "$(sql 'SELECT min(trials), max(trials) FROM summary')" = "$(($2 * 3)),$(($2 * 3))" ]
}

@test "kill -9 at any moment, again and again: --resume ends with the same cells, none twice" {
  matrix a.ini n=1..5+1 blocks_min=3 blocks_max=3 warmup_runs=0 -- sleeper
  start a.ini
  wait_for "$a_trial"
  for wait in 0 0.05 0.7 0.2 1.1 0.3; do
    sleep $wait
    kill -9 $pid 2>/dev/null || true
    wait $pid || true
    [ "$(sql 'PRAGMA integrity_check')" = ok ]
    [ "$(sql "SELECT count(*) FROM run")" = 1 ]
    start --resume a.ini
  done
  wait $pid
  whole 5 3
  [ "$(sql "SELECT count(*) > 0 FROM event WHERE kind = 'resumed'")" = 1 ]
  # once complete, there is nothing left to do
  run --separate-stderr "$PKRUN" --resume a.ini
  [ "$status" -eq 0 ]; [[ $stderr == *'run 1 is complete'* ]]; [[ $output == *sleeper* ]]
  whole 5 3
}

@test "SIGINT, then --resume: order and seed are kept" {
  matrix a.ini n=1..5+1 blocks_min=2 blocks_max=2 warmup_runs=0 -- sleeper
  start --seed 12345 a.ini
  wait_for "SELECT count(*) > 1 FROM block WHERE status = 'ok'"
  kill -INT $pid
  code=0; wait $pid || code=$?
  [ "$code" -eq 130 ]
  run "$PKRUN" --quiet --resume a.ini
  [ "$status" -eq 0 ]
  whole 5 2
  [ "$(sql 'SELECT seed FROM run')" = 12345 ]
  "$PKRUN" --quiet --seed 12345 --db b.db a.ini >/dev/null
  order="SELECT group_concat(n, ' ') FROM (SELECT c.number || '.' || b.number AS n FROM block b JOIN cell c ON c.id = b.cell_id
    WHERE b.status = 'ok' ORDER BY b.position)"
  [ "$(sql "$order")" = "$("$PKRUN" query b.db "$order" --format csv | tr -d '\r' | tail -1)" ]
}

@test "SIGINT while the reference is computed: the cell is interrupted, not failed" {
  matrix a.ini workload=poisson2d n=1201 iterations=400 warmup_runs=0 trials=1 -- ok
  for i in 1 2 3; do
    rm -f pkrun.db
    start a.ini
    wait_for "SELECT count(*) FROM block WHERE status = 'running'"
    sleep 0.2	# of about a second; a reference that is done sooner only makes this test easier
    kill -INT $pid
    code=0; wait $pid || code=$?
    [ "$code" -eq 130 ]
    [ "$(sql 'SELECT status, reason FROM block')" = interrupted,interrupted ]
    [ "$(sql "SELECT count(*) FROM cell WHERE status IN ('error', 'crash', 'wrong', 'hang')")" = 0 ]
  done
}

@test "the child killed: that cell is a crash, the others go on" {
  matrix a.ini n=1..4+1 trials=40 -- sleeper
  start a.ini
  wait_for "SELECT count(*) FROM block b WHERE status = 'running' AND
    (SELECT count(*) FROM trial WHERE block_id = b.id) BETWEEN 1 AND 20"	# a second before it ends
  kill -9 "$(sql "SELECT pid FROM block WHERE status = 'running'")"
  code=0; wait $pid || code=$?
  [ "$code" -eq 3 ]
  [ "$(sql 'SELECT status, count(*) FROM cell GROUP BY status')" = $'crash,1\nok,3' ]
}

@test "the power cut: a copy of the files as they were in the middle of it" {
  matrix a.ini n=1..4+1 blocks_min=2 blocks_max=2 warmup_runs=0 -- sleeper
  start a.ini
  for i in 1 2 3; do
    wait_for "SELECT count(*) >= 6 * $i FROM trial"
    kill -STOP $pid || true	# it may be done by now, which is a moment as good as another
    mkdir "at$i"
    cp pkrun.db* "at$i/"
    rm -f "at$i"/*-shm
    kill -CONT $pid || true
  done
  kill -9 $pid || true; wait $pid || true
  for i in 1 2 3; do
    rm -f pkrun.db*
    cp "at$i"/pkrun.db* .
    [ "$(sql 'PRAGMA integrity_check')" = ok ]
    run "$PKRUN" --quiet --resume a.ini
    [ "$status" -eq 0 ]
    whole 4 2
  done
}

@test "--resume refuses what would not be alike, and says what differs" {
  matrix a.ini n=1,2 trials=90 -- sleeper
  run "$PKRUN" --quiet --resume a.ini
  [ "$status" -eq 2 ]; [[ $output == *'holds no run of a.ini as it is now'* ]]
  start a.ini; wait_for "$a_trial"
  run "$PKRUN" --quiet --resume a.ini
  [ "$status" -eq 2 ]; [[ $output == *"run 1 is still being measured by process $pid"* ]]
  kill -INT $pid; wait $pid || true
  run "$PKRUN" --quiet --resume --set global.n=1 a.ini
  [ "$status" -eq 2 ]; [[ $output == *'2 cells, now there are 1'* ]]
  run "$PKRUN" --quiet --resume --set global.n=1,3 a.ini
  [ "$status" -eq 2 ]; [[ $output == *'cell 1 differs: it was '*'n=2'*'now it is'*'n=3'* ]]
  run "$PKRUN" --quiet --resume --seed 3 a.ini
  [ "$status" -eq 2 ]; [[ $output == *"seeds differ: the run has '$(sql 'SELECT seed FROM run')', now it is '3'"* ]]
  run "$PKRUN" --quiet --resume --quick a.ini
  [ "$status" -eq 2 ]; [[ $output == *'--quick differ'* ]]
  run "$PKRUN" --quiet --resume --set global.trials=80 a.ini
  [ "$status" -eq 2 ]; [[ $output == *'settings differ'*'trials=90'*'trials=80'* ]]
  run "$PKRUN" --quiet --resume --set global.energy=9 a.ini
  [ "$status" -eq 2 ]; [[ $output == *'settings differ'*'energy=0.5'*'energy=9'* ]]
  cp --remove-destination "$PKRUN_BUILDDIR/tests/plugins/fake_sleeper.so" fakes/host/sleeper.so
  printf x >>fakes/host/sleeper.so
  run "$PKRUN" --quiet --resume a.ini
  [ "$status" -eq 2 ]; [[ $output == *'the plugin of sleeper is not the file that the run used'* ]]
  [ "$(sql 'SELECT status FROM run')" = interrupted ]
}

@test "--resume of a complete run: its exit code, and only if it is that run" {
  matrix a.ini n=1,2 -- dies ok
  run "$PKRUN" --quiet a.ini
  [ "$status" -eq 3 ]
  before=$(sql 'SELECT max(id) FROM event' && sql 'SELECT count(*) FROM plugin')
  run "$PKRUN" --resume a.ini
  [ "$status" -eq 3 ]; [[ $output == *'run 1 is complete'* ]]
  [ "$before" = "$(sql 'SELECT max(id) FROM event' && sql 'SELECT count(*) FROM plugin')" ]
  [ "$(sql 'SELECT status FROM run')" = complete ]
  run "$PKRUN" --quiet --resume --set global.n=1,3 a.ini
  [ "$status" -eq 2 ]; [[ $output == *'cell 1 differs'* ]]
  run "$PKRUN" --quiet --resume --profile a.ini
  [ "$status" -eq 2 ]; [[ $output == *'--wrap or --profile differ'* ]]
}

@test "--resume of a run under a --wrap command of any length" {
  long=$(printf 'x%.0s' {1..3000})
  matrix a.ini -- ok
  "$PKRUN" --quiet --wrap "env A=${long}1" a.ini >/dev/null
  run -0 "$PKRUN" --resume --wrap "env A=${long}1" a.ini
  [[ $output == *'run 1 is complete'* ]]
  run -2 "$PKRUN" --resume --wrap "env A=${long}2" a.ini
  [[ $output == *"--wrap or --profile differ: the run has 'env A=${long}1', now it is 'env A=${long}2'"* ]]
}

@test "--resume of a block that was cut short hundreds of times" {
  matrix a.ini -- ok
  "$PKRUN" --quiet a.ini >/dev/null
  change pkrun.db "UPDATE run SET status = 'interrupted'" "UPDATE cell SET status = 'pending'" \
    "UPDATE block SET status = 'interrupted'" \
    "INSERT INTO block (cell_id, number, position, started_utc, status, attempt)
       SELECT cell_id, number, 255, started_utc, 'interrupted', 256 FROM block"
  run -0 "$PKRUN" --quiet --resume a.ini
  [ "$(sql "SELECT group_concat(attempt || status, ' ') FROM block")" = '1interrupted 256interrupted 257ok' ]
}

@test "--resume keeps the iterations that auto chose" {
  matrix a.ini iterations=auto n=1..4+1 blocks_min=3 blocks_max=3 -- steady
  start a.ini; wait_for "SELECT count(*) > 0 FROM cell WHERE n = 1 AND iterations > 0"; kill -9 $pid || true; wait $pid || true
  before=$(sql 'SELECT DISTINCT iterations FROM cell WHERE n = 1')
  run "$PKRUN" --quiet --resume a.ini
  [ "$status" -eq 0 ]
  whole 4 3
  [ "$(sql 'SELECT DISTINCT iterations FROM cell WHERE n = 1')" = "$before" ]
  [ "$(sql 'SELECT count(*) FROM (SELECT cell_id FROM trial GROUP BY cell_id HAVING count(DISTINCT iterations) > 3)')" = 0 ]
}

@test "cut off while it calibrates: --resume chooses the iterations anew" {
  matrix a.ini iterations=auto timeout=60 -- steady hang
  FAKE_HANG=deaf start a.ini
  # calibration goes cell by cell; the second never ends
  wait_for "SELECT count(*) FROM cell WHERE series = 'hang' AND blocks > 0"
  kill -9 $pid; wait $pid || true
  [ "$(sql 'SELECT count(iterations) FROM cell')" = 0 ]
  change pkrun.db "UPDATE cell SET status = 'skipped' WHERE series = 'hang'"	# it would hang again
  run -0 "$PKRUN" --quiet --resume a.ini
  [ "$(sql "SELECT iterations > 1 FROM cell WHERE series = 'steady'")" = 1 ]
}

@test "cut off between a cell's last block and its verdict: it needs no further block" {
  for schedule in blocks sequential; do
    matrix a.ini n=1,2 blocks_min=2 blocks_max=2 warmup_runs=0 schedule=$schedule -- ok
    "$PKRUN" --quiet a.ini >/dev/null
    change pkrun.db "UPDATE cell SET status = 'pending' WHERE n = 1" "UPDATE run SET status = 'running', finished_utc = NULL"
    run "$PKRUN" --quiet --resume a.ini
    [ "$status" -eq 0 ]
    whole 2 2
    rm pkrun.db
  done
}

@test "time in which nobody measured, between two sessions, is not taken from a cell's limit" {
  matrix a.ini n=1,2 blocks_min=3 blocks_max=3 warmup_runs=0 -- sleeper
  start a.ini; wait_for "SELECT count(*) > 0 FROM block WHERE status = 'ok'"; kill -9 $pid || true; wait $pid || true
  change pkrun.db "UPDATE block SET started_utc = '2001-01-01T00:00:00.000Z'"
  start --resume a.ini; wait_for "SELECT count(*) > 0 FROM block WHERE started_utc > '2002'"; kill -9 $pid || true; wait $pid || true
  run "$PKRUN" --quiet --resume a.ini
  [ "$status" -eq 0 ]
  whole 2 3
}

@test "retries: a fresh process each time, all of them recorded; the last word counts" {
  matrix a.ini retries=2 -- dies ok
  run "$PKRUN" --quiet a.ini
  [ "$status" -eq 3 ]
  [ "$(cell dies)" = crash ]
  [ "$(sql "SELECT group_concat(b.attempt || b.status) FROM block b JOIN cell c ON c.id = b.cell_id WHERE series = 'dies'")" = \
    '"1crash,2crash,3crash"' ]
  [ "$(sql "SELECT count(*) FROM event WHERE kind = 'retry'")" = 2 ]
  rm pkrun.db
  matrix b.ini retries=1 -- once
  FAKE_TURN=$PWD/turn run "$PKRUN" --quiet b.ini
  [ "$status" -eq 0 ]
  [ "$(cell once)" = ok ]
  [ "$(sql "SELECT group_concat(attempt || status) FROM block")" = '"1crash,2ok"' ]
  [ "$(sql 'SELECT trials FROM summary')" = 3 ]
  rm pkrun.db turn	# so many for each block
  matrix c.ini retries=1 blocks_min=3 blocks_max=3 -- once
  FAKE_TURN=$PWD/turn FAKE_AT=every run "$PKRUN" --quiet c.ini
  [ "$status" -eq 0 ]
  [ "$(sql "SELECT group_concat(attempt || status) FROM block")" = '"1crash,2ok,1crash,2ok,1crash,2ok"' ]
  rm pkrun.db	# and for the calibration
  matrix d.ini retries=1 iterations=auto -- once
  FAKE_TURN=$PWD/turn run -0 "$PKRUN" --quiet d.ini
  [ "$(sql "SELECT group_concat(attempt || status) FROM block")" = 1ok ]
  [ "$(sql "SELECT count(*) FROM event WHERE kind = 'retry'")" = 1 ]
}

@test "two pkruns in one file while a third reads: nothing measured is lost (b01)" {
  matrix a.ini n=1..40+1 trials=1 warmup_runs=0 -- ok
  "$PKRUN" --quiet a.ini >/dev/null 2>err1 & one=$!
  "$PKRUN" --quiet a.ini >/dev/null 2>err2 & two=$!
  for i in 1 2 3 4 5; do "$PKRUN" show pkrun.db >/dev/null 2>&1 || true; sleep 0.1; done
  wait $one; wait $two
  [ ! -s err1 ]; [ ! -s err2 ]
  [ "$(sql 'SELECT count(*) FROM cell')" = 80 ]
  [ "$(sql "SELECT count(*) FROM trial WHERE kind = 'timed' AND verified = 1")" = 80 ]
  [ "$(sql 'SELECT count(*), min(status) FROM run')" = 2,complete ]
}

@test "what the file refuses ends the run as failed, whatever was in the middle, and what it took is there" {
  local what
  matrix a.ini -- flood ok
  sed -i 's/^n = 3/&\nschedule = sequential/' a.ini
  "$PKRUN" --quiet a.ini >/dev/null
  for what in 'INSERT ON block' 'INSERT ON trial' 'INSERT ON metric' 'INSERT ON event' 'UPDATE ON block' 'UPDATE ON cell'; do
    for how in ABORT ROLLBACK; do
      cp pkrun.db b.db
      change b.db "CREATE TRIGGER t BEFORE $what BEGIN SELECT RAISE($how, 'it will not'); END"
      run -3 "$PKRUN" --quiet --db b.db a.ini
      echo "$what, $how: $output"
      [[ $output == *'pkrun: b.db: '*': it will not'* ]]
      [ "$("$PKRUN" query b.db 'SELECT status, finished_utc IS NULL FROM run WHERE id = 2' --format csv | tr -d '\r' | tail -1)" = failed,0 ]
      change b.db 'DROP TRIGGER t'
      run -0 "$PKRUN" --quiet --resume --db b.db a.ini
    done
  done
}

@test "no room for the file: it ends with the path and the cause, what was committed is there (b07)" {
  matrix a.ini n=1..60+1 trials=20 -- ok
  (ulimit -f 1000; "$PKRUN" --quiet a.ini >out 2>err) && code=0 || code=$?
  [ "$code" -eq 3 ] || [ "$code" -eq 2 ]
  grep -q 'pkrun.db: .*\(too large\|full\|disk I/O\)' err
  grep -q 'not stored: ok null n=.* an iteration' err
  [ "$(sql 'PRAGMA integrity_check')" = ok ]
  [ "$(sql "SELECT count(*) > 0 FROM trial")" = 1 ]
}
