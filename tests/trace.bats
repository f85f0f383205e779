#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# pkrun trace and plot schedule: stamps of real runs on the host target.
load setup

matrix() {
  cat >a.ini <<'END'
[global]
workload = poisson2d
n = 9
iterations = 6
blocks_min = 1
blocks_max = 1
trials = 2
ci = 0
warmup = 0
baseline = plain
[naive]
variant = persistent_naive
stamps = 12
[neighbour]
variant = persistent_neighbour
stamps = 5
[plain]
variant = persistent_neighbour
END
}

@test "stamps of every block and step, in order; the plain cell has none" {
  matrix
  run "$PKRUN" --target host --db a.db a.ini
  [ "$status" -eq 0 ]
  run "$PKRUN" trace a.db -o a.json
  [ "$status" -eq 0 ]
  [[ $output == *'neighbour (persistent_neighbour, poisson2d, n=9): stamped takes '*' times as long as plain'* ]]
  python3 - <<'END'
import json
d = json.load(open("a.json"))
names = {e["pid"]: e["args"]["name"] for e in d["traceEvents"] if e["name"] == "process_name"}
assert names == {1: "naive (persistent_naive, poisson2d, n=9)", 2: "neighbour (persistent_neighbour, poisson2d, n=9)"}
blocks = {(e["pid"], e["args"]["name"]): e["tid"] for e in d["traceEvents"] if e["name"] == "thread_name"}
assert len(blocks) == len(set(blocks.values())) == 14 and min(blocks.values()) > max(names), blocks
for pid, steps in (1, 12), (2, 5):
    for block in range(7):
        tid = blocks[pid, "block %d" % block]
        spans = [e for e in d["traceEvents"] if e["ph"] == "X" and (e["pid"], e["tid"]) == (pid, tid)]
        assert [e["name"] for e in spans] == [n for s in range(steps) for n in ("wait", "receive", "step %d" % s, "acknowledge")], spans
        for a, b in zip(spans, spans[1:]):      # one after the other, none inside another
            assert a["dur"] >= 0 and a["ts"] + a["dur"] <= b["ts"] + 1e-6, (a, b)
cells = d["otherData"]["cells"]
assert [c["pid"] for c in cells] == [1, 2]
assert all(c["clock_tick_ns"] > 0 and c["clock_skew_ns"] >= 0 for c in cells)
assert cells[0]["stamped_over_plain"] is None and cells[1]["stamped_over_plain"] > 0
END
}

@test "timelines that would be called the same have their parameters in their names" {
  matrix
  sed -i 's/^stamps = 5/&, 6\nthreads = 32, 64/' a.ini
  "$PKRUN" --quiet --target host --db a.db a.ini >/dev/null
  "$PKRUN" trace a.db -o a.json
  python3 - <<'END'
import json
names = [e["args"]["name"] for e in json.load(open("a.json"))["traceEvents"] if e["name"] == "process_name"]
assert names == ["naive (persistent_naive, poisson2d, n=9)"] + [
    "neighbour (persistent_neighbour, poisson2d, n=9, iterations=6 threads=%d stamps=%d)" % at
    for at in ((32, 5), (64, 5), (32, 6), (64, 6))], names
END
}

@test "no step begins before its neighbours have done the one before; lockstep: before all have" {
  matrix
  "$PKRUN" --target host --db a.db a.ini >/dev/null
  "$PKRUN" trace a.db -o a.json
  python3 - <<'END'
import json
at, block = {}, {}
for e in json.load(open("a.json"))["traceEvents"]:
    if e["name"] == "thread_name":
        block[e["tid"]] = int(e["args"]["name"].split()[1])
    if e["ph"] == "X" and e["name"].startswith("step"):
        at[e["pid"], block[e["tid"]], e["args"]["step"]] = e["ts"], e["ts"] + e["dur"]
for (pid, block, step), (begin, end) in at.items():
    if step == 0:
        continue
    others = range(7) if pid == 1 else [b for b in (block - 1, block, block + 1) if 0 <= b < 7]
    for other in others:
        assert at[pid, other, step - 1][1] <= begin + 1e-6, (pid, block, step, other)
END
}

