#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# pkrun show: the closing table, for people and for programs (h05, h09, h11, h13).
load setup

make_db() { "$PKRUN_BUILDDIR/tests/make_db" "$@" 2>/dev/null; }

# A column of a CSV file, by name, with Python's reader; one line of JSON a row.
csv_column() {
  python3 -c 'import csv, json, sys
rows = list(csv.DictReader(open(sys.argv[1], newline="", encoding="utf-8")))
assert all(len(r) == len(rows[0]) and None not in r for r in rows)
for r in rows: print(json.dumps(r[sys.argv[2]]))' "$1" "$2"
}

@test "a run as a table: what, where, how fast, against what" {
  make_db a.db cells=8
  run "$PKRUN" show a.db
  [ "$status" -eq 0 ]
  [[ ${lines[0]} == "run 1: made.ini, "*", complete" ]]
  [[ $output == *"speed-up against [queued]"* ]]
  [[ $output == *"poisson2d on host, Made-up GPU, 1000 iterations"* ]]
  [[ $output == *"released by the host"*persistent_naive*"released by the device"*persistent_device* ]]
  grep -Eq '^queued +launch +11 +threads=256 +6\.[01][0-9] us +1\.00x +15  ok$' <<<"$output"
  grep -Eq '^graph +11 +threads=64 +2\.[0-9]+ us +2\.[34][0-9]x +15  ok$' <<<"$output"
}

@test "the A/A floor of the run's device, the last of each size, stands below the table" {
  make_db a.db cells=3
  run -0 "$PKRUN" show a.db
  [[ $output != *'A/A floor'* ]]
  change a.db "INSERT INTO floor (at_utc, device_id, host, variant, workload, n, pairs, false_alarms, floor) VALUES ('x', 1, 'h', 'launch', 'poisson2d', 11, 20, 0, 0.5), ('y', 1, 'h', 'launch', 'poisson2d', 1001, 20, 0, 0.00382), ('z', 1, 'h', 'launch', 'poisson2d', 11, 20, 0, 0.057)"
  run -0 "$PKRUN" show a.db
  [[ ${lines[-1]} == *'(A/A floor): launch n=11 5.7 %, launch n=1001 0.38 %' ]]
  change a.db "UPDATE floor SET pairs = 2 WHERE n = 1001"
  run -0 "$PKRUN" show a.db
  [[ ${lines[-1]} == *'launch n=11 5.7 %, launch n=1001 0.38 % (of 2 pairs, 2 cases of 3)' ]]
  change a.db "UPDATE floor SET device_id = NULL"
  run -0 "$PKRUN" show a.db
  [[ $output != *'A/A floor'* ]]
}

@test "energy with a unit that fits" {
  make_db a.db cells=3
  change a.db "INSERT INTO metric (cell_id, name, value, unit) SELECT id, 'energy_uj', CASE number WHEN 0 THEN 950.4 WHEN 1 THEN 4600 ELSE 281e3 END, 'uJ/iteration' FROM cell"
  run -0 "$PKRUN" show a.db
  [[ $output == *' energy '*'950 uJ '*'4.60 mJ '*'281 mJ '* ]]
}

@test "intervals of time and of speed-up once there are enough blocks" {
  make_db a.db cells=3 blocks=10
  COLUMNS=140 run "$PKRUN" show a.db
  grep -Eq '^synced .* 12\.[0-9] us +12\.[0-9]\.\.12\.[0-9] us +0\.50x +0\.(49|50)\.\.0\.50 ' <<<"$output"
  "$PKRUN" show a.db --format json >a.json
  python3 - <<'END'
import json
rows = json.load(open("a.json"))
base, synced, graph = rows
assert base["speedup"] == 1 and base["speedup_lo"] is None
for r in synced, graph:
    assert r["median_lo_ns"] <= r["median_ns"] <= r["median_hi_ns"]
    assert r["speedup_lo"] <= r["speedup"] <= r["speedup_hi"]
    assert abs(r["speedup"] / (base["median_ns"] / r["median_ns"]) - 1) < 0.01
END
}

