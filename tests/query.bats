#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# pkrun query and the database as others meet it (b04, b06, b07, b09, b12).
load setup

make_db() { "$PKRUN_BUILDDIR/tests/make_db" "$@" 2>/dev/null; }

@test "a statement that reads, in every format" {
  make_db a.db cells=2
  run "$PKRUN" query a.db 'SELECT series, n, NULL AS none FROM summary ORDER BY series'
  [ "$status" -eq 0 ]
  [ "${lines[0]}" = 'series   n  none' ]
  [ "${lines[2]}" = 'queued  11  ' ]
  run "$PKRUN" query a.db "SELECT 'a,\"b' AS x, '' AS y, NULL AS z, 1.5 AS r" --format csv
  [ "$output" = $'x,y,z,r\r\n"a,""b","",,1.5\r' ]
  run "$PKRUN" query a.db "SELECT 'a\"' AS x, NULL AS z, 0.1 AS r, x'00ff' AS b, 9e999 AS i" --format json
  [ "$output" = $'[\n {"x": "a\\"", "z": null, "r": 0.1, "b": "X\'00ff\'", "i": null}\n]' ]
  run "$PKRUN" query a.db 'SELECT 1 AS a' --format markdown
  [ "$output" = $'| a |\n| ---: |\n| 1 |' ]
}

@test "no rows: the head alone, and an empty list" {
  make_db a.db cells=2
  [ "$("$PKRUN" query a.db 'SELECT run, n FROM summary WHERE 0' --format csv)" = $'run,n\r' ]
  [ "$("$PKRUN" query a.db 'SELECT n FROM summary WHERE 0' --format json)" = '[]' ]
  [ "$("$PKRUN" query a.db 'SELECT n FROM summary WHERE 0' | wc -l)" -eq 2 ]
}

@test "numbers read back to the same value, whatever the size (b09)" {
  make_db a.db cells=1
  [ "$("$PKRUN" query a.db 'SELECT seed FROM run' --format csv)" = $'seed\r\n18446744073709551615\r' ]
  "$PKRUN" query a.db 'SELECT 9223372036854775807 AS a, -9223372036854775808 AS b, 9223372036854775808.0 AS c,
    0.1 + 0.2 AS d' --format json | python3 -c 'import json, sys
r = json.load(sys.stdin)[0]
assert r == {"a": 2**63 - 1, "b": -2**63, "c": 2.0**63, "d": 0.1 + 0.2}, r'
}

@test ".schema has every table and view once, as this pkrun answers, whatever the views of the file" {
  make_db a.db cells=1
  "$PKRUN" query a.db .schema >fresh
  grep -q 'CREATE TABLE trial' fresh
  python3 -c 'import sqlite3
db = sqlite3.connect("a.db"); db.execute("DROP VIEW failures"); db.execute("DROP VIEW result")
db.execute("CREATE VIEW result AS SELECT 1 AS old"); db.commit()'
  "$PKRUN" query a.db .schema >other
  diff <(grep '^CREATE' fresh | sort) <(grep '^CREATE' other | sort)
  run ! grep -q 'AS old' other
}

@test "a misspelt column is an error, and nothing is written (b12)" {
  make_db a.db cells=2
  sum=$(sha256sum a.db)
  run "$PKRUN" query a.db 'SELECT "nosuch" FROM summary'
  [ "$status" -eq 2 ]; [[ $output == 'pkrun: a.db: query: no such column: '*nosuch* ]]
  run "$PKRUN" query a.db 'DROP TABLE trial'
  [ "$status" -eq 2 ]; [ "$output" = 'pkrun: a.db: query: only a statement that reads is allowed' ]
  run "$PKRUN" query a.db 'SELECT 1; DELETE FROM trial'
  [ "$status" -eq 2 ]; [ "$output" = 'pkrun: a.db: query: one statement only; this follows it: DELETE FROM trial' ]
  run "$PKRUN" query a.db 'SELECT 1; --'
  [ "$status" -eq 0 ]
  run "$PKRUN" query a.db "ATTACH 'b.db' AS b"
  [ "$status" -eq 2 ]; [ ! -e b.db ]
  run "$PKRUN" query a.db 'SELEC 1'
  [ "$status" -eq 2 ]; [[ $output == *'near "SELEC": syntax error' ]]
  run "$PKRUN" query a.db
  [ "$status" -eq 2 ]; [[ ${lines[0]} == *"a database and one statement in quotes, not 1 argument"* && ${lines[1]} == usage:* ]]
  [ "$sum" = "$(sha256sum a.db)" ]
}

