#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# What is stored besides times is explained: by help, by list and in docs/metrics.md.
load setup

# every variant that has metrics of its own, and what any variant may have
measure_all() {
  printf '%s\n' '[global]' 'iterations = 6' 'trials = 1' 'blocks_min = 1' 'blocks_max = 1' 'ci = 0' 'warmup = 0' \
    'warmup_runs = 0' 'isolation = block' 'threads = 16' 'target = host' \
    '[grid]' 'workload = poisson2d' 'variant = launch, graph, persistent_barrier' 'n = 9' 'check = 2' 'stamps = 2' \
    '[converging]' 'workload = poisson2d' 'variant = persistent_chaotic' 'n = 9' 'iterations = 64' \
    '[launches]' 'workload = launchcost' 'variant = launchcost_*' 'unit_steps = 8' \
    '[relay]' 'workload = relay' 'variant = relay_round, relay_launch' \
    '[counter]' 'workload = relay' 'variant = relay_counter' 'direction = to_host, to_device' \
    '[product]' 'workload = progress' 'variant = progress_*' 'n = 32' \
    '[buffers]' 'workload = pingpong' 'variant = pingpong_*' 'n = 64' \
    '[tasks]' 'workload = queue' 'variant = queue_*' 'n = 40' 'mean_steps = 4' 'blocks = 2' \
    '[barriers]' 'workload = syncost' 'variant = sync_*' 'n = 2' >a.ini
  "$PKRUN" --quiet a.ini >/dev/null
}

@test "each metric that is stored is explained, with its unit, and each that is explained is stored" {
  measure_all
  "$PKRUN" list metrics --format json >explained.json
  python3 - <<'END'
import fnmatch, json, sqlite3
explained = json.load(open("explained.json"))
stored = sqlite3.connect("pkrun.db").execute(
    "SELECT DISTINCT c.variant, m.name, m.unit FROM metric m JOIN cell c ON c.id = m.cell_id").fetchall()
assert len({v for v, _, _ in stored}) >= 18, stored
def explains(row, variant, name, unit):
    return (fnmatch.fnmatchcase(name, row["metric"]) and row["unit"] == unit and
            (row["variants"] == ["any"] or variant in row["variants"]))
missing = [s for s in stored if not any(explains(row, *s) for row in explained)]
# no counter of energy here
stale = [row["metric"] for row in explained
         if not row["metric"].startswith("energy_") and not any(explains(row, *s) for s in stored)]
assert not missing and not stale, (missing, stale)
END
}

@test "docs/metrics.md is what list says" {
  "$PKRUN" list metrics --format markdown >now.md
  grep '^|' "$PKRUN_SRCDIR/docs/metrics.md" | diff - now.md
}

@test "help of a variant and of a workload explain its metrics" {
  run -0 "$PKRUN" help queue_ring
  [[ $output == *'Metrics of its own'*'tasks_per_s '*'full_waits '*'Metrics that every variant may have'*'residual_norm '* ]]
  run -0 "$PKRUN" help launch
  [[ $output != *'Metrics of its own'* && $output == *'residual_norm '* ]]
  run -0 "$PKRUN" help queue
  [[ $output == *'Variants that drive it:'*'queue_static '*'What they measure'*'tasks_per_s '*'full_waits '* ]]
  [ "$(grep -c 'tasks_per_s' <<<"$output")" -eq 1 ]
  run -0 "$PKRUN" help syncost
  [[ $output == *'sync_tree '* && $output != *'What they measure'* ]]
}

@test "the report has what is no time, and no latency of the table above it" {
  "$PKRUN_BUILDDIR/tests/make_db" a.db kind=relay
  change a.db "INSERT INTO metric (cell_id, block_id, trial_id, name, value, unit) SELECT cell_id, block_id, id, 'tasks_of_a_block_min', 12345.6, 'task' FROM trial WHERE kind = 'timed'"
  "$PKRUN" report a.db -o a.html
  python3 - <<'END'
import re
page = open("a.html", encoding="utf-8").read()
body = re.search(r'id="table-measured">.*?<tbody>(.*?)</tbody>', page, re.S).group(1)
assert "tasks_of_a_block_min" in body and "1.235e+04" in body and "round_trip" not in body, body
END
}

@test "show --metrics: means over the verified timed trials, and show says that there is something" {
  "$PKRUN_BUILDDIR/tests/make_db" a.db kind=relay
  change a.db "UPDATE metric SET value = 1e9 WHERE trial_id IN (SELECT id FROM trial WHERE kind <> 'timed')"
  run -0 "$PKRUN" show a.db
  [[ ${lines[-1]} == *': pkrun show --metrics a.db' ]]
  "$PKRUN_BUILDDIR/tests/make_db" a.db kind=full
  run -0 "$PKRUN" show a.db --run 1
  [[ ${lines[-1]} == *': pkrun show --metrics a.db --run 1' ]]
  run -0 --separate-stderr "$PKRUN" show a.db --run 1 --metrics --format json
  printf '%s' "$output" >shown.json
  python3 - <<'END'
import json, sqlite3
db = sqlite3.connect("a.db")
shown = json.load(open("shown.json"))
assert shown
for row in shown:
    mean, least, most, n = db.execute(
        "SELECT avg(m.value), min(m.value), max(m.value), count(*) FROM metric m JOIN trial t ON t.id = m.trial_id"
        " WHERE m.cell_id = ? AND m.name = ? AND t.kind = 'timed' AND t.verified = 1", (row["cell"], row["metric"])).fetchone()
    assert (row["mean"], row["least"], row["most"], row["samples"]) == (mean, least, most, n), row
    assert "hist" not in row["metric"]
END
  run -0 "$PKRUN" show a.db --run 1 --metrics
  [[ ${lines[0]} == 'series '*' metric '*' mean '* ]]
  "$PKRUN_BUILDDIR/tests/make_db" b.db kind=full
  run -0 "$PKRUN" show b.db
  [[ $output != *'show --metrics'* ]]
  run -2 "$PKRUN" show b.db --metrics --failures
}

@test "show --metrics: no number and infinity are not shown as 0" {
  "$PKRUN_BUILDDIR/tests/make_db" a.db kind=relay
  change a.db 'DELETE FROM metric' "INSERT INTO metric (cell_id, block_id, trial_id, name, value, unit)
    SELECT cell_id, block_id, id, name, value, '' FROM trial,
      (SELECT 'none' AS name, NULL AS value UNION ALL VALUES ('endless', 9e999), ('huge', 1.23456e308))
    WHERE kind = 'timed'"
  run -0 "$PKRUN" show a.db --metrics --format markdown
  [ "$(grep -Eo '\| (none|endless|huge) .*' <<<"$output" | sort -u)" = \
    $'| endless |  |  |  |  | 15 |\n| huge |  |  | 1.235e+308 | 1.235e+308 | 15 |\n| none |  |  |  |  | 0 |' ]
}