@test "a speed-up is one of blocks side by side, as its interval is: whichever of the two was measured for longer" {
  make_db a.db cells=3 blocks=12 trials=1
  # the machine takes twice as long from block 7 on, when graph has ended
  change a.db "DELETE FROM trial WHERE cell_id = 3 AND block_id IN (SELECT id FROM block WHERE number > 6)" \
    "UPDATE trial SET wall_ns = (SELECT CASE WHEN number > 6 THEN 2000000 ELSE 1000000 + 1000 * number END FROM block WHERE id = block_id)" \
    "UPDATE trial SET wall_ns = wall_ns / 2 WHERE cell_id = 3"
  "$PKRUN" show a.db --format csv | tr -d '\r' >a.csv
  # over the medians of 12 and of 7 blocks it would be 1005500 / 501500 = 2.005
  [ "$(cut -d, -f 3,21-23 a.csv | tail -1)" = graph,2,2,2 ]
  # too few beside each other for an interval: of the medians
  change a.db "DELETE FROM trial WHERE cell_id = 3 AND block_id IN (SELECT id FROM block WHERE number > 4)"
  "$PKRUN" show a.db --format json | python3 -c 'import json, sys
base, _, graph = json.load(sys.stdin)
assert graph["speedup_lo"] is None and graph["speedup"] == base["median_ns"] / graph["median_ns"]'
}

@test "blocks of a sequential run were not side by side: no interval of the speed-up" {
  make_db a.db cells=3 blocks=10 trials=1
  change a.db "UPDATE run SET schedule = 'sequential'" \
    "UPDATE trial SET wall_ns = (SELECT 1000000 + 1000 * (10 * cell_id + number) FROM block WHERE id = block_id)"
  "$PKRUN" show a.db --format json | python3 -c 'import json, sys
base, *others = json.load(sys.stdin)
for r in others:
    assert r["speedup_lo"] is None and r["speedup_hi"] is None and r["median_lo_ns"] > 0
    assert r["speedup"] == base["median_ns"] / r["median_ns"]'
  run "$PKRUN" show a.db
  [[ $output == *'sequential: a cell after the other, so that drift looks like a difference; no interval of a speed-up'* ]]
}

@test "a factor has two digits at least, and so has its interval" {
  make_db a.db cells=4 blocks=10
  change a.db "UPDATE trial SET wall_ns = wall_ns * 1000000 WHERE cell_id = 4"
  "$PKRUN" show a.db >got
  cat got
  grep -Eq '^naive .* 0\.000000026x +0\.00000002[56]\.\.0\.00000002[67] ' got
  grep -Eq '^graph .* 2\.[34][0-9]x +2\.[34][0-9]\.\.2\.4[0-9] ' got
}

@test "an absurd time hides neither the others nor itself (b09)" {
  make_db a.db cells=4
  change a.db "UPDATE trial SET wall_ns = 9223372036854775807, host_cpu_ns = 9223372036854775807 WHERE cell_id = 2" \
    "UPDATE trial SET iterations = 0 WHERE cell_id = 3"
  run "$PKRUN" show a.db
  [ "$status" -eq 0 ]
  grep -q '^queued .* 6\.[01][0-9] us ' <<<"$output"
  grep -q '^synced .* 9\.22e+06 s ' <<<"$output"
  grep -q '^graph .* -  *15  ok$' <<<"$output"
  run -0 "$PKRUN" query a.db 'SELECT * FROM cost'
  run -0 "$PKRUN" compare a.db a.db
  run -0 "$PKRUN" report a.db -o a.html
}

