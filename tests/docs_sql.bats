#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# docs/sql.md: every recipe runs and answers, on a database that has an answer.
load setup

make_db() { "$PKRUN_BUILDDIR/tests/make_db" "$@" 2>/dev/null; }

# recipe-01.sql, recipe-02.sql, ... from the page
recipes() {
  awk '/^```sql$/ { on = 1; name = sprintf("recipe-%02d.sql", ++n); next }
    /^```$/ { on = 0 } on { print > name }' "$PKRUN_SRCDIR/docs/sql.md"
}

@test "each recipe answers" {
  recipes
  [ "$(ls recipe-*.sql | wc -l)" -ge 12 ]
  make_db a.db kind=full
  make_db a.db kind=full
  make_db a.db kind=mixed cells=9
  make_db relay.db kind=relay
  python3 - <<'END'
import sqlite3
db = sqlite3.connect("a.db"); db.execute("UPDATE environment SET value = 'performance' WHERE run_id = 2 AND key = 'governor'"); db.commit()
END
  for recipe in recipe-*.sql; do
    sql=$(cat $recipe)
    case $sql in *'max(id) FROM run'*) sql=${sql//(SELECT max(id) FROM run)/2} ;; esac
    db=a.db
    case $sql in *'FROM latency'* | *'FROM measured'*) db=relay.db ;; esac
    run "$PKRUN" query $db "$sql" --format csv
    [ "$status" -eq 0 ] || { echo "$recipe: $output"; false; }
    [ "${#lines[@]}" -ge 2 ] || { echo "$recipe: no row"; false; }
  done
}

@test "each recipe runs on an empty, a failed and a half-done database" {
  recipes
  make_db empty.db cells=0
  make_db failed.db cells=9 kind=mixed
  for recipe in recipe-*.sql; do
    for db in empty failed; do
      run "$PKRUN" query $db.db "$(cat $recipe)" --format csv
      [ "$status" -eq 0 ] || { echo "$recipe on $db: $output"; false; }
    done
  done
}

@test "each recipe runs in another program, straight on the file" {
  recipes
  make_db a.db kind=full
  python3 - <<'END'
import glob, sqlite3
db = sqlite3.connect("file:a.db?mode=ro", uri=True)
for name in sorted(glob.glob("recipe-*.sql")):
    db.execute(open(name).read()).fetchall()
END
}

@test "the questions in the heads of the matrices run" {
  make_db a.db kind=relay
  python3 - <<'END'
import glob, os, re, sqlite3
db = sqlite3.connect("file:a.db?mode=ro", uri=True)
tree = os.environ["PKRUN_SRCDIR"]
asked = []
for name in glob.glob(f"{tree}/ini/*.ini"):
    head = " ".join(line.lstrip("; ").rstrip() for line in open(name) if line.startswith(";"))
    asked += re.findall(r'pkrun query \S+ "(.*?)"', head)
assert len(asked) >= 3, asked
for question in asked:
    db.execute(question).fetchall()
END
}

@test "each view explains itself in the file, for who has nothing else" {
  make_db a.db cells=0
  python3 - <<'END'
import sqlite3
views = sqlite3.connect("file:a.db?mode=ro", uri=True).execute("SELECT name, sql FROM sqlite_schema WHERE type = 'view'").fetchall()
assert len(views) >= 10
assert not [name for name, sql in views if not sql.startswith(f"CREATE VIEW {name} AS\n-- ")]
END
}

@test "the page and the schema name every flag of a trial" {
  flags=$(sed -n 's/.*add_flag(out, "\([a-z_]*\)").*/\1/p; s/.*"", "\(slow_clock\)", "\(throttled\)".*/\1 \2/p; s/.*store_trial_flag(.*"\([a-z_]*\)").*/\1/p' \
    "$PKRUN_SRCDIR"/core/{measure,block}.c)
  [ "$(wc -w <<<"$flags")" -ge 6 ]
  for flag in $flags; do
    grep -q "\`$flag\`" "$PKRUN_SRCDIR/docs/sql.md"
    grep -q "flags .*\b$flag\b" "$PKRUN_SRCDIR/db/schema.sql"
  done
}

@test "the page names every view, and only views there are" {
  make_db a.db cells=0
  "$PKRUN" query a.db "SELECT name FROM sqlite_schema WHERE type = 'view' ORDER BY name" --format csv | tr -d '\r' | tail -n +2 >have
  [ "$(wc -l <have)" -ge 10 ]
  for view in $(cat have); do grep -q "\`$view\`" "$PKRUN_SRCDIR/docs/sql.md" || { echo "not in the page: $view"; false; }; done
}
