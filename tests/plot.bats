#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# pkrun plot: every figure, every kind of file, bad points, hostile labels (h07, h09, h13).
load setup

make_db() { "$PKRUN_BUILDDIR/tests/make_db" "$@" 2>/dev/null; }
sql() { python3 -c 'import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute(sys.argv[2]); db.commit()' "$@"; }

needs_gnuplot() { command -v gnuplot >/dev/null || skip "no gnuplot"; }

# The texts of an SVG, one a line; fails if it is no XML.
svg_texts() {
  python3 -c 'import sys, xml.etree.ElementTree as e
for t in e.parse(sys.argv[1]).iter("{http://www.w3.org/2000/svg}text"): print("".join(t.itertext()).strip())' "$1"
}

@test "every figure as svg, with a title and labelled axes with units" {
  needs_gnuplot
  make_db a.db kind=full; make_db a.db kind=full
  for figure in ladder scaling overhead roofline latency compare sync; do
    run "$PKRUN" plot $figure a.db -o $figure.svg
    [ "$status" -eq 0 ] || { echo "$figure: $output"; false; }
    svg_texts $figure.svg >$figure.txt
    [ "$(wc -l <$figure.txt)" -gt 12 ]
  done
  grep -Fxq 'time per iteration [µs], log scale' ladder.txt
  grep -Fxq 'Ladder: poisson2d, N = 1001, Made-up GPU (target host: no GPU)' ladder.txt
  grep -Eq '^[0-9.]+ µs  ×0\.0[0-9]+$' ladder.txt; grep -Fxq '×: times as fast as the rung above' ladder.txt
  grep -Fxq 'N' scaling.txt; grep -Fxq 'time per iteration [µs], log scale' scaling.txt
  for part in compute execution launch handshake; do grep -Fxq $part overhead.txt; done
  grep -Fxq 'flop per byte of the natural layout, log scale' roofline.txt
  grep -Eq '^memory, 4[0-9]{3} GB/s$' roofline.txt; grep -Eq '^N = .*5001' roofline.txt; grep -Fxq 'above a roof: suspect' roofline.txt
  grep -Fq 'trials [%]' latency.txt
  grep -Fxq 'time in run 2 over time in run 1 (below 1: faster)' compare.txt
  grep -Fxq '1024 threads' sync.txt; grep -Fxq 'blocks' sync.txt
  ! ls *.part || false
}

@test "scaling: iterations that fall with n are one line, and --run all joins the runs of a file" {
  needs_gnuplot
  make_db a.db cells=40; make_db a.db cells=40
  sql a.db "UPDATE cell SET iterations = 1000 / n, params = ''"
  sql a.db "UPDATE cell SET n = 1000000 * n WHERE run_id = 1"
  "$PKRUN" plot scaling a.db -o a.svg --keep --run 1
  svg_texts a.svg >texts
  grep -Fxq 51000000 texts || grep -Fxq 50000000 texts
  sql a.db "UPDATE cell SET n = n / 10000 WHERE run_id = 1"
  "$PKRUN" plot scaling a.db -o a.svg --keep
  [ "$(grep -c '^\$line' a.svg.gp)" -eq 8 ]   # not one for each of the five sizes
  [ "$(grep -c '^[0-9]\+ [0-9.e+]\+ ' a.svg.gp)" -eq 40 ]
  "$PKRUN" plot scaling a.db -o b.svg --keep --run all
  [ "$(grep -c '^\$line' b.svg.gp)" -eq 8 ]
  [ "$(grep -c '^[0-9]\+ [0-9.e+]\+ ' b.svg.gp)" -eq 80 ]
  grep -q '^5100 ' b.svg.gp
  make_db c.db cells=400; sql c.db "UPDATE cell SET series = number"
  run "$PKRUN" plot scaling c.db -o c.svg
  [[ $output == *'376 left out; the first: only the first 24 lines fit'* ]]
  # the same cell in two runs: the later counts
  sql a.db "UPDATE cell SET n = n / 100 WHERE run_id = 1"
  "$PKRUN" plot scaling a.db -o c.svg --keep --run all
  diff <(grep '^[0-9$]' a.svg.gp) <(grep '^[0-9$]' c.svg.gp)
  run "$PKRUN" plot ladder a.db -o d.svg --run all
  [ "$status" -eq 2 ]; [[ $output == *'only scaling joins runs'* ]]
}

