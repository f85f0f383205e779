#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The views: their numbers from a database made for it.
load setup

make_db() { "$PKRUN_BUILDDIR/tests/make_db" "$@" 2>/dev/null; }
ask() { "$PKRUN" query a.db "$1" --format csv | tr -d '\r' | tail -n +2; }

@test "ladder: rungs in the matrix's order, over the rung before and over the first" {
  make_db a.db kind=full
  [ "$(ask "SELECT group_concat(series, ' ') FROM (SELECT series FROM ladder WHERE workload = 'poisson2d' AND n = 101 ORDER BY rung)")" = \
    'queued synced graph naive poller doorbell barrier neighbours' ]
  [ "$(ask "SELECT count(*) FROM ladder l JOIN ladder p USING (run, workload, target, n, iterations, work)
    WHERE l.rung = p.rung + 1 AND abs(l.over_previous - p.median_ns / l.median_ns) > 1e-12")" = 0 ]
  [ "$(ask "SELECT count(*) FROM ladder WHERE rung = 1 AND (over_first <> 1 OR over_previous IS NOT NULL)")" = 0 ]
}

@test "ladder: a rung without a time stays, and the next is measured against the last that has one" {
  make_db a.db kind=full
  python3 - <<'END'
import sqlite3
db = sqlite3.connect("a.db"); db.execute("UPDATE cell SET status = 'hang' WHERE series = 'graph'"); db.commit()
END
  [ "$(ask "SELECT rung, status, median_ns, over_previous FROM ladder WHERE workload = 'poisson2d' AND n = 11 AND series = 'graph'")" = '3,hang,,' ]
  [ "$(ask "SELECT round(n.over_previous - s.median_ns / n.median_ns, 9) FROM ladder n JOIN ladder s USING (run, workload, n)
    WHERE workload = 'poisson2d' AND n = 11 AND n.series = 'naive' AND s.series = 'synced'")" = 0 ]
}

@test "ladder: two variants of one section are two rungs, two parameter sets one" {
  make_db a.db cells=8
  python3 - <<'END'
import sqlite3
db = sqlite3.connect("a.db")
db.execute("UPDATE cell SET series = 'persistent' WHERE variant LIKE 'persistent%'")
db.execute("UPDATE cell SET variant = 'launch' WHERE variant = 'launch_sync'")
db.execute("UPDATE cell SET series = 'queued' WHERE series = 'synced'")
db.commit()
END
  [ "$(ask 'SELECT count(*), count(DISTINCT rung), max(rung) FROM ladder')" = 7,7,7 ]
  [ "$(ask "SELECT median_ns < 7000 FROM ladder WHERE series = 'queued'")" = 1 ]
}

@test "scaling: updates a second, and time against the next smaller size" {
  make_db a.db kind=full
  [ "$(ask "SELECT count(*) FROM scaling WHERE workload = 'poisson2d' AND abs(updates_per_s - (n - 2) * (n - 2) * 1e9 / median_ns) > 1 AND n < 5000")" = 0 ]
  [ "$(ask "SELECT round(b.over_smaller - b.median_ns / a.median_ns, 9) FROM scaling a JOIN scaling b USING (series, workload)
    WHERE workload = 'poisson2d' AND series = 'graph' AND a.n = 101 AND b.n = 301")" = 0 ]
}

@test "scaling: iterations that fall as n grows do not part a series" {
  make_db a.db kind=full
  python3 - <<'END'
import sqlite3
db = sqlite3.connect("a.db"); db.execute("UPDATE cell SET iterations = 100 WHERE n >= 301"); db.commit()
END
  [ "$(ask "SELECT count(*), count(over_smaller) FROM scaling WHERE workload = 'poisson2d' AND series = 'graph'")" = 5,4 ]
  [ "$(ask "SELECT count(*) FROM scaling a JOIN scaling b USING (series, variant, params, workload)
    WHERE workload = 'poisson2d' AND series = 'graph' AND a.n = 101 AND b.n = 301 AND abs(b.over_smaller - b.median_ns / a.median_ns) < 1e-9")" = 1 ]
}

