#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# What README.md and results/README.md say is what the databases in results/ say.
load setup

setup() {
  cd "$PKRUN_SRCDIR"
  [ -d results ] || skip "no results/ in this tree"
}

# tables FILE: each table that stands right under a command that makes one, and what the command prints
tables() {
  awk -v out="$BATS_TEST_TMPDIR" '
    /^pkrun query .*--format markdown/ { command = $0 }
    /^\|/ && command { if (!on++) print command > (out "/command-" ++n); print > (out "/table-" n); next }
    on { on = 0; command = "" }' "$1"
}

@test "the tables of README.md and results/README.md" {
  for page in README.md results/README.md; do
    rm -f "$BATS_TEST_TMPDIR"/command-* "$BATS_TEST_TMPDIR"/table-*
    tables $page
    [ -e "$BATS_TEST_TMPDIR/command-1" ]
    for command in "$BATS_TEST_TMPDIR"/command-*; do
      eval "\"\$PKRUN\" $(sed 's/^pkrun //' "$command")" | diff - "${command/command-/table-}"
    done
  done
}

@test "the figures in the text of README.md and results/README.md" {
  python3 - <<'END'
import re, sqlite3
def ask(db, sql, *args):
    c = sqlite3.connect(f"file:results/h200-2026-11-30/{db}.db?mode=ro&immutable=1", uri=True)
    return [row[0] if len(row) == 1 else row for row in c.execute(sql, args).fetchall()]
def us(db, where, digits=1):
    got = ask(db, f"SELECT median_ns / 1000 FROM result WHERE median_ns IS NOT NULL AND {where}")
    assert len(got) == 1, (db, where, got)
    return f"{got[0]:.{digits}f}"
def mean(db, where, scale=1e3, form=".1f"):
    got = ask(db, f"SELECT mean FROM measured WHERE {where}")
    assert len(got) == 1, (db, where, got)
    return format(got[0] / scale, form)
def said(page, *sentences):
    text = " ".join(open(page).read().split())
    for sentence in sentences:
        assert sentence in text, f"{page} has not: {sentence}"

best = ask("small", "SELECT max(speedup) FROM summary WHERE variant GLOB 'persistent_*' GROUP BY n")
graph = ask("small", "SELECT speedup FROM summary WHERE variant = 'graph'")
large = ask("large", "SELECT max(speedup) FROM summary WHERE n >= 4001")
pays = dict(ask("busy", "SELECT variant, pays_below_ns / 1000 FROM crossover"))
said("README.md", f"({min(best):.1f} to {max(best):.1f} times from N = 11 to 101)", f"({min(graph):.1f} to {max(graph):.1f})",
     f"by more than {100 * (large[0] - 1):.0f} %", f"below {pays['persistent_device']:.0f} us a step, a grid barrier below {pays['persistent_barrier']:.0f} us",
     f"{ask('ladder', 'SELECT max(over_first) FROM ladder')[0]:.2f} times as fast")

page = "results/README.md"
def sizes(series, sweep):
    return ", ".join(us("large", f"series = '{series}' AND params = 'sweep={sweep}' AND n = {n}", d) for n, d in ((1001, 1), (2001, 1), (4001, 0), (10001, 0)))
said(page, f"Queued launches, N = 1001, 2001, 4001, 10001: {sizes('queued', 'rows')}.", f"bands: {sizes('step counters', 'bands')};", f"in turn: {sizes('step counters', 'rows')}.")
floor = ask("aa", "SELECT 100 * floor FROM floor ORDER BY n")
said(page, f"is {floor[0]:.1f} % at N = 11, where", f"drifts, and {floor[1]:.1f} % at 1001")
timer = lambda series: ask("timer", "SELECT min(median_ns) / 1000, max(median_ns) / 1000 FROM result WHERE series = ?", series)[0]
said(page, f"pkrun {timer('queued')[0]:.1f} to {timer('queued')[1]:.1f}, {timer('graph')[0]:.2f}, {timer('grid barrier')[0]:.2f} and {timer('counter barrier')[0]:.2f}")
way = lambda to: ask("relay", "SELECT p50_ns / 1000, p99_ns / 1000 FROM latency WHERE variant = 'relay_counter' AND message = ? AND params GLOB '*gap=10000*'", to)[0]
said(page, "after {:.1f} (p99 {:.1f}), by the device after {:.1f} (p99 {:.1f})".format(*way("to_host"), *way("to_device")))
def product(variant, report):
    return float(us("relay", f"variant = '{variant}' AND n = 1024 AND params = '{report}'", 6))
L, P = "progress_launch", "progress_persistent"
said(page, f"costs {100 * (product(L, '') / product(L, 'report=none') - 1):.1f} % (launch) and {100 * (product(P, '') / product(P, 'report=none') - 1):.0f} % (persistent)",
     f"takes {product(L, 'report=counter') / product(L, 'report=none'):.0f} and {product(P, 'report=counter') / product(P, 'report=none'):.1f} times as long",
     f"takes {product(P, 'report=none') / product(L, 'report=none'):.1f} times as long as the launch")
ping = lambda n, d: [us("pingpong", f"variant = 'pingpong_{v}' AND n = {n} AND params = ''", d) for v in ("persistent", "launch", "graph")]
said(page, "4 KiB resident {}, launches {}, graph {}; ".format(*ping(512, 1)) + "256 KiB {}, {}, {}; ".format(*ping(32768, 1)) + "1 MiB {}, {}, {};".format(*ping(131072, 0)))
task = lambda variant, lengths: mean("queue", f"variant = 'queue_{variant}' AND n = 10000 AND work GLOB '*lengths={lengths} mean_steps=1000 *' AND metric = 'tasks_per_s'", 1e6)
said(page, "counter {} with equal lengths, {} exponential, {} heavy-tailed; the static partition {}, {}, {};".format(
     *(task(v, l) for v in ("counter", "static") for l in ("constant", "exponential", "pareto"))))
place = lambda n, d: [us("locality", f"series = 'gpu' AND n = {n} AND variant = '{v}' AND params = '{p}'", d) for v, p in
                      (("locality_persistent", ""), ("locality_launch", "fused=yes"), ("locality_launch", ""))]
said(page, "take {}, one launch {}, two launches {}; ".format(*place(1024, 1)) + "with 32 MiB, {}, {} and {}:".format(*place(4194304, 0)))
roof = ask("roofline", "SELECT max(memory_bytes_per_s) / 1e9, max(peak_flops_per_s) / 1e12, max(cache_bytes_per_s) / 1e9 FROM roofline")[0]
above = dict(ask("roofline", "SELECT variant, 100 * (of_memory_roof - 1) FROM roofline WHERE workload = 'poisson2d' AND n = 1001"))
share = ask("roofline", "SELECT 100 * of_memory_roof FROM roofline WHERE workload = 'poisson2d' AND n = 4001")
said(page, f"memory {roof[0]:.0f} GB/s, arithmetic {roof[1]:.1f} Tflop/s", f"by {above['launch']:.0f} % queued and by {above['persistent_device']:.0f} % with step counters",
     f"all reach {min(share):.0f} to {max(share):.0f} % of it", f"cache roof of {roof[2]:.0f} GB/s")
END
}

