-- The stable interface of a pkrun database: ask these before the tables.  Times
-- are per iteration, in ns; NULL is unknown.  Only SQLite's own functions, so
-- every tool that opens the file can use them.  Medians are medians over the
-- medians of the blocks (processes), for trials of one process are not
-- independent.  Each view begins at the start of a line and ends at ";" and a newline, and
-- what explains it lies inside: so it is in the file, for whoever opens that.

CREATE VIEW block_time AS
-- One row a block that was measured to its end: its verified timed trials, whose
-- clock could be trusted.
-- (The median by a look into each block's part of the index: half the time of
-- one window over all trials.)
SELECT cell_id, block_id, trials,
       (SELECT avg(ns)
        FROM (SELECT CAST(t.wall_ns AS REAL) / t.iterations AS ns,
                     row_number() OVER (ORDER BY CAST(t.wall_ns AS REAL) / t.iterations) AS place
              FROM trial t
              WHERE t.kind = 'timed' AND t.verified = 1 AND t.cell_id = g.cell_id
                AND t.block_id = g.block_id AND t.wall_ns > 0 AND instr(t.flags, 'bad_clock') = 0)
        WHERE place IN ((trials + 1) / 2, (trials + 2) / 2)) AS median_ns,
       min_ns, max_ns
FROM (SELECT cell_id, block_id, count(*) AS trials, min(CAST(wall_ns AS REAL) / iterations) AS min_ns,
             max(CAST(wall_ns AS REAL) / iterations) AS max_ns
      FROM trial
      WHERE kind = 'timed' AND verified = 1 AND wall_ns > 0 AND instr(flags, 'bad_clock') = 0
      GROUP BY cell_id, block_id) g
WHERE (SELECT status FROM block WHERE id = g.block_id) = 'ok';

CREATE VIEW cell_time AS
-- One row a cell that has times: the median over its blocks' medians.
SELECT cell_id, count(*) AS blocks, sum(trials) AS trials,
       avg(CASE WHEN place IN ((of + 1) / 2, (of + 2) / 2) THEN median_ns END) AS median_ns,
       min(min_ns) AS min_ns, max(max_ns) AS max_ns
FROM (SELECT cell_id, trials, median_ns, min_ns, max_ns,
             row_number() OVER (PARTITION BY cell_id ORDER BY median_ns) AS place,
             count(*) OVER (PARTITION BY cell_id) AS of
      FROM block_time)
GROUP BY cell_id;

CREATE VIEW result AS
-- One row a cell with all that belongs to it.  Times only where every process
-- of the cell ended well; speedup is against the fastest cell of the section
-- that the matrix names as baseline, at equal workload, target, n, iterations
-- and work: what else the workload was told (length_ns of busy, say), if anything.
WITH counted AS MATERIALIZED (
  SELECT cell_id, sum(many) FILTER (WHERE kind = 'timed') AS trials,
         CASE WHEN max(verified = 0) THEN 0 WHEN max(verified = 1) THEN 1 END AS verified
  FROM (SELECT kind, verified, cell_id, count(*) AS many FROM trial
        GROUP BY kind, verified, cell_id)
  GROUP BY cell_id),
told AS MATERIALIZED (
  SELECT cell_id, group_concat(name || '=' || value, ' ') AS work
  FROM (SELECT cell_id, name, value FROM param WHERE owner = 'workload' AND name <> 'n'
        ORDER BY cell_id, name)
  GROUP BY cell_id),
timed AS MATERIALIZED (
  SELECT c.id AS cell_id, c.run_id, c.series = r.baseline AS is_baseline, c.workload, c.target,
         c.n, c.iterations, coalesce(w.work, '') AS work, t.blocks, t.trials, t.median_ns,
         t.min_ns, t.max_ns
  FROM cell_time t JOIN cell c ON c.id = t.cell_id JOIN run r ON r.id = c.run_id
  LEFT JOIN told w ON w.cell_id = c.id
  WHERE c.status IN ('ok', 'imprecise', 'pending')),
base AS MATERIALIZED (
  SELECT run_id, workload, target, n, iterations, work, min(median_ns) AS median_ns
  FROM timed WHERE is_baseline
  GROUP BY run_id, workload, target, n, iterations, work)
