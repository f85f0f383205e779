#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# pkrun report: one page, tested as its readers see it, in a browser.
load setup

make_db() { "$PKRUN_BUILDDIR/tests/make_db" "$@" 2>/dev/null; }

@test "a page that needs nothing else: no address but its own, figures and SQL inside" {
  make_db a.db kind=full blocks=8
  run "$PKRUN" report a.db -o a.html
  [ "$status" -eq 0 ]; [ ! -e a.html.part ]
  ! grep -Eoi '(src|href)="?(https?:)?//' a.html || false
  for id in verdict figures results views failures environment matrix; do grep -q "id=\"\?$id" a.html; done
  [ "$(grep -c 'the SQL behind it' a.html)" -ge 5 ]
  grep -q '165 of 165 cells have a result; the whole array of each of their 6600 timed trials was verified' a.html
  grep -Eq 'The fastest for poisson2d at N = 11 is persistent_device with 2\.0[0-9] us an iteration, 2\.9[0-9] times as fast as \[queued\] \(95 % interval 2\.9' a.html
  grep -Eq 'Persistent pays below [45]\.[0-9]+ us a step on this device' a.html
  if command -v gnuplot >/dev/null; then [ "$(grep -c '<figure>' a.html)" -eq 6 ]; fi
}

@test "no database is written over; a link, a pipe and a device stay what they are" {
  make_db a.db cells=8
  cp a.db b.db
  for command in report trace; do
    for to in a.db ./a.db b.db; do
      run "$PKRUN" $command a.db -o $to
      [ "$status" -eq 2 ]; [ "$output" = "pkrun: $command: -o $to: this is a database, which would be lost" ]
    done
  done
  cmp a.db b.db
  ln -s a.html link.html
  "$PKRUN" report a.db -o link.html
  [ -L link.html ]; grep -q '<!doctype html>' a.html
  mkfifo pipe
  cat pipe >b.html 3>&- &
  "$PKRUN" report a.db -o pipe
  wait $!
  [ -p pipe ]; grep -q '</html>' b.html
  run "$PKRUN" report a.db -o link.html --run 9
  [ "$status" -eq 2 ]; [ -L link.html ]
  # a page that does not fit leaves no part of it
  run bash -c 'ulimit -f 8; exec "$PKRUN" report a.db -o c.html'
  [ "$status" -eq 2 ]; [[ $output == *'c.html: File too large' ]]
  [ ! -e c.html.part ]; [ ! -e c.html ]
}

@test "figures say what they leave out and why" {
  command -v gnuplot >/dev/null || skip "no gnuplot"
  make_db a.db cells=16
  python3 - <<'END'
import sqlite3
db = sqlite3.connect("a.db"); db.execute("UPDATE cell SET status = 'hang', reason = 'block <3> waited' WHERE series = 'graph'"); db.commit()
END
  "$PKRUN" report a.db -o a.html
  grep -Fq '1 left out; the first: graph n=21: HUNG (timeout): block &lt;3&gt; waited.' a.html
}

@test "the fastest is that of equal work, and of work, not of measurements" {
  make_db a.db kind=full
  python3 - <<'END'
import sqlite3
db = sqlite3.connect("a.db"); db.execute("UPDATE cell SET workload = 'relay' WHERE workload NOT IN ('busy', 'null')"); db.commit()
END
  "$PKRUN" report a.db -o a.html
  # 2000 + 1.1 s against 2500 + s, and no time of a shorter step beside that of the longest
  grep -Eq 'The fastest for busy at N = 64 \(length_ns=200\) is persistent_device with 2\.2[0-9] us an iteration' a.html
  grep -Eq 'at N = 64 \(length_ns=500000\) it is (graph|launch|launch_sync) with 5[01][0-9] us an iteration' a.html
  ! grep -q 'fastest for relay' a.html || false
}

