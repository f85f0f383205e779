#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Variants that are wrong, crash, hang or misbehave: each is a result, and the others go on.
load fakes

# one VARIANT STATUS EXIT [KEY=VALUE]...: it ends so between two good cells
one() {
  local v=$1 want=$2 code=$3
  shift 3
  rm -f pkrun.db
  matrix a.ini "$@" -- ok "$v" sleeper
  run "$PKRUN" --quiet a.ini
  [ "$status" -eq "$code" ] || { echo "exit $status: $output"; return 1; }
  [ "$(cell "$v")" = "$want" ] || { echo "$v: $(cell "$v"): $(reason "$v")"; return 1; }
  [ "$(cell ok)" = ok ]
  [ "$(cell sleeper)" = ok ]
  [ "$(sql 'SELECT status FROM run')" = complete ]
}

no_time() { [ -z "$(sql "SELECT median_ns FROM summary WHERE series = '$1'")" ]; }

@test "wrong results: an empty run, poison, counters, guards, inputs (g02, g11)" {
  one lazy wrong 3; no_time lazy
  [[ $(reason lazy) == *'3 of 3 words are wrong, first at [0]: got 0, expected 2'* ]]
  one lazy wrong 3 workload=poisson2d n=21; no_time lazy
  one miscount wrong 3
  [[ $(reason miscount) == *'1 of 3 blocks did not do their 2 steps, the first is block 2 with 1'* ]]
  one overrun wrong 3
  [[ $(reason overrun) == *"behind 'scratch' (800 bytes) were overwritten, the first 24 bytes behind it"* ]]
  one unpoisoned wrong 3
  one input_spoiler wrong 3 workload=poisson2d n=21
  [[ $(reason input_spoiler) == *'an input array was changed'* ]]
}

@test "work that was done in setup is none (f01)" {
  FAKE_AT=setup one lazy wrong 3; no_time lazy
  FAKE_AT=setup one lazy wrong 3 workload=poisson2d n=21
}

@test "stale values are caught although they converge, on any scale (g10)" {
  one stale wrong 3 workload=poisson2d n=21 f_scale=1e-12
  one stale wrong 3 workload=poisson2d n=21
  [[ $(reason stale) == *'first at (10, 1)'*'largest error'* ]]
}

@test "right at first, then wrong; right for small n only (g03)" {
  one wrong_later wrong 3 trials=9
  [[ $(reason wrong_later) == 'timed run'* ]]; no_time wrong_later
  one wrong_later wrong 3 workload=poisson2d n=41
  one wrong_later ok 0 workload=poisson2d n=21
}

@test "NaN is wrong wherever it is, and so is infinity (g01, g05)" {
  for at in first middle last all inf; do
    FAKE_AT=$at one nan wrong 3 workload=poisson2d n=21
    no_time nan
  done
  FAKE_AT=all one nan wrong 3 workload=poisson2d n=21
  [[ $(reason nan) == *'441 of 441 words are wrong, first at (0, 0): got'*nan*'441 are not finite'* ]]
}