@test "overhead: parts add up to the total" {
  make_db a.db kind=full
  [ "$(ask "SELECT count(*) FROM overhead WHERE workload = 'poisson2d' AND n < 5000
    AND abs(total_ns - compute_ns - coalesce(execution_ns, 0) - coalesce(launch_ns, 0) - coalesce(handshake_ns, 0)) < 1e-6")" = 40 ]
  [ "$(ask "SELECT round(launch_ns / 1000) FROM overhead WHERE workload = 'null' AND variant = 'launch_sync' AND n = 9")" = 6 ]
  [ "$(ask "SELECT count(*) FROM overhead WHERE control = 'device' AND (execution_ns OR launch_ns)")" = 0 ]
  [ "$(ask "SELECT count(*) FROM overhead WHERE control = 'device' AND workload = 'poisson2d' AND handshake_ns > 1000")" = 10 ]
}

@test "overhead: of several empty twins the one with as many iterations, over which waiting is spread" {
  make_db a.db kind=full
  change a.db "UPDATE cell SET blocks = 9, iterations = 10 WHERE workload = 'null' AND blocks = 29 AND series IN ('graph', 'queued')" \
    "UPDATE trial SET iterations = 10, wall_ns = wall_ns / 200 WHERE cell_id IN (SELECT id FROM cell WHERE workload = 'null' AND iterations = 10)"
  [ "$(ask "SELECT execution_ns = (SELECT median_ns FROM result WHERE workload = 'null' AND series = 'graph' AND n = 9) FROM overhead
    WHERE workload = 'poisson2d' AND series = 'graph' AND n = 11")" = 1 ]
  [ "$(ask "SELECT execution_ns = (SELECT median_ns FROM result WHERE workload = 'null' AND series = 'queued' AND n = 9) FROM overhead
    WHERE workload = 'poisson2d' AND variant = 'launch_sync' AND n = 11")" = 1 ]
}

@test "overhead: without empty work only the launch is known" {
  make_db a.db cells=8
  python3 - <<'END'
import sqlite3
db = sqlite3.connect("a.db"); db.execute("UPDATE cell SET params = ''"); db.commit()
END
  [ "$(ask "SELECT compute_ns, execution_ns, round(launch_ns / 1000), handshake_ns FROM overhead WHERE variant = 'launch_sync'")" = ,,6, ]
}

@test "roofline: roofs from the same device, and what is above one is suspect" {
  make_db a.db kind=full
  [ "$(ask "SELECT n FROM roofline WHERE suspect AND workload = 'poisson2d'")" = 5001 ]
  [ "$(ask "SELECT DISTINCT round(memory_bytes_per_s / 1e11), round(cache_bytes_per_s / 1e11), round(peak_flops_per_s / 1e12) FROM roofline")" = 42,85,30 ]
  python3 - <<'END'
import sqlite3
db = sqlite3.connect("a.db"); db.execute("UPDATE cell SET status = 'error' WHERE workload IN ('scale', 'fma')"); db.commit()
END
  [ "$(ask "SELECT count(suspect), count(memory_bytes_per_s), count(*) > 30 FROM roofline")" = 0,0,1 ]
}

# busy_db: workload busy with exact times, six blocks, and iterations that differ with the
# length; $1: times by series, Python in s (the length) and b (the block), over those below.
busy_db() {
  make_db a.db kind=full blocks=6 trials=1
  python3 - "${1:-}" <<'END'
import sqlite3, sys
db = sqlite3.connect("a.db")
ns = {"queued": "6000 + s", "synced": "12000 + s", "graph": "2500 + s", "naive": "230000 + s",
      "poller": "57000 + s", "doorbell": "6900 + s", "barrier": "2400 + 1.1 * s", "neighbours": "2000 + s"}
ns.update(eval("dict(%s)" % sys.argv[1]))
cells = db.execute("SELECT c.id, series, CAST(value AS REAL) FROM cell c JOIN param p ON p.cell_id = c.id"
                   " AND name = 'length_ns' WHERE workload = 'busy'").fetchall()
for cell, series, s in cells:
    its = 1000 if s < 5000 else 200 if s < 1e5 else 10
    db.execute("UPDATE cell SET iterations = ? WHERE id = ?", (its, cell))
    for block, b in db.execute("SELECT id, number FROM block WHERE cell_id = ?", (cell,)).fetchall():
        db.execute("UPDATE trial SET iterations = ?, wall_ns = ? WHERE block_id = ?",
                   (its, round(its * eval(ns[series])), block))
db.commit()
END
}

