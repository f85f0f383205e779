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

@test "compare: the shift between the processes of two runs and its interval" {
  needs_gnuplot
  # the first run's processes took 100 102 104 106 108 ns an iteration, the second's 10 % more
  make_db a.db cells=1 blocks=5 trials=1; make_db a.db cells=1 blocks=5 trials=1
  change a.db "UPDATE trial SET iterations = 1, wall_ns = (SELECT 1000 * (100 + 2 * (b.number - (SELECT min(number) FROM block))) *
      (CASE (SELECT run_id FROM cell WHERE id = cell_id) WHEN 1 THEN 10 ELSE 11 END) FROM block b WHERE b.id = block_id)"
  "$PKRUN" plot compare a.db -o a.svg --keep
  svg_texts a.svg | grep -Fq 'shift between the processes, 95 % interval; the band is 1 %'
  # by hand: the 25 ratios, ascending; at 95 % with 5 against 5 the interval leaves out 2 of each end
  python3 - <<'END'
import re
a = [100 + 2 * i for i in range(5)]
ratios = sorted(1.1 * y / x for x in a for y in a)
line = re.search(r'^1 .* (\S+) (\S+) (\S+)$', open("a.svg.gp").read(), re.M)
got = [float(v) for v in line.groups()]
for g, w in zip(got, (ratios[12], ratios[2], ratios[22])):
    assert abs(g / w - 1) < 1e-6, (got, ratios[12], ratios[2], ratios[22])
END
  make_db b.db cells=1; make_db b.db cells=1
  "$PKRUN" plot compare b.db -o b.svg
  svg_texts b.svg | grep -Fq 'too few of them for an interval'
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
  [[ $output == *'376 left out; the first: only the first 24 lines fit; --only chooses'* ]]
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
  grep -Fxq queued texts                   # what all rungs were told stands in the title
  grep -Fxq 'length_ns=200' texts
  grep -Fxq 'released by the host' texts; grep -Fxq 'released by the device' texts
  sql a.db "UPDATE cell SET status = 'crash' WHERE series IN ('barrier', 'neighbours')"
  "$PKRUN" plot ladder a.db -o a.svg --n 1001 2>/dev/null
  svg_texts a.svg >texts
  grep -Fxq 'released by the host' texts; ! grep -Fxq 'released by the device' texts || false
}

@test "no text leaves the figure or runs into another, whatever the labels and sizes" {
  needs_gnuplot
  make_db a.db kind=full blocks=2; make_db a.db kind=full
  make_db b.db kind=relay
  sql a.db "UPDATE run SET quick = 1, instrumented = 'x'"
  # two sizes side by side; labels of 60 columns on 24 lines; times that differ a thousandfold; one panel
  sql a.db "UPDATE cell SET n = 12 WHERE n = 31 AND run_id = 2"
  sql a.db "UPDATE cell SET params = 'a_parameter=with_a_long_value another_parameter=' || printf('%04d', number)
    WHERE workload = 'poisson2d' AND run_id = 2"
  sql a.db "UPDATE trial SET wall_ns = 1000 * wall_ns WHERE cell_id IN (SELECT id FROM cell WHERE series = 'naive' AND run_id = 1)"
  sql a.db "UPDATE cell SET workload = 'syncost' WHERE workload = 'null' AND threads = 1024"
  for figure in ladder scaling overhead roofline latency compare; do "$PKRUN" plot $figure a.db -o $figure.svg; done
  "$PKRUN" plot sync a.db -o sync.svg --workload null; "$PKRUN" plot sync a.db -o one.svg --workload syncost
  "$PKRUN" plot latency b.db -o messages.svg
  python3 - *.svg <<'END'
import re, sys, xml.etree.ElementTree as e
SVG = "{http://www.w3.org/2000/svg}"
bad = []
for path in sys.argv[1:]:
    root = e.parse(path).getroot()
    width, height = (float(v) for v in root.get("viewBox").split()[2:])
    rows = {}
    for g in root.iter(SVG + "g"):
        text, at = g.find(SVG + "text"), re.match(r"translate\(([-0-9.]+),([-0-9.]+)\)(.*)", g.get("transform", ""))
        if text is None or not at:
            continue
        text = "".join(text.itertext()).strip()
        x, y, size = float(at[1]), float(at[2]), float(g.get("font-size"))
        if "rotate" in at[3]:
            if x < size:
                bad.append((path, "outside", text))
            continue
        long = 0.6 * size * len(text)
        from_x = x - {"start": 0, "middle": 0.5, "end": 1}[g.get("text-anchor", "start")] * long
        if from_x < 0 or from_x + long > width or y > height or y < size / 2:
            bad.append((path, "outside", text))
        rows.setdefault(round(y), []).append((from_x, from_x + long, text))
    for row in rows.values():
        row = sorted(set(row))     # a text in a box is drawn twice
        bad += [(path, "overlap", a[2], b[2]) for a, b in zip(row, row[1:]) if a[2] and b[2] and a[1] > b[0] + 1]
assert not bad, bad
END
}

