# SPDX-License-Identifier: MIT
# Plugins at the command line: `list`, `help`, and bad ones among good ones.
load setup
bad=$PKRUN_BUILDDIR/tests/plugins

json() { # a Python expression over the JSON in $output
  printf '%s' "$output" | python3 -c "import json, sys; d = json.load(sys.stdin); sys.exit(0 if ($1) else 1)"
}

@test "list variants as JSON has what scripts rely on" {
  run -0 --separate-stderr "$PKRUN" list variants --format json
  json 'all(isinstance(v[k], str) for v in d for k in ("name", "brief", "control", "result"))'
  json 'all(isinstance(v[k], list) and v[k] for v in d for k in ("targets", "workloads"))'
  json '{"launch", "launch_sync", "graph", "persistent_naive", "persistent_poller", "persistent_barrier", "persistent_device"} <= {v["name"] for v in d}'
  json 'len({v["name"] for v in d}) == len(d)'
  [ -z "$stderr" ]
}

@test "list workloads and targets" {
  run -0 --separate-stderr "$PKRUN" list workloads --format json
  json '{"poisson2d", "null"} <= {w["name"] for w in d}'
  run -0 --separate-stderr "$PKRUN" list targets --format json
  json '[t["target"] for t in d] == ["host", "hip", "cuda"]'
  json 'd[0]["devices"] == 1 and d[0]["reason"] is None'
  json 'all(t["devices"] > 0 or t["reason"] for t in d)'
  run -0 --separate-stderr "$PKRUN" list variants
  [[ $output == *launch_sync* ]]
  run -0 --separate-stderr "$PKRUN" list variants --format csv
  [[ ${lines[0]} == name,control,result,targets,workloads,options,brief* ]]
}

@test "list says what it wants" {
  run -2 "$PKRUN" list
  [[ $output == *'variants, workloads, metrics, targets'* ]]
  run -2 "$PKRUN" list nonsense
  run -2 "$PKRUN" list variants --format xml
  run -2 "$PKRUN" list variants --target gpu
  run -2 "$PKRUN" list variants --frobnicate
  run -2 "$PKRUN" list variants --plugin
}

@test "help of a variant, a workload, the matrix and a command" {
  run -0 --separate-stderr "$PKRUN" help persistent_naive
  [[ $output == *'variant persistent_naive:'* && $output == *'threads = '* ]]
  run -0 --separate-stderr "$PKRUN" help poisson2d
  [[ $output == *'workload poisson2d'* && $output == *'n = '* ]]
  run -0 --separate-stderr "$PKRUN" help matrix
  [[ $output == *'blocks_min = 10'* ]]
  run -0 --separate-stderr "$PKRUN" help list
  [[ $output == *'Usage: pkrun list'* ]]
  run -0 --separate-stderr "$PKRUN" help
  run -2 --separate-stderr "$PKRUN" help persistant_naive
  [[ $stderr == *"did you mean 'persistent_naive'?"* ]]
}

@test "help and list of refused plugins say why (c05)" {
  run -2 --separate-stderr "$PKRUN" list variants --plugin "$bad/bad_major_newer.so"
  [[ $stderr == *'bad_major_newer.so: built for plugin ABI 2.4; this pkrun has 1.'* ]]
  [[ $output == *launch* ]]
  run -2 --separate-stderr "$PKRUN" list metrics --plugin "$bad/bad_short.so"
  [[ $stderr == *'refused: '*'bad_short.so: descriptor of '* && $output == *graph_nodes* ]]
  run -2 --separate-stderr "$PKRUN" help bad_undefined --plugin "$bad/bad_undefined.so"
  [[ $stderr == *'undefined symbol: nobody_has_this'* ]]
}

@test "a plugin that exits, crashes or prints while it is loaded disturbs nobody" {
  export PKRUN_PLUGIN_PATH=$bad/bad_ctor_exits.so:$bad/bad_ctor_crashes.so:$bad/ctor_prints.so:$bad/ctor_locale.so
  run -0 --separate-stderr "$PKRUN" list variants --format json --target host
  json '{"launch", "ctor_prints", "ctor_locale"} <= {v["name"] for v in d}'
  [[ $stderr == *'bad_ctor_exits.so: exited with 0'* && $stderr == *'bad_ctor_crashes.so: killed by SIGABRT'* ]]
  [[ $stderr != *'nobody asked for'* ]]
}

@test "a bad variant of a matrix is refused and the others run" {
  cp "$bad/bad_ctor_thread.so" .
  printf '[global]\nworkload = null\niterations = 3\nthreads = 16\nn = 4\ntrials = 1\nblocks_min = 1\nblocks_max = 1\nci = 0\n[bad]\nvariant = ./bad_ctor_thread.so\n[good]\nvariant = launch\n' >a.ini
  run --separate-stderr "$PKRUN" a.ini --target host --format json
  [ "$status" -eq 2 ]
  json '[(c["series"], c["status"]) for c in d] == [("bad", "refused"), ("good", "ok")]'
  [[ $output == *'built for plugin ABI 2.3'* ]]
}