@test "crossover: where the gain falls to 1 %, whatever the numbers of iterations" {
  busy_db
  # against graph, 2500 + s: 2500 + s = 1.01 (2000 + s) at 48000, = 1.01 (2400 + 1.1 s) at 684.7
  [ "$(ask "SELECT pays, round(pays_below_ns), meets_ns FROM crossover WHERE series = 'neighbours'")" = 'at some,48000,' ]
  [ "$(ask "SELECT pays, round(pays_below_ns, 1), round(meets_ns) FROM crossover WHERE series = 'barrier'")" = 'at some,684.7,1000' ]
  [ "$(ask "SELECT pays, pays_below_ns, lengths, shortest_ns, longest_ns FROM crossover WHERE series = 'naive'")" = 'at none,,6,200,500000' ]
  [ "$(ask "SELECT count(*), count(DISTINCT variant) FROM crossover")" = 5,5 ]
  [ "$(ask "SELECT count(*), group_concat(DISTINCT against) FROM crossover_ratio")" = 30,graph ]
  run "$PKRUN" show a.db
  [[ $output == *'Persistent pays below 48.0 us a step on this device (persistent_device, released by the device: over 1 % faster than the fastest variant that is launched; measured 200 ns to 500 us); released by the host, it pays at no step length measured.'* ]]
}

