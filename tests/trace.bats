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
  [[ $output == *'neighbour: stamped takes '*' times as long as plain'* ]]
  python3 - <<'END'
import json
d = json.load(open("a.json"))
names = {e["pid"]: e["args"]["name"] for e in d["traceEvents"] if e["name"] == "process_name"}
assert names == {0: "naive (persistent_naive, poisson2d, n=9)", 1: "neighbour (persistent_neighbour, poisson2d, n=9)"}
for pid, steps in (0, 12), (1, 5):
    for tid in range(7):
        spans = [e for e in d["traceEvents"] if e["ph"] == "X" and (e["pid"], e["tid"]) == (pid, tid)]
        assert [e["name"] for e in spans] == [n for s in range(steps) for n in ("wait", "receive", "step %d" % s, "acknowledge")], spans
        for a, b in zip(spans, spans[1:]):      # one after the other, none inside another
            assert a["dur"] >= 0 and a["ts"] + a["dur"] <= b["ts"] + 0.0011, (a, b)
cells = d["otherData"]["cells"]
assert [c["pid"] for c in cells] == [0, 1]
assert all(c["clock_tick_ns"] > 0 and c["clock_skew_ns"] >= 0 for c in cells)
assert cells[0]["stamped_over_plain"] is None and cells[1]["stamped_over_plain"] > 0
END
}

@test "no step begins before its neighbours have done the one before; lockstep: before all have" {
  matrix
  "$PKRUN" --target host --db a.db a.ini >/dev/null
  "$PKRUN" trace a.db -o a.json
  python3 - <<'END'
import json
at = {}
for e in json.load(open("a.json"))["traceEvents"]:
    if e["ph"] == "X" and e["name"].startswith("step"):
        at[e["pid"], e["tid"], e["args"]["step"]] = e["ts"], e["ts"] + e["dur"]
for (pid, block, step), (begin, end) in at.items():
    if step == 0:
        continue
    others = range(7) if pid == 0 else [b for b in (block - 1, block, block + 1) if 0 <= b < 7]
    for other in others:
        assert at[pid, other, step - 1][1] <= begin + 0.0011, (pid, block, step, other)
END
}

@test "the timeline opens in Chromium's own trace engine, whole" {
  export PYTHONPATH=$PKRUN_SRCDIR/tests PYTHONDONTWRITEBYTECODE=1
  python3 -c 'import browser, sys; sys.exit(browser.find() is None)' || skip "no Chromium"
  matrix
  "$PKRUN" --target host --db a.db a.ini >/dev/null
  "$PKRUN" trace a.db -o a.json
  python3 - <<'END'
import json
from browser import Browser
engine = """(async () => {
  const T = await import('devtools://devtools/bundled/models/trace/trace.js');
  const model = T.TraceModel.Model.createWithAllHandlers();
  await model.parse(JSON.parse(window.text).traceEvents);
  const trace = model.parsedTrace(0);
  return [...(trace.data || trace).Renderer.processes].map(([pid, p]) =>
    [pid, [...p.threads].map(([tid, t]) => [tid, t.name, t.entries.length])]);
})()"""
with Browser() as b:
    b.open("devtools://devtools/bundled/devtools_app.html")
    if not b.evaluate("import('devtools://devtools/bundled/models/trace/trace.js').then(m => !!m.TraceModel, () => false)"):
        print("# this Chromium has no trace engine to ask")
        raise SystemExit(0)
    b.call("Runtime.evaluate", expression="window.text = " + json.dumps(open("a.json").read()))
    got = b.evaluate(engine)
assert got == [[0, [[t, "block %d" % t, 48] for t in range(7)]], [1, [[t, "block %d" % t, 20] for t in range(7)]]], got
END
}

@test "plot schedule: a panel a stamped cell" {
  command -v gnuplot >/dev/null || skip "no gnuplot"
  matrix
  "$PKRUN" --target host --db a.db a.ini >/dev/null
  run "$PKRUN" plot schedule a.db -o a.svg --keep
  [ "$status" -eq 0 ]
  grep -q 'naive: poisson2d, N = 9, clock tick ' a.svg
  grep -q 'neighbour: poisson2d, N = 9, clock tick ' a.svg
  [ "$(grep -Ec '^[0-9.e+-]+ [0-9]+ [0-9.e+-]+ [0-9.e+-]+ ' a.svg.gp)" -eq $((7 * 12 + 7 * 5)) ]
}

@test "a run without stamps says what to do" {
  "$PKRUN_BUILDDIR/tests/make_db" a.db cells=8 2>/dev/null
  run "$PKRUN" trace a.db -o a.json
  [ "$status" -eq 2 ]
  [[ $output == *'no cell of run 1 has stamps: give a persistent variant `stamps = STEPS`'* ]]
  [ ! -e a.json ]
  run "$PKRUN" plot schedule a.db -o a.svg
  [ "$status" -eq 2 ]
  [[ $output == *'no cell of run 1 has stamps'* ]]
  run "$PKRUN" trace none.db
  [ "$status" -eq 2 ]; [ ! -e trace.json ]
}