@test "a long key takes no more than half of the figure" {
  needs_gnuplot
  make_db a.db cells=240
  sql a.db "UPDATE cell SET params = 'a_parameter=with_a_long_value another_parameter=' || (number % 40)"
  "$PKRUN" plot scaling a.db -o a.svg 2>/dev/null
  python3 - <<'END'
import re
svg = open("a.svg").read()
width = float(re.search(r'viewBox="0 0 ([0-9.]+) ', svg)[1])
# the frame of the plot begins with its left side, from the top down
frame = re.search(r"M([0-9.]+),[0-9.]+ L\1,[0-9.]+ L([0-9.]+),", svg)
assert float(frame[2]) - float(frame[1]) > width / 3, frame[0]
keys = {float(x) for x in re.findall(r'translate\(([0-9.]+),[0-9.]+\)"[^>]*>\s*<text>(?:queued|synced|graph) ', svg)}
assert len(keys) == 1, keys       # one column
END
}

@test "an option that a figure has no use for is refused; the others choose" {
  needs_gnuplot
  make_db a.db kind=full; make_db a.db kind=full
  for figure in scaling sync; do
    run "$PKRUN" plot $figure a.db -o a.svg --n 11
    [ "$status" -eq 2 ]; [ "$output" = "pkrun: plot: --n: $figure shows every size" ]
  done
  run "$PKRUN" plot ladder a.db -o a.svg --against 1
  [ "$status" -eq 2 ]; [ "$output" = 'pkrun: plot: --against: only compare is of two runs' ]
  [ ! -e a.svg ]
  rows() { grep -Ec '^[0-9]+ "' $1.gp; }
  "$PKRUN" plot compare a.db -o a.svg --keep
  [ "$(rows a.svg)" -eq 120 ]
  "$PKRUN" plot compare a.db -o b.svg --keep --workload busy
  [ "$(rows b.svg)" -eq 48 ]
  svg_texts b.svg | grep -Fxq 'Run 2 against run 1: time of each cell, busy, N = 64'
  "$PKRUN" plot compare a.db -o c.svg --keep --n 101
  [ "$(rows c.svg)" -eq 8 ]
  "$PKRUN" plot roofline a.db -o d.svg --n 101
  svg_texts d.svg >texts
  grep -Fxq 'N = 101' texts; ! grep -Fq 5001 texts || false
}

@test "each figure says of a quick or instrumented run that it is one; compare refuses to mix" {
  needs_gnuplot
  make_db a.db kind=full; make_db a.db kind=full
  sql a.db "UPDATE run SET quick = 1, instrumented = 'ncu -o x'"
  for figure in ladder scaling overhead roofline latency compare sync; do
    "$PKRUN" plot $figure a.db -o $figure.svg
    svg_texts $figure.svg | grep -Fq '(quick run, instrumented)' || { echo $figure; false; }
  done
  make_db b.db kind=relay
  sql b.db "UPDATE run SET quick = 1"
  "$PKRUN" plot latency b.db -o b.svg
  svg_texts b.svg | grep -Fq '(quick run)'
  sql a.db "UPDATE run SET instrumented = NULL WHERE id = 1"
  run "$PKRUN" plot compare a.db -o d.svg
  [ "$status" -eq 2 ]; [[ $output == *'run 1 was run plainly, run 2 under ncu -o x: instrumented runs are not compared with others' ]]
  [ ! -e d.svg ]
}

@test "compare: a cell from before an option, and one with the option at its default" {
  needs_gnuplot
  make_db a.db cells=3; make_db a.db cells=3
  sql a.db "UPDATE cell SET key = key || ' later=0' WHERE run_id = 2"
  run -0 "$PKRUN" plot compare a.db -o a.svg --keep
  [ "$(sed -n '/^\$pairs /,/END/p' a.svg.gp | grep -c '^[0-9]')" -eq 3 ]
  [[ $output != *'left out'* ]]
}

