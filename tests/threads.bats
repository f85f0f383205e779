#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Workloads relay, syncost and queue under their variants on the host target:
# odd sizes, back-pressure, a stop with tasks in flight, an abort in the middle.
load setup

# matrix WORKLOAD [LINE]...: m.ini with short runs of that workload
matrix() {
  printf '%s\n' '[global]' "workload = $1" 'target = host' 'isolation = block' 'blocks_min = 1' \
    'blocks_max = 1' 'ci = 0' 'warmup = 0' 'warmup_runs = 1' 'trials = 2' >m.ini
  shift
  printf '%s\n' "$@" >>m.ini
}

sql() { "$PKRUN" query --format csv pkrun.db "$1" | tail -n +2 | tr -d '"\r'; }

# all_ok N: the matrix runs, N cells, each ok
all_ok() {
  run "$PKRUN" m.ini
  echo "$output"
  [ "$status" -eq 0 ]
  [ "$(sql "SELECT count(*) FROM cell WHERE status = 'ok'")" = "$1" ]
  [ "$(sql "SELECT count(*) FROM cell WHERE status <> 'ok'")" = 0 ]
}

@test "relay_round: payloads, orders, pollers and memories" {
  matrix relay 'n = 1, 7' 'iterations = 20' \
    '[a]' 'variant = relay_round' 'threads = 1, 33' 'order = acqrel, fence, seq_cst, acquire' \
    'pollers = one, warp, block' \
    '[b]' 'variant = relay_round' 'threads = 5' 'memory = noncoherent, managed, device'
  all_ok 54
}