@test "speed-ups, rungs and launch costs compare equal work alone: each length with itself" {
  busy_db
  [ "$(ask "SELECT count(*), count(speedup), sum(abs(speedup - baseline_ns / median_ns) < 1e-9), max(abs(baseline_ns - 6000 - CAST(replace(work, 'length_ns=', '') AS REAL))) < 1 FROM result WHERE workload = 'busy'")" = 48,48,48,1 ]
  [ "$(ask "SELECT count(*), max(rung) FROM ladder WHERE workload = 'busy'")" = 48,8 ]
  [ "$(ask "SELECT count(*), min(round(launch_ns)), max(round(launch_ns)) FROM overhead WHERE workload = 'busy' AND variant = 'launch_sync'")" = 6,6000,6000 ]
  # the intervals are those of the same pairs
  [ "$("$PKRUN" show a.db --format csv | tr -d '\r' | python3 -c 'import csv, sys
print(sum(1 for r in csv.DictReader(sys.stdin) if r["workload"] == "busy" and r["speedup_lo"] and not float(r["speedup_lo"]) - 1e-9 <= float(r["speedup"]) <= float(r["speedup_hi"]) + 1e-9))')" = 0 ]
}

@test "crossover: against the fastest launch of each length, not of one variant" {
  busy_db "queued='1500 + 1.2 * s'" # faster than graph up to 5000, where the two are 7500
  [ "$(ask "SELECT group_concat(against, ' ') FROM (SELECT against FROM crossover_ratio WHERE series = 'neighbours' ORDER BY step_ns)")" = \
    'launch launch launch graph graph graph' ]
  # loses at 200 (2200 against 1740), pays from 5000
  [ "$(ask "SELECT group_concat(pays, '') FROM (SELECT pays FROM crossover_ratio WHERE series = 'neighbours' ORDER BY step_ns)")" = 001100 ]
}

@test "crossover: what pays only above a length, between two, or here and there does not pay below" {
  # against graph, 2500 + s: 1.01 (4500 + 0.9 s) at 22472.5; lengths 200 1000 5000 25000 100000 500000
  busy_db "neighbours='4500 + 0.9 * s', barrier='1.1 * (2500 + s)', doorbell='(2500 + s) * (0.9 if 1000 <= s <= 25000 else 1.1)'"
  [ "$(ask "SELECT pays, round(pays_above_ns, 1), pays_below_ns, round(meets_ns), stretches FROM crossover WHERE series = 'neighbours'")" = 'at some,22472.5,,20000,1' ]
  [ "$(ask "SELECT pays, pays_above_ns, pays_below_ns, stretches FROM crossover WHERE series = 'barrier'")" = 'at none,,,0' ]
  # margins -299.7 and 318.5 at 200 and 1000, 2502.5 and -11377.5 at 25000 and 100000
  [ "$(ask "SELECT pays, round(pays_above_ns), round(pays_below_ns), stretches FROM crossover WHERE series = 'doorbell'")" = 'at some,588,38522,1' ]
  run "$PKRUN" show a.db
  [[ $output == *'Persistent pays above 22.5 us a step on this device (persistent_device, released by the device: over 1 % '*'; released by the host, it pays between 588 ns and 38.5 us a step (persistent_doorbell).'* ]]
  rm a.db
  busy_db "neighbours='(2500 + s) * (0.9 if s in (200, 5000, 500000) else 1.1)', barrier='1.1 * (2500 + s)'"
  [ "$(ask "SELECT pays, stretches FROM crossover WHERE series = 'neighbours'")" = 'at some,3' ]
  run "$PKRUN" show a.db
  [[ $output == *'Persistent pays at 3 of 6 step lengths measured on this device (persistent_device, released by the device: over 1 % '* ]]
}

@test "crossover: a difference inside the noise, or below the floor, is no win" {
  # a median 3.5 % better, but only in half of the blocks that were measured side by side
  busy_db "neighbours='(2500 + s) * (0.9 if b % 2 else 1.03)', barrier='(2500 + s) * 0.96'"
  [ "$(ask "SELECT count(*), min(speedup) > 1.03, max(pays), max(faster_in) FROM crossover_ratio WHERE series = 'neighbours'")" = 6,1,0,3 ]
  [ "$(ask "SELECT pays, pays_below_ns FROM crossover WHERE series = 'neighbours'")" = 'at none,' ]
  [ "$(ask "SELECT pays, pays_below_ns FROM crossover WHERE series = 'barrier'")" = 'at every length,' ]
  run "$PKRUN" show a.db
  [[ $output == *'Persistent pays at every step length measured on this device (persistent_barrier, released by the device: over 1 % '* ]]
  python3 - <<'END'
import sqlite3
db = sqlite3.connect("a.db")
db.execute("INSERT INTO floor VALUES (1, '2026-01-01', 1, 'host', 'launch', 'null', 1, 20, 0, 0.05)"); db.commit()
END
  [ "$(ask "SELECT pays, threshold FROM crossover WHERE series = 'barrier'")" = 'at none,0.05' ]
  # of another device of that name, architecture and driver, as compare has it, but of no other
  change a.db "INSERT INTO device SELECT 2, target, name, arch, 'another', 'slot 2', driver, runtime, compute_units, memory_bytes, l2_bytes, shared_bytes, clock_khz FROM device" \
    "UPDATE floor SET device_id = 2"
  [ "$(ask "SELECT pays, threshold FROM crossover WHERE series = 'barrier'")" = 'at none,0.05' ]
  [[ $("$PKRUN" show a.db) == *'(A/A floor): launch n=1 5 %'* ]]
  change a.db "UPDATE device SET driver = 'newer' WHERE id = 2"
  [ "$(ask "SELECT pays, threshold FROM crossover WHERE series = 'barrier'")" = 'at every length,0.01' ]
  change a.db "UPDATE device SET driver = (SELECT driver FROM device WHERE id = 1) WHERE id = 2"
  run "$PKRUN" show a.db
  [[ $output == *'Persistent pays at no step length measured on this device (no variant is over 5 % faster than the fastest variant that is launched; measured 200 ns to 500 us).'* ]]
}

@test "crossover: of a sequential run no blocks were side by side" {
  busy_db "neighbours='(2500 + s) * (0.9 if b % 2 else 1.03)'"
  [[ $("$PKRUN" show a.db) != *'may be chance'* ]]
  change a.db "UPDATE run SET schedule = 'sequential'"
  [ "$(ask "SELECT DISTINCT blocks, faster_in, pays FROM crossover_ratio WHERE series = 'neighbours'")" = 0,0,1 ]
  [[ $("$PKRUN" show a.db) == *'Persistent pays at every step length measured'*'. It may be chance: there were not 6 blocks side by side.'* ]]
  change a.db "UPDATE run SET schedule = 'blocks'" "DELETE FROM trial WHERE block_id IN (SELECT id FROM block WHERE number > 4)"
  [[ $("$PKRUN" show a.db) == *'It may be chance: there were not 6 blocks side by side.'* ]]
}

@test "environment_diff: other values, and facts that one run lacks" {
  make_db a.db cells=1; make_db a.db cells=1
  [ -z "$(ask 'SELECT * FROM environment_diff')" ]
  python3 - <<'END'
import sqlite3
db = sqlite3.connect("a.db")
db.execute("UPDATE environment SET value = 'performance' WHERE run_id = 2 AND key = 'governor'")
db.execute("DELETE FROM environment WHERE run_id = 1 AND key = 'host'")
db.commit()
END
  [ "$(ask 'SELECT * FROM environment_diff ORDER BY key')" = $'1,2,governor,powersave,performance\n1,2,host,,made-up' ]
}

@test "environment_diff, compare: a plugin that only one run used is no difference, another build of it is" {
  make_db a.db cells=1; make_db a.db cells=3
  [ "$(ask "SELECT count(DISTINCT key) FROM environment_steady WHERE key LIKE 'plugin %'")" -ge 3 ]
  [ -z "$(ask 'SELECT * FROM environment_diff')" ]
  run "$PKRUN" compare --runs 1:2 a.db
  [[ $output$stderr != *'plugin '* ]]
  make_db b.db cells=1
  change b.db "UPDATE plugin SET sha256 = 'feedfacefeedface'"
  run "$PKRUN" compare a.db b.db --runs 1:1
  [[ $output == *'plugin host/launch'*feedface* ]]
  run -0 "$PKRUN" merge a.db b.db
  [[ $(ask "SELECT run_a, run_b, key FROM environment_diff") == *'1,3,plugin host/launch'* ]]
}

@test "every view answers on an empty database" {
  make_db a.db cells=0
  views=$(ask "SELECT name FROM sqlite_schema WHERE type = 'view'")
  [ "$(wc -w <<<"$views")" -ge 10 ]
  for view in $views; do
    [ "$view" = environment_steady ] && continue # a run without cells has an environment
    run "$PKRUN" query a.db "SELECT * FROM $view" --format csv
    [ "$status" -eq 0 ]
    [ "${#lines[@]}" -eq 1 ]
  done
}

@test "cost: host CPU and energy an iteration" {
  make_db a.db cells=1 blocks=2
  # wall 1000 x, CPU 900 x the time of an iteration, give or take 3 %
  [ "$(ask 'SELECT host_cpu_share BETWEEN 0.85 AND 0.95, energy_uj IS NULL, host_cpu_ns BETWEEN 0.85 * median_ns AND 0.95 * median_ns FROM cost')" = 1,1,1 ]
  "$PKRUN" show a.db --format csv | tr -d '\r' | head -1 | grep -q 'verified,host_cpu_ns,energy_uj'
  change a.db "UPDATE cell SET status = 'wrong', target = 'cuda' WHERE id = 1"
  [ "$(ask 'SELECT count(*) FROM cost')" = 0 ]
  ! "$PKRUN" show a.db | grep -q 'host CPU' || false
}

@test "latency: quantiles averaged over trials, the least and the greatest of all, every sample counted" {
  make_db a.db kind=relay blocks=2 trials=2
  change a.db "UPDATE metric SET value = 5900 WHERE name = 'round_trip_p50' AND trial_id = 1" \
    "UPDATE metric SET value = 1000 WHERE name = 'round_trip_min' AND trial_id = 2" \
    "UPDATE metric SET value = 200000 WHERE name = 'round_trip_max' AND trial_id = 3" \
    "UPDATE trial SET verified = 0 WHERE id = 5" "UPDATE trial SET kind = 'warmup' WHERE id = 6" \
    "UPDATE cell SET status = 'wrong' WHERE id = 3" \
    "INSERT INTO metric (cell_id, trial_id, name, value, unit) VALUES (1, 1, 'tasks_of_a_block_max', 7, 'task')"
  [ "$(ask "SELECT message, samples, min_ns, mean_ns, p50_ns, p90_ns, p99_ns, p999_ns, max_ns FROM latency WHERE cell = 1")" = \
    'round_trip,4000,1000,4200,4400,4800,6100,9000,200000' ]
  [ "$(ask "SELECT samples, p50_ns FROM latency WHERE cell = 2")" = 2000,39000 ]
  [ "$(ask "SELECT group_concat(cell, ' ') FROM (SELECT cell FROM latency ORDER BY cell)")" = '1 2 4 5' ]
}