# chromium_takes PROCESSES SPANS: its own trace engine reads a.json; each process p has 7 blocks of so many spans
chromium_takes() {
  local rc=0
  needs_browser
  PROCESSES=$1 SPANS=$2 python3 - <<'END' || rc=$?
import json, os
from browser import Browser
engine = """(async () => {
  const T = await import('devtools://devtools/bundled/models/trace/trace.js');
  const model = T.TraceModel.Model.createWithAllHandlers();
  await model.parse(JSON.parse(window.text).traceEvents);
  const trace = model.parsedTrace(0);
  return [...(trace.data || trace).Renderer.processes].map(([pid, p]) =>
    [pid, [...p.threads].map(([tid, t]) => [t.name, t.entries.length])]);
})()"""
with Browser() as b:
    b.open("devtools://devtools/bundled/devtools_app.html")
    if not b.evaluate("import('devtools://devtools/bundled/models/trace/trace.js').then(m => !!m.TraceModel, () => false)"):
        raise SystemExit(77)
    b.call("Runtime.evaluate", expression="window.text = " + json.dumps(open("a.json").read()))
    got = b.evaluate(engine)
spans = compile(os.environ["SPANS"], "SPANS", "eval")
want = [[p, [["block %d" % b, eval(spans, {"p": p})] for b in range(7)]] for p in eval(os.environ["PROCESSES"])]
assert got == want, got
END
  [ $rc -ne 77 ] || skip "this Chromium has no trace engine to ask"
  [ $rc -eq 0 ]
}

@test "the timeline opens in Chromium's own trace engine, whole" {
  matrix
  "$PKRUN" --target host --db a.db a.ini >/dev/null
  "$PKRUN" trace a.db -o a.json
  chromium_takes '1, 2' '48 if p == 1 else 20'
}

# What the next two have in common
seven_blocks() {
  cat <<'END'
[global]
workload = poisson2d
n = 33
iterations = 8
blocks = 7
threads = 24
blocks_min = 1
blocks_max = 1
trials = 2
ci = 0
warmup = 0
warmup_runs = 0
stamps = 11
END
}

# Every order that the device keeps by itself; 7 blocks, 16 steps, halos of 4
devices() {
  { seven_blocks; cat <<'END'; } >d.ini
[coop]
variant = persistent_barrier
[counter]
variant = persistent_barrier
barrier = counter
[device]
variant = persistent_device
[interpreter]
variant = persistent_interpreter
[tasks]
variant = persistent_interpreter
tasks = 3
[resident]
variant = persistent_resident
[halo]
variant = persistent_halo
[chaotic]
variant = persistent_chaotic
[norms]
variant = persistent_device
check = 3
stamps = 40
[norms_counted]
variant = persistent_barrier
barrier = counter
check = 1
stamps = 40
[norms_interpreted]
variant = persistent_interpreter
check = 2
stamps = 40
END
}

# Kernels in a row, and one word in and one out; 7 blocks, 16 steps
launches() {
  { seven_blocks; cat <<'END'; } >d.ini
[launch]
variant = launch
[sync]
variant = launch_sync
[coop]
variant = launch_coop
[graph]
variant = graph
per_graph = 3
[doorbell]
variant = persistent_doorbell
[one_signal]
variant = persistent_doorbell
signals = 1
[norms]
variant = launch
check = 3
stamps = 40
[norms_graph]
variant = graph
check = 3
stamps = 40
[norms_doorbell]
variant = persistent_doorbell
check = 3
stamps = 40
[norms_one_signal]
variant = persistent_doorbell
signals = 1
check = 3
stamps = 40
END
}