@test "a residual norm that is no number, or another, is wrong, and so is none where one was asked for (g01)" {
  matrix a.ini check=2 -- nan
  FAKE_AT=norm run -3 "$PKRUN" --quiet a.ini
  [ "$(reason nan)" = 'warmup run: the residual norm is not a finite number' ]; no_time nan
  rm pkrun.db
  FAKE_AT=no_norm run -3 "$PKRUN" --quiet a.ini
  [ "$(reason nan)" = 'odd run of 5 iterations: no residual_norm, though check = 2' ]; no_time nan
  rm pkrun.db
  FAKE_AT=no_norm_asked run -3 "$PKRUN" --quiet a.ini
  [ "$(reason nan)" = 'odd run of 5 iterations: no residual_norm, though check = 2' ]; no_time nan
  FAKE_AT=no_norm one nan ok 0
  rm pkrun.db; matrix a.ini workload=poisson2d n=21 check=5 -- nan
  FAKE_AT=bad_norm run -3 "$PKRUN" --quiet a.ini
  [[ $(reason nan) == 'odd run of 5 iterations: residual norm 1.5, of the (right) result it is '1.7225934215925* ]]; no_time nan
  # of several the last one is that of the end
  rm pkrun.db
  FAKE_AT=bad_norms run -3 "$PKRUN" --quiet a.ini
  [[ $(reason nan) == 'odd run of 5 iterations: residual norm 2.5, '* ]]
  # nor is it lost among metrics that are too many
  rm pkrun.db; matrix a.ini workload=poisson2d n=21 check=5 -- flood
  run -3 "$PKRUN" --quiet a.ini
  [ "$(reason flood)" = 'odd run of 5 iterations: no residual_norm, though check = 5' ]
  rm pkrun.db
  FAKE_AT=bad_norm run -3 "$PKRUN" --quiet a.ini
  [[ $(reason flood) == 'odd run of 5 iterations: residual norm 1.5, '* ]]
  # that of an earlier iteration is not looked at
  rm pkrun.db; matrix a.ini workload=poisson2d n=21 check=3 -- nan
  FAKE_AT=bad_norm run -0 "$PKRUN" --quiet a.ini
}

@test "what converges is judged by its distance from the fixed point (g10)" {
  one near ok 0 workload=poisson2d n=21 iterations=100
  [ "$(sql "SELECT count(*) > 0, min(value) > 0 FROM metric WHERE name = 'error'")" = 1,1 ]
  FAKE_PART=20 one near wrong 3 workload=poisson2d n=21 iterations=100
  [[ $(reason near) == 'odd run of 49 iterations: '*' from the fixed point, the reference is '*' after 6 iterations (an eighth)' ]]
  FAKE_PART=20 one near wrong 3 workload=poisson2d n=21 iterations=100 f_scale=1e-12
  FAKE_AT=middle one near wrong 3 workload=poisson2d n=21 iterations=100
  [[ $(reason near) == *': inf from the fixed point'* ]]
  # nothing to converge to: bits are demanded
  one near wrong 3
}

@test "work that goes on after wait() is caught (d07)" {
  one early wrong 3
}

@test "crashes: the signal is named; exit(0) is no success (c01)" {
  FAKE_DEATH=segv   one dies crash 3; [[ $(reason dies) == 'killed by SIGSEGV'* ]]; no_time dies
  FAKE_DEATH=abort  one dies crash 3; [[ $(reason dies) == 'killed by SIGABRT'* ]]
  FAKE_DEATH=kill   one dies crash 3; [[ $(reason dies) == 'killed by SIGKILL'* ]]
  FAKE_DEATH=stack  one dies crash 3; [[ $(reason dies) == 'killed by SIGSEGV'* ]]
  FAKE_DEATH=exit0  one dies crash 3; [[ $(reason dies) == 'exited with 0 before it was done'* ]]
  FAKE_DEATH=_exit0 one dies crash 3; [[ $(reason dies) == 'exited with 0 before it was done'* ]]
}

@test "last words are kept with the reason" {
  FAKE_DEATH=words one dies crash 3
  [[ $(reason dies) == *'it printed: the last words of a plugin'* ]]
}

@test "a C++ exception is a crash with its name (c01)" {
  one throws crash 3
  [[ $(reason throws) == *'killed by SIGABRT'*'out of cheese'* ]]
}

@test "a grandchild that holds the pipes open delays nothing (c01)" {
  local before=$SECONDS
  FAKE_DEATH=fork one dies crash 3
  [ $((SECONDS - before)) -lt 30 ]	# so long the grandchild sleeps
}

@test "a plugin that closes every file is noticed" {
  FAKE_DEATH=closes_fds one dies crash 3
  [[ $(reason dies) == *'lost its pipe'* ]]
}

@test "garbage in pkrun's own pipe, or half a message and then the end, or nothing more" {
  FAKE_DEATH=garbage one dies error 3
  [[ $(reason dies) == *'what is not its protocol' ]]
  FAKE_DEATH=half one dies crash 3
  [[ $(reason dies) == 'exited with 0 before it was done'* ]]
  FAKE_DEATH=half_hang one dies hang 4 timeout=1
}