@test "a baseline that took no time, less than none, or has no time is no baseline; the others are (h03)" {
  make_db a.db cells=32 blocks=1 trials=1	# 8 series at 4 sizes
  change a.db "UPDATE trial SET wall_ns = c.time FROM (SELECT id, n, CASE n WHEN 11 THEN 0 WHEN 21 THEN NULL WHEN 31 THEN -5 ELSE 9000000 END AS time
    FROM cell WHERE series = 'queued') c WHERE c.id = cell_id"
  run -0 "$PKRUN" show a.db
  [ "$(grep -Ec '^[a-z]+ .* [0-9.]+ [un]s +([0-9.]+x)? +1  ok$' <<<"$output")" -eq 29 ]
  [ "$(grep -Ec ' [0-9.]+x ' <<<"$output")" -eq 8 ]
  [ "$(grep -Ec '^queued .* - +1  ok$' <<<"$output")" -eq 3 ]
  grep -Fxq '  graph, 3 cells, n=11, 21, 31: [queued] has no time for the same' <<<"$output"
  [[ ${output,,} != *nan* && ${output,,} != *inf* ]]
  [ "$("$PKRUN" query a.db 'SELECT count(speedup), sum(speedup <= 0) FROM summary' --format csv | tail -1 | tr -d '\r')" = 8,0 ]
}

@test "a cell without a time says why, and is never 0 (h09)" {
  make_db a.db cells=18 kind=mixed
  run "$PKRUN" show a.db
  [ "$status" -eq 0 ]
  for words in imprecise skipped refused 'WRONG RESULT' CRASHED 'HUNG (timeout)' FAILED 'not finished'; do
    grep -q " $words\$" <<<"$output"
  done
  grep -Eq '^doorbell +persistent_doorbell +11 +threads=64 +- +CRASHED$' <<<"$output"
  grep -q '  doorbell n=11: CRASHED: made up to fail' <<<"$output"
  grep -q '16 of 18 cells' <<<"$output"
  "$PKRUN" show a.db --format csv >a.csv
  python3 - <<'END'
import csv
bad = [r for r in csv.DictReader(open("a.csv", newline="")) if r["status"] in
       ("wrong", "crash", "hang", "error", "skipped", "refused", "pending")]
assert len(bad) == 14
assert all(r["median_ns"] == r["min_ns"] == r["max_ns"] == r["speedup"] == "" for r in bad)
END
}

@test "parameters that all rows share stand in the head line, what differs in the rows" {
  make_db a.db cells=6
  change a.db "UPDATE cell SET params = 'threads=64 tile=8x8'" \
    "UPDATE cell SET params = 'threads=64 tile=16x16' WHERE number = 2" \
    "UPDATE cell SET params = 'threads=64' WHERE number = 3"
  run "$PKRUN" show a.db
  grep -Fxq 'poisson2d on host, Made-up GPU, 1000 iterations, threads=64' <<<"$output"
  [ "$(grep -c threads= <<<"$output")" -eq 1 ]
  grep -Eq '^synced +launch_sync +11 +tile=8x8 +[0-9]' <<<"$output"
  grep -Eq '^graph +11 +tile=16x16 +[0-9]' <<<"$output"
  [ "$(grep -c tile= <<<"$output")" -eq 5 ]
  run "$PKRUN" show a.db --format markdown
  grep -Fxq '### poisson2d on host, Made-up GPU, 1000 iterations, threads=64' <<<"$output"
  grep -Fq '| tile=16x16 |' <<<"$output"
  [[ $("$PKRUN" show a.db --format csv) == *,threads=64\ tile=8x8,* ]]
}

@test "a default stands in its row where it tells that row from another, and only there" {
  make_db a.db cells=6
  change a.db "UPDATE cell SET variant = 'launch_sync' WHERE number = 2" \
    "UPDATE cell SET params = 'threads=64 pad=64' WHERE number = 2" \
    "INSERT INTO param SELECT id, 'variant', 'pad', CASE number WHEN 2 THEN '64' ELSE '128' END, number <> 2
     FROM cell WHERE number IN (1, 2, 4)" \
    "INSERT INTO param SELECT id, 'common', 'sweep', 'auto', 1 FROM cell"
  "$PKRUN" show a.db >got
  grep -Eq '^queued .* threads=256 +6\.' got
  grep -Eq '^synced .* threads=64 pad=128 +12\.' got
  grep -Eq '^graph .* threads=64 pad=64 +2\.' got
  grep -Eq '^poller .* threads=64 +5' got      # no other cell of its variant has pad otherwise
  ! grep -q sweep got || false                 # of the same value in all
  "$PKRUN" show a.db --format markdown | grep -Fq '| threads=64 pad=128 |'
  "$PKRUN" show a.db --format csv >a.csv       # as it is stored, for programs
  [ "$(csv_column a.csv params | sort | uniq -c | tr -s ' ')" = $' 2 ""\n 1 "threads=64 pad=64"\n 3 "threads=64"' ]
  make_db b.db cells=1
  ! "$PKRUN" show b.db | grep -q parameters || false
}

