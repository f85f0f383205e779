-- The stable interface of a pkrun database: ask these before the tables.  Times
-- are per iteration, in ns; NULL is unknown.  Only SQLite's own functions, so
-- every tool that opens the file can use them.  Medians are medians over the
-- medians of the blocks (processes), for trials of one process are not
-- independent.  Each view begins at the start of a line and ends at ";" and a newline.

-- One row a block: its verified timed trials, whose clock could be trusted.
CREATE VIEW block_time AS
SELECT cell_id, block_id, count(*) AS trials,
       avg(CASE WHEN place IN ((of + 1) / 2, (of + 2) / 2) THEN ns END) AS median_ns,
       min(ns) AS min_ns, max(ns) AS max_ns
FROM (SELECT cell_id, block_id, CAST(wall_ns AS REAL) / iterations AS ns,
             row_number() OVER (PARTITION BY cell_id, block_id
                                ORDER BY CAST(wall_ns AS REAL) / iterations) AS place,
             count(*) OVER (PARTITION BY cell_id, block_id) AS of
      FROM trial
      WHERE kind = 'timed' AND verified = 1 AND wall_ns > 0
        AND instr(flags, 'bad_clock') = 0)
GROUP BY cell_id, block_id;

-- One row a cell that has times: the median over its blocks' medians.
CREATE VIEW cell_time AS
SELECT cell_id, count(*) AS blocks, sum(trials) AS trials,
       avg(CASE WHEN place IN ((of + 1) / 2, (of + 2) / 2) THEN median_ns END) AS median_ns,
       min(min_ns) AS min_ns, max(max_ns) AS max_ns
FROM (SELECT cell_id, trials, median_ns, min_ns, max_ns,
             row_number() OVER (PARTITION BY cell_id ORDER BY median_ns) AS place,
             count(*) OVER (PARTITION BY cell_id) AS of
      FROM block_time)
GROUP BY cell_id;

-- One row a cell with all that belongs to it.  Times only where every process
-- of the cell ended well; speedup is against the fastest cell of the section
-- that the matrix names as baseline, at equal workload, target, n, iterations.
CREATE VIEW result AS
WITH counted AS MATERIALIZED (
  SELECT cell_id, sum(many) FILTER (WHERE kind = 'timed') AS trials,
         CASE WHEN max(verified = 0) THEN 0 WHEN max(verified = 1) THEN 1 END AS verified
  FROM (SELECT kind, verified, cell_id, count(*) AS many FROM trial
        GROUP BY kind, verified, cell_id)
  GROUP BY cell_id),
timed AS MATERIALIZED (
  SELECT c.id AS cell_id, c.run_id, c.series = r.baseline AS is_baseline, c.workload, c.target,
         c.n, c.iterations, t.blocks, t.median_ns, t.min_ns, t.max_ns
  FROM cell_time t JOIN cell c ON c.id = t.cell_id JOIN run r ON r.id = c.run_id
  WHERE c.status IN ('ok', 'imprecise', 'pending')),
base AS MATERIALIZED (
  SELECT run_id, workload, target, n, iterations, min(median_ns) AS median_ns
  FROM timed WHERE is_baseline
  GROUP BY run_id, workload, target, n, iterations)
SELECT c.run_id AS run, c.id AS cell, c.number, c.series, c.variant, p.control, p.result,
       c.workload, c.target, d.name AS device, c.n, c.iterations, c.params, c.status, c.reason,
       c.blocks AS grid, c.threads, c.updates, c.flops, c.bytes,
       t.blocks, coalesce(k.trials, 0) AS trials, t.median_ns, t.min_ns, t.max_ns,
       b.median_ns AS baseline_ns, b.median_ns / t.median_ns AS speedup, k.verified
FROM cell c
LEFT JOIN plugin p ON p.id = c.plugin_id
LEFT JOIN device d ON d.id = c.device_id
LEFT JOIN counted k ON k.cell_id = c.id
LEFT JOIN timed t ON t.cell_id = c.id
LEFT JOIN base b ON b.run_id = c.run_id AND b.workload = c.workload AND b.target = c.target
                AND b.n = c.n AND b.iterations = c.iterations;

-- The result table to ask first: one row a cell.  verified: 1 every trial's
-- whole array was right, 0 some was not, NULL none was judged.
CREATE VIEW summary AS
SELECT run, series, variant, workload, target, device, n, iterations, params, status, trials,
       median_ns, min_ns, max_ns, speedup, verified
FROM result;

-- Cells that did not end well, and why.
CREATE VIEW failures AS
SELECT c.run_id AS run, c.number, c.series, c.variant, c.workload, c.target, c.n, c.params,
       c.status, c.reason,
       (SELECT count(*) FROM block b WHERE b.cell_id = c.id) AS processes,
       (SELECT count(*) FROM trial t WHERE t.cell_id = c.id AND t.verified = 0
          AND t.kind IN ('timed', 'first', 'odd', 'warmup', 'stamped')) AS wrong_trials
FROM cell c
WHERE c.status IN ('wrong', 'crash', 'hang', 'error', 'refused');
