#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# pkrun compare on real runs: known-bad pairs, and what makes it a gate.  The
# verdicts themselves are tested in test_compare.c on made-up databases.
load fakes

@test "a slower series is called SLOWER, and is a regression only with --fail-on slower" {
  matrix a.ini blocks_min=7 blocks_max=7 -- ok sleeper
  clocked "$PKRUN" --quiet a.ini >/dev/null
  run --separate-stderr "$PKRUN" compare --series ok,sleeper --fail-on slower pkrun.db
  [ "$status" -eq 1 ]
  [[ $output == *SLOWER* ]]
  [[ $stderr == *'1 of 1 cells slower'* ]]
  "$PKRUN" compare --series ok,sleeper pkrun.db >/dev/null
  run "$PKRUN" compare --series sleeper,ok --fail-on slower,wrong,missing,untestable pkrun.db
  [ "$status" -eq 0 ]
  [[ $output == *FASTER* ]]
}

@test "too few blocks for so many cells: none can be SLOWER, and --fail-on untestable says so" {
  matrix a.ini n=3,4,5,6,7 trials=1 blocks_min=7 blocks_max=7 -- ok sleeper
  clocked "$PKRUN" --quiet a.ini >/dev/null
  run --separate-stderr "$PKRUN" compare --series ok,sleeper --fail-on slower pkrun.db
  [ "$status" -eq 0 ]
  [[ $output == *'5 UNCLEAR'* ]]
  [[ $output == *'none of 7 blocks can be called different (Holm); it takes 8'* ]]
  [[ $stderr == *'--fail-on slower: 5 of 5 cells could not be tested'* ]]
  run "$PKRUN" compare --series ok,sleeper --fail-on slower,untestable pkrun.db
  [ "$status" -eq 1 ]
  [[ $output == *'5 of 5 cells not testable'* ]]
  # of one cell alone 7 blocks are enough
  run "$PKRUN" compare --series ok,sleeper --fail-on slower --only '*/*/null/5' pkrun.db
  [ "$status" -eq 1 ]
  [[ $output == *'1 cell: 1 SLOWER'* ]]
  run "$PKRUN" compare --series ok,sleeper --only 'other*' pkrun.db
  [ "$status" -eq 2 ]; [[ $output == *'pkrun.db: no cell matches --only other*' ]]
  run "$PKRUN" compare --series ok,sleeper --only a --only b pkrun.db
  [ "$status" -eq 2 ]; [[ $output == *'only one is taken' ]]
}

@test "a variant that is wrong in B: DNF, never a ratio; --fail-on wrong" {
  matrix a.ini -- wrong_later ok
  "$PKRUN" --quiet --db a.db a.ini >/dev/null
  run "$PKRUN" --quiet --db b.db --set global.trials=12 a.ini
  [ "$status" -eq 3 ]
  run "$PKRUN" compare a.db b.db
  [ "$status" -eq 0 ]
  [[ $output == *'did not finish: [wrong_later]'*'(B: wrong)'* ]]
  run "$PKRUN" compare --fail-on wrong a.db b.db
  [ "$status" -eq 1 ]
  # the fault lies with B, not with A
  run "$PKRUN" compare --fail-on wrong b.db a.db
  [ "$status" -eq 0 ]
  ratio=$("$PKRUN" compare --format csv a.db b.db 2>/dev/null | tr -d '\r' | grep ^wrong_later | cut -d, -f13)
  [ -z "$ratio" ]
}

@test "a variant that crashes in B; a cell that is missing in B (h01)" {
  matrix a.ini -- dies ok
  FAKE_DEATH=segv FAKE_CALL=1000 "$PKRUN" --quiet --db a.db a.ini >/dev/null
  FAKE_DEATH=segv run "$PKRUN" --quiet --db b.db a.ini
  [ "$status" -eq 3 ]
  run "$PKRUN" compare --fail-on wrong a.db b.db
  [ "$status" -eq 1 ]
  [[ $output == *'did not finish: [dies]'*'(B: crash)'* ]]
  "$PKRUN" --quiet --db c.db --only dies a.ini --set dies.n=4 >/dev/null || true
  "$PKRUN" --quiet --db d.db --only ok a.ini >/dev/null
  run "$PKRUN" compare a.db d.db
  [ "$status" -eq 0 ]
  [[ $output == *'missing: [dies]'*'(only in A)'* ]]
  run "$PKRUN" compare --fail-on missing a.db d.db
  [ "$status" -eq 1 ]
}