@test "what a plugin writes into pkrun's pipe as one of its messages spoils its own cell at most" {
  local f
  # a metric, a phase and a note whose texts have no end
  for f in 102:112 100:48 101:1000; do FAKE_DEATH=frame FAKE_FRAME=$f one dies ok 0; done
  # a trial of no kind, one of another size, an end before there is one, an unknown type
  for f in 105:152 105:151 108:0 77:3; do
    FAKE_DEATH=frame FAKE_FRAME=$f one dies error 3
    [[ $(reason dies) == *'what is not its protocol' ]]
    [ "$(sql 'PRAGMA integrity_check')" = ok ]
  done
}

@test "a rounding mode or a locale that a variant sets, in its constructor even, is not that of the next" {
  matrix a.ini workload=poisson2d n=21 isolation=block schedule=sequential -- leaves ok nan
  sed -i 's/^\[nan\]/&\ncheck = 5/' a.ini
  for left in round comma; do	# comma: without that locale nothing differs
    FAKE_LEFT=$left FAKE_AT=bad_norm run -3 "$PKRUN" --quiet a.ini
    [ "$(cell leaves)" = ok ] || { reason leaves; return 1; }
    [ "$(cell ok)" = ok ] || { reason ok; return 1; }
    [[ $(reason nan) == *': residual norm 1.5, of the (right) result it is 1.7225934215925'* ]]
    [ "$(sql 'SELECT count(DISTINCT pid) FROM block')" = 1 ]
    rm pkrun.db
  done
}

@test "timers, limits and signals that a variant sets are not those of the next" {
  matrix a.ini isolation=block schedule=sequential timeout=1 -- leaves sleeper hang
  FAKE_LEFT=signals FAKE_HANG=watch run -4 "$PKRUN" --quiet a.ini
  [ "$(cell leaves)" = ok ] || { reason leaves; return 1; }
  [ "$(cell sleeper)" = ok ] || { reason sleeper; return 1; }
  [ "$(sql 'SELECT count(DISTINCT pid) FROM block')" = 1 ]
  [[ $(reason hang) == *'block 3 waited at step 17' ]]	# which it says when it gets SIGTERM
}

@test "a process that a variant slows down, or in which it goes on computing, measures no other" {
  matrix a.ini isolation=block schedule=sequential -- ok leaves sleeper steady
  for left in none slack thread child; do
    rm -f pkrun.db
    FAKE_LEFT=$left run -0 "$PKRUN" --quiet a.ini
    [ "$(sql "SELECT count(*) FROM event WHERE kind = 'teardown'")" = 0 ]
    pids=$(sql "SELECT group_concat(b.pid, ' ') FROM block b JOIN cell c ON c.id = b.cell_id ORDER BY c.number")
    read -r one two three four <<<"$pids"
    echo "$left: $pids"
    [ "$one" = "$two" ]; [ "$three" = "$four" ]
    if [ $left = none ]; then [ "$two" = "$three" ]; else [ "$two" != "$three" ]; fi
  done
  [ "$(nproc)" -gt 1 ] || return 0
  rm pkrun.db
  FAKE_LEFT=pin run -0 "$PKRUN" --quiet a.ini
  [ "$(sql "SELECT count(DISTINCT pid) FROM block")" = 2 ]
}

@test "a process that a variant forked and lets come back measures nothing" {
  FAKE_LEFT=fork one leaves ok 0
  [ "$(sql "SELECT count(*), count(DISTINCT position) FROM trial t JOIN cell c ON c.id = t.cell_id WHERE series = 'leaves'")" = 6,6 ]
  [[ $(sql "SELECT text FROM event WHERE kind = 'output'") == *'a process that the variant forked came back from it, and was ended'* ]]
}

@test "a daemon that a variant starts is ended with its process, and that is said" {
  export FAKE_TURN=$PWD/daemons
  for case in 'daemon ok 0' 'daemon_crash crash 3'; do
    read -r left status code <<<"$case"
    rm -f daemons
    FAKE_LEFT=$left one leaves "$status" "$code"
    [ -s daemons ]
    while read -r pid; do ! alive "$pid" || { kill -9 "$pid"; false; }; done <daemons
    [[ $(sql "SELECT text FROM event WHERE kind = 'output'") == \
      *"$(wc -l <daemons) process"*' that it had started and left behind w'*' ended'* ]]
  done
}

