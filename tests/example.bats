# SPDX-License-Identifier: MIT
# What `make install` puts where, and a variant built against it outside the tree.
load setup

install_once() {
  root=$BATS_FILE_TMPDIR/root
  [ -e "$root/done" ] && return
  make -s -C "$PKRUN_BUILDDIR" install DESTDIR="$root" prefix=/opt/pkrun >/dev/null
  touch "$root/done"
}

@test "install puts everything under the prefix and nothing elsewhere" {
  install_once
  cd "$root"
  [ "$(ls)" = "$(printf 'done\nopt')" ]
  [ -x opt/pkrun/bin/pkrun ]
  [ -f opt/pkrun/lib/pkrun/plugins/host/libpkhost.so ]
  [ -f opt/pkrun/include/pkrun/plugin.h ]
  [ -f opt/pkrun/lib/pkgconfig/pkrun.pc ]
  [ -f opt/pkrun/share/pkrun/ini/quick.ini ]
  [ -f opt/pkrun/share/man/man1/pkrun.1 ]
}

@test "an installed pkrun finds its variants wherever the prefix was moved" {
  install_once
  run "$root/opt/pkrun/bin/pkrun" list variants
  [ "$status" -eq 0 ]
  [[ $output == *persistent_device* ]]
}

@test "the example builds against the installed pkrun, runs and is right" {
  install_once
  cp "$PKRUN_SRCDIR"/examples/* .
  PKG_CONFIG_PATH=$root/opt/pkrun/lib/pkgconfig make PKG_CONFIG='pkg-config --define-prefix'
  "$root/opt/pkrun/bin/pkrun" --quick --quiet --target host --db e.db launch_batch.ini
  run "$root/opt/pkrun/bin/pkrun" query e.db --format json \
    "SELECT count(*) AS right FROM summary WHERE variant = 'launch_batch' AND status = 'ok' AND verified = 1"
  [ "$status" -eq 0 ]
  [[ $output == *'"right": 3'* ]]
}

@test "the contract's header is C11 and C++17 by itself" {
  install_once
  for lang in 'c -std=c11' 'c++ -std=c++17'; do
    # shellcheck disable=SC2086
    echo '#include <pkrun/plugin.h>' | ${CC:-gcc} -x $lang -pedantic -Wall -Wextra -Werror \
      -I"$root/opt/pkrun/include" -fsyntax-only -
  done
}