@test "a figure that cannot be says what there is not" {
  make_db a.db kind=relay
  run "$PKRUN" plot roofline a.db -o a.svg
  [ "$status" -eq 2 ]; [[ $output == *'nothing to draw: no cell of run 1 that ran counts both flops and bytes' ]]
  run "$PKRUN" plot ladder a.db -o a.svg --workload relay --n 7
  [ "$status" -eq 2 ]; [[ $output == *'run 1 has no cell for this figure, workload relay, n = 7' ]]
  run "$PKRUN" plot compare a.db -o a.svg
  [ "$status" -eq 2 ]; [[ $output == *'it takes two runs, and there is none before run 1; --against says with which'* ]]
  run "$PKRUN" plot compare a.db -o a.svg --against 7
  [ "$status" -eq 2 ]; [[ $output == *'it takes two runs; there is no run 7' ]]
}

@test "scaling: lines over several sizes come before single points" {
  needs_gnuplot
  make_db a.db cells=240
  sql a.db "UPDATE cell SET params = 'single=' || number, n = 7 WHERE number < 200"
  sql a.db "UPDATE cell SET series = 'last', variant = 'v', params = '', n = number WHERE number >= 230"
  "$PKRUN" plot scaling a.db -o a.svg --keep 2>/dev/null
  svg_texts a.svg | grep -Fxq last
  [ "$(sed -n '/^\$line0 /,/END/p' a.svg.gp | wc -l)" -gt 3 ]
}

@test "latency: left out are histograms, not their bins" {
  needs_gnuplot
  make_db a.db kind=relay   # 5 cells
  sql a.db "INSERT INTO metric (cell_id, block_id, trial_id, name, value, unit) SELECT cell_id, block_id, trial_id, replace(name, 'round_trip', way), value, unit FROM metric, (SELECT 'back' AS way UNION SELECT 'there' UNION SELECT 'wait') WHERE name GLOB 'round_trip_hist*'"
  run "$PKRUN" plot latency a.db -o a.svg
  [[ $output == *'8 left out; the first: only the first 12 histograms fit'* ]]
}

@test "latency: a bin stands where its trials are; quantiles stand beside the bars" {
  needs_gnuplot
  make_db a.db cells=1 blocks=1 trials=4
  sql a.db "UPDATE trial SET wall_ns = 1000000 * (position + 8)"   # 8, 9, 10, 11; median 9.5
  "$PKRUN" plot latency a.db -o a.svg --keep
  # the first bin begins at the fastest trial and the last ends at the slowest
  sed -n '/^\$cell0 /,/END/p' a.svg.gp | awk '/^[0-9]/ && $2 > 0 { if (!n++) first = $1; last = $1 } END { exit !(n == 4 &&
    first - 8 / 9.5 < 1e-6 && 8 / 9.5 - first < 1e-6 && last < 11 / 9.5 && last + (11 - 8) / 9.5 / 40 > 11 / 9.5 - 1e-6) }'
  make_db b.db kind=relay
  sql b.db "UPDATE metric SET name = 'round_trip_hist_ns_le_' || CAST(10 * substr(name, 23) AS INTEGER) WHERE cell_id = 2"
  "$PKRUN" plot latency b.db -o b.svg --keep
  [ "$(grep -c '^set label .* at graph 0.98, graph 0.[0-9]* right' b.svg.gp)" -eq 16 ]
  ! grep -q '^set xtics' b.svg.gp || false
  [ "$(grep -c '^set label .* at graph 0.05, graph 0.[0-9]* left' b.svg.gp)" -eq 4 ]
  # 10 of 1000 take longer than the last bound: 1 % of all, so the 99.9 % lie beyond
  cp b.db c.db
  sql c.db "UPDATE metric SET name = 'round_trip_hist_ns_le_inf' WHERE cell_id = 1 AND name GLOB '*_le_100000'"
  sql c.db "UPDATE metric SET value = 10 WHERE cell_id = 1 AND name GLOB '*_le_inf'"
  "$PKRUN" plot latency c.db -o c.svg --keep
  [ "$(grep -c "^set label 4 'p99.9 > 10 s'" c.svg.gp)" -eq 1 ]
  grep -Eq '^3.56[0-9]* 59.46' c.svg.gp   # 600 of 1009
  sql b.db "DELETE FROM metric WHERE cell_id = 2"
  "$PKRUN" plot latency b.db -o b.svg --keep       # 3.15 to 100 us: a short axis has numbers between the powers of ten
  grep -Fxq 'set xtics (5, 10, 20, 50, 100)' b.svg.gp
}