# take_stamps CELLS [BLOCKS]: d.json, the stamps of both timed trials of each cell, for stamps.py; every trial was right
take_stamps() {
  run "$PKRUN" --quiet --target host --db d.db d.ini
  [ "$status" -eq 0 ] || { echo "$output"; false; }
  [ "$("$PKRUN" query d.db 'SELECT DISTINCT verified FROM trial' --format csv | tr -d '\r' | tail -n +2)" = 1 ]
  "$PKRUN" query d.db --format json "SELECT c.series, m.trial_id AS trial, m.name, m.value FROM metric m
    JOIN cell c ON c.id = m.cell_id JOIN trial t ON t.id = m.trial_id
    WHERE m.name GLOB 'stamp_*' AND t.kind = 'timed'" >d.json
  cat >stamps.py <<'END'
import json
at, skew, event = {}, {}, ["receive", "start", "end", "done"]
for r in json.load(open("d.json")):
    name = r["name"].split("_")
    if name[1] in event:
        at.setdefault((r["series"], r["trial"]), {})[int(name[2][1:]), int(name[3][1:]), name[1]] = r["value"]
    elif name[1] == "skew":
        skew[r["series"], r["trial"]] = r["value"]
assert at.keys() == skew.keys(), at.keys()
END
  echo "assert len(at) == 2 * $1, at.keys()" >>stamps.py
  [ "$("$PKRUN" query d.db "SELECT count(*), sum(steps % (2 * ${2-7})) FROM step_jitter" --format csv |
      tail -n 1 | tr -d '\r')" = "$1,0" ]
}

# every_stamp: of every block and every step, all four, in order
every_stamp() {
  PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=. python3 - <<'END'
from stamps import at, event
for (series, trial), got in at.items():
    steps = 16 if series.startswith("norms") else 11    # 40 asked for, 16 done
    assert got.keys() == {(b, s, e) for b in range(7) for s in range(steps) for e in event}, (series, got.keys())
    for b in range(7):
        line = [got[b, s, e] for s in range(steps) for e in event]
        assert line == sorted(line), (series, b, line)
END
}

@test "stamps of the device's own orders: every block, every step, all four in order; results right" {
  devices
  take_stamps 11
  every_stamp
}

@test "stamps of launches, graphs and the doorbell: the same; their plain cells have none" {
  launches
  take_stamps 10
  every_stamp
  sed -i '/^stamps/d' d.ini
  "$PKRUN" --quiet --target host --db plain.db d.ini >/dev/null
  [ "$("$PKRUN" query plain.db "SELECT count(*) FROM metric WHERE name GLOB 'stamp_*'" --format csv | tail -n 1 | tr -d '\r')" = 0 ]
}

@test "launches: no block of a step is there before all have ended the one before; the doorbell: none starts" {
  launches
  for seed in '' 1 2; do
    rm -f d.db
    [ -z "$seed" ] || export PKH_WORKERS=0 PKH_SEED=$seed
    take_stamps 10
    PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=. python3 - <<'END'
from stamps import at, skew
for cell, got in at.items():
    bell, one = "doorbell" in cell[0], "one_signal" in cell[0]
    for b, s, e in got:
        for other in range(7) if s and e == ("start" if bell or one else "receive") else ():
            if one and s % 2 and abs(other - b) > 1:    # within a release: only neighbours
                continue
            assert got[b, s, e] + skew[cell] >= got[other, s - 1, "end"], (cell, b, s, other)
        if not bell and e == "start" and not (one and s % 2 == 0):
            assert got[b, s, "start"] == got[b, s, "receive"], (cell, b, s)
END
  done
}

# Blocks in turn keep step by themselves: so also in random orders.
@test "from start to end lies the whole of a step's work" {
  printf '%s\n' '[global]' 'workload = busy' 'n = 3' 'length_ns = 30000' 'imbalance = 0.5' 'iterations = 4' 'threads = 3' 'trials = 2' \
    'blocks_min = 1' 'blocks_max = 1' 'ci = 0' 'warmup = 0' 'warmup_runs = 0' 'stamps = 4' '[a]' \
    'variant = launch, launch_sync, launch_coop, graph, persistent_doorbell, persistent_relaxed, persistent_device' >d.ini
  take_stamps 7 3
  PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=. python3 - <<'END'
from stamps import at
for cell, got in at.items():
    for b in range(3):          # lengths run from half the mean to one and a half
        for s in range(4):
            assert got[b, s, "end"] - got[b, s, "start"] >= 30000 * (0.5 + 0.5 * b), (cell, b, s, got)
END
}