@test "the SQL on the page gives the rows of its table" {
  make_db a.db kind=full blocks=2
  "$PKRUN" report a.db -o a.html
  python3 - <<'END'
import html, re, sqlite3
db = sqlite3.connect("a.db")
page = open("a.html", encoding="utf-8").read()
found = 0
for table, sql in re.findall(r"<table class=sortable id=\"([a-z-]+)\">.*?<tbody>.*?</table>.*?<pre>(.*?)</pre>", page, re.S):
    rows = len(db.execute(html.unescape(sql)).fetchall())
    body = re.search(r'id="%s">.*?<tbody>(.*?)</tbody>' % table, page, re.S).group(1)
    assert body.count("<tr") == rows > 0, (table, body.count("<tr"), rows)
    found += 1
assert found >= 5, found
END
  make_db b.db kind=relay
  "$PKRUN" report b.db -o b.html
  python3 - <<'END'
import html, re, sqlite3
page = open("b.html", encoding="utf-8").read()
body, sql = re.search(r'<h3>Latencies of single messages</h3>.*?id="table-latency">.*?<tbody>(.*?)</tbody>.*?<pre>(.*?)</pre>', page, re.S).groups()
assert body.count("<tr") == len(sqlite3.connect("b.db").execute(html.unescape(sql)).fetchall()) == 5
assert body.count(">3.90 us<") == 4 and body.count(">39.0 us<") == 1     # the median
assert "table-latency" not in open("a.html", encoding="utf-8").read()
assert "table-measured" not in page
END
}

@test "in a browser: quiet, nothing fetched, nothing off-screen at 1280 and 390, sorting and filtering work" {
  needs_browser
  make_db a.db kind=full blocks=8
  "$PKRUN" report a.db -o a.html
  python3 - <<'END'
from browser import Browser
import os
with Browser() as b:
    for width in (1280, 390):
        b.open("file://" + os.path.abspath("a.html"), width)
        assert not b.messages, b.messages
        assert b.evaluate("document.documentElement.scrollWidth") == width
        # whatever is wider than the window lies in something that scrolls
        wide = b.evaluate("""[...document.querySelectorAll('main *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1
            && !e.closest('.scroll, pre')).map(e => e.tagName + ' ' + e.textContent.slice(0, 40))""")
        assert not wide, wide
    assert [u for u in b.requests() if not u.startswith(("file:", "data:"))] == []
    b.open("file://" + os.path.abspath("a.html"), 1280)
    column = "[...document.getElementById('table-results').tBodies[0].rows].map(r => r.cells[%d].dataset.v)"
    click = "document.getElementById('table-results').tHead.rows[0].cells[%d].querySelector('button').click()"
    before = [float(v) for v in b.evaluate(column % 6)]
    b.evaluate(click % 6)
    up = [float(v) for v in b.evaluate(column % 6)]
    assert up == sorted(before) and up != before
    b.evaluate(click % 6)
    assert [float(v) for v in b.evaluate(column % 6)] == up[::-1]
    assert b.evaluate("document.getElementById('table-results').tHead.rows[0].cells[6].getAttribute('aria-sort')") == "descending"
    # what is unknown stays at the end, either way: the baseline's interval
    for _ in range(2):
        b.evaluate(click % 10)
        values = b.evaluate(column % 10)
        known = [v for v in values if v]
        assert 0 < len(known) < len(values) and values[len(known):] == [""] * (len(values) - len(known))
    # texts sort as texts, with numbers in them by value
    b.evaluate(click % 0)
    names = b.evaluate("[...document.getElementById('table-results').tBodies[0].rows].map(r => r.cells[0].textContent)")
    assert names == sorted(names)
    b.evaluate("""(i => { i.value = 'NAIVE null'; i.dispatchEvent(new Event('input')) })(document.querySelector('input.filter'))""")
    left = b.evaluate("[...document.getElementById('table-results').tBodies[0].rows].filter(r => r.offsetParent).map(r => r.cells[1].textContent + r.cells[2].textContent)")
    assert left and set(left) == {"persistent_naivenull"}, left
    assert not b.messages, b.messages
    # ids are unique although every figure brings its own
    assert b.evaluate("(ids => ids.length - new Set(ids).size)([...document.querySelectorAll('[id]')].map(e => e.id))") == 0
END
}

