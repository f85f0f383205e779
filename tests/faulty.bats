# SPDX-License-Identifier: MIT
# The reports' mistakes must be caught.  On the host target a run repeats
# itself, so what a seed shows it always shows; what no order of threads can
# show (relaxed and volatile flags) is tests/tsan's business.
load setup

faulty() { # faulty NAME: one cell of it
  printf '[global]\nworkload = poisson2d\nn = 42\niterations = 5\nthreads = 16\nblocks = 8\nblocks_min = 1\nblocks_max = 1\ntrials = 2\n[s]\nvariant = %s/plugins/host/faulty/%s.so\n' \
    "$PKRUN_BUILDDIR" "$1" >m.ini
  rm -f pkrun.db
  "$PKRUN" m.ini --target host
}

@test "points left out are a wrong result, in every order of threads" {
  run -3 faulty faulty_coverage
  [[ $output == *'words are wrong, first at (1, 26)'* ]]
  PKH_SEED=7 run -3 faulty faulty_coverage
}

@test "done before the work is a wrong result" {
  run -3 faulty faulty_early_ack
  [[ $output == *'words are wrong'* ]]
}

@test "a fence in place of a barrier is a wrong result, by seed" {
  PKH_SEED=1 run -3 faulty faulty_fence
  [[ $output == *'words are wrong'* ]]
  first=$output
  PKH_SEED=1 run -3 faulty faulty_fence
  [ "$(grep '^wrong:' <<<"$first")" = "$(grep '^wrong:' <<<"$output")" ]
}

@test "they are no ordinary variants" {
  run -0 "$PKRUN" list variants
  [[ $output != *faulty* ]]
}