SELECT c.run_id AS run, c.id AS cell, c.number, c.series, c.variant, p.control, p.result,
       c.workload, c.target, d.name AS device, c.n, c.iterations, c.params, c.status, c.reason,
       c.blocks AS grid, c.threads, c.updates, c.flops, c.bytes,
       t.blocks, coalesce(t.trials, k.trials, 0) AS trials, t.median_ns, t.min_ns, t.max_ns,
       b.median_ns AS baseline_ns, b.median_ns / t.median_ns AS speedup, k.verified,
       coalesce(w.work, '') AS work
FROM cell c
LEFT JOIN plugin p ON p.id = c.plugin_id
LEFT JOIN device d ON d.id = c.device_id
LEFT JOIN counted k ON k.cell_id = c.id
LEFT JOIN timed t ON t.cell_id = c.id
LEFT JOIN told w ON w.cell_id = c.id
LEFT JOIN base b ON b.run_id = c.run_id AND b.workload = c.workload AND b.target = c.target
                AND b.n = c.n AND b.iterations = c.iterations AND b.work = t.work;

CREATE VIEW summary AS
-- The result table to ask first: one row a cell.  verified: 1 every trial's
-- whole array was right, 0 some was not, NULL none was judged.  params: options that
-- are not at their default; work: all options of the workload but n.
SELECT run, series, variant, workload, target, device, n, iterations, params, status, trials,
       median_ns, min_ns, max_ns, speedup, verified, work
FROM result;

CREATE VIEW failures AS
-- Cells that did not end well, and why.
SELECT c.run_id AS run, c.number, c.series, c.variant, c.workload, c.target, c.n, c.params,
       c.status, c.reason,
       (SELECT count(*) FROM block b WHERE b.cell_id = c.id) AS processes,
       (SELECT count(*) FROM trial t WHERE t.cell_id = c.id AND t.verified = 0
          AND t.kind IN ('timed', 'first', 'odd', 'warmup')) AS wrong_trials
FROM cell c
WHERE c.status IN ('wrong', 'crash', 'hang', 'error', 'refused');

CREATE VIEW ladder AS
-- One row a rung: the fastest cell of each series and variant, in the order of
-- the matrix, for one problem (n, iterations, work).  over_previous is against the rung before that
-- has a time, over_first against the first that has one.
WITH placed AS (
  SELECT *, row_number() OVER (PARTITION BY run, workload, target, n, iterations, work, series, variant
                               ORDER BY median_ns IS NULL, median_ns, number) AS place,
         min(number) OVER (PARTITION BY run, workload, target, n, iterations, work, series, variant) AS since
  FROM result),
rung AS MATERIALIZED (
  SELECT *, row_number() OVER (PARTITION BY run, workload, target, n, iterations, work ORDER BY since) AS rung
  FROM placed WHERE place = 1),
stepped AS (
  SELECT cell, lag(median_ns) OVER problem / median_ns AS over_previous,
         first_value(median_ns) OVER problem / median_ns AS over_first
  FROM rung WHERE median_ns IS NOT NULL
  WINDOW problem AS (PARTITION BY run, workload, target, n, iterations, work ORDER BY rung))
SELECT r.run, r.workload, r.target, r.device, r.n, r.iterations, r.rung, r.series, r.variant,
       r.control, r.params, r.status, r.median_ns, s.over_previous, s.over_first, r.speedup, r.cell,
       r.work
FROM rung r LEFT JOIN stepped s ON s.cell = r.cell;

CREATE VIEW scaling AS
-- Time against size: one row a cell that has a time.  over_smaller is the time
-- against the next smaller n with everything else equal; the number of iterations
-- too where it can be: a matrix may have it fall as n grows.
SELECT run, workload, target, device, series, variant, control, params, iterations, n, grid, threads,
       median_ns, min_ns, max_ns, updates / median_ns * 1e9 AS updates_per_s,
       median_ns / updates AS ns_per_update,
       median_ns / coalesce(lag(median_ns) OVER (PARTITION BY run, workload, target, series, variant,
                                                 params, iterations ORDER BY n),
                            CASE WHEN lag(n) OVER smaller < n THEN lag(median_ns) OVER smaller END)
         AS over_smaller,
       speedup, cell