@test "what a variant did itself is not put down to others" {
  FAKE_LEFT=abort one leaves error 3
  [ "$(reason leaves)" = "the variant itself set the abort word, which is pkrun's" ]
  FAKE_LEFT=room one leaves error 3
  [ "$(reason leaves)" = "cannot allocate 18446744073709547520 bytes for 'room': more than memory can have" ]
}

@test "a metric whose name is too long is refused, for cut it could be another's" {
  FAKE_LEFT=name one leaves ok 0
  [ "$(sql 'SELECT DISTINCT length(name), value FROM metric')" = 63,2 ]
  [[ $(sql "SELECT DISTINCT text FROM event WHERE kind = 'said'") == *'a name of 64 bytes, at most 63; not stored'* ]]
}

@test "pkrun and its child stopped together: the time is not held against the child" {
  matrix a.ini timeout=4 trials=40 -- sleeper
  set -m
  "$PKRUN" --quiet a.ini >out 2>err 3>&- &
  pid=$!
  set +m
  wait_for "$a_trial"
  child=$(sql 'SELECT max(pid) FROM block')
  kill -STOP "$child" $pid
  sleep 6	# beyond the limit
  kill -CONT $pid "$child"
  wait $pid
  [ "$(cell sleeper)" = ok ]
}

@test "a variant that waits for a CPU is late, and no hang; one that waits for nothing is" {
  matrix a.ini timeout=1 trials=1 warmup_runs=0 -- computes hang
  cpu=$(taskset -cp $$ | sed 's/.*[ :]\([0-9]*\).*/\1/')
  others=()
  for i in 1 2 3 4; do
    taskset -c "$cpu" bash -c 'while :; do :; done' 3>&- &
    others+=($!)
  done
  FAKE_HANG=watch run taskset -c "$cpu" "$PKRUN" --quiet a.ini
  kill "${others[@]}"
  [ "$status" -eq 4 ]
  [ "$(cell computes)" = ok ] || { reason computes; return 1; }
  [[ $(reason hang) == *'did not end within 1 s'*'block 3 waited at step 17' ]]
}

@test "five of ten trials and then a crash: no time, and the trials are kept (c07)" {
  FAKE_CALL=9 one dies crash 3 trials=10
  no_time dies
  [ "$(sql "SELECT count(*) FROM trial t JOIN cell c ON c.id = t.cell_id WHERE series = 'dies' AND kind = 'timed'")" = 5 ]
  FAKE_CALL=3 one dies crash 3
  [[ $(reason dies) == *"during 'warmup'"* ]]; no_time dies
}

@test "a hang is killed and says where it waited (e01)" {
  FAKE_HANG=watch one hang hang 4 timeout=1
  [[ $(reason hang) == "'first' did not end within 1 s (limit: timeout of the matrix); block 3 waited at step 17" ]]
}

# as one does that polls a plain int, which the compiler reads once
@test "a hang that ignores SIGTERM is killed two seconds later (e06)" {
  FAKE_HANG=deaf one hang hang 4 timeout=1
  [[ $(reason hang) == *'ignored SIGTERM for 2 s and was killed' ]]
}

@test "a device that does not answer after a hang: its other cells are skipped" {
  matrix a.ini schedule=sequential timeout=1 -- ok hang sleeper
  FAKE_HANG=watch FAKE_PROBE=fail run "$PKRUN" --quiet a.ini
  [ "$status" -eq 4 ]
  [ "$(cell ok)" = ok ]; [ "$(cell hang)" = hang ]; [ "$(cell sleeper)" = skipped ]
  [[ $(reason sleeper) == 'device lost: after a hang a probe failed: the fake was told to fail' ]]
  [[ $output == *'device lost'* ]]
}