@test "the recipes of docs/sql.md run straight on each database, without pkrun" {
  python3 - <<'END'
import glob, re, sqlite3
recipes = re.findall(r"```sql\n(.*?)```", open("docs/sql.md").read(), re.S)
assert len(recipes) > 10
for name in glob.glob("results/*/*.db"):
    db = sqlite3.connect(f"file:{name}?mode=ro&immutable=1", uri=True)
    for recipe in recipes:
        try:
            db.execute(recipe).fetchone()
        except sqlite3.Error as error:
            raise SystemExit(f"{name}: {error} (pkrun merge FILE brings it up to date)\n{recipe}")
END
}

@test "every database is whole, named in results/README.md, and has only right results, but for the mistakes" {
  for db in results/*/*.db; do
    name=$(basename "$db")
    grep -q "$name" results/README.md || { echo "$name is not in results/README.md"; false; }
    wrong=$("$PKRUN" query "$db" "SELECT count(*) FROM trial WHERE NOT verified" --format csv | tail -n 1 | tr -d '\r')
    [ "$name" = faulty.db ] || [ "$wrong" -eq 0 ] || { echo "$name: $wrong wrong"; false; }
    "$PKRUN" query "$db" "SELECT group_concat(path) || group_concat(argv) FROM plugin, run" --format csv | grep -E '/(home|root|work)/' && { echo "$name tells a path"; false; }
  done
  [ "$(git ls-files results 2>/dev/null | grep -c db-)" -eq 0 ]
}
