#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# pkrun doctor: what it says of the machine, and the A/A floor.
load fakes

@test "every fact has a state; unknown is never shown as ok; the facts are those a run stores" {
  "$PKRUN" doctor --format csv 2>/dev/null | tr -d '\r' >facts
  [ "$(head -1 facts)" = fact,state,value,repair ]
  for fact in date host kernel cpu governor turbo load timer_slack aslr virtualisation clock_tick target_host plugins; do
    grep -q "^$fact," facts
  done
  ! grep -vE '^[^,]*,(ok|warn|unknown|info),|^fact,' facts || false
  ! grep -E '^[^,]*,ok,,' facts || false
  matrix a.ini -- ok
  "$PKRUN" --quiet a.ini >/dev/null
  sql "SELECT key FROM environment WHERE key NOT IN ('process', 'settings') ORDER BY key" | tr -d '"' >stored
  cut -d, -f1 facts | grep -vE '^(fact|target_.*|plugins)$' | sort | diff - stored
}

@test "a variable that serialises launches: a warning with its cure; --strict ends with 5" {
  run --separate-stderr env CUDA_LAUNCH_BLOCKING=1 "$PKRUN" doctor
  [ "$status" -eq 0 ]
  [[ $output == *'$CUDA_LAUNCH_BLOCKING'*warn*'unset CUDA_LAUNCH_BLOCKING'* ]]
  [[ $stderr == *'to put right'* ]]
  run env CUDA_LAUNCH_BLOCKING=1 "$PKRUN" doctor --strict
  [ "$status" -eq 5 ]
}

@test "a target that is asked for and is not there is a warning, and so is to have no variant" {
  "$PKRUN" doctor --format csv 2>/dev/null | tr -d '\r' >facts
  grep -Eq '^target_host,info,1 device,$' facts
  ! grep -E '^target_(hip|cuda),warn' facts || false
  run -5 "$PKRUN" doctor --strict --target cuda --format csv
  [[ $output == *$'\ntarget_cuda,warn,not built,build pkrun where there is nvcc'* ]]
  [[ $output == *$'\nplugins,warn,0,'* ]]
}

@test "what built pkrun and its variants is a fact of each run" {
  "$PKRUN" doctor --format csv >facts 2>/dev/null
  grep -q '^compiler,info,.*[0-9]: .' facts
  grep -q '^compiler_host,info,.*-ffp-contract=off' facts
  matrix a.ini -- ok
  "$PKRUN" --quiet a.ini >/dev/null
  sql "SELECT value FROM environment WHERE key = 'compiler_host'" | grep -q -e '-ffp-contract=off'
}

@test "json parses; usage errors exit with 2" {
  "$PKRUN" doctor --format json >a.json 2>/dev/null
  python3 -c 'import json; r = json.load(open("a.json")); assert "governor" in [f["fact"] for f in r], r'
  run "$PKRUN" doctor --format xml
  [ "$status" -eq 2 ]
  run "$PKRUN" doctor --pairs 3
  [ "$status" -eq 2 ]; [[ $output == *'go with --aa'* ]]
  run "$PKRUN" doctor --aa --pairs 1
  [ "$status" -eq 2 ]
  run "$PKRUN" doctor --target gpu
  [ "$status" -eq 2 ]
  run "$PKRUN" doctor --set global.trials=2
  [ "$status" -eq 2 ]; [[ $output == *'go with --aa'* ]]
  run "$PKRUN" doctor --aa --variant ok --set global.nosuch=1
  [ "$status" -eq 2 ]; [[ $output == *nosuch* ]]
  for set in pair000a.variant=noisy global.variant=noisy global.n=5 global.workload=null global.target=host; do
    run "$PKRUN" doctor --aa --variant ok --n 5 --pairs 2 --blocks 6 --set "$set"
    [ "$status" -eq 2 ]; [[ $output == *"--set $set: "* ]]
  done
  rm -f pkrun.db
  run "$PKRUN" doctor --aa --variant nosuch
  [ "$status" -eq 2 ]; [[ $output == *"has no variant 'nosuch'"* ]]
  run "$PKRUN" doctor a.ini
  [ "$status" -eq 2 ]
  [ ! -e pkrun.db ]
}

