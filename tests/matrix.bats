# SPDX-License-Identifier: MIT
# Matrices at the command line: what is wrong is said with file and line, the
# exit code is 2, nothing runs and no database appears.
load setup

head='[s]
variant = launch
workload = poisson2d'

dry() { # the cells of a matrix given as text
  printf '%s\n' "$1" >a.ini
  run -"${2:-0}" --separate-stderr "$PKRUN" a.ini --target host --dry-run --format csv
}

cells() { # how many the last run listed
  printf '%s\n' "$output" | tail -n +2 | wc -l
}

refused() { # TEXT MESSAGE...
  printf '%b' "$1" >a.ini
  run -2 --separate-stderr "$PKRUN" a.ini --target host
  [ -z "$output" ]
  shift
  for message; do
    [[ $stderr == *"$message"* ]] || { echo "expected: $message"; echo "got: $stderr"; return 1; }
  done
  [ ! -e pkrun.db ]
}

@test "80 values in one long line are 80 cells" {
  dry "$head
n = $(seq -s, 16 95)
iterations = 1"
  [ "$(cells)" -eq 80 ]
}

@test "every bad line is named, and nothing runs" {
  refused '[matrix]\nn = 64\nbroken line\nreps = 3\n[unclosed\nm = 1\n' \
    "a.ini:3: neither [section] nor \`key = value\`: 'broken line'" 'a.ini:5: neither'
}

@test "an indented line is refused, not joined" {
  refused '[matrix]\nn = 64\n  tile = 16\nreps = 3\n' 'a.ini:3: an indented line'
}

@test "ranges end: a list or an error, at once" {
  for range in '16..1024*1' '16..1024*0' '16..1024*1.5' '16..1024*-2' '1024..16*2' '0..1024*2' '16..1024+0' \
    '1..9223372036854775807*2' '9223372036854775806..9223372036854775807+1' '..64' '16..' '16...64'; do
    refused "$head\nn = $range\n" 'a.ini:4: n'
  done
  dry "$head
n = 16..1024*2, 9..15+2"
  [ "$(cells)" -eq 11 ]
}

@test "2^40 cells are counted and refused" {
  refused "$head\nn = 3..34+1\ncols = 3..34+1\nthreads = 1..32+1\niterations = 1..32+1\nblocks = 1..32+1\nf_scale=1\n[t]\nvariant=launch\nworkload=null\nn = 1..1048576+1\niterations = 1..1048576+1\n" \
    'a.ini:13: n has 1048576 values; at most 1000000' 'the matrix has 1099545182208 cells; at most 1000000'
}

@test "a key twice, an empty one, a reopened section" {
  refused '[matrix]\nn = 64\nn = 128\nn =\n[other]\nx = 1\n[matrix]\nreps = 3\n' \
    "a.ini:3: 'n' was already set at line 2" "a.ini:4: 'n' has no value" \
    'a.ini:7: section [matrix] was already opened at line 1'
}

@test "comments and colons" {
  refused '[matrix]\nn = 64 # interior points\nmode:graph = 1\n' "a.ini:2: '#' does not begin a comment" \
    "a.ini:3: expected \`key = value\`: 'mode:graph = 1'"
  dry "$head ; which
n = 64 ; points"
  [ "$(cells)" -eq 1 ]
}

@test "CRLF and a byte order mark change nothing; UTF-16, CR and a late mark are refused" {
  dry "$head
n = 64"
  plain=$output
  printf '\xef\xbb\xbf%s\nn = 64\n' "$head" | sed 's/$/\r/' >a.ini
  run -0 --separate-stderr "$PKRUN" a.ini --target host --dry-run --format csv
  [ "$output" = "$plain" ]
  printf '[m]\nn = 64\n' | iconv -t UTF-16LE >a.ini
  run -2 "$PKRUN" a.ini
  [[ $output == *NUL* ]]
  refused '[m]\rn = 64\r' 'a.ini:1: a carriage return'
  refused '[m]\n\xef\xbb\xbfn = 64\n' 'a.ini:2: a byte order mark'
}

@test "what is no matrix has a message of its own" {
  for f in /tmp /dev/null nothere.ini; do
    run -2 --separate-stderr "$PKRUN" run "$f"
    messages+=("${stderr#"pkrun: $f"}")
  done
  refused '; only\n# comments\n' 'no [section] in the file'
  refused '[s]\n' 'a.ini:1: section [s] has no keys'
  refused '[global]\nn = 3\n' 'no series'
  [[ ${messages[0]} == *directory* && ${messages[1]} == *empty* && ${messages[2]} == *'No such file'* ]]
}

@test "a file that may not be read" {
  [ "$(id -u)" -ne 0 ] || skip "root reads everything"
  printf '%s\nn = 3\n' "$head" >a.ini
  chmod 0 a.ini
  run -2 "$PKRUN" a.ini
  [[ $output == *'Permission denied'* ]]
}