@test "into a pipe nothing is cut and no column goes" {
  make_db a.db cells=6 blocks=10
  change a.db "UPDATE cell SET series = 'a series with a name that is much longer than any column' WHERE number = 1" \
    "UPDATE cell SET params = 'mean_steps=100 lengths=constant producers=2 capacity=8 poll=acquire' WHERE number = 2"
  "$PKRUN" show a.db >a.txt 2>a.err
  [ ! -s a.err ]
  ! grep -q '\.\.\. ' a.txt || false
  grep -q 'a series with a name that is much longer than any column ' a.txt
  grep -q ' mean_steps=100 lengths=constant producers=2 capacity=8 poll=acquire ' a.txt
  grep -q 'time/iteration  95 % interval  speed-up .*95 % of it .*trials  status$' a.txt
  COLUMNS=100 "$PKRUN" show a.db >/dev/null 2>a.err
  grep -q 'do not fit 100 columns' a.err
  change a.db "UPDATE cell SET status = 'crash', reason = 'boom' WHERE number = 1"
  "$PKRUN" show a.db >a.txt
  grep -q '^  a series with a name that is much longer than any column n=11.*: CRASHED: boom$' a.txt
}

@test "what tells rows apart wraps on a narrow terminal, whole" {
  make_db a.db cells=6
  change a.db "UPDATE cell SET series = 'ring', variant = 'queue_ring',
    params = 'mean_steps=100 producers=' || number || ' capacity=' || number || ' poll=acquire_'
    || number || ' memory=noncoherent_' || number || ' order=seq_cst_' || number"
  COLUMNS=80 "$PKRUN" show a.db >a.txt 2>/dev/null
  for i in 0 1 2 3 4 5; do
    for name in producers= capacity= poll=acquire_ memory=noncoherent_ order=seq_cst_; do
      grep -q "$name$i\( \|$\)" a.txt
    done
  done
  ! grep -q '\.\.\.' a.txt || false
  [ "$(awk '{ if (length > n) n = length } END { print n }' a.txt)" -le 80 ]
}

@test "cells of one series with the same reason are one line, that says how many and which" {
  make_db a.db cells=9
  change a.db "UPDATE cell SET series = 'others', status = 'skipped', reason = 'does not drive it',
    variant = 'halo', params = 'length=' || number WHERE number < 5" \
    "UPDATE cell SET n = 21 WHERE number = 4" \
    "UPDATE cell SET series = 'others', variant = 'naive', params = 'length=7', reason = 'not_steady: 1, 2' WHERE number = 5" \
    "UPDATE cell SET series = 'pair', variant = 'v' || number, status = 'refused', reason = 'too new' WHERE number > 5"
  "$PKRUN" show a.db | sed '1,/^why:$/d' >got
  cat >want <<'END'
  others halo, 5 cells, n=11, 21: skipped: does not drive it
  others naive n=11 length=7: ok: not_steady: 1, 2
  pair, 3 cells of v6, v7, v8, n=11, 21: refused: too new
END
  diff want got
  "$PKRUN" show a.db --format markdown | sed '1,/^why$/d' >got
  grep -Fxq -e '- others naive n=11 length=7: ok: not\_steady: 1, 2' got
  [ "$("$PKRUN" show a.db --format json | grep -c 'does not drive it')" -eq 5 ]
}

@test "lines below a table go on further in where they are longer than the terminal, whole" {
  make_db a.db kind=full
  reason='the device has not enough of what it would take to have every block of this grid resident at once'
  change a.db "UPDATE cell SET status = 'refused', reason = '$reason' WHERE number = 9"
  COLUMNS=80 "$PKRUN" show a.db >a.txt 2>/dev/null
  [ "$(awk '{ if (length > n) n = length } END { print n }' a.txt)" -le 80 ]
  tr -s ' \n' ' ' <a.txt >flat
  grep -Fq " poller (null on host) n=9: refused: $reason " flat
  grep -Eq ' Persistent pays below [^ ]+ us a step on this device \(.*\); released by the host, ' flat
  "$PKRUN" show a.db >whole
  grep -Fxq "  poller (null on host) n=9: refused: $reason" whole
}