@test "relay: quantiles are in order and the histogram holds every sample" {
  matrix relay 'n = 3' 'iterations = 300' 'threads = 8' '[round]' 'variant = relay_round' \
    '[launch]' 'variant = relay_launch' 'through = mapped, copies' \
    '[counter]' 'variant = relay_counter' 'direction = to_host, to_device' 'gap = 0, 2000'
  all_ok 7
  for name in round_trip to_device to_host; do
    [ "$(sql "SELECT count(*) > 0 FROM metric WHERE name = '${name}_p50'")" = 1 ]
    [ "$(sql "SELECT count(*) FROM metric a JOIN metric b ON a.trial_id = b.trial_id
      WHERE (a.name, b.name) IN (VALUES ('${name}_min', '${name}_p50'), ('${name}_p50', '${name}_p90'),
        ('${name}_p90', '${name}_p99'), ('${name}_p99', '${name}_p999'), ('${name}_p999', '${name}_max'))
      AND a.value > b.value")" = 0 ]
    [ "$(sql "SELECT count(*) FROM (SELECT trial_id, sum(value * (name LIKE '${name}\_hist%' ESCAPE '\')) AS h,
      sum(value * (name = '${name}_samples')) AS n FROM metric WHERE trial_id IS NOT NULL GROUP BY trial_id)
      WHERE h <> n")" = 0 ]
  done
  [ "$(sql "SELECT DISTINCT value FROM metric m JOIN trial t ON t.id = m.trial_id
    WHERE m.name = 'round_trip_samples' AND t.kind = 'timed'")" = 300 ]
}

@test "syncost: every synchronisation, odd numbers of blocks and threads, each one looked at" {
  matrix syncost 'n = 1, 2, 5, 17' 'blocks = rows' 'threads = 1, 33' 'iterations = 40' \
    'check_every = 1, 7' '[sync]' \
    'variant = sync_block, sync_grid, sync_counter, sync_gather, sync_neighbour, sync_tree, sync_host, sync_launch' \
    '[more]' 'n = 17' 'threads = 3' 'variant = sync_tree, sync_host' 'arity = 2, 17' 'poll = all'
  all_ok 134
}

@test "a barrier that does not wait for all blocks is wrong" {
  [ -e "$PKRUN_BUILDDIR/plugins/host/libpkhost.so" ]
  sed -e 's/"sync_counter"/"mutant"/' -e 's/line->done, s, gridDim.x, left/line->done, s, 1u, left/' \
    "$PKRUN_SRCDIR/plugins/sync_counter.hip" >mutant.hip
  ! cmp -s "$PKRUN_SRCDIR/plugins/sync_counter.hip" mutant.hip || false
  ${CXX:-g++} -std=c++17 -O1 -fPIC -shared -pthread -DPKRUN_BUILD_HOST -I"$PKRUN_SRCDIR" -o mutant.so \
    -x c++ mutant.hip -x none -L"$PKRUN_BUILDDIR/plugins/host" -lpkhost \
    -Wl,-rpath,"$PKRUN_BUILDDIR/plugins/host"
  matrix syncost 'n = 5' 'blocks = rows' 'threads = 3' 'iterations = 400' 'check_every = 1' \
    '[m]' 'variant = ./mutant.so'
  # blocks in turn keep step by themselves: let them run in a random order
  PKH_WORKERS=0 PKH_SEED=7 run "$PKRUN" m.ini
  echo "$output"
  [ "$status" -eq 3 ]
  [[ $output == *'errors: '*'words are wrong'* ]]
}

@test "queue: nothing lost, nothing twice, with odd sizes and every way to deal tasks out" {
  matrix queue 'n = 1, 37' 'chains = 1, 7' 'mean_steps = 50' 'threads = 5' 'iterations = 3' \
    'lengths = constant, uniform, exponential, pareto' \
    '[static]' 'variant = queue_static' 'deal = cyclic, blocks' 'blocks = 3' \
    '[counter]' 'variant = queue_counter' 'claim = 1, 5' 'blocks = 3' \
    '[launch]' 'variant = queue_launch' 'streams = 1, 3' \
    '[ring]' 'variant = queue_ring' 'blocks = 1, 7'
  all_ok 128
  [ "$(sql "SELECT DISTINCT m.value FROM metric m JOIN trial t ON t.id = m.trial_id JOIN cell c ON c.id = m.cell_id
    WHERE m.name = 'latency_samples' AND t.kind = 'timed' AND c.n = 37")" = 111 ]
}

@test "queue_ring: back-pressure, several producers, one entry, a timetable" {
  matrix queue 'n = 133' 'mean_steps = 30' 'chains = 3' 'threads = 3' 'iterations = 3' \
    '[ring]' 'variant = queue_ring' 'capacity = 1, 2, 3, 64' 'producers = 1, 3' 'blocks = 1, 5' \
    '[timed]' 'variant = queue_ring' 'gap = 2000' 'producers = 1, 2'
  all_ok 18
  # a ring of one entry makes the producer wait; each trial stopped with pills behind its tasks
  [ "$(sql "SELECT min(m.value) > 0 FROM metric m JOIN param p ON p.cell_id = m.cell_id
    WHERE m.name = 'full_waits' AND p.name = 'capacity' AND p.value = '1'")" = 1 ]
}

@test "pingpong: every word of every buffer, one word and odd numbers of them" {
  matrix pingpong 'n = 1, 7, 1000' 'threads = 1, 33' 'blocks = 1, 3' 'iterations = 1, 2, 7' \
    '[a]' 'variant = pingpong_*' 'overlap = yes, no' 'poll = one, all'
  all_ok 180
  [ "$(sql "SELECT count(*) FROM metric m JOIN trial t ON t.id = m.trial_id JOIN cell c ON c.id = m.cell_id
    WHERE m.name = 'latency_samples' AND t.kind = 'timed' AND m.value <> c.iterations")" = 0 ]
}

@test "progress: the product has the reference's bits, and every report is seen" {
  matrix progress 'n = 1, 15, 37' 'threads = 1, 33' 'blocks = auto, 1, 4' 'iterations = 3' \
    '[a]' 'variant = progress_*' 'report = none, slots, counter' 'every = 1, 3'
  all_ok 216
  [ "$(sql "SELECT DISTINCT value FROM metric WHERE name = 'missed'")" = 0 ]
  [ "$(sql "SELECT DISTINCT m.value FROM metric m JOIN trial t ON t.id = m.trial_id JOIN cell c ON c.id = m.cell_id
    JOIN param e ON e.cell_id = c.id AND e.name = 'every' AND e.value = '1'
    WHERE m.name = 'reports' AND t.kind = 'timed' AND c.n = 37")" = 27 ]
}

@test "progress: a slow trial moves the progress line, and only on a terminal" {
  matrix progress 'n = 256' 'threads = 16' 'iterations = 30' '[a]' 'variant = progress_persistent'
  shown '"$PKRUN" m.ini' >lines
  grep -o 'n=256 .*of this trial' lines | awk '{ print $2 }' >shares
  cat shares
  # it rises, but for the beginning of each of five trials
  [ "$(sort -u shares | wc -l)" -ge 3 ]
  awk '$1 < last { fell++ } $1 < 0 || $1 > 100 { exit 1 } { last = $1 } END { exit fell > 4 }' shares
  [ "$(sql 'SELECT status FROM cell')" = ok ]
  shown '"$PKRUN" --quiet --set global.iterations=10 m.ini' >quiet
  "$PKRUN" --set global.iterations=10 m.ini >piped 2>&1
  [ "$(cat quiet piped | grep -c 'of this trial')" -eq 0 ]
}

@test "locality: ends, parts of chunks, and chunks, through shared and device memory" {
  matrix locality 'n = 1, 2, 1024, 1025, 3000' 'threads = 1, 33' 'blocks = auto, 2' 'iterations = 1, 5' \
    '[a]' 'variant = locality_*' 'fused = no, yes' 'through = shared, device'
  all_ok 160
}

@test "launchcost: every launch did its work; lines with their lack of fit" {
  matrix launchcost 'n = 1, 3' 'unit_steps = 300' 'threads = 3' 'iterations = 5' \
    '[a]' 'variant = launchcost_plain, launchcost_coop, launchcost_graph'
  all_ok 6
  for m in latency_ns call_ns gap_ns execution_ns period_w0_ns period_w3_fit_chi2; do
    [ "$(sql "SELECT count(*) FROM metric m JOIN trial t ON t.id = m.trial_id
      WHERE t.kind = 'timed' AND m.name = '$m'")" = 12 ]
  done
  [ "$(sql "SELECT count(*) FROM metric WHERE name LIKE '%fit_p' AND NOT value BETWEEN 0 AND 1")" = 0 ]
  matrix launchcost 'iterations = 4' '[a]' 'variant = launchcost_nested'
  run "$PKRUN" m.ini
  [[ $output == *'only CUDA has them'* ]]
}

@test "an abort in the middle ends every wait: both sides, with the place it waited at" {
  for v in 'relay|relay_counter|gap = 900000000' 'relay|relay_counter|direction = to_device|gap = 900000000' \
    'queue|queue_ring|gap = 900000000|n = 50' 'queue|queue_ring|producers = 2|gap = 900000000|n = 50'; do
    IFS='|' read -r w variant more1 more2 more3 <<<"$v"
    matrix "$w" 'threads = 3' 'iterations = 3000' 'timeout = 1' '[a]' "variant = $variant" \
      ${more1:+"$more1"} ${more2:+"$more2"} ${more3:+"$more3"}
    rm -f pkrun.db
    run "$PKRUN" m.ini
    echo "$output"
    [ "$status" -eq 4 ]
    [ "$(sql 'SELECT status FROM cell')" = hang ]
    [[ $output == *'did not end within 1 s'* ]]
    # it left by itself: had it been killed, nobody could have said where it waited
    [[ $output == *'waited'* ]]
  done
}

# PKH_WORKERS: the host's sleeps are sleeps, as beside a GPU
@test "an abort ends the host's wait at once, however slow a step is and however long it sleeps" {
  for v in 'busy|persistent_device|n = 2|length_ns = 1e7' 'busy|persistent_barrier|n = 2|length_ns = 1e7' \
    'busy|launch_sync|n = 2|length_ns = 1e7' \
    'poisson2d|persistent_neighbour|n = 40|wait = usleep:20000' \
    'poisson2d|persistent_doorbell|n = 40|wait = usleep:20000'; do
    IFS='|' read -r w variant more1 more2 <<<"$v"
    # a trial of one iteration is over long before the limit, the next one takes hours
    matrix "$w" 'iterations = 2000000' 'timeout = 2' '[a]' "variant = $variant" "$more1" "$more2"
    rm -f pkrun.db
    PKH_WORKERS=1 run "$PKRUN" m.ini
    echo "$output"
    [ "$status" -eq 4 ]
    [[ $output != *'was killed'* ]]
    [[ $output == *'waited'* ]]
  done
}

@test "check is refused where there is no residual" {
  for v in 'relay relay_round' 'syncost sync_grid' 'queue queue_ring' 'queue queue_static'; do
    matrix "${v% *}" 'check = 2' 'iterations = 4' '[a]' "variant = ${v#* }"
    rm -f pkrun.db
    run "$PKRUN" m.ini
    [[ $output == *'has no residual: check must be 0'* ]]
    [ "$(sql 'SELECT status FROM cell')" = skipped ]
  done
}

# A variant makes room in setup() for what it is told of there.
@test "iterations = auto: no run of the calibration is longer than the variant was told" {
  matrix relay 'iterations = auto' 'threads = 4' \
    '[relay]' 'variant = relay_round, relay_counter, relay_launch' \
    '[queue]' 'workload = queue' 'n = 20' 'variant = queue_ring, queue_counter, queue_launch' \
    '[launches]' 'workload = launchcost' 'unit_steps = 1' 'variant = launchcost_plain, launchcost_graph' \
    '[progress]' 'workload = progress' 'n = 5' 'variant = progress_launch, progress_persistent' \
    '[pingpong]' 'workload = pingpong' 'n = 5' 'variant = pingpong_launch, pingpong_persistent'
  all_ok 12
}
