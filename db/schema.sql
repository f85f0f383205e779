-- pkrun's database, version 1.  Raw times are whole nanoseconds of one trial;
-- everything per iteration is REAL.  NULL where a thing is unknown.  Text is
-- stored as it was given; hashes are 16 hexadecimal digits.

CREATE TABLE run (                     -- one start of `pkrun matrix.ini`
  id            INTEGER PRIMARY KEY,
  started_utc   TEXT NOT NULL,         -- ISO 8601
  finished_utc  TEXT,
  status        TEXT NOT NULL DEFAULT 'running',  -- running, complete, interrupted, failed
  pkrun_version TEXT NOT NULL,
  git_state     TEXT,
  argv          TEXT NOT NULL,
  matrix_path   TEXT NOT NULL,
  matrix_text   TEXT NOT NULL,
  baseline      TEXT,                  -- the section that speed-ups refer to
  seed          TEXT NOT NULL,         -- unsigned 64-bit, decimal
  schedule      TEXT NOT NULL,         -- blocks, sequential
  isolation     TEXT NOT NULL,         -- cell, block
  quick         INTEGER NOT NULL DEFAULT 0,
  instrumented  TEXT,                  -- the --wrap command; such a run is never compared with a plain one
  cells         INTEGER NOT NULL       -- planned
) STRICT;