@test "cells whose plugin was not loaded are one line a series and reason" {
  make_db a.db cells=8
  change a.db "UPDATE cell SET plugin_id = NULL, target = 'hip', device_id = NULL, series = 'gpu',
    status = 'skipped', reason = 'target hip: not built' WHERE number > 3"
  "$PKRUN" show a.db >got
  grep -Exq '  gpu, 4 cells of [a-z_, ]+, n=11: skipped: target hip: not built' got
  grep -A2 '^poisson2d on hip' got | grep -qx 'not loaded:'
  [ "$(grep -c 'not built' got)" -eq 1 ]
  ! grep -q '^why:' got || false
  [ "$("$PKRUN" show a.db --format csv | grep -c 'not built')" -eq 4 ]
}

@test "--failures and --environment" {
  make_db a.db cells=9 kind=mixed
  run "$PKRUN" show a.db --failures
  [ "$status" -eq 0 ]
  [ "$(grep -c '^cell ' <<<"$output")" -eq 5 ]
  grep -A2 -Fx 'cell 4: poller (persistent_poller), poisson2d on host, n=11, threads=64' <<<"$output" >got
  [ "$(tail -2 got)" = $'  WRONG RESULT: made up to fail\n  3 processes, 15 trials with a wrong result' ]
  [ "$("$PKRUN" show a.db --failures --format csv | wc -l)" -eq 6 ]
  run "$PKRUN" show a.db --environment
  [[ ${lines[3]} == throttle*unknown* ]]
  [[ ${lines[2]} == governor*powersave*warn*"cpupower frequency-set -g performance"* ]]
  "$PKRUN" show a.db --environment --format json | python3 -c 'import json, sys
assert json.load(sys.stdin)[1] == {"key": "throttle", "value": None, "state": "unknown", "repair": None}'
}

@test "--failures without any says so in one line; csv and json are empty lists" {
  make_db a.db cells=9
  run "$PKRUN" show a.db --failures
  [ "$status" -eq 0 ]
  [ "$output" = 'run 1, complete: no cell was wrong, refused, crashed, hung or failed' ]
  [ "$("$PKRUN" show a.db --failures --format markdown)" = "$output" ]
  [ "$("$PKRUN" show a.db --failures --format json)" = '[]' ]
  [ "$("$PKRUN" show a.db --failures --format csv | wc -l)" -eq 1 ]
  change a.db "UPDATE cell SET status = 'skipped' WHERE number < 2" "UPDATE run SET cells = 12, status = 'interrupted'"
  run "$PKRUN" show a.db --failures
  [ "$output" = 'run 1, interrupted: no cell was wrong, refused, crashed, hung or failed; 2 skipped; 3 not finished' ]
  make_db b.db cells=0
  [ "$("$PKRUN" show b.db --failures)" = 'run 1, complete: no cell was wrong, refused, crashed, hung or failed' ]
}