@test "device: no step starts before its neighbours ended the one before; barriers: before all have" {
  devices
  for seed in '' 1 2; do
    rm -f d.db
    [ -z "$seed" ] || export PKH_WORKERS=0 PKH_SEED=$seed
    take_stamps 11
    PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=. python3 - <<'END'
from stamps import at, skew
barriers, ahead = {"coop", "counter", "norms_counted"}, set()
for cell, got in at.items():
    series = cell[0]
    for b, s, e in got:
        for other in range(7) if e == "start" and s else ():
            if got[b, s, "start"] + skew[cell] >= got[other, s - 1, "end"]:
                continue
            ahead.add(series)
            assert series not in barriers and (abs(other - b) > 1 or series in ("halo", "chaotic") and s % 4), \
                (cell, b, s, other, got[b, s, "start"], got[other, s - 1, "end"], skew[cell])
print("# ahead of a block that is no neighbour, or within a round:", *sorted(ahead))
END
  done
}

@test "stamps of more blocks than there is room for are refused, with both numbers" {
  printf '%s\n' '[global]' 'workload = null' 'n = 1001' 'blocks = 1000, 1001' 'threads = 1' 'iterations = 2' 'trials = 1' \
    'blocks_min = 1' 'blocks_max = 1' 'ci = 0' 'stamps = 3' '[a]' 'variant = persistent_interpreter' 'tasks = 8' >a.ini
  run "$PKRUN" --quiet --target host a.ini
  run "$PKRUN" query pkrun.db 'SELECT status, reason FROM cell ORDER BY number' --format csv
  [[ $output == *'ok,'*'skipped,'*'stamps of 1001 blocks do not fit: at most 1000'* ]]
}

@test "the device's timelines: a span for each stamp; Chromium takes them whole" {
  devices
  "$PKRUN" --quiet --target host --db d.db d.ini >/dev/null
  "$PKRUN" trace d.db -o a.json
  python3 - <<'END'
import json
d = json.load(open("a.json"))
assert [c["key"] for c in d["otherData"]["cells"]][:3] == ["coop", "counter", "device"]
blocks = {(e["pid"], e["args"]["name"]): e["tid"] for e in d["traceEvents"] if e["name"] == "thread_name"}
for pid in range(1, 12):
    steps = 16 if pid >= 9 else 11
    for block in range(7):
        tid = blocks[pid, "block %d" % block]
        spans = [e for e in d["traceEvents"] if e["ph"] == "X" and (e["pid"], e["tid"]) == (pid, tid)]
        assert [e["name"] for e in spans] == [n for s in range(steps) for n in ("wait", "receive", "step %d" % s, "acknowledge")], spans
        for a, b in zip(spans, spans[1:]):
            assert a["dur"] >= 0 and a["ts"] + a["dur"] <= b["ts"] + 1e-6, (a, b)
END
  chromium_takes 'range(1, 12)' '64 if p >= 9 else 44'
}

@test "launches as a timeline: a span for each stamp, none across another, though a block be there early" {
  launches
  "$PKRUN" --quiet --target host --db d.db d.ini >/dev/null
  # as with launch_pdl: block 2 is there for step 5 while it is still at step 4
  change d.db "UPDATE metric SET value = (SELECT m.value FROM metric m WHERE m.cell_id = metric.cell_id
      AND m.trial_id = metric.trial_id AND m.name = 'stamp_start_b2_s4') WHERE name = 'stamp_receive_b2_s5'"
  "$PKRUN" trace d.db -o a.json
  python3 - <<'END'
import json
d = json.load(open("a.json"))
blocks = {(e["pid"], e["args"]["name"]): e["tid"] for e in d["traceEvents"] if e["name"] == "thread_name"}
for pid in range(1, 11):
    for block in range(7):
        tid = blocks[pid, "block %d" % block]
        spans = [e for e in d["traceEvents"] if e["ph"] == "X" and (e["pid"], e["tid"]) == (pid, tid)]
        assert [e["name"] for e in spans] == [n for s in range(16 if pid >= 7 else 11)
                                              for n in ("wait", "receive", "step %d" % s, "acknowledge")], spans
        for a, b in zip(spans, spans[1:]):
            assert a["dur"] >= 0 and a["ts"] + a["dur"] <= b["ts"] + 1e-6, (a, b)
END
}

