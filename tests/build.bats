# SPDX-License-Identifier: MIT
# The build tree: what lies where, and what it may depend on.
load setup

@test "plugins export nothing but their descriptor and need no symbol that is not there" {
  shopt -s nullglob
  for so in "$PKRUN_BUILDDIR"/plugins/host/*.so; do
    [[ $so == */libpkhost.so ]] && continue
    run nm -D --defined-only "$so"
    [[ $output == *" pkrun_plugin"* || $output == *" pkrun_device"* ]]
    run ldd -r "$so"
    [[ $output != *undefined* && $output != *"not found"* ]]
  done
}