@test "--aa measures, stores a floor for each size, and compare uses the largest" {
  export TMPDIR=$PWD/tmp	# that of others may hold anything
  mkdir tmp
  run --separate-stderr "$PKRUN" doctor --aa --target host --variant ok --n 5,7 --pairs 2 --blocks 6 --format csv \
    --set global.isolation=block --set global.trials=2
  [ "$status" -eq 0 ]
  [ "${#lines[@]}" -eq 3 ]
  # of two pairs the larger: a third would lie within it twice in three times
  [[ $stderr == *'floor: 67 of 100 comparisons of a thing with itself lie within it; of 19 pairs it is 19 of 20'* ]]
  [ "$(sql "SELECT n, pairs, variant, workload, floor >= 0 FROM floor ORDER BY n")" = \
    $'5,2,ok,poisson2d,1\n7,2,ok,poisson2d,1' ]
  [ "$(sql "SELECT status, count(*) FROM cell GROUP BY status")" = ok,8 ]
  [ "$(sql "SELECT isolation, (SELECT count(*) FROM trial WHERE kind = 'timed') FROM run")" = block,96 ]
  run "$PKRUN" compare --series pair000a,pair000b pkrun.db
  [ "$status" -eq 0 ]
  [[ $output == *'A/A floor'* ]]
  [ -z "$(ls tmp)" ]
}

@test "run --strict does not start in an unfit environment, and says what is wrong with it" {
  matrix a.ini -- ok
  run env CUDA_LAUNCH_BLOCKING=1 "$PKRUN" --strict a.ini
  [ "$status" -eq 5 ]
  [[ $output == *'$CUDA_LAUNCH_BLOCKING: 1; unset CUDA_LAUNCH_BLOCKING'* ]]
  [ ! -e pkrun.db ]
  run env CUDA_LAUNCH_BLOCKING=1 "$PKRUN" a.ini
  [ "$status" -eq 0 ]
  [[ $output == *'to put right'*'see pkrun doctor'* ]]
}

@test "--aa with a setting of several values pairs like with like" {
  run --separate-stderr clocked "$PKRUN" doctor --aa --target host --variant steady --n 5 --pairs 2 --blocks 6 \
    --set global.iterations=10,1000 --format csv
  [ "$status" -eq 0 ]
  [ "$(sql 'SELECT n, pairs, false_alarms, floor < 0.2 FROM floor')" = 5,4,0,1 ]
}

@test "--aa without its pairs is no success, and no floor" {
  FAKE_FAIL=skip run "$PKRUN" doctor --aa --target host --variant fails --n 5 --pairs 2 --blocks 6
  [ "$status" -eq 3 ]
  [[ $output == *'0 of 2 pairs were measured'* ]]
  [ "$(sql 'SELECT count(*) FROM floor')" = 0 ]
}

@test "--aa ended by a signal: the run ends in order, and nothing is left behind" {
  export TMPDIR=$PWD/tmp
  mkdir tmp
  for signal in TERM HUP; do
    rm -f pkrun.db
    "$PKRUN" doctor --aa --target host --variant sleeper --n 5 --pairs 50 --blocks 1000 2>/dev/null 3>&- &
    pid=$!
    wait_for "$a_trial"
    child=$(cat "/proc/$pid/task/$pid/children")
    [ -n "$child" ]
    kill -"$signal" $pid
    code=0; wait $pid || code=$?
    [ $code -eq 143 ]
    ! alive ${child% } || false
    [ "$(sql 'SELECT status FROM run')" = interrupted ]
    [ -z "$(ls tmp)" ]
  done
}