@test "ratios in the views are real division (b12)" {
  make_db a.db cells=3 trials=1 blocks=1
  python3 - <<'END'
import sqlite3
db = sqlite3.connect("a.db")
db.execute("UPDATE trial SET wall_ns = 3000 + cell_id, iterations = 2000")
db.commit()
END
  [ "$("$PKRUN" query a.db "SELECT median_ns, speedup < 1 AND speedup > 0.99 AS near FROM summary WHERE series = 'synced'" \
    --format csv | tail -1)" = $'1.501,1\r' ]
}

@test "refused and left as they are: newer, foreign, text, empty (b06)" {
  make_db new.db cells=1
  python3 - <<'END'
import sqlite3
db = sqlite3.connect("new.db"); db.execute("PRAGMA user_version = 999"); db.commit(); db.close()
db = sqlite3.connect("old.db"); db.execute("CREATE TABLE results (id INTEGER PRIMARY KEY, n INT)"); db.commit()
END
  yes 'my results' | head -1000 >text.db; : >empty.db
  sha256sum *.db >sums
  run "$PKRUN" query new.db 'SELECT 1'
  [ "$status" -eq 2 ]; [[ $output == *'new.db: schema version 999, but this pkrun knows only up to 1'* ]]
  run "$PKRUN" query old.db 'SELECT 1'
  [ "$status" -eq 2 ]; [[ $output == *"old.db: an SQLite database, but not one of pkrun's"* ]]
  run "$PKRUN" query text.db 'SELECT 1'
  [ "$status" -eq 2 ]; [[ $output == *'text.db: read: file is not a database'* ]]
  run "$PKRUN" query empty.db 'SELECT 1'
  [ "$status" -eq 2 ]; [[ $output == *'empty.db: empty file'* ]]
  sha256sum --quiet -c sums
}

@test "a writer leaves them alone too, and takes an empty file (b06)" {
  make_db new.db cells=1
  python3 - <<'END'
import sqlite3
db = sqlite3.connect("new.db"); db.execute("PRAGMA user_version = 999"); db.commit(); db.close()
db = sqlite3.connect("old.db"); db.execute("CREATE TABLE results (id INTEGER PRIMARY KEY, n INT)"); db.commit(); db.close()
db = sqlite3.connect("wal.db"); db.execute("PRAGMA journal_mode = WAL"); db.execute("PRAGMA user_version = 999"); db.commit(); db.close()
END
  yes 'my results' | head -1000 >text.db
  sha256sum *.db >sums
  for name in new old wal text; do
    run "$PKRUN_BUILDDIR/tests/make_db" $name.db
    [ "$status" -eq 1 ]
  done
  sha256sum --quiet -c sums
  : >empty.db
  make_db empty.db cells=1
  [ "$("$PKRUN" query empty.db 'SELECT count(*) AS n FROM summary' --format csv)" = $'n\r\n1\r' ]
}

@test "a read-only folder with a file that a killed writer left in WAL mode" {
  [ "$(id -u)" -ne 0 ] || command -v setpriv >/dev/null || skip "root writes everywhere"
  make_db a.db cells=1
  python3 -c 'import sqlite3; db = sqlite3.connect("a.db"); db.execute("PRAGMA journal_mode = WAL"); db.execute("UPDATE run SET quick = 0"); db.commit(); db.close()'
  rm -f a.db-wal a.db-shm
  folder=$(mktemp -d /tmp/pkrun.XXXXXX)
  mv a.db "$folder"; chmod a+r "$folder/a.db"; chmod a+rx,a-w "$folder"
  as_nobody=
  [ "$(id -u)" -ne 0 ] || as_nobody='setpriv --reuid=65534 --regid=65534 --clear-groups'
  if ! $as_nobody test -x "$PKRUN"; then
    rm -rf "$folder"
    skip "the program lies where others may not go"
  fi
  run $as_nobody "$PKRUN" query "$folder/a.db" 'SELECT count(*) AS n FROM run' --format csv
  chmod u+w "$folder"; rm -r "$folder"
  [ "$status" -eq 0 ]
  [ "$output" = $'n\r\n1\r' ]
}

