# SPDX-License-Identifier: MIT
# What every .bats file loads first (`load setup`): the program, the folders,
# and a folder of its own for each test.
#   PKRUN           the program                      default: ./pkrun of the source tree
#   PKRUN_SRCDIR    the source tree                  default: the folder above this one
#   PKRUN_BUILDDIR  the build tree (plugins/, tests/plugins/)   default: build/ of the source tree
PKRUN_SRCDIR=${PKRUN_SRCDIR:-$(cd "$BATS_TEST_DIRNAME/.." && pwd)}
PKRUN_BUILDDIR=${PKRUN_BUILDDIR:-$PKRUN_SRCDIR/build}
PKRUN=$(realpath "${PKRUN:-$PKRUN_SRCDIR/pkrun}")
export PKRUN PKRUN_SRCDIR PKRUN_BUILDDIR
bats_require_minimum_version 1.5.0
export NO_COLOR=1 LC_ALL=C
unset PKRUN_PLUGIN_PATH
# in a build with AddressSanitizer: a signal stays a signal, and LD_PRELOAD may come first
export ASAN_OPTIONS=${ASAN_OPTIONS-verify_asan_link_order=0:handle_segv=0:handle_abort=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0}

setup() {
  cd "$BATS_TEST_TMPDIR"
}

# change DB SQL...: put into a database what a test wants of it
change() {
  python3 - "$@" <<'END'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
for sql in sys.argv[2:]:
    db.execute(sql)
db.commit()
END
}

# shown COMMAND: the lines that it draws on a terminal, those too that it draws over
shown() {
  COLUMNS=160 script -qec "$1" typescript </dev/null >/dev/null
  tr '\r' '\n' <typescript | sed 's/\x1b\[K//'
}

# Chromium, and browser.py to drive it
needs_browser() {
  export PYTHONPATH=$PKRUN_SRCDIR/tests PYTHONDONTWRITEBYTECODE=1
  python3 -c 'import browser, sys; sys.exit(browser.find() is None)' || skip "no Chromium: Debian's chromium, or google-chrome"
}