@test "the timeline opens in Perfetto's trace processor: no error, every span there for SQL" {
  command -v node >/dev/null || skip "no node: install nodejs"
  [ -s "${PKRUN_PERFETTO-}/trace_processor.wasm" ] || skip "no Perfetto: tests/get-perfetto fetches it"
  ask() { node "$PKRUN_SRCDIR/tests/perfetto.mjs" "$PKRUN_PERFETTO" a.json "$@" 2>err || { cat err; return 1; }; }
  matrix
  "$PKRUN" --target host --db a.db a.ini >/dev/null
  "$PKRUN" trace a.db -o a.json
  blocks="SELECT p.name, t.name, count(*), sum(s.name GLOB 'step *'), sum(s.name = 'wait'), sum(s.dur > 0 AND s.depth > 0)
    FROM slice s JOIN thread_track k ON k.id = s.track_id JOIN thread t USING (utid) JOIN process p USING (upid)
    GROUP BY p.pid, t.tid ORDER BY p.pid, t.tid"
  errors="SELECT name, value FROM stats WHERE severity IN ('error', 'data_loss') AND value > 0"
  for cell in 'naive (persistent_naive, poisson2d, n=9) 12' 'neighbour (persistent_neighbour, poisson2d, n=9) 5'; do
    steps=${cell##* }
    for block in 0 1 2 3 4 5 6; do
      printf '%s\t%s\t%d\t%d\t%d\t0\n' "${cell% *}" "block $block" $((4 * steps)) $steps $steps
    done
  done >wanted
  ask "$blocks" "$errors" >got
  diff wanted got
  # and by the spans' own names and times
  [ "$(ask "SELECT count(*), count(DISTINCT name) FROM slice WHERE name GLOB 'step *' AND dur >= 0")" = $'119\t12' ]
  devices
  "$PKRUN" --quiet --target host --db d.db d.ini >/dev/null
  "$PKRUN" trace d.db -o a.json
  [ "$(ask "SELECT pid, count(*), count(DISTINCT track_id) FROM slice JOIN thread_track k ON k.id = track_id
      JOIN thread USING (utid) JOIN process USING (upid) GROUP BY pid ORDER BY pid" "$errors")" = \
    "$(printf '%s\t308\t7\n' 1 2 3 4 5 6 7 8; printf '%s\t448\t7\n' 9 10 11)" ]
  launches
  rm d.db
  "$PKRUN" --quiet --target host --db d.db d.ini >/dev/null
  "$PKRUN" trace d.db -o a.json
  [ "$(ask "SELECT pid, count(*), count(DISTINCT track_id) FROM slice JOIN thread_track k ON k.id = track_id
      JOIN thread USING (utid) JOIN process USING (upid) GROUP BY pid ORDER BY pid" "$errors")" = \
    "$(printf '%s\t308\t7\n' 1 2 3 4 5 6; printf '%s\t448\t7\n' 7 8 9 10)" ]
  # it can say no: cut short, or one span across another
  head -c 3000 a.json >cut; mv cut a.json
  ! ask 'SELECT 1' || false
  grep -q 'JSON trace file is incomplete' err
  span() { printf '{"ph":"X","name":"a","pid":1,"tid":2,"ts":%s,"dur":10}' "$1"; }
  echo "[$(span 1),$(span 5)]" >a.json
  [ "$(ask "$errors")" = $'slice_drop_overlapping_complete_event\t1' ]
}

@test "plot schedule: a panel a stamped cell" {
  command -v gnuplot >/dev/null || skip "no gnuplot"
  matrix
  "$PKRUN" --target host --db a.db a.ini >/dev/null
  run "$PKRUN" plot schedule a.db -o a.svg --keep
  [ "$status" -eq 0 ]
  grep -q 'naive: poisson2d, N = 9, clock tick ' a.svg
  grep -q 'neighbour: poisson2d, N = 9, clock tick ' a.svg
  [ "$(grep -Ec '^[0-9.e+-]+ [0-9]+ [0-9.e+-]+ [01]$' a.svg.gp)" -eq $((7 * 12 + 7 * 5)) ]
  run "$PKRUN" plot schedule a.db -o b.svg --n 7
  [ "$status" -eq 2 ]; [[ $output == *'no timeline of run 1 can be drawn, n = 7' ]]
  # no bar is too short to be seen, and where one was made longer the axis says so
  python3 - <<'END'
import re
text = open("a.svg.gp").read()
for panel, rest in re.findall(r"\$panel\d << END_OF_DATA\n(.*?)END_OF_DATA\n(.*?)\nplot", text, re.S):
    rows = [[float(x) for x in line.split()] for line in panel.splitlines()]
    least = float(re.search(r"set xrange \[0:(.*)\]", rest).group(1)) / 1.01 / 400
    shortest = min(r[2] for r in rows)
    assert shortest >= least * 0.999, (shortest, least)
    assert (shortest < least * 1.001) == ("are drawn that long" in rest), (shortest, least)
END
}

@test "plot schedule: panels share a scale if the shorter takes a quarter of the longer's time" {
  command -v gnuplot >/dev/null || skip "no gnuplot"
  matrix
  "$PKRUN" --target host --db a.db a.ini >/dev/null
  # every bar as long, so that only the second cell's times make a difference
  change a.db "UPDATE metric SET value = 1000 * CAST(substr(name, instr(name, '_s') + 2) AS INTEGER) + 500 * (name GLOB 'stamp_[ed]*')
    WHERE name GLOB 'stamp_*_b*'"
  for part in 0.5 0.2; do
    change a.db "UPDATE metric SET value = (value > 0) * $part * 11500 WHERE name GLOB 'stamp_*_b*' AND cell_id = (SELECT max(cell_id)
      FROM metric WHERE name GLOB 'stamp_*_b*')"
    "$PKRUN" plot schedule a.db -o a.svg --keep
    python3 - $part <<'END'
import re, sys
scale = [float(x) * {"ns": 1, "µs": 1000}[unit] for unit, x in
         re.findall(r"stamp \[(\w+)\].*\nset xrange \[0:(.*)\]", open("a.svg.gp", encoding="utf-8").read())]
assert abs(scale[0] / 1.01 - 11500) < 1, scale
assert abs(scale[1] / scale[0] - (1 if sys.argv[1] == "0.5" else 0.2)) < 1e-4, scale
END
  done
}