@test "a row without a speed-up: what the baseline has not, in a line a series" {
  make_db a.db cells=24
  ! "$PKRUN" show a.db | grep -q '^no speed-up' || false
  change a.db "UPDATE cell SET params = ''" "DELETE FROM param" \
    "UPDATE cell SET n = 1001 WHERE series = 'naive' AND n = 11" \
    "UPDATE cell SET iterations = 5 WHERE series = 'naive' AND n = 31" \
    "UPDATE cell SET n = 1001, iterations = 5, series = 'long, gpu' WHERE series = 'poller'" \
    "UPDATE cell SET workload = 'null' WHERE series = 'graph'" \
    "UPDATE cell SET status = 'hang' WHERE series = 'queued' AND n = 21" \
    "UPDATE cell SET iterations = 7 WHERE series = 'queued' AND n = 31" \
    "UPDATE cell SET iterations = 7 WHERE series = 'barrier' AND n = 11" \
    "UPDATE cell SET n = 11 WHERE series NOT IN ('queued', 'graph') AND n = 31" \
    "UPDATE cell SET status = 'crash' WHERE series = 'synced' AND n = 21"
  "$PKRUN" show a.db >a.txt
  sed -n '/^no speed-up:/,/^$/p' a.txt >got
  cat >want <<'END'
no speed-up:
  naive n=1001: [queued] has no cell with the same n
  long, gpu, 3 cells, n=1001: [queued] has no cell with the same n and iterations
  barrier n=11 iterations=7: [queued] has no cell with the same n, iterations and work
  naive n=21: [queued] has no time for the same
  doorbell n=21: [queued] has no time for the same
  barrier n=21: [queued] has no time for the same
  neighbours n=21: [queued] has no time for the same
  naive n=11: [queued] has no cell with the same iterations

no speed-up:
  graph, 3 cells, n=11, 21, 31: [queued] has no cell of this workload on this target
END
  diff want got
  "$PKRUN" show a.db --format markdown | grep -Fxq -e '- naive n=1001: \[queued\] has no cell with the same n'
  change a.db "UPDATE run SET baseline = NULL"
  ! "$PKRUN" show a.db | grep -q '^no speed-up' || false
}

@test "labels that break careless output come back whole from CSV and JSON (h05)" {
  make_db a.db cells=8 kind=labels blocks=1 trials=1
  "$PKRUN" show a.db --format csv >a.csv
  csv_column a.csv series >got
  cat >want <<'END'
"tile(8,16) \"fast\""
"two\nlines"
"=1+1"
"a\ttab"
""
"\u001b[31mred"
"\u6838\u5fc3"
"\ud83d\ude80 rocket"
END
  diff want got
  "$PKRUN" show a.db --format json >a.json
  python3 -c 'import json
for r in json.load(open("a.json")): print(json.dumps(r["series"]))' >got
  diff want got
}

@test "long and foreign labels: cut with a mark, control characters escaped, columns line up (h13)" {
  make_db a.db cells=8 kind=labels
  python3 - <<'END'
import sqlite3
db = sqlite3.connect("a.db")
db.execute("UPDATE cell SET series = ? WHERE number = 0", ("x" * 300,))
db.execute("UPDATE cell SET series = ? WHERE number = 1", ("y" * 10000,))
db.commit()
END
  COLUMNS=80 "$PKRUN" show a.db >a.txt
  ! grep -q $'\033' a.txt || false
  grep -q 'x\.\.\. ' a.txt
  python3 - <<'END'
import unicodedata
wide = lambda s: sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in s)
lines = open("a.txt", encoding="utf-8").read().split("\n")
assert max(map(wide, lines)) <= 80, max(map(wide, lines))
ends = {wide(l[:l.rindex("  ok")]) for l in lines if l.endswith("  ok")}
assert len(ends) == 1, ends
END
  "$PKRUN" show a.db --format csv >a.csv
  [ "$(csv_column a.csv series | head -2 | tail -1 | wc -c)" -eq 10003 ]
}

@test "40 columns wide, piped, in the C locale: lines up, fits, ASCII, and says what went (h11)" {
  make_db a.db cells=8 blocks=7
  COLUMNS=40 LC_ALL=C "$PKRUN" show a.db >a.txt 2>a.err
  grep -v -e '^run' -e '^speed-up against' -e '^released' -e '^poisson2d on' a.txt |
    awk 'length > 40 { exit 1 }'
  ! LC_ALL=C grep -q '[^ -~]' a.txt || false
  grep -q 'some columns do not fit 40 columns' a.err
  grep -Eq '^queued +11 +thread\.\.\. +6\.[0-9]+ us' a.txt
}

@test "one unit a column for programs, named in its head (h11)" {
  make_db a.db cells=4
  "$PKRUN" show a.db --format csv >a.csv
  head -1 a.csv | grep -q ',median_ns,median_lo_ns,median_hi_ns,min_ns,max_ns,'
  python3 - <<'END'
import csv
for r in csv.DictReader(open("a.csv", newline="")):
    assert 1000 < float(r["median_ns"]) < 1000000
END
}