FROM result
WHERE median_ns IS NOT NULL
WINDOW smaller AS (PARTITION BY run, workload, target, series, variant, params ORDER BY n, iterations);

CREATE VIEW overhead AS
-- Where an iteration's time goes.  The cost of a protocol is the time of the
-- same series with empty work (workload null): same run, target, variant,
-- parameters and threads, and a grid that differs by a tenth at most; of several
-- one with as many iterations, over which start and end are spread.  It is
-- execution for what comes from a queue, handshake for a persistent kernel, and
-- for launch_sync it is execution as for launch, and the rest is launch.
-- What the work adds to it is compute.  NULL without such a cell.
WITH r AS MATERIALIZED (SELECT * FROM result WHERE median_ns IS NOT NULL),
twin AS (
  SELECT w.cell, e.median_ns AS empty_ns,
         row_number() OVER (PARTITION BY w.cell
                            ORDER BY e.iterations <> w.iterations, abs(e.grid - w.grid),
                                     e.series <> w.series, e.median_ns) AS place
  FROM r w JOIN r e ON e.run = w.run AND e.target = w.target AND e.variant = w.variant
                   AND e.workload = 'null' AND e.params = w.params AND e.threads = w.threads
                   AND abs(e.grid - w.grid) <= 0.1 * w.grid),
queued AS (
  SELECT w.cell, q.median_ns AS queued_ns,
         row_number() OVER (PARTITION BY w.cell
                            ORDER BY q.iterations <> w.iterations, abs(q.grid - w.grid), q.median_ns) AS place
  FROM r w JOIN r q ON q.run = w.run AND q.target = w.target AND q.variant = 'launch'
                   AND q.workload = 'null' AND q.threads = w.threads
                   AND abs(q.grid - w.grid) <= 0.1 * w.grid
  WHERE w.variant = 'launch_sync'),
-- without any null cell: launch = synced - queued with the same work
same AS (
  SELECT w.cell, min(q.median_ns) AS queued_ns
  FROM r w JOIN r q ON q.run = w.run AND q.target = w.target AND q.variant = 'launch'
                   AND q.workload = w.workload AND q.n = w.n AND q.iterations = w.iterations
                   AND q.work = w.work
                   AND q.threads = w.threads AND q.grid = w.grid
  WHERE w.variant = 'launch_sync' GROUP BY w.cell)
SELECT r.run, r.workload, r.target, r.device, r.n, r.iterations, r.series, r.variant, r.control,
       r.params, r.grid, r.threads, r.median_ns AS total_ns,
       r.median_ns - t.empty_ns AS compute_ns,
       CASE WHEN r.variant = 'launch_sync' THEN q.queued_ns
            WHEN r.control IN ('host queue', 'device queue') THEN t.empty_ns END AS execution_ns,
       CASE WHEN r.variant = 'launch_sync'
            THEN coalesce(t.empty_ns - q.queued_ns, r.median_ns - s.queued_ns) END AS launch_ns,
       CASE WHEN r.variant <> 'launch_sync' AND r.control IN ('host', 'device')
            THEN t.empty_ns END AS handshake_ns, r.cell
FROM r
LEFT JOIN twin t ON t.cell = r.cell AND t.place = 1
LEFT JOIN queued q ON q.cell = r.cell AND q.place = 1
LEFT JOIN same s ON s.cell = r.cell;

CREATE VIEW roofline AS
-- Rates against what the device can do.  The roofs are measured on the same
-- device, in any run of the file: workload scale (bandwidth: the largest n is
-- memory, the fastest is cache) and fma (arithmetic).  bytes are those of the
-- natural layout without reuse, so that above a roof is caching, blocking, or
-- an error: suspect.  NULL: no roof known.
WITH r AS MATERIALIZED (
  SELECT *, updates / median_ns * 1e9 AS updates_per_s, flops / median_ns * 1e9 AS flops_per_s,
         bytes / median_ns * 1e9 AS bytes_per_s
  FROM result WHERE median_ns IS NOT NULL),