@test "ladder: one problem's rungs, the others are told of" {
  needs_gnuplot
  make_db a.db kind=full
  sql a.db "UPDATE cell SET status = 'skipped', reason = 'made up' WHERE workload = 'busy' AND series = 'naive'"
  run "$PKRUN" plot ladder a.db -o a.svg --workload busy --keep
  [ "$status" -eq 0 ]
  [[ $output == *'left out; the first: another ladder: 1000 iterations, length_ns='* ]]
  [ "$(grep -Ec '^[0-9]+ "' a.svg.gp)" -eq 8 ]
  svg_texts a.svg >texts
  [ "$(grep -Fxc skipped texts)" -eq 1 ]
  grep -Fxq 'queued length_ns=200' texts
}

@test "overhead: bars that do not fit are told of; a bar that is cut off carries its time" {
  needs_gnuplot
  make_db a.db cells=800
  sql a.db "UPDATE cell SET n = 11, params = 'threads=' || number"
  run "$PKRUN" plot overhead a.db -o a.svg
  [ "$status" -eq 0 ]; [[ $output == *'704 left out; the first: only the first 96 bars fit'* ]]
  svg_texts a.svg >texts
  grep -Eq '^▶ 23[0-9] µs$' texts
  ! grep -Eq '^▶ [0-9.]+ ns$' texts || false
}

@test "sync: one key for all panels, and axes that end with what is drawn" {
  needs_gnuplot
  make_db a.db kind=full
  # a cell with a slow way to wait beside each: it is not drawn, and no reason for room
  sql a.db "INSERT INTO cell (run_id, number, series, variant, workload, target, plugin_id, device_id, n, iterations, key, params, status, blocks, threads)
    SELECT run_id, number + 10000, series, variant, workload, target, plugin_id, device_id, n, iterations, key || ' slow', 'wait=slow', status, blocks, threads FROM cell WHERE workload = 'null' AND series = 'barrier'"
  sql a.db "INSERT INTO block (cell_id, number, position, started_utc, status) SELECT id, 0, 0, '', 'ok' FROM cell WHERE params = 'wait=slow'"
  sql a.db "INSERT INTO trial (block_id, cell_id, position, iterations, wall_ns, verified) SELECT b.id, c.id, 0, 1, 900000000, 1 FROM cell c JOIN block b ON b.cell_id = c.id WHERE c.params = 'wait=slow'"
  "$PKRUN" plot sync a.db -o a.svg --keep --workload null
  svg_texts a.svg >texts
  [ "$(grep -Fxc '1024 threads' texts)" -eq 1 ]
  top=$(sed -n 's/^set yrange \[.*:\(.*\)\]/\1/p' a.svg.gp)
  [ "$(awk -v top="$top" 'BEGIN { print top < 1000 }')" -eq 1 ]
}

@test "latency: histograms of messages where there are some" {
  needs_gnuplot
  make_db a.db kind=relay
  "$PKRUN" plot latency a.db -o a.svg --keep
  svg_texts a.svg >texts
  grep -Fq 'Latency of single messages, target host' texts
  grep -Fxq 'naive, round_trip, n=1' texts
  for text in 'p50 ≤ 4.00 µs' 'p90 ≤ 5.00 µs' 'p99 ≤ 6.30 µs' 'p99.9 ≤ 10.0 µs'; do
    [ "$(grep -Fxc "$text" texts)" -eq 4 ]
  done
  grep -Fxq 'p50 ≤ 40.0 µs' texts
  grep -Fxq 'messages [%]' texts
  "$PKRUN" plot latency a.db -o b.svg --n 7 && false || [ ! -e b.svg ]
}

@test "png and pdf by suffix, and nothing else" {
  needs_gnuplot
  make_db a.db cells=8
  "$PKRUN" plot ladder a.db -o a.png; "$PKRUN" plot ladder a.db -o a.pdf
  [ "$(head -c 4 a.png | tail -c 3)" = PNG ]
  [ "$(head -c 5 a.pdf)" = %PDF- ]
  run "$PKRUN" plot ladder a.db -o a.jpg
  [ "$status" -eq 2 ]; [[ $output == *'a.jpg: the name must end in .svg, .png or .pdf'* ]]
  run "$PKRUN" plot ladder a.db
  [ "$status" -eq 2 ]; [[ $output == *'-o FILE'* ]]
  run "$PKRUN" plot nosuch a.db -o a.svg
  [ "$status" -eq 2 ]; [[ $output == *'no figure "nosuch"'* ]]
  [ ! -e a.svg ] && [ ! -e a.jpg ]
}

@test "--keep: the script with its data draws the same picture again" {
  needs_gnuplot
  make_db a.db cells=16
  "$PKRUN" plot scaling a.db -o a.svg --keep
  cp a.svg first.svg; rm a.svg
  gnuplot a.svg.gp
  cmp a.svg first.svg
  grep -q '^11 ' a.svg.gp
}

@test "only the bad points go, with a note; the others are drawn (h07, h09)" {
  needs_gnuplot
  make_db a.db cells=40 trials=1 blocks=1
  sql a.db "UPDATE trial SET wall_ns = 0 WHERE cell_id = (SELECT id FROM cell WHERE series = 'queued' AND n = 21)"
  sql a.db "UPDATE trial SET wall_ns = -5 WHERE cell_id = (SELECT id FROM cell WHERE series = 'queued' AND n = 31)"
  sql a.db "UPDATE trial SET wall_ns = NULL WHERE cell_id = (SELECT id FROM cell WHERE series = 'graph' AND n = 31)"
  sql a.db "UPDATE cell SET status = 'hang', reason = 'block 3 waited for step 4' WHERE series = 'naive' AND n = 11"
  run "$PKRUN" plot scaling a.db -o a.svg --keep
  [ "$status" -eq 0 ]
  [[ $output == *'4 left out; the first: naive n=11: HUNG (timeout): block 3 waited for step 4'* ]]
  svg_texts a.svg >texts
  [ "$(grep -c '^[0-9]\+ [0-9.e+]\+ ' a.svg.gp)" -eq 36 ]
  run "$PKRUN" plot ladder a.db -o b.svg --n 11
  [ "$status" -eq 0 ]
  svg_texts b.svg >texts
  grep -Fxq 'HUNG (timeout)' texts
}

@test "nothing good: a message, exit 2, and no file (h07)" {
  make_db a.db cells=16
  sql a.db 'UPDATE trial SET wall_ns = 0'
  for figure in ladder scaling overhead roofline latency sync compare schedule; do
    run "$PKRUN" plot $figure a.db -o a.svg
    [ "$status" -eq 2 ] || { echo "$figure"; false; }
    [[ $output == 'pkrun: plot: a.db: nothing to draw: '?* ]]
    [ ! -e a.svg ] && [ ! -e a.svg.part ]
  done
  make_db b.db cells=0
  for figure in ladder scaling overhead roofline latency sync compare schedule; do
    run "$PKRUN" plot $figure b.db -o a.svg
    [ "$status" -eq 2 ]
    [[ $output == 'pkrun: plot: b.db: nothing to draw: '?* ]]
    [ ! -e a.svg ]
  done
}

@test "labels are text, never commands; long ones do not swallow the plot (h13)" {
  needs_gnuplot
  make_db a.db cells=8
  i=0
  for label in '`touch pwned`' "'; system('touch pwned') #" '"; system("touch pwned")' '@HOME $x \\n {/Bold a}_b^c' \
    $'two\nlines' $'END_OF_DATA\nset output' "$(printf 'x%.0s' {1..10000})"; do
    python3 -c 'import sqlite3, sys; db = sqlite3.connect("a.db"); db.execute("UPDATE cell SET series = ?, variant = ?, params = ? WHERE number = ?", (sys.argv[1],) * 3 + (int(sys.argv[2]),)); db.commit()' "$label" $((i++))
  done
  for figure in ladder scaling overhead roofline latency; do
    run "$PKRUN" plot $figure a.db -o $figure.svg
    [ "$status" -eq 0 ] || { echo "$figure: $output"; false; }
    svg_texts $figure.svg >$figure.txt
    [ ! -e pwned ]
    awk 'length > 130 { exit 1 }' $figure.txt
  done
  grep -Fq '`touch pwned`' scaling.txt
  grep -Fq 'two\nlines' scaling.txt
  run "$PKRUN" plot ladder a.db -o "it's.svg"
  [ "$status" -eq 0 ]; [ -e "it's.svg" ]
}

@test "no gnuplot, no folder, no database: exact messages" {
  make_db a.db cells=8
  mkdir empty
  PATH=$PWD/empty run "$PKRUN" plot ladder a.db -o a.svg
  [ "$status" -eq 2 ]
  [[ $output == *'gnuplot is not installed (Debian and Ubuntu: gnuplot-nox)'* ]]
  [ ! -e a.svg ] && [ ! -e a.svg.part ]
  run "$PKRUN" plot ladder a.db -o nosuch/a.svg
  [ "$status" -eq 2 ]; [[ $output == *'nosuch/a.svg: No such file or directory'* ]]
  run "$PKRUN" plot ladder none.db -o a.svg
  [ "$status" -eq 2 ]; [[ $output == *'none.db: No such file'* ]]
  run "$PKRUN" plot ladder a.db -o a.svg --run 7
  [ "$status" -eq 2 ]; [[ $output == *'there is no such run'* ]]
  run "$PKRUN" plot ladder a.db -o a.svg --workload nosuch
  [ "$status" -eq 2 ]; [[ $output == *'no cell for this figure, workload nosuch'* ]]
  run "$PKRUN" plot compare a.db -o a.svg
  [ "$status" -eq 2 ]; [[ $output == *'it takes two runs'* ]]
}