@test "skips, failures and what a variant itself finds wrong come with the variant's words" {
  FAKE_FAIL=skip one fails skipped 0; [ "$(reason fails)" = 'needs 3 legs' ]
  FAKE_FAIL=setup one fails error 3; [ "$(reason fails)" = 'setup.c:7: hipMalloc: out of memory' ]
  FAKE_FAIL=run one fails error 3; [ "$(reason fails)" = 'launch failed' ]
  FAKE_FAIL=wrong one fails wrong 3; [ "$(reason fails)" = 'leg 2: got 3, expected 4' ]
  FAKE_FAIL=silent one fails error 3; [ "$(reason fails)" = 'fails: run() gave no reason' ]
  FAKE_FAIL=odd one fails error 3; [[ $(reason fails) == *'returned 42, which is no status' ]]
}

@test "a grid that cannot be resident is refused with both numbers" {
  one resident refused 0 n=65
  [[ $(reason resident) == '65 blocks of 256 threads do not fit: at most 64 can be resident at once'* ]]
  one resident ok 0 n=64
}

@test "no room for its arrays: an error with their size" {
  matrix a.ini workload=poisson2d n=401 -- ok
  FAKE_ROOM=1000000 run -3 "$PKRUN" --quiet a.ini
  [ "$(reason ok)" = 'u, 1286408 bytes: out of memory' ]
  rm pkrun.db
  ASAN_OPTIONS=$ASAN_OPTIONS:allocator_may_return_null=1 run -3 "$PKRUN" --quiet --set global.n=536870912 a.ini
  [[ $(reason ok) == 'poisson2d: out of memory for the initial arrays, 4611686018427387904 bytes' ]]
}

@test "no cooperative launch: skipped, not launched otherwise (e11)" {
  FAKE_COOPERATIVE=0 one resident skipped 0
  [ "$(reason resident)" = 'fake host has no cooperative launch' ]
}

@test "floods of output, metrics and notes are bounded and mixed with nothing, nor stored beside a trial" {
  matrix a.ini -- flood
  run --separate-stderr "$PKRUN" --quiet --format csv a.ini
  [ "$status" -eq 0 ]
  [ -z "$stderr" ]
  [[ $output != *'nobody asked for'* ]]
  [ "$(sql "SELECT count(*) FROM metric WHERE trial_id IS NOT NULL")" -eq $((6 * 4096)) ]
  [ "$(sql "SELECT count(*) FROM event WHERE kind = 'output' AND length(text) < 20000")" -eq 1 ]
  [ "$(sql "SELECT count(*) FROM event WHERE text LIKE '904 metrics and 36 notes too many%'")" -eq 6 ]
}

@test "another who has the database for longer than a trial may take makes no hang of it" {
  matrix a.ini timeout=3 trials=30 -- flood
  "$PKRUN" --quiet a.ini >out 2>err 3>&- & pid=$!
  wait_for "$a_trial"
  python3 - <<'END'
import sqlite3, time
db = sqlite3.connect("pkrun.db", timeout=60, isolation_level=None)
db.execute("BEGIN IMMEDIATE")
time.sleep(5)
db.execute("ROLLBACK")
END
  wait $pid
  [ "$(cell flood)" = ok ]
}

@test "a flood of progress is drawn 20 times a second at most, and is no sign of life" {
  matrix a.ini -- progress
  for how in calls frames; do
    rm -f pkrun.db
    begin=$(date +%s%N)
    FAKE_PROGRESS=$how shown '"$PKRUN" a.ini' >lines
    n=$(grep -c 'of this trial' lines) || true
    most=$((($(date +%s%N) - begin) / 50000000 + 1))
    echo "$how: $n lines, at most $most"
    [ "$n" -ge 6 ]; [ "$n" -le "$most" ]
    [ "$(cell progress)" = ok ]
  done
  FAKE_PROGRESS=frames one progress ok 0
  begin=$SECONDS
  FAKE_PROGRESS=hang one progress hang 4 timeout=1
  [ $((SECONDS - begin)) -lt 10 ]
  [[ $(reason progress) == *'ignored SIGTERM for 2 s and was killed' ]]
}

@test "threads, atexit handlers and destructors that outlive teardown harm nothing (c08)" {
  one late_thread ok 0
}