@test "labels are text: markup, scripts, 10 000 characters, escape sequences (h05, h13)" {
  needs_browser
  make_db a.db cells=8 kind=labels
  i=0
  for label in '<script>document.title = "owned"</script>' '"><img src=x onerror="document.title = 1">' "'; alert(1); '" ']]></style></svg><b>' \
    "$(printf 'x%.0s' {1..10000})"; do
    python3 -c 'import sqlite3, sys; db = sqlite3.connect("a.db"); db.execute("UPDATE cell SET series = ?, variant = ?, params = ?, reason = ? WHERE number = ?", (sys.argv[1],) * 4 + (int(sys.argv[2]),)); db.execute("UPDATE run SET matrix_text = ?, argv = ?", (sys.argv[1],) * 2); db.commit()' "$label" $((i++))
  done
  python3 -c 'import sqlite3; db = sqlite3.connect("a.db"); db.execute("UPDATE cell SET status = \"crash\" WHERE number < 2".replace("\"", chr(39))); db.commit()'
  "$PKRUN" report a.db -o a.html
  ! grep -q $'\033' a.html || false
  python3 - <<'END'
from browser import Browser
import os
with Browser() as b:
    for width in (1280, 390):
        b.open("file://" + os.path.abspath("a.html"), width)
        assert b.evaluate("document.title") == "pkrun: made.ini", b.evaluate("document.title")
        assert not b.messages, b.messages
        assert b.evaluate("document.documentElement.scrollWidth") == width
    text = b.evaluate("document.getElementById('table-results').textContent")
    assert '<script>document.title = "owned"</script>' in text and "x" * 10000 in text
END
}

@test "cells of one series that were skipped for one reason are one line" {
  make_db a.db cells=8
  change a.db "UPDATE cell SET series = 'others', status = 'skipped', reason = 'not built', params = 'tile=' || number" \
    "UPDATE cell SET reason = 'no such tile' WHERE number = 7"
  "$PKRUN" report a.db -o a.html
  [ "$(grep -c '<li>others.*: not built</li>' a.html)" -eq 1 ]
  grep -q '<li>others, 7 cells of 7 variants, n=11: not built</li>' a.html
  grep -q '<li>others [a-z_]* n=11 tile=7: no such tile</li>' a.html
}

@test "cells without a speed-up: what the baseline has not, one line a series" {
  make_db a.db cells=16
  "$PKRUN" report a.db -o a.html
  ! grep -q no-speedup a.html || false
  change a.db "UPDATE cell SET n = 1001, series = 'gpu' WHERE series = 'naive'" \
    "UPDATE cell SET workload = 'null' WHERE series = 'graph'"
  "$PKRUN" report a.db -o a.html
  grep -A9 'id=no-speedup' a.html | grep -o '<li>.*</li>' >got
  cat >want <<'END'
<li>graph, 2 cells, n=11, 21: [queued] has no cell of this workload on this target</li>
<li>gpu, 2 cells, n=1001: [queued] has no cell with the same n</li>
END
  diff want got
}

@test "failed, partial and empty runs have a page too (h09)" {
  make_db a.db cells=18 kind=mixed
  run "$PKRUN" report a.db -o a.html
  [ "$status" -eq 0 ]
  grep -q '4 of 18 cells have a result' a.html
  grep -q '2 gave a wrong result, 2 crashed, 2 hung, 2 failed, 2 refused, 2 skipped, 2 not finished' a.html
  grep -q 'HUNG (timeout)' a.html
  grep -q 'class="verdict bad"' a.html
  make_db b.db cells=0
  run "$PKRUN" report b.db -o b.html
  [ "$status" -eq 0 ]
  grep -q '0 of 0 cells have a result' b.html
  python3 -c 'import sqlite3; db = sqlite3.connect("b.db"); db.execute("DELETE FROM environment"); db.execute("DELETE FROM run"); db.commit()'
  run "$PKRUN" report b.db -o c.html
  [ "$status" -eq 2 ]; [[ $output == *'there is no run in it yet'* ]]; [ ! -e c.html ]
}

@test "without gnuplot the page says so and is complete otherwise" {
  make_db a.db cells=8
  mkdir empty
  PATH=$PWD/empty run "$PKRUN" report a.db -o a.html
  [ "$status" -eq 0 ]
  grep -q 'No figures: gnuplot is not installed' a.html
  grep -q 'id="table-results"' a.html
}

@test "no folder, no room: exact messages and no page" {
  make_db a.db cells=8
  run "$PKRUN" report a.db -o nosuch/a.html
  [ "$status" -eq 2 ]; [[ $output == *'nosuch/a.html: No such file or directory'* ]]
  run "$PKRUN" report none.db
  [ "$status" -eq 2 ]; [ ! -e report.html ]
  run "$PKRUN" report a.db --run 0
  [ "$status" -eq 2 ]
}