@test "what all cells share is said once, variants of one series apart, a reason once a series" {
  "$PKRUN_BUILDDIR/tests/make_db" a.db cells=8 2>/dev/null
  change a.db "UPDATE cell SET params = 'threads=64 tile=' || number || 'x8', series = 'others' WHERE number > 0" \
    "UPDATE cell SET params = 'threads=64' WHERE number = 0"
  cp a.db b.db
  change b.db "UPDATE cell SET status = 'skipped', reason = 'not built' WHERE number > 4" \
    "DELETE FROM trial WHERE cell_id IN (SELECT id FROM cell WHERE number > 4)"
  "$PKRUN" compare a.db b.db >got
  grep -Fxq 'every cell: threads=64' got
  [ "$(grep -v 'did not finish' got | grep -c threads=)" -eq 1 ]
  grep -Eq '^others +persistent_naive +11 +tile=[0-9]x8 ' got
  [ "$(grep -c '^did not finish: ' got)" -eq 1 ]
  grep -q '^did not finish: \[others\] 3 cells (B: skipped): persistent_[a-z]* n=11 threads=64 tile=5x8; .*; .* tile=7x8$' got
  [ "$("$PKRUN" compare --format json a.db b.db | grep -c 'did not finish: ')" -eq 3 ]
  change b.db 'DELETE FROM cell WHERE number > 4'
  "$PKRUN" compare a.db b.db >got
  grep -q '^missing: \[others\] 3 cells (only in A): persistent_.* tile=5x8; .* tile=6x8; .* tile=7x8$' got
  "$PKRUN_BUILDDIR/tests/make_db" c.db cells=800 blocks=1 trials=1 2>/dev/null
  cp c.db d.db
  change d.db "DELETE FROM cell WHERE series = 'naive' AND n > 11"
  "$PKRUN" compare c.db d.db >got
  grep -Eq '^missing: \[naive\] 99 cells \(only in A\): persistent_naive n=21.*; and [0-9]+ more$' got
}

@test "no common cells, no such run, no such file: an error with the reason (h01)" {
  matrix a.ini n=3,4 -- ok
  matrix b.ini n=5 -- ok
  "$PKRUN" --quiet --db a.db a.ini >/dev/null
  "$PKRUN" --quiet --db b.db b.ini >/dev/null
  run "$PKRUN" compare a.db b.db
  [ "$status" -eq 2 ]; [[ $output == *'0 common cells: 2 in A (a.db), 1 in B (b.db)'* ]]
  run "$PKRUN" compare --runs 1,2 a.db
  [ "$status" -eq 2 ]; [[ $output == *'a.db: has no run 2'* ]]
  run "$PKRUN" compare a.db c.db
  [ "$status" -eq 2 ]; [[ $output == *c.db* ]]
  [ ! -e c.db ]
}

@test "a run with itself: ratio 1 exactly, nothing changed (h04)" {
  matrix a.ini n=3,4 -- ok
  "$PKRUN" --quiet a.ini >/dev/null
  run "$PKRUN" compare --fail-on slower,wrong,missing pkrun.db pkrun.db
  [ "$status" -eq 0 ]
  [[ $output == *'2 cells: 2 not testable'* ]]
  [ "$("$PKRUN" compare --format csv pkrun.db pkrun.db 2>/dev/null | tr -d '\r' | tail -n +2 | cut -d, -f13 | sort -u)" = 1 ]
}

@test "an interrupted run is compared, and that it is incomplete is said" {
  matrix a.ini blocks_min=30 blocks_max=30 -- sleeper
  "$PKRUN" --quiet a.ini >/dev/null 3>&- &
  pid=$!
  wait_for "$a_trial"
  kill -TERM $pid
  wait $pid || true
  run "$PKRUN" compare pkrun.db pkrun.db
  [ "$status" -eq 0 ]
  [[ $output == *'run 1 of pkrun.db is incomplete (interrupted)'* ]]
}

@test "a run with cold caches is refused beside one with hot ones, and says that it is one" {
  matrix a.ini -- ok
  "$PKRUN" --quiet --db a.db a.ini >/dev/null
  run "$PKRUN" --quiet --db b.db --set global.cache=cold a.ini
  [ "$status" -eq 0 ]; [[ $output == *'cold: the caches were written over before each trial'* ]]
  [[ $("$PKRUN" show a.db) != *cold* ]]
  run -2 "$PKRUN" compare a.db b.db
  [[ $output == *'b.db: run 1 has cache = cold, run 1 of a.db cache = hot: they are not compared'* ]]
  run -2 "$PKRUN" compare b.db a.db
  [[ $output == *'a.db: run 1 has cache = hot, run 1 of b.db cache = cold'* ]]
  run -0 "$PKRUN" compare b.db b.db
  "$PKRUN" merge c.db a.db b.db
  run -2 "$PKRUN" plot compare c.db -o c.svg
  [[ $output == *'run 1 has cache = hot, run 2 cache = cold: they are not compared'* ]]
  "$PKRUN" report b.db -o b.html
  grep -q 'Cold: the caches were written over' b.html
}

@test "instrumented runs are refused beside plain ones" {
  matrix a.ini -- ok
  "$PKRUN" --quiet --db a.db a.ini >/dev/null
  run "$PKRUN" --quiet --db b.db --wrap 'env A=1' a.ini
  [ "$status" -eq 0 ]
  run "$PKRUN" compare a.db b.db
  [ "$status" -eq 2 ]; [[ $output == *'env A=1'*'instrumented runs are not compared'* ]]
}
