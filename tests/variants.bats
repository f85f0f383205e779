#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Every variant on the host target: each result is compared over the whole array
# with the CPU reference, and every counter and guard zone is looked at.
load setup

# global [KEY=VALUE]...: the head of a.ini, one trial a cell
global() {
  printf '%s\n' '[global]' 'iterations = 7' 'trials = 1' 'blocks_min = 1' 'blocks_max = 1' 'ci = 0' \
    'warmup = 0' 'warmup_runs = 0' 'isolation = block' 'threads = 24' "$@" >a.ini
}
sql() { "$PKRUN" query pkrun.db "$1" --format csv | tr -d '\r' | tail -n +2; }

launches='launch, launch_sync, launch_coop, graph'
hosts='persistent_naive, persistent_poller, persistent_relaxed, persistent_neighbour, persistent_spin'
hosts="$hosts, persistent_tiled, persistent_padded, persistent_doorbell"
devices='persistent_barrier, persistent_device, persistent_interpreter'
bands='persistent_halo, persistent_resident, persistent_chaotic'

# all_right CELLS: so many, every one verified
all_right() {
  run "$PKRUN" --quiet --target host a.ini
  [ "$status" -eq 0 ] || { echo "$output"; false; }
  [ "$(sql 'SELECT status, count(*) FROM cell GROUP BY status')" = "ok,$1" ]
}

@test "every variant, every sweep, grids of one block, some and one a unit: the reference's bits" {
  global 'workload = poisson2d' 'n = 3, 4, 13, 30' 'blocks = auto, 1, 5'
  printf '%s\n' '[any]' "variant = $launches, $hosts, $devices" 'sweep = rows, tiles, bands' 'tile = 4x5' \
    '[own]' "variant = $bands" >>a.ini
  all_right 576
}

@test "blocks: the host target has 8 compute units; what auto, capped, percu:N and a number make of 63 rows" {
  global 'workload = poisson2d' 'n = 65'
  printf '%s\n' '[any]' 'variant = launch, persistent_spin, persistent_barrier, persistent_doorbell, persistent_halo' \
    'blocks = auto, rows, capped, 7, percu:1, percu:3, percu:9' >>a.ini
  all_right 35
  grids="SELECT variant || ':' || group_concat(blocks, ' ') FROM (SELECT variant, blocks FROM cell ORDER BY number) GROUP BY variant"
  run sql "$grids"
  echo "$output"
  # auto, rows, capped, 7, percu:1, percu:3, percu:9
  [ "${lines[0]}" = "launch:63 63 63 7 8 24 63" ]
  [ "${lines[1]}" = "persistent_barrier:63 63 63 7 8 24 63" ]     # 1024 threads a compute unit
  [ "${lines[2]}" = "persistent_doorbell:63 63 63 7 8 24 63" ]
  [ "${lines[3]}" = "persistent_halo:8 15 15 7 8 15 15" ]         # a block has at least a halo's rows
  [ "${lines[4]}" = "persistent_spin:63 63 63 7 8 24 63" ]
  # 8 compute units of 1024 threads: 16 blocks of 512
  global 'workload = poisson2d' 'n = 65'
  sed -i 's/^threads.*/threads = 512/' a.ini
  printf '%s\n' '[fill]' 'variant = persistent_barrier' >>a.ini
  rm pkrun.db
  all_right 1
  [ "$(sql 'SELECT blocks FROM cell')" = 16 ]
}

@test "rectangles, one thread, a warp that is none, more threads than points (g09)" {
  global 'workload = poisson2d' 'n = 3, 9, 24' 'cols = 5, 17' 'blocks = auto, 3'
  sed -i '/^threads/d' a.ini
  printf '%s\n' 'threads = 1, 7, 64' '[any]' "variant = $launches, $hosts, $devices, $bands" >>a.ini
  all_right 648
}

@test "tiles: sizes around theirs, larger than the grid, of one point (g07)" {
  global 'workload = poisson2d'
  printf '%s\n' 'sweep = tiles' '[around]' 'variant = launch, persistent_tiled' 'n = 3, 8, 15, 16, 17, 31, 33, 100' \
    'tile = 1x1, 16x16, 64x64, 5x3' '[large]' 'variant = launch' 'n = 1000, 1023, 1025' 'tile = 16x16' >>a.ini
  all_right 67
  for tile in 0 16 -1x4 4x-1 4x; do
    run -2 "$PKRUN" --target host a.ini --set around.tile=$tile
    [[ $output == *"tile: '$tile'"* ]]
  done
  for n in 1 2; do
    run -2 "$PKRUN" --target host a.ini --set large.n=$n
    [[ $output == *"n: '$n' is outside 3.."* ]]
  done
}