@test "a run without stamps says what to do" {
  "$PKRUN_BUILDDIR/tests/make_db" a.db cells=8 2>/dev/null
  run "$PKRUN" trace a.db -o a.json
  [ "$status" -eq 2 ]
  [[ $output == *'no cell of run 1 has stamps: give a variant of the ladder `stamps = STEPS`'* ]]
  [ ! -e a.json ]
  run "$PKRUN" plot schedule a.db -o a.svg
  [ "$status" -eq 2 ]
  [[ $output == *'no cell of run 1 has stamps'* ]]
  run "$PKRUN" trace none.db
  [ "$status" -eq 2 ]; [ ! -e trace.json ]
}

@test "step_jitter: quantiles of the steps of timed trials, by hand" {
  matrix
  "$PKRUN" --quiet --target host --db a.db a.ini >/dev/null
  python3 - <<'END'
import re, sqlite3
db = sqlite3.connect("a.db")
rows = db.execute("SELECT cell, series, steps, p50_ns, p99_ns, max_ns FROM step_jitter ORDER BY cell").fetchall()
assert [r[1] for r in rows] == ["naive", "neighbour"], rows
for cell, series, steps, p50, p99, most in rows:
    done = {}
    for trial, name, ns in db.execute("SELECT t.id, m.name, m.value FROM metric m JOIN trial t ON t.id = m.trial_id"
                                      " WHERE t.cell_id = ? AND t.kind = 'timed'", (cell,)):
        if at := re.fullmatch(r"stamp_done_b(\d+)_s(\d+)", name):
            done[trial, int(at[1]), int(at[2])] = ns
    gaps = sorted(ns - done[t, b, s - 1] for (t, b, s), ns in done.items() if s)
    assert steps == len(gaps) == 2 * 7 * (11 if series == "naive" else 4), (series, steps, len(gaps))
    assert (p50, most) == (gaps[(steps + 1) // 2 - 1], gaps[-1])
    assert p99 == gaps[-(-99 * steps // 100) - 1]
END
}