@test "no room for temporary files is named as that (b07)" {
  make_db a.db cells=100 blocks=10 trials=20
  run bash -c 'ulimit -f 64; trap "" XFSZ; "$PKRUN" query a.db "SELECT hash || randomblob(200) AS x FROM trial, (VALUES (1), (2)) ORDER BY x"'
  [ "$status" -eq 2 ]
  [[ $output == *'a.db: query: '* ]]
}

@test "over ulimit -f a writer stops with path and errno; what was stored stays (b07)" {
  run bash -c 'ulimit -f 512; "$PKRUN_BUILDDIR/tests/make_db" a.db cells=5000 each=1'
  [ "$status" -eq 1 ]
  [[ $output == *'a.db: '*': File too large (errno 27)'* ]]
  [ "$("$PKRUN" query a.db 'PRAGMA integrity_check' --format csv)" = $'integrity_check\r\nok\r' ]
  [ "$("$PKRUN" query a.db 'SELECT count(*) > 2 AS n FROM trial' --format csv)" = $'n\r\n1\r' ]
}

# fcntl() locks fail with ENOLCK: on every file, or only on the -shm file.
shim() {
  cat >shim.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int refuse(int fd, int cmd)
{
	char link[64], path[4096];
	ssize_t n;

	if (cmd != F_SETLK && cmd != F_SETLKW && cmd != F_OFD_SETLK)
		return 0;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = 0;
	return strstr(path, getenv("NO_LOCKS_ON")) != NULL;
}
#define SHIM(name)							\
int name(int fd, int cmd, ...)						\
{									\
	static int (*real)(int, int, ...);				\
	va_list ap;							\
	void *arg;							\
	va_start(ap, cmd);						\
	arg = va_arg(ap, void *);					\
	va_end(ap);							\
	if (!real)							\
		real = (int (*)(int, int, ...))dlsym(RTLD_NEXT, #name);	\
	if (refuse(fd, cmd)) {						\
		errno = ENOLCK;						\
		return -1;						\
	}								\
	return real(fd, cmd, arg);					\
}
SHIM(fcntl)
SHIM(fcntl64)
END
  ${CC:-cc} -shared -fPIC -o shim.so shim.c -ldl
}

@test "a file system without locks: refused at once, with what to do (b04)" {
  shim
  export NO_LOCKS_ON=.db
  run env LD_PRELOAD="$PWD/shim.so" timeout 20 "$PKRUN_BUILDDIR/tests/make_db" a.db
  [ "$status" -eq 1 ]
  [[ $output == *'a.db: '*'refuses file locks (No locks available); move the database to a local disk'* ]]
  make_db b.db
  run env LD_PRELOAD="$PWD/shim.so" timeout 20 "$PKRUN" query b.db 'SELECT 1'
  [ "$status" -eq 2 ]
  [[ $output == *'refuses file locks'* ]]
}

@test "where only WAL cannot lock: a rollback journal (b04)" {
  shim
  export NO_LOCKS_ON=-shm
  run env LD_PRELOAD="$PWD/shim.so" timeout 60 "$PKRUN_BUILDDIR/tests/make_db" a.db
  [ "$status" -eq 0 ]
  [ "$("$PKRUN" query a.db 'SELECT count(*) > 0 AS n FROM trial' --format csv)" = $'n\r\n1\r' ]
  [ "$("$PKRUN" query a.db 'PRAGMA journal_mode' --format csv)" = $'journal_mode\r\ndelete\r' ]
}