@test "overhead: bars that do not fit are told of; a bar that is cut off carries its time" {
  needs_gnuplot
  make_db a.db cells=800
  sql a.db "UPDATE cell SET n = 11, params = 'threads=' || number"
  run "$PKRUN" plot overhead a.db -o a.svg
  [ "$status" -eq 0 ]; [[ $output == *'704 left out; the first: only the first 96 bars fit; --only chooses'* ]]
  svg_texts a.svg >texts
  grep -Eq '^▶ 23[0-9] µs$' texts
  ! grep -Eq '^▶ [0-9.]+ ns$' texts || false
}

@test "overhead: a bar is as long as its time, though its empty twin took longer" {
  needs_gnuplot
  make_db a.db kind=full
  sql a.db "UPDATE trial SET wall_ns = 2 * wall_ns WHERE cell_id IN (SELECT id FROM cell WHERE workload = 'null' AND series = 'graph')"
  "$PKRUN" plot overhead a.db -o a.svg --keep --n 101
  # height, name, where the parts end, where the bar does, its time
  row=$(grep '"graph"' a.svg.gp); want=$("$PKRUN" query a.db "SELECT median_ns / 1000 FROM result WHERE workload = 'poisson2d' AND series = 'graph' AND n = 101" --format csv | tail -n 1)
  awk -v want="$want" '{ for (i = 3; i <= 7; i++) if ($i > want * 1.00001) exit 1; exit !($7 > want * 0.99999) }' <<<"$row"
}

@test "overhead: where nothing can be split it says so, and the report leaves it out" {
  needs_gnuplot
  make_db a.db cells=8
  sql a.db "UPDATE cell SET variant = 'other' WHERE variant = 'launch_sync'"
  run "$PKRUN" plot overhead a.db -o a.svg
  [ "$status" -eq 0 ]; [[ $output == 'nothing is split: no cell has one with workload null '* ]]
  "$PKRUN" report a.db -o a.html
  grep -q 'Ladder: poisson2d' a.html; ! grep -q 'Where the time goes' a.html || false
  make_db b.db kind=full
  run "$PKRUN" plot overhead b.db -o b.svg
  [ "$status" -eq 0 ]; [ -z "$output" ]
  "$PKRUN" report b.db -o b.html
  grep -q 'Where the time goes' b.html
}

@test "--only chooses cells as it does for a run, and factors are of those that are shown" {
  needs_gnuplot
  make_db a.db kind=full; make_db b.db kind=relay
  rows() { grep -Ec '^[0-9]+ "' $1.gp; }
  "$PKRUN" plot ladder a.db -o a.svg --keep --n 101 --only '*ed'
  [ "$(rows a.svg)" -eq 2 ]
  "$PKRUN" plot ladder a.db -o b.svg --keep --n 101 --only '[qn]*'
  [ "$(rows b.svg)" -eq 3 ]
  times=($(sed -n 's/^[0-9]* "[a-z]*" [01] \([0-9.]*\) .*/\1/p' b.svg.gp))
  [[ $(sed -n 's/^0 .*×\([0-9.]*\)"$/\1/p' b.svg.gp) == "$(awk -v a="${times[1]}" -v b="${times[2]}" 'BEGIN { printf a / b < 99.5 ? "%.1f" : "%.0f", a / b }')" ]]
  "$PKRUN" plot latency b.db -o c.svg --only 'poller/*'
  svg_texts c.svg >texts
  [ "$(grep -c round_trip texts)" -eq 1 ]; grep -Fq 'poller, round_trip' texts
  "$PKRUN" plot scaling a.db -o d.svg --keep --only '*/poisson2d/101'
  [ "$(grep -c '^\$line' d.svg.gp)" -eq 8 ]
  for figure in ladder scaling overhead roofline latency sync schedule; do
    run "$PKRUN" plot $figure a.db -o e.svg --only 'nosuch*'
    [ "$status" -eq 2 ]; [[ $output == *'nothing to draw: no cell of run 1 matches --only nosuch*' ]]
  done
  [ ! -e e.svg ]
}