sizes AS (
  SELECT target, device, n, max(bytes_per_s) AS bytes_per_s,
         row_number() OVER (PARTITION BY target, device ORDER BY n DESC) AS place
  FROM r WHERE workload = 'scale' GROUP BY target, device, n),
roof AS (
  SELECT target, device, max(bytes_per_s) FILTER (WHERE place = 1) AS memory_bytes_per_s,
         max(bytes_per_s) AS cache_bytes_per_s
  FROM sizes GROUP BY target, device),
peak AS (
  SELECT target, device, max(flops_per_s) AS peak_flops_per_s
  FROM r WHERE workload = 'fma' GROUP BY target, device)
SELECT r.run, r.workload, r.target, r.device, r.series, r.variant, r.params, r.n, r.iterations,
       r.median_ns, r.updates_per_s, r.flops_per_s, r.bytes_per_s,
       r.flops / r.bytes AS flops_per_byte, f.memory_bytes_per_s, f.cache_bytes_per_s,
       p.peak_flops_per_s, r.bytes_per_s / f.memory_bytes_per_s AS of_memory_roof,
       r.bytes_per_s > f.memory_bytes_per_s OR r.flops_per_s > p.peak_flops_per_s AS suspect,
       r.cell
FROM r
LEFT JOIN roof f ON f.target = r.target AND f.device IS r.device
LEFT JOIN peak p ON p.target = r.target AND p.device IS r.device
WHERE r.flops IS NOT NULL OR r.bytes IS NOT NULL;

CREATE VIEW device_floor AS
-- The A/A floors (pkrun doctor --aa) that hold for a device: the last of each
-- variant, workload and size of every device of its name, architecture and driver.
SELECT d.id AS device_id, d.name AS device, f.variant, f.workload, f.n, f.pairs, f.false_alarms, f.floor
FROM device d
JOIN device e ON e.target = d.target AND e.name = d.name AND e.arch = d.arch AND e.driver = d.driver
JOIN floor f ON f.device_id = e.id
            AND f.id = (SELECT max(g.id) FROM floor g WHERE g.device_id = f.device_id AND g.n = f.n
                        AND g.variant = f.variant AND g.workload = f.workload);

CREATE VIEW crossover_ratio AS
-- Workload busy: a step of a given length (its option length_ns) under every
-- variant, the fastest cell of each, against the fastest variant of all that
-- need no resident kernel (against).  Times are per iteration, so the number of
-- iterations may differ; all else that the workload was told is in work.
-- pays: faster by more than the threshold (1 %, or the device's A/A floor if that
-- is larger), and, from six blocks on, in so many of the blocks that were
-- measured side by side that chance is no answer (one-sided sign test at 5 %, for
-- each length).
WITH r AS MATERIALIZED (
  SELECT r.run, r.target, r.device, r.n, r.series, r.variant, r.control, r.cell, r.median_ns,
         c.device_id, CAST(p.value AS REAL) AS step_ns,
         r.control IN ('host queue', 'device queue') OR r.variant = 'launch_sync' AS launched,
         trim(replace(' ' || r.work || ' ', ' length_ns=' || p.value || ' ', ' ')) AS work
  FROM result r JOIN cell c ON c.id = r.cell
  JOIN param p ON p.cell_id = r.cell AND p.owner = 'workload' AND p.name = 'length_ns'
  WHERE r.workload = 'busy' AND r.median_ns IS NOT NULL AND r.control IS NOT NULL),
placed AS MATERIALIZED (
  SELECT *, row_number() OVER (PARTITION BY run, target, n, work, step_ns, launched,
                                            CASE WHEN NOT launched THEN series END,
                                            CASE WHEN NOT launched THEN variant END
                               ORDER BY median_ns, cell) AS place
  FROM r),
side AS MATERIALIZED (
  SELECT t.cell_id, b.number, t.median_ns FROM block_time t JOIN block b ON b.id = t.block_id
  WHERE t.cell_id IN (SELECT p.cell FROM placed p JOIN run ON run.id = p.run
                      WHERE p.place = 1 AND run.schedule <> 'sequential')),