@test "numbers are numbers" {
  refused "$head\nn = 8-64\nf_scale = -1.5..-0.5+0.5\nthreads = 1e3\n" "a.ini:4: n: '8-64' is not an integer" \
    'a.ini:5: f_scale = -1.5..-0.5+0.5: a range is' "a.ini:6: threads: '1e3' is not an integer"
  dry "$head
f_scale = 1e-3, -1.5"
  [[ $output == *f_scale=0.001* && $output == *f_scale=-1.5* ]]
  # a residual whose squares are 0 would pass for a solution
  dry "$head
f_scale = 0, 1e-100, -1e-101"
  [[ $output == *'f_scale = -1e-101: 0, or at least 1e-100 away from it'* && $output != *'f_scale = 1e-100:'* ]]
}

@test "empty values are all refused" {
  refused '[matrix]\nn = 64\nreps=\ntile =\t\nmode = ' "a.ini:3: 'reps' has no value" \
    "a.ini:4: 'tile' has no value" "a.ini:5: 'mode' has no value"
}

@test "the locale of the user does not matter" {
  printf '%s\nf_scale = 0.5\n' "$head" >a.ini
  LC_ALL=de_DE.UTF-8 run -0 --separate-stderr "$PKRUN" a.ini --target host --dry-run --format csv
  [[ $output == *f_scale=0.5* ]]
}

@test "misspelt names come with a proposal" {
  refused "[s]\nvariant = lunch\nworkload = poison2d\n" "no variant 'lunch'; did you mean 'launch'?" \
    "no workload 'poison2d'; did you mean 'poisson2d'?"
  refused "$head\nthread = 64\ntrials = 3\n" "a.ini:4: [s] unknown key 'thread'; did you mean 'threads'?" \
    "a.ini:5: 'trials' is a setting of the whole run: put it into [global]"
}

@test "the environment fills in, or is missed" {
  printf '%s\nn = ${SIZES}\n' "$head" >a.ini
  SIZES='11, 21' run -0 --separate-stderr "$PKRUN" a.ini --target host --dry-run --format csv
  [ "$(cells)" -eq 2 ]
  run -2 --separate-stderr "$PKRUN" a.ini --target host
  [[ $stderr == *'a.ini:4: n: the environment has no SIZES'* ]]
}

@test "--set and --only" {
  printf '%s\nn = 11, 21\n' "$head" >a.ini
  run -0 --separate-stderr "$PKRUN" a.ini --target host --dry-run --format csv --set s.n=31..51+10 --set global.iterations=7
  [ "$(cells)" -eq 3 ]
  [[ $output == *,51,7,* ]]
  run -0 --separate-stderr "$PKRUN" a.ini --target host --dry-run --format csv --only '*/21'
  [ "$(cells)" -eq 1 ]
  run -2 --separate-stderr "$PKRUN" a.ini --target host --dry-run --only nothing
  [[ $stderr == *"--only 'nothing' matches none of the 2 cells; the series are s"* ]]
  run -2 --separate-stderr "$PKRUN" a.ini --target host --dry-run --only s --only '*/21'
  [ "$stderr" = 'pkrun: --only */21: there is --only s already, and only one is taken' ]
  run -2 --separate-stderr "$PKRUN" a.ini --target host --dry-run --set s.q=1
  [[ $stderr == *"--set: [s] unknown key 'q'"* ]]
  run -2 --separate-stderr "$PKRUN" a.ini --target host --dry-run --set t.n=1
  [[ $stderr == *"expected SECTION.KEY=VALUE"* ]]
}

@test "a dry run prints its cells in three formats and makes no database" {
  printf '%s\nn = 11\n' "$head" >a.ini
  for format in table json csv; do
    run -0 --separate-stderr "$PKRUN" a.ini --target host --dry-run --format "$format"
    [[ $output == *launch* ]]
    [ "$format" != json ] || printf '%s' "$output" | python3 -m json.tool >/dev/null
  done
  [ ! -e pkrun.db ]
}

@test "the matrices that ship are plans" {
  for f in "$PKRUN_SRCDIR"/ini/*.ini; do
    run -0 --separate-stderr "$PKRUN" "$f" --target host --dry-run --format csv
    [ "$(cells)" -gt 3 ]
  done
}

@test "the commands in the heads of the matrices" {
  cd "$PKRUN_SRCDIR"
  for f in ini/*.ini; do
    # comment lines that begin with `pkrun ini/`, continued by a backslash
    commands=$(sed -n 's/^; *//p' "$f" | sed -e ':a' -e '/\\$/N; s/\\\n//; ta' | grep -E "^pkrun $f .*--set") || continue
    run -0 --separate-stderr bash -c "$PKRUN ${commands#pkrun} --target host --dry-run --format csv"
    [ "$(cells)" -gt 3 ]
    checked+=x
  done
  [ "${#checked}" -ge 6 ]
}

@test "a matrix through a pipe" {
  run -0 --separate-stderr bash -c "printf '[s]\nvariant=launch\nworkload=null\n' | '$PKRUN' run /dev/stdin --target host --dry-run --format csv"
  [ "$(cells)" -eq 1 ]
}