@test "whatever is wrong with the plugins of a matrix, each is refused with its reason and the others run (c02, c05)" {
  refused=(bad_major_newer bad_major_zero bad_major_huge bad_no_symbol bad_short bad_no_run bad_null_name bad_undefined)
  printf '[global]\nworkload = null\niterations = 3\nthreads = 16\nn = 4\ntrials = 1\nblocks_min = 1\nblocks_max = 1\nci = 0\n' >a.ini
  for name in "${refused[@]}"; do printf '[%s]\nvariant = %s/%s.so\n' $name "$bad" $name; done >>a.ini
  printf '[good]\nvariant = launch\n' >>a.ini
  run -2 --separate-stderr "$PKRUN" a.ini --target host --format json
  json '[c["status"] for c in d] == ["refused"] * 8 + ["ok"]'
  json 'all(c["series"] + ".so: " in c["reason"] for c in d[:8])'
  for why in 'ABI 2.4; this pkrun has 1.' 'ABI 0.4; this pkrun has 1.' 'ABI 65535.4; this pkrun has 1.' \
      'exports no symbol pkrun_plugin' 'shorter than the' 'function run is missing' 'no name (NULL)' \
      'undefined symbol: nobody_has_this'; do
    [[ $output == *"$why"* ]]
  done
}

@test "a copy that kept the name of its original is refused under the name of its file" {
  mkdir -p own/host
  cp "$PKRUN_BUILDDIR"/plugins/host/{launch,device,libpkhost}.so own/host/
  cp own/host/launch.so own/host/mine.so
  export PKRUN_PLUGIN_DIR=$PWD/own
  why="mine.so: its name 'launch' is also that of $PWD/own/host/launch.so"
  printf '[s]\nvariant = mine\nworkload = null\n' >a.ini
  run -0 --separate-stderr "$PKRUN" a.ini --target host --dry-run
  [[ $output == *"$why"* ]]
  run -2 --separate-stderr "$PKRUN" help mine
  [[ $stderr == *"$why"* ]]
  run -0 --separate-stderr "$PKRUN" help launch
}

@test "a variant by path is found from the matrix, not from here" {
  mkdir sub
  cp "$bad/good.so" sub/
  printf '[s]\nvariant = ./good.so\nworkload = null\n' >sub/a.ini
  run -0 --separate-stderr "$PKRUN" sub/a.ini --target host --dry-run
  printf '[s]\nvariant = ./none.so\nworkload = null\n' >sub/a.ini
  run -0 --separate-stderr "$PKRUN" sub/a.ini --target host --dry-run
  [[ $output == *'none.so: cannot open: No such file'* ]]
}

@test "--plugin wins over a shipped namesake, and a bad one stops the run" {
  cp "$PKRUN_BUILDDIR/plugins/host/launch.so" mine.so
  cp "$PKRUN_BUILDDIR/plugins/host/libpkhost.so" .
  printf '[s]\nvariant = launch\nworkload = null\n' >a.ini
  run -0 --separate-stderr "$PKRUN" a.ini --target host --dry-run --plugin ./mine.so
  [[ $stderr == *"variant launch is $PWD/mine.so"* ]]
  run -2 --separate-stderr "$PKRUN" a.ini --target host --dry-run --plugin ./none.so
  [[ $stderr == *'--plugin ./none.so: cannot open: No such file'* ]]
  run -2 --separate-stderr "$PKRUN" a.ini --target host --dry-run --plugin "$bad/bad_magic.so"
  [[ $stderr == *'magic is 0x464c457f'* ]]
}

@test "output that cannot be written is an error; few open files are enough" {
  for command in 'list variants' 'list workloads' 'help launch' 'help matrix'; do
    run -2 bash -c "'$PKRUN' $command >/dev/full"
    [[ $output == *'No space left on device'* ]]
  done
  run -0 --separate-stderr bash -c "ulimit -n 40; '$PKRUN' list variants --format json --target host"
  json 'len(d) > 3'
  PKRUN_PLUGIN_DIR=/nonexistent run -0 --separate-stderr "$PKRUN" list variants --format json
  [[ $stderr == *'no usable variant in /nonexistent'* ]]
  json 'd == []'
}

@test "a reader that has seen enough of a list hears no complaint" {
  for what in 'list variants' 'help launch'; do
    # the reader is gone before the first line
    run -0 --separate-stderr bash -c "{ sleep 0.2; '$PKRUN' $what; } | true"
    [ -z "$stderr" ]
  done
}