@test "markdown has the same rows, with markup escaped" {
  make_db a.db cells=8 kind=labels
  run "$PKRUN" show a.db --format markdown
  [ "$status" -eq 0 ]
  grep -Fq '| series | variant |' <<<"$output"
  grep -Fq '| =1+1 | graph |' <<<"$output"
  grep -Fq '| persistent\_naive |' <<<"$output"
  grep -Eq '^\| --- \| --- \| ---: ' <<<"$output"
}

@test "--run chooses; no run, no database, bad words are exact errors" {
  make_db a.db cells=1; make_db a.db cells=2
  [ "$("$PKRUN" show a.db --format csv | wc -l)" -eq 3 ]
  [ "$("$PKRUN" show a.db --run 1 --format csv | wc -l)" -eq 2 ]
  run "$PKRUN" show a.db --run 3
  [ "$status" -eq 2 ]; [ "$output" = 'pkrun: show: a.db: no run 3; the latest is 2' ]
  run "$PKRUN" show a.db --run 1x
  [ "$status" -eq 2 ]; [[ $output == *'--run 1x'* ]]
  run "$PKRUN" show a.db --format xml
  [ "$status" -eq 2 ]; [[ $output == *'--format xml: table, json, csv or markdown'* ]]
  run "$PKRUN" show none.db
  [ "$status" -eq 2 ]; [ "$output" = 'pkrun: show: none.db: No such file or directory' ]
  run "$PKRUN" show
  [ "$status" -eq 2 ]; [[ $output == *'pkrun.db: No such file'* ]]
  [ ! -e pkrun.db ]
}

@test "an empty database and an empty run" {
  make_db a.db cells=0
  run "$PKRUN" show a.db
  [ "$status" -eq 0 ]
  [ "$("$PKRUN" show a.db --format json)" = '[]' ]
  python3 -c 'import sqlite3; db = sqlite3.connect("a.db"); db.execute("DELETE FROM environment"); db.execute("DELETE FROM run"); db.commit()'
  run "$PKRUN" show a.db
  [ "$status" -eq 2 ]; [ "$output" = 'pkrun: show: a.db: there is no run in it yet' ]
}

@test "times are ranked as they are, and units are chosen after rounding (h10)" {
  make_db a.db cells=8 blocks=1 trials=1
  change a.db "UPDATE trial SET wall_ns = CASE cell_id WHEN 1 THEN 100400 WHEN 2 THEN 100300 WHEN 3 THEN 999600000
    WHEN 4 THEN 59999600000000 WHEN 5 THEN 999499 ELSE 999600 END"
  "$PKRUN" show a.db >a.txt
  grep -Eq '^queued .* 100 ns +1\.00x ' a.txt
  grep -Eq '^graph .* 1\.00 ms ' a.txt
  grep -Eq '^naive .* 60\.0 s ' a.txt
  grep -Eq '^poller .* 999 ns ' a.txt
  grep -Eq '^doorbell .* 1\.00 us ' a.txt
  [ "$("$PKRUN" query a.db 'SELECT series FROM summary ORDER BY median_ns LIMIT 1' --format csv | tail -n 1 | tr -d '\r')" = synced ]
}

@test "with workload busy: the step length below which a persistent kernel pays" {
  make_db a.db kind=full
  run "$PKRUN" show a.db
  [ "$status" -eq 0 ]
  grep -Eq '^Persistent pays below [45]\.[0-9]+ us a step on this device \(persistent_device, ' <<<"$output"
}

@test "a full output device is an error" {
  make_db a.db cells=8; make_db a.db cells=1
  change a.db "UPDATE cell SET status = 'hang' WHERE number = 1"
  for format in table csv json 'table --failures' 'json --failures' 'table --environment' 'table --failures --run 2'; do
    run "$PKRUN" show a.db --format $format >/dev/full
    run sh -c "\"\$PKRUN\" show a.db --format $format >/dev/full"
    [ "$status" -eq 2 ]
    [[ $output == *'cannot write: No space left on device'* ]]
  done
}