pair AS (
  SELECT x.*, y.variant AS against, y.median_ns AS launch_ns,
         (SELECT count(*) FROM side s JOIN side t USING (number)
          WHERE s.cell_id = x.cell AND t.cell_id = y.cell) AS blocks,
         (SELECT count(*) FROM side s JOIN side t USING (number)
          WHERE s.cell_id = x.cell AND t.cell_id = y.cell AND s.median_ns < t.median_ns) AS faster_in,
         max(0.01, coalesce((SELECT max(f.floor) FROM device_floor f WHERE f.device_id = x.device_id), 0))
           AS threshold
  FROM placed x JOIN placed y ON y.launched AND y.place = 1 AND y.run = x.run
                 AND y.target = x.target AND y.n = x.n AND y.work = x.work AND y.step_ns = x.step_ns
  WHERE NOT x.launched AND x.place = 1)
SELECT run, target, device, n, work, series, variant, control, step_ns, median_ns, against,
       launch_ns, launch_ns / median_ns AS speedup, blocks, faster_in, threshold,
       launch_ns > (1 + threshold) * median_ns AND
         (blocks < 6 OR (faster_in > blocks / 2.0 AND
                         (2 * faster_in - blocks) * (2 * faster_in - blocks) >= 3.84 * blocks)) AS pays,
       cell
FROM pair;

CREATE VIEW crossover AS
-- One row a persistent variant: the step length below which it pays, where what
-- it gains falls to the threshold on straight lines between the measured
-- lengths; NULL: it pays at the longest of them, or at none.  pays_above_ns: the
-- length above which, NULL: it pays at the shortest, or at none.  stretches: of
-- lengths side by side at which it pays; with more than one, neither says where.
-- meets_ns: where its time and that of the fastest launched variant are one, the
-- last if there are several, if they meet at all.  blocks: side by side, the fewest.
WITH step AS (
  SELECT *, launch_ns - (1 + threshold) * median_ns AS margin, launch_ns - median_ns AS gain
  FROM crossover_ratio),
pairs AS (
  SELECT *, lead(pays) OVER longer AS next_pays, lead(margin) OVER longer AS next_margin,
         lead(gain) OVER longer AS next_gain, lead(step_ns) OVER longer AS next_ns
  FROM step
  WINDOW longer AS (PARTITION BY run, target, n, work, series, variant ORDER BY step_ns)),
at AS (
  SELECT *, step_ns + margin * (next_ns - step_ns) / (margin - next_margin) AS crosses_ns
  FROM pairs)
SELECT run, target, device, n, work, series, variant, control,
       CASE WHEN max(CASE WHEN next_ns IS NULL THEN pays END) = 0
            THEN max(CASE WHEN pays AND NOT next_pays
                          THEN CASE WHEN next_margin > 0 THEN step_ns ELSE crosses_ns END END)
            END AS pays_below_ns,
       CASE WHEN min(pays) THEN 'at every length' WHEN NOT max(pays) THEN 'at none'
            ELSE 'at some' END AS pays,
       max(CASE WHEN (gain > 0) <> (next_gain > 0)
                THEN step_ns + gain * (next_ns - step_ns) / (gain - next_gain) END) AS meets_ns,
       count(*) AS lengths, min(step_ns) AS shortest_ns, max(step_ns) AS longest_ns,
       max(threshold) AS threshold, min(cell) AS cell,
       CASE WHEN NOT pays_first
            THEN min(CASE WHEN next_pays AND NOT pays
                          THEN CASE WHEN margin > 0 THEN next_ns ELSE crosses_ns END END)
            END AS pays_above_ns,
       sum(pays AND coalesce(NOT next_pays, 1)) AS stretches, sum(pays) AS pays_at,
       min(blocks) AS blocks
FROM (SELECT *, first_value(pays) OVER (PARTITION BY run, target, n, work, series, variant
                                        ORDER BY step_ns) AS pays_first
      FROM at)
GROUP BY run, target, n, work, series, variant;