@test "a crash or a hang in teardown leaves the results as they are (c12)" {
  one bad_teardown ok 0
  [[ $(sql "SELECT text FROM event WHERE kind = 'teardown'") == *SIGSEGV* ]]
  FAKE_HANG=1 one bad_teardown ok 0 timeout=1
  [[ $(sql "SELECT text FROM event WHERE kind = 'teardown'") == *'killed'* ]]
}

# ---- interruptions (b03, b10) ----

# start: pkrun in the background, some cells done and many yet to do
start() {
  matrix a.ini trials=3 warmup_runs=0 n=1..300+1 -- sleeper
  "$PKRUN" a.ini >out 2>err 3>&- & pid=$!
  wait_for "SELECT count(*) > 1 FROM block WHERE status = 'ok'"
}

@test "SIGINT, SIGTERM, SIGHUP: what was measured is kept, the run is marked" {
  for s in INT:130 TERM:143 HUP:143; do
    rm -f pkrun.db
    set -m; start; set +m
    kill -"${s%:*}" $pid
    code=0; wait $pid || code=$?
    [ "$code" -eq "${s#*:}" ]
    [ "$(sql 'SELECT status FROM run')" = interrupted ]
    [ "$(sql "SELECT count(*) > 0 FROM cell WHERE status = 'ok'")" = 1 ]
    [ "$(sql "SELECT count(*) > 0 FROM cell WHERE status = 'pending'")" = 1 ]
    [ "$(sql 'PRAGMA integrity_check')" = ok ]
  done
}

@test "a second signal ends within a second, whatever the child does" {
  matrix a.ini timeout=60 -- hang
  # with one signal it takes two seconds; a busy machine may be late once, and is asked again
  for try in 1 2 3 4 5; do
    rm -f pkrun.db*
    set -m
    FAKE_HANG=deaf "$PKRUN" a.ini >out 2>err 3>&- & pid=$!
    set +m
    wait_for "SELECT count(*) FROM block WHERE status = 'running'"
    sleep 0.5	# until it hangs
    kill -INT $pid; sleep 0.3; kill -INT $pid
    before=$(date +%s%N)
    code=0; wait $pid || code=$?
    ms=$((($(date +%s%N) - before) / 1000000))
    [ "$code" -eq 130 ]
    [ $ms -ge 1000 ] || break
  done
  [ $ms -lt 1000 ]
}

@test "kill -9 of pkrun: the child goes too, the database is whole" {
  for i in 1 2 3; do
    rm -f pkrun.db*
    set -m; start; set +m
    kill -9 $pid
    wait $pid || true
    [ "$(sql 'PRAGMA integrity_check')" = ok ]
    [ "$(sql 'SELECT status FROM run')" = running ]
    child=$(sql 'SELECT pid FROM block ORDER BY id DESC LIMIT 1')
    end=$((SECONDS + 30))
    while alive "$child" && [ $SECONDS -lt $end ]; do sleep 0.05; done
    ! alive "$child" || false
  done
}

@test "a stdout that takes nothing is an error, for a part of the results could pass for all of them" {
  matrix a.ini -- ok
  for format in table json; do
    run -2 bash -c '"$PKRUN" --quiet --format '$format' a.ini >/dev/full'
    [[ $output == *'cannot write to stdout: No space left on device; `pkrun show pkrun.db --run '[12]'` prints the run again' ]]
  done
  run -2 bash -c '"$PKRUN" --quiet a.ini >&-'
  [[ $output == *'cannot write to stdout: Bad file descriptor'* ]]
  [ "$(sql "SELECT count(*) FROM run WHERE status = 'complete'")" = 3 ]
  run -2 bash -c '"$PKRUN" --quiet --dry-run a.ini >/dev/full'
  [ "$output" = 'pkrun: cannot write: No space left on device' ]
}

@test "a closed stdout harms nothing" {
  matrix a.ini -- ok
  "$PKRUN" --quiet a.ini | true
  [ "${PIPESTATUS[0]}" -eq 0 ]
  [ "$(sql 'SELECT status FROM run')" = complete ]
}