CREATE TABLE environment (
  run_id INTEGER NOT NULL REFERENCES run(id),
  key    TEXT NOT NULL,
  value  TEXT,
  state  TEXT NOT NULL CHECK (state IN ('ok', 'warn', 'unknown', 'info')),
  repair TEXT,                         -- the command that would put it right
  PRIMARY KEY (run_id, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE device (
  id            INTEGER PRIMARY KEY,
  target        TEXT NOT NULL,
  name          TEXT NOT NULL,
  arch          TEXT NOT NULL,
  uuid          TEXT NOT NULL,
  pci           TEXT NOT NULL,
  driver        TEXT NOT NULL,
  runtime       TEXT NOT NULL,
  compute_units INTEGER NOT NULL,
  memory_bytes  INTEGER NOT NULL,
  l2_bytes      INTEGER NOT NULL,
  shared_bytes  INTEGER NOT NULL,
  clock_khz     INTEGER NOT NULL,
  UNIQUE (target, name, arch, uuid, pci, driver, runtime)
) STRICT;

CREATE TABLE plugin (
  id        INTEGER PRIMARY KEY,
  path      TEXT NOT NULL,
  sha256    TEXT NOT NULL,
  name      TEXT NOT NULL,
  brief     TEXT NOT NULL,
  target    TEXT NOT NULL,
  abi_major INTEGER NOT NULL,
  abi_minor INTEGER NOT NULL,
  control   TEXT NOT NULL,             -- host, host queue, device, device queue
  result    TEXT NOT NULL,             -- exact, converges
  UNIQUE (path, sha256)
) STRICT;

CREATE TABLE cell (
  id         INTEGER PRIMARY KEY,
  run_id     INTEGER NOT NULL REFERENCES run(id),
  number     INTEGER NOT NULL,         -- position in the matrix, from 0
  series     TEXT NOT NULL,            -- section of the matrix
  variant    TEXT NOT NULL,
  workload   TEXT NOT NULL,
  target     TEXT NOT NULL,
  plugin_id  INTEGER REFERENCES plugin(id),
  device_id  INTEGER REFERENCES device(id),
  n          INTEGER NOT NULL,
  iterations INTEGER,                  -- NULL while `auto` is not resolved
  key        TEXT NOT NULL,            -- canonical text of everything that makes cells comparable
  params     TEXT NOT NULL,            -- "name=value ..." of what is not default
  status     TEXT NOT NULL DEFAULT 'pending'
             CHECK (status IN ('pending', 'ok', 'imprecise', 'skipped', 'refused', 'wrong', 'crash', 'hang', 'error')),
  reason     TEXT,
  blocks     INTEGER,                  -- grid that was launched
  threads    INTEGER,
  resident_max INTEGER,                -- blocks that could be co-resident
  updates    REAL, flops REAL, bytes REAL,  -- per iteration, as the workload declares
  UNIQUE (run_id, number)
) STRICT;

CREATE TABLE param (
  cell_id    INTEGER NOT NULL REFERENCES cell(id),
  owner      TEXT NOT NULL,            -- common, variant, workload
  name       TEXT NOT NULL,
  value      TEXT NOT NULL,
  is_default INTEGER NOT NULL,
  PRIMARY KEY (cell_id, owner, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE block (                   -- a cell once, in one process: the unit of analysis
  id          INTEGER PRIMARY KEY,
  cell_id     INTEGER NOT NULL REFERENCES cell(id),
  number      INTEGER NOT NULL,        -- from 0
  position    INTEGER NOT NULL,        -- when in the run, from 0
  started_utc TEXT NOT NULL,
  pid         INTEGER,
  status      TEXT NOT NULL DEFAULT 'running',  -- running, ok, wrong, crash, hang, error, interrupted, skipped, refused
  reason      TEXT,
  attempt     INTEGER NOT NULL DEFAULT 1,
  clock_mhz   INTEGER, memory_clock_mhz INTEGER, temperature_c INTEGER, power_w REAL,  -- as read after the block
  throttle    TEXT,
  UNIQUE (cell_id, number, attempt)
) STRICT;

CREATE TABLE trial (
  id         INTEGER PRIMARY KEY,
  block_id   INTEGER NOT NULL REFERENCES block(id),
  cell_id    INTEGER NOT NULL REFERENCES cell(id),
  kind       TEXT NOT NULL DEFAULT 'timed' CHECK (kind IN ('timed', 'first', 'odd', 'warmup')),
  position   INTEGER NOT NULL,         -- within the block, from 0
  iterations INTEGER NOT NULL,
  wall_ns    INTEGER,                  -- host clock around run and wait
  device_ns  INTEGER,                  -- device events; NULL for resident kernels
  kernel_ns  INTEGER,                  -- the variant's own
  host_cpu_ns INTEGER,                 -- CPU time the host side spent in run and wait
  energy_uj  INTEGER,                  -- always NULL: a trial is too short; a block has the metric energy_uj
  verified   INTEGER NOT NULL,         -- 1: whole array right; 0: wrong; -1: not judged
  hash       TEXT,
  flags      TEXT NOT NULL DEFAULT ''  -- bad_clock, slow_clock, throttled, outlier, bad_kernel_ns, clocks_differ; commas between
) STRICT;
-- what the views read, in the order in which they read it
CREATE INDEX trial_time ON trial (kind, verified, cell_id, block_id, wall_ns, iterations, flags);

CREATE TABLE metric (
  id       INTEGER PRIMARY KEY,
  cell_id  INTEGER NOT NULL REFERENCES cell(id),
  block_id INTEGER REFERENCES block(id),
  trial_id INTEGER REFERENCES trial(id),
  name     TEXT NOT NULL,
  value    REAL,
  unit     TEXT NOT NULL
) STRICT;
CREATE INDEX metric_cell ON metric (cell_id, name);

CREATE TABLE reference (               -- what the CPU says
  workload      TEXT NOT NULL,
  input         TEXT NOT NULL,         -- hash of the initial arrays and parameters
  iterations    INTEGER NOT NULL,
  hash          TEXT NOT NULL,
  stationary_at INTEGER,               -- first iteration from which nothing changes; NULL: not reached by `iterations`
  PRIMARY KEY (workload, input, iterations)
) STRICT, WITHOUT ROWID;

CREATE TABLE event (                   -- log: retries, resumed, throttled, plugin said, ...
  id      INTEGER PRIMARY KEY,
  run_id  INTEGER REFERENCES run(id),
  cell_id INTEGER REFERENCES cell(id),
  at_utc  TEXT NOT NULL,
  kind    TEXT NOT NULL,
  text    TEXT NOT NULL
) STRICT;

CREATE TABLE floor (                   -- what `pkrun doctor --aa` measured
  id           INTEGER PRIMARY KEY,
  at_utc       TEXT NOT NULL,
  device_id    INTEGER REFERENCES device(id),
  host         TEXT NOT NULL,
  variant      TEXT NOT NULL, workload TEXT NOT NULL, n INTEGER NOT NULL,
  pairs        INTEGER NOT NULL,
  false_alarms INTEGER NOT NULL,       -- pairs called different at 0.05
  floor        REAL NOT NULL           -- relative: ratios lie within it 19 times of 20
) STRICT;