CREATE VIEW cell_cost AS
-- What a cell costs besides time, per iteration: CPU time of the host side in the timed part (host_cpu_share: of that time; a
-- spinning host has 1), and the device's energy where its driver counts it.  (total(), for sum() of one absurd
-- time is an overflow, and then no cell of the file could be shown.)
SELECT cell_id, avg(CAST(host_cpu_ns AS REAL) / iterations) AS host_cpu_ns,
       total(host_cpu_ns) / total(wall_ns) AS host_cpu_share,
       (SELECT avg(value) FROM metric m
        WHERE m.cell_id = t.cell_id AND m.name = 'energy_uj') AS energy_uj,
       (SELECT avg(value) FROM metric m
        WHERE m.cell_id = t.cell_id AND m.name = 'energy_power_w') AS power_w
FROM trial t
WHERE kind = 'timed' AND verified = 1 AND wall_ns > 0 AND host_cpu_ns IS NOT NULL
GROUP BY cell_id;

CREATE VIEW cost AS
-- What a cell that has a time costs besides (cell_cost).
SELECT r.run, r.workload, r.target, r.device, r.series, r.variant, r.control, r.params, r.n,
       r.iterations, r.median_ns, c.host_cpu_ns, c.host_cpu_share, c.energy_uj, c.power_w
FROM result r JOIN cell_cost c ON c.cell_id = r.cell
WHERE r.median_ns IS NOT NULL;

CREATE VIEW environment_steady AS
-- What a run was measured with, without what is another at every look.
SELECT run_id AS run, key, value, state
FROM environment
WHERE key NOT IN ('date', 'load', 'clock_tick', 'gpu_clock', 'gpu_memory_clock', 'gpu_temperature',
                  'gpu_power', 'gpu_throttle', 'gpu_processes', 'process')
UNION ALL
SELECT id, 'pkrun', pkrun_version || coalesce(' ' || git_state, ''), 'info' FROM run
UNION ALL
SELECT DISTINCT c.run_id, 'plugin ' || p.target || '/' || p.name, substr(p.sha256, 1, 12), 'info'
FROM cell c JOIN plugin p ON p.id = c.plugin_id;

CREATE VIEW environment_diff AS
-- One row a difference between two runs; NULL: unknown, or not there.  A plugin
-- that one of them did not use is none.
SELECT DISTINCT a.id AS run_a, b.id AS run_b, k.key, x.value AS value_a, y.value AS value_b
FROM run a
JOIN run b ON a.id < b.id
JOIN environment_steady k ON k.run = a.id OR k.run = b.id
LEFT JOIN environment_steady x ON x.run = a.id AND x.key = k.key
LEFT JOIN environment_steady y ON y.run = b.id AND y.key = k.key
WHERE x.value IS NOT y.value
  AND (k.key NOT GLOB 'plugin *' OR (x.value IS NOT NULL AND y.value IS NOT NULL));

CREATE VIEW stamped AS
-- Cells that wrote down when each block did what (option stamps; metrics
-- stamp_*), and what that cost: against the plain cell with all else equal.
SELECT s.run, s.cell, s.series, s.variant, s.workload, s.target, s.n, s.iterations, s.params,
       s.median_ns, min(p.median_ns) AS plain_ns, s.median_ns / min(p.median_ns) AS over_plain
FROM result s
JOIN param v ON v.cell_id = s.cell AND v.owner = 'variant' AND v.name = 'stamps' AND v.value <> '0'
LEFT JOIN result p ON p.run = s.run AND p.variant = s.variant AND p.workload = s.workload
                  AND p.target = s.target AND p.n = s.n AND p.iterations = s.iterations
                  AND trim(p.params) = trim(replace(' ' || s.params || ' ', ' stamps=' || v.value || ' ', ' '))
GROUP BY s.cell;

CREATE VIEW step_jitter AS
-- How evenly steps go, from the stamps of timed trials: from one acknowledgement
-- of a block to its next, over all blocks, steps and trials of a cell.
WITH done AS (
	SELECT t.cell_id AS cell, t.id AS trial, CAST(substr(m.name, 13) AS INTEGER) AS block,
	       CAST(substr(m.name, instr(m.name, '_s') + 2) AS INTEGER) AS step, m.value AS ns
	FROM metric m JOIN trial t ON t.id = m.trial_id
	WHERE m.name GLOB 'stamp_done_b*' AND t.kind = 'timed' AND t.verified),
