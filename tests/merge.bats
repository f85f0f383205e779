# SPDX-License-Identifier: MIT
# pkrun merge: runs of several databases into one; twice is once.
load setup

make_db() { "$PKRUN_BUILDDIR/tests/make_db" "$@"; }
ask() { # DB SQL
  "$PKRUN" query "$1" "$2" --format csv | tr -d '\r' | tail -n +2
}
# all that is measured in a file, whatever the numbers of its rows
content() {
  ask "$1" "SELECT r.started_utc, r.seed, c.number, c.key, d.name, p.sha256, b.number, b.pid, t.kind, t.position, t.wall_ns, t.hash
    FROM trial t JOIN block b ON b.id = t.block_id JOIN cell c ON c.id = t.cell_id JOIN run r ON r.id = c.run_id
    LEFT JOIN device d ON d.id = c.device_id LEFT JOIN plugin p ON p.id = c.plugin_id ORDER BY 1, 2, 3, 7, 10, 9, 11"
}
run_count() { ask "$1" 'SELECT count(*) FROM run'; }

@test "two files into a new one: runs apart, every value as it was" {
  make_db a.db cells=8 kind=mixed
  sleep 0.01
  make_db b.db kind=full
  make_db b.db cells=4
  run -0 --separate-stderr "$PKRUN" merge out.db a.db b.db
  [ -z "$output" ]
  [[ $stderr == *'a.db: 1 run added, 0 replaced, 0 already there'*'b.db: 2 runs added'* ]]
  [ "$(run_count out.db)" = 3 ]
  { content a.db; content b.db; } | sort >expected
  content out.db | sort >got
  [ -s expected ]
  cmp expected got
  for table in environment cell param block trial metric event; do
    [ "$(ask out.db "SELECT count(*) FROM $table")" -eq $(($(ask a.db "SELECT count(*) FROM $table") + $(ask b.db "SELECT count(*) FROM $table"))) ]
  done
  [ "$(ask out.db 'SELECT count(*) FROM metric m JOIN trial t ON t.id = m.trial_id WHERE t.cell_id <> m.cell_id')" = 0 ]
  python3 -c 'import sqlite3; d = sqlite3.connect("out.db"); assert d.execute("PRAGMA integrity_check").fetchone() == ("ok",); assert not d.execute("PRAGMA foreign_key_check").fetchall()'
  "$PKRUN" show out.db >/dev/null
}

@test "a database alone is brought up to date, and only if it is there" {
  make_db a.db cells=4
  content a.db >before
  python3 -c 'import sqlite3
db = sqlite3.connect("a.db"); db.execute("DROP VIEW summary"); db.commit()'
  run -0 "$PKRUN" merge a.db
  content a.db | cmp - before
  [ "$(python3 -c 'import sqlite3; print(sqlite3.connect("a.db").execute("SELECT count(*) FROM summary").fetchone()[0])')" = 4 ]
  run -2 "$PKRUN" merge nosuch.db
  [[ $output == *'merge: nosuch.db: No such file or directory'* ]]
  [ ! -e nosuch.db ]
}

@test "merging again changes nothing" {
  make_db a.db cells=4
  "$PKRUN" merge out.db a.db
  content out.db >first
  run -0 --separate-stderr "$PKRUN" merge out.db a.db a.db
  [[ $stderr == *'0 runs added, 0 replaced, 1 already there'* ]]
  content out.db | cmp - first
  "$PKRUN" merge twice.db out.db a.db
  content twice.db | cmp - first
}

@test "a run that went on is replaced by the longer one, not the other way round" {
  make_db a.db cells=4
  cp a.db short.db
  python3 - <<'END'
import sqlite3
db = sqlite3.connect("short.db")
last = db.execute("SELECT max(id) FROM block").fetchone()[0]
for table in "metric", "trial":
    db.execute(f"DELETE FROM {table} WHERE block_id = ?", (last,))
db.execute("DELETE FROM block WHERE id = ?", (last,))
db.execute("UPDATE run SET status = 'interrupted', finished_utc = NULL")
db.commit()
END
  run -0 --separate-stderr "$PKRUN" merge out.db short.db a.db short.db
  [[ $stderr == *'short.db: 1 run added'*'a.db: 0 runs added, 1 replaced'*'short.db: 0 runs added, 0 replaced, 1 already there'* ]]
  cmp <(content out.db) <(content a.db)
  [ "$(ask out.db 'SELECT status FROM run')" = complete ]
}

@test "what cannot be merged is said before anything is written" {
  make_db a.db cells=2
  cp a.db newer.db
  python3 -c 'import sqlite3; d = sqlite3.connect("newer.db"); d.execute("PRAGMA user_version = 999"); d.commit()'
  sum=$(sha256sum newer.db)
  run -2 "$PKRUN" merge out.db a.db newer.db
  [[ $output == *newer.db*999* ]]
  [ ! -e out.db ]; [ "$(sha256sum newer.db)" = "$sum" ]
  run -2 "$PKRUN" merge out.db nothere.db
  [[ $output == *'nothere.db: No such file'* ]]
  run -2 "$PKRUN" merge a.db a.db
  [[ $output == *'a.db is both OUT and IN'* ]]
  echo text >text.db
  run -2 "$PKRUN" merge out.db text.db
  run -2 "$PKRUN" merge newer.db a.db
  [ "$(sha256sum newer.db)" = "$sum" ]
  run -2 "$PKRUN" merge
  [ ! -e out.db ]
}