@test "sync: one key for all panels, and axes that end with what is drawn" {
  needs_gnuplot
  make_db a.db kind=full
  # a cell with a slow way to wait beside each: it is not drawn, and no reason for room
  sql a.db "INSERT INTO cell (run_id, number, series, variant, workload, target, plugin_id, device_id, n, iterations, key, params, status, blocks, threads)
    SELECT run_id, number + 10000, series, variant, workload, target, plugin_id, device_id, n, iterations, key || ' slow', 'wait=slow', status, blocks, threads FROM cell WHERE workload = 'null' AND series = 'barrier'"
  sql a.db "INSERT INTO block (cell_id, number, position, started_utc, status) SELECT id, 0, 0, '', 'ok' FROM cell WHERE params = 'wait=slow'"
  sql a.db "INSERT INTO trial (block_id, cell_id, position, iterations, wall_ns, verified) SELECT b.id, c.id, 0, 1, 900000000, 1 FROM cell c JOIN block b ON b.cell_id = c.id WHERE c.params = 'wait=slow'"
  # the slowest trial of a point that is drawn lies within the axis
  sql a.db "UPDATE trial SET wall_ns = 22 * wall_ns / 10 WHERE id = (SELECT max(t.id) FROM trial t JOIN cell c ON c.id = t.cell_id
    WHERE c.workload = 'null' AND c.series = 'naive')"
  slowest=$("$PKRUN" query a.db "SELECT max(max_ns) / 1000 FROM result WHERE workload = 'null' AND series = 'naive'" --format csv | tail -n 1 | tr -d '\r')
  "$PKRUN" plot sync a.db -o a.svg --keep --workload null
  svg_texts a.svg >texts
  [ "$(grep -Fxc '1024 threads' texts)" -eq 1 ]
  top=$(sed -n 's/^set yrange \[.*:\(.*\)\]/\1/p' a.svg.gp)
  [ "$(awk -v top="$top" -v slowest="$slowest" 'BEGIN { print (top < 1000 && top > slowest) }')" -eq 1 ]
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
  [ ! -e a.svg ]; [ ! -e a.jpg ]
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

@test "no room for the figure is an error, and what was there stays; a name may hold a newline" {
  needs_gnuplot
  make_db a.db cells=16
  for kind in svg png; do
    "$PKRUN" plot scaling a.db -o a.$kind
    cp a.$kind first.$kind
    run bash -c "ulimit -f 8; \"\$PKRUN\" plot scaling a.db -o a.$kind"
    [ "$status" -eq 2 ]; [ "$output" = "pkrun: plot: a.$kind: File too large" ]
    cmp a.$kind first.$kind
    ! ls *.part || false
  done
  "$PKRUN" plot scaling a.db -o $'a\n.svg' --keep
  cmp $'a\n.svg' first.svg; rm $'a\n.svg'
  gnuplot $'a\n.svg.gp'
  cmp $'a\n.svg' first.svg
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
  run "$PKRUN" plot scaling a.db -o a.svg --only queued
  [ "$status" -eq 0 ]
  [[ $output == *'2 left out; the first: queued n=21: no valid time' ]]
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
    [ ! -e a.svg ]; [ ! -e a.svg.part ]
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

@test "a gnuplot that is killed, or fails without a word: that is said" {
  make_db a.db cells=8
  mkdir bin
  printf '#!/bin/sh\n:\n' >bin/gnuplot; chmod +x bin/gnuplot
  for end in 'kill -9 $$=was killed by signal 9' 'exit 3=exited with 3 and said nothing'; do
    sed -i "2s/.*/${end%%=*}/" bin/gnuplot
    PATH=$PWD/bin:$PATH run -2 "$PKRUN" plot ladder a.db -o a.svg
    [[ $output == *"pkrun: plot: gnuplot ${end#*=}" ]]
    [ ! -e a.svg ]; [ ! -e a.svg.part ]
  done
  PATH=$PWD/bin:$PATH run -0 "$PKRUN" report a.db
  [[ $output == *'no figures: gnuplot exited with 3 and said nothing'* ]]
}

@test "no gnuplot, no folder, no database: exact messages" {
  make_db a.db cells=8
  mkdir empty
  PATH=$PWD/empty run "$PKRUN" plot ladder a.db -o a.svg
  [ "$status" -eq 2 ]
  [[ $output == *'gnuplot is not installed (Debian and Ubuntu: gnuplot-nox)'* ]]
  [ ! -e a.svg ]; [ ! -e a.svg.part ]
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