gap AS (
	SELECT cell, ns - lag(ns) OVER (PARTITION BY trial, block ORDER BY step) AS ns FROM done),
ranked AS (
	SELECT cell, ns, row_number() OVER (PARTITION BY cell ORDER BY ns) AS place,
	       count(*) OVER (PARTITION BY cell) AS n
	FROM gap WHERE ns IS NOT NULL)
SELECT r.run, r.cell, r.series, r.variant, r.workload, r.target, r.n, r.params, g.n AS steps,
       max(CASE WHEN g.place = (g.n + 1) / 2 THEN g.ns END) AS p50_ns,
       max(CASE WHEN g.place = (99 * g.n + 99) / 100 THEN g.ns END) AS p99_ns,
       max(g.ns) AS max_ns
FROM ranked g JOIN result r ON r.cell = g.cell AND r.median_ns IS NOT NULL
GROUP BY g.cell;

CREATE VIEW latency AS
-- Latencies of single messages, where a variant took them: one row a cell and
-- kind of message (round_trip, to_host, ...), over its verified timed trials.
-- Quantiles and the mean are those of a trial, averaged over the trials.
WITH part AS (
  SELECT m.cell_id, substr(m.name, 1, length(rtrim(m.name, replace(m.name, '_', ''))) - 1) AS message,
         substr(m.name, length(rtrim(m.name, replace(m.name, '_', ''))) + 1) AS what, m.value
  FROM metric m JOIN trial t ON t.id = m.trial_id
  WHERE instr(m.name, '_hist_ns_le_') = 0 AND t.kind = 'timed' AND t.verified = 1),
seen AS (
  SELECT cell_id, message, sum(value) FILTER (WHERE what = 'samples') AS samples,
         min(value) FILTER (WHERE what = 'min') AS min_ns, avg(value) FILTER (WHERE what = 'mean') AS mean_ns,
         avg(value) FILTER (WHERE what = 'p50') AS p50_ns, avg(value) FILTER (WHERE what = 'p90') AS p90_ns,
         avg(value) FILTER (WHERE what = 'p99') AS p99_ns, avg(value) FILTER (WHERE what = 'p999') AS p999_ns,
         max(value) FILTER (WHERE what = 'max') AS max_ns
  FROM part GROUP BY cell_id, message HAVING p50_ns IS NOT NULL)
SELECT r.run, r.workload, r.target, r.device, r.series, r.variant, r.params, r.n, r.iterations, s.message,
       s.samples, s.min_ns, s.mean_ns, s.p50_ns, s.p90_ns, s.p99_ns, s.p999_ns, s.max_ns, r.cell
FROM seen s JOIN result r ON r.cell = s.cell_id
WHERE r.status IN ('ok', 'imprecise', 'pending');

CREATE VIEW measured AS
-- What a variant measured besides the time: one row a cell and metric, over its
-- verified timed trials, or over its processes for what is measured once in each
-- (per_trial = 0).  pkrun list metrics says what each is; those of single messages and
-- steps are in the views latency and step_jitter.
WITH seen AS (
  SELECT m.cell_id, m.name, m.unit, m.trial_id IS NOT NULL AS per_trial, count(m.value) AS samples,
         avg(m.value) AS mean, min(m.value) AS least, max(m.value) AS most
  FROM metric m LEFT JOIN trial t ON t.id = m.trial_id
  WHERE (m.trial_id IS NULL OR (t.kind = 'timed' AND t.verified = 1))
    AND instr(m.name, '_hist_ns_le_') = 0 AND m.name NOT GLOB 'stamp_*_b*_s*'
  GROUP BY m.cell_id, m.name, m.unit, per_trial)
SELECT r.run, r.workload, r.target, r.device, r.series, r.variant, r.params, r.n, r.iterations, s.name AS metric,
       s.unit, s.mean, s.least, s.most, s.per_trial, s.samples, r.cell, r.work
FROM seen s JOIN result r ON r.cell = s.cell_id
WHERE r.status IN ('ok', 'imprecise', 'pending');
