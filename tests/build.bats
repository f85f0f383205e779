# SPDX-License-Identifier: MIT
# The build tree: what lies where, and what it may depend on.
load setup

@test "plugins export their descriptor and need no symbol that is not there" {
  shopt -s nullglob
  for so in "$PKRUN_BUILDDIR"/plugins/host/*.so; do
    [[ $so == */libpkhost.so ]] && continue
    run nm -D --defined-only "$so"
    [[ $output == *" pkrun_plugin"* || $output == *" pkrun_device"* ]]
    run ldd -r "$so"
    [[ $output != *undefined* && $output != *"not found"* ]]
  done
}

@test "the manual page knows every command and every option of a run" {
  commands=$(sed -n 's/^COMMAND(\([a-z]*\),.*/\1/p' "$PKRUN_SRCDIR/core/commands.def")
  [ -n "$commands" ]
  for c in $commands; do
    grep -qE "^\.(Op|It)? ?Cm $c( |$)" "$PKRUN_SRCDIR/pkrun.1" || { echo "no command $c"; false; }
  done
  options=$("$PKRUN" run --help | grep -oE '^  --[a-z-]+' | grep -v help)
  [ -n "$options" ]
  for o in $options; do
    grep -q "Fl Fl ${o#--}" "$PKRUN_SRCDIR/pkrun.1" || { echo "no option $o"; false; }
  done
}

@test "--version names the version, the plugin ABI and the targets that are built" {
  run "$PKRUN" --version
  [ "$status" -eq 0 ]
  [[ ${lines[0]} == "pkrun 0."* ]]
  [[ $output == *"plugin ABI 1."* ]]
  [[ $output == *host* ]]
}
