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