@test "a problem of any scale is judged alike, and so is one whose solution is 0 (g10)" {
  global 'workload = poisson2d' 'n = 14' 'f_scale = 1e-12, 1, 1e12, 0' 'check = 0, 7'
  printf '%s\n' '[exact]' 'variant = launch, persistent_device' \
    '[converges]' 'variant = persistent_chaotic' 'iterations = 7, 300' >>a.ini
  all_right 32
  # after 7 iterations, over the scale
  run sql "SELECT DISTINCT p.value + 0 = 0, printf('%.9g', m.value / iif(p.value + 0 = 0, 1, p.value + 0)) FROM metric m JOIN trial t ON t.id = m.trial_id
    JOIN cell c ON c.id = m.cell_id JOIN param p ON p.cell_id = c.id AND p.name = 'f_scale'
    WHERE m.name = 'residual_norm' AND c.series = 'exact' AND t.iterations = 7 ORDER BY 1"
  echo "$output"
  [[ ${#lines[@]} -eq 2 && ${lines[0]} == 0,0.* && ${lines[1]} == 1,0 ]]
}

@test "the empty step, the busy step and the scaled copy" {
  global 'blocks = auto, 3' 'n = 1, 6'
  printf '%s\n' '[null]' 'workload = null' "variant = $launches, $hosts, $devices, $bands" \
    '[busy]' 'workload = busy' 'length_ns = 300' 'bytes = 40' 'imbalance = 0.5' "variant = $launches, $hosts, $devices" \
    '[scale]' 'workload = scale' "variant = $launches, $hosts, $devices" >>a.ini
  all_right 192
}

@test "options of the protocols" {
  global 'workload = poisson2d' 'n = 14' 'blocks = 4'
  printf '%s\n' '[barrier]' 'variant = persistent_barrier' 'barrier = coop, counter' \
    '[poller]' 'variant = persistent_poller' 'broadcast = barrier, acquire' 'release = lockstep, neighbour' 'pad = 0, 64' \
    '[wavefront]' 'variant = persistent_relaxed' 'broadcast = wavefront' 'threads = 1' \
    '[wait]' 'variant = persistent_spin' 'wait = spin, usleep:1, slack:1' 'flags = host, noncoherent, device' \
    '[naive]' 'variant = persistent_naive' 'release = lockstep, neighbour' 'wait = spin' \
    '[doorbell]' 'variant = persistent_doorbell' 'signals = 1, 2' 'wait = spin, usleep:1' \
    '[graph]' 'variant = graph' 'per_graph = 0, 1, 3, 7, 100' \
    '[halo]' 'variant = persistent_halo' 'depth = 1, 2, 3, 64' \
    '[chaotic]' 'variant = persistent_chaotic' 'period = 1, 2, 5' 'iterations = 7, 300' \
    '[interpreter]' 'variant = persistent_interpreter' 'tasks = 1, 3, 9' \
    '[stamped]' "variant = $launches, persistent_doorbell" 'stamps = 5' 'sweep = rows, tiles, bands' >>a.ini
  all_right 59
}

@test "check: the norm is the same in every variant, and does not disturb the result" {
  global 'workload = poisson2d' 'n = 14' 'blocks = 4' 'check = 1, 3'
  printf '%s\n' '[any]' "variant = $launches, $hosts, $devices, persistent_halo, persistent_resident" \
    '[more]' 'variant = persistent_doorbell' 'signals = 1' '[counter]' 'variant = persistent_barrier' 'barrier = counter' >>a.ini
  all_right 38
  # one figure for check = 1 (after 7 iterations) and one for check = 3 (after 6), up to the order of additions
  [ "$(sql "SELECT count(DISTINCT printf('%.9g', m.value)), count(*) FROM metric m JOIN trial t ON t.id = m.trial_id
            WHERE m.name = 'residual_norm' AND t.iterations = 7")" = 2,38 ]
  # and the right ones
  sql "SELECT DISTINCT p.value || ' ' || printf('%.9g', m.value) FROM metric m JOIN trial t ON t.id = m.trial_id
       JOIN param p ON p.cell_id = m.cell_id AND p.name = 'check' WHERE m.name = 'residual_norm' AND t.iterations = 7" >got
  python3 - "$(tr -d '"' <got)" <<'END'
import math, sys
n, pi = 14, math.pi
of = lambda i, j: math.sin(2 * pi * i / (n - 1)) * math.cos(2 * pi * j / (n - 1))
edge = lambda i, j: i in (0, n - 1) or j in (0, n - 1)
u = [[of(i, j) if edge(i, j) else 0.0 for j in range(n)] for i in range(n)]
f = [[-8 * pi * pi * of(i, j) / (n - 1) ** 2 for j in range(n)] for i in range(n)]
inside = [(i, j) for i in range(1, n - 1) for j in range(1, n - 1)]
around = lambda i, j: u[i + 1][j] + u[i - 1][j] + u[i][j + 1] + u[i][j - 1] - f[i][j]
norms = {}
for iteration in range(1, 8):
    for colour in 0, 1:
        for i, j in inside:
            if (i + j) % 2 == colour:
                u[i][j] = 0.25 * around(i, j)
    norms[iteration] = math.sqrt(sum((around(i, j) - 4 * u[i][j]) ** 2 for i, j in inside))
got = dict(line.split() for line in sys.argv[1].splitlines())
assert got.keys() == {"1", "3"}, got
for check, last in ("1", 7), ("3", 6):
    assert abs(float(got[check]) / norms[last] - 1) < 1e-8, (check, got[check], norms[last])
END
}

@test "check: one norm, by the last iteration, or none; whatever a graph holds (f01)" {
  global 'workload = poisson2d' 'n = 9' 'blocks = 3' 'check = 7, 8'
  printf '%s\n' '[any]' "variant = $launches, $hosts, $devices, $bands" \
    '[graph]' 'variant = graph' 'per_graph = 0, 1, 3, 7' '[doorbell]' 'variant = persistent_doorbell' 'signals = 1' >>a.ini
  all_right 46
  # pkrun compares each with the reference's
  [ "$(sql "SELECT count(*) FROM metric m JOIN trial t ON t.id = m.trial_id
            WHERE m.name = 'residual_norm' AND t.iterations = 7")" = 23 ]
  # a node for each half-sweep and norm
  [ "$(sql "SELECT DISTINCT CAST(value AS INTEGER) FROM metric WHERE name = 'graph_nodes' ORDER BY 1" | tr '\n' ' ')" = '2 6 14 15 ' ]
}

@test "a norm is refused where there is no residual; a sweep where there is one geometry" {
  global 'n = 5' 'check = 2' 'workload = null'
  printf '%s\n' '[a]' "variant = $launches, $hosts, $devices, $bands" >>a.ini
  run "$PKRUN" --quiet --target host a.ini
  [ "$(sql 'SELECT DISTINCT status, reason FROM cell')" = 'skipped,workload null has no residual: check must be 0' ]
  rm pkrun.db
  global 'n = 9' 'workload = poisson2d' 'sweep = tiles'
  printf '%s\n' '[a]' "variant = $bands" >>a.ini
  run "$PKRUN" --quiet --target host a.ini
  [ "$(sql "SELECT DISTINCT status, reason LIKE '%bands only%' FROM cell")" = 'skipped,1' ]
}

@test "what is CUDA's own is skipped elsewhere, and what does not fit on the chip" {
  global 'n = 2001' 'workload = poisson2d' 'iterations = 1'
  sed -i '/^iterations = 7/d' a.ini
  printf '%s\n' '[a]' 'variant = launch_pdl, graph_while, persistent_resident' >>a.ini
  run "$PKRUN" --quiet --target host a.ini
  [ "$(sql "SELECT status, count(*), count(DISTINCT reason) FROM cell")" = 'skipped,3,3' ]
  [[ $(sql "SELECT reason FROM cell WHERE variant = 'persistent_resident'") == *'bytes of shared memory, this device has'* ]]
}

@test "a cell that is stopped says which block waited for which step" {
  global 'workload = busy' 'n = 3' 'length_ns = 7e8' 'imbalance = 1' 'timeout = 1'
  printf '%s\n' '[a]' 'variant = persistent_device, persistent_barrier, persistent_neighbour, launch_sync' >>a.ini
  run "$PKRUN" --quiet --target host a.ini
  [ "$status" -eq 4 ]
  sql 'SELECT variant, status, reason FROM cell'
  [ "$(sql "SELECT count(*) FROM cell WHERE status = 'hang'")" = 4 ]
  [ "$(sql "SELECT count(*) FROM cell WHERE reason LIKE '%waited%step _%'")" -ge 3 ]
}

@test "a compiler that fuses operations finds none to fuse: the same bits (g12)" {
  grep -qw fma /proc/cpuinfo || skip 'this CPU has no fused operations'
  "${CXX:-g++}" -std=c++17 -O2 -mfma -ffp-contract=fast -fPIC -shared -DPKRUN_BUILD_HOST -I"$PKRUN_SRCDIR" \
    -o fused.so -x c++ "$PKRUN_SRCDIR/plugins/launch.hip" -L"$PKRUN_BUILDDIR/plugins/host" -lpkhost -pthread \
    -Wl,-rpath,"$PKRUN_BUILDDIR/plugins/host"
  objdump -d fused.so | grep -q vfm	# in the norm, which is no part of the result
  global 'workload = poisson2d' 'n = 33' 'f_scale = 1, 0.08333333333333529' 'iterations = 100'
  sed -i '/^iterations = 7/d' a.ini
  printf '%s\n' '[a]' 'variant = ./fused.so' 'sweep = rows, tiles, bands' >>a.ini
  all_right 6
}
