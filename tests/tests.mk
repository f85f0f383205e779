# Unit tests, one line each: tests/test_NAME stands for tests/test_NAME.c (cmocka),
# linked with all of pkrun but main.
check_PROGRAMS += tests/test_catalog
check_PROGRAMS += tests/test_child
check_PROGRAMS += tests/test_conf
check_PROGRAMS += tests/test_load
check_PROGRAMS += tests/test_lock
check_PROGRAMS += tests/test_matrix
check_PROGRAMS += tests/test_compare
check_PROGRAMS += tests/test_options
check_PROGRAMS += tests/test_run
check_PROGRAMS += tests/test_say
check_PROGRAMS += tests/test_schedule
check_PROGRAMS += tests/test_stats
check_PROGRAMS += tests/test_store
check_PROGRAMS += tests/test_worker
check_PROGRAMS += tests/test_workloads
check_PROGRAMS += tests/test_telemetry

# Tests of the host target, one line each: tests/test_NAME stands for tests/test_NAME.cpp
# (cmocka), compiled as a host plugin is and linked with libpkhost.so.
host_tests += tests/test_host_device
host_tests += tests/test_numbers
host_tests += tests/test_progress
host_tests += tests/test_shape

# Programs that tests call, one line each, built but not run as tests.
test_tools += tests/make_db

# Command-line tests, one line each.
bats_tests += tests/build.bats
bats_tests += tests/faulty.bats
bats_tests += tests/compare.bats
bats_tests += tests/docs_sql.bats
bats_tests += tests/doctor.bats
bats_tests += tests/example.bats
bats_tests += tests/instructions.bats
bats_tests += tests/matrix.bats
bats_tests += tests/merge.bats
bats_tests += tests/metrics.bats
bats_tests += tests/mutants.bats
bats_tests += tests/plugins.bats
bats_tests += tests/plot.bats
bats_tests += tests/query.bats
bats_tests += tests/report.bats
bats_tests += tests/resume.bats
bats_tests += tests/run.bats
bats_tests += tests/show.bats
bats_tests += tests/threads.bats
bats_tests += tests/trace.bats
bats_tests += tests/results.bats
bats_tests += tests/trouble.bats
bats_tests += tests/variants.bats
bats_tests += tests/views.bats

# Plugins that the tests load, one line each: NAME stands for tests/plugins/NAME.c,
# built for the host target as tests/plugins/NAME.so of the build folder.
test_plugins += bad_ctor_crashes
test_plugins += bad_ctor_exits
test_plugins += bad_ctor_hangs
test_plugins += bad_ctor_thread
test_plugins += bad_magic
test_plugins += bad_major_huge
test_plugins += bad_major_newer
test_plugins += bad_major_zero
test_plugins += bad_no_run
test_plugins += bad_no_symbol
test_plugins += bad_null_name
test_plugins += bad_option
test_plugins += bad_option_garbage
test_plugins += bad_short
test_plugins += bad_target
test_plugins += bad_undefined
test_plugins += ctor_locale
test_plugins += ctor_prints
test_plugins += fake_aged
test_plugins += fake_bad_teardown
test_plugins += fake_clocks
test_plugins += fake_computes
test_plugins += fake_device
test_plugins += fake_dies
test_plugins += fake_early
test_plugins += fake_fails
test_plugins += fake_flood
test_plugins += fake_hang
test_plugins += fake_input_spoiler
test_plugins += fake_instant
test_plugins += fake_late_thread
test_plugins += fake_lazy
test_plugins += fake_leaves
test_plugins += fake_miscount
test_plugins += fake_nan
test_plugins += fake_near
test_plugins += fake_noisy
test_plugins += fake_ok
test_plugins += fake_once
test_plugins += fake_overrun
test_plugins += fake_progress
test_plugins += fake_resident
test_plugins += fake_sleeper
test_plugins += fake_spike
test_plugins += fake_stale
test_plugins += fake_steady
test_plugins += fake_unpoisoned
test_plugins += fake_wrong_later
test_plugins += good
test_plugins += late_killer
test_plugins += lib_clock
test_plugins += lib_nvml
test_plugins += lib_rocm_smi
test_plugins += minor_newer
test_plugins += minor_older
test_plugins += slow
# the same in C++
test_plugins_cpp += fake_throws

# Whatever else the tests read: matrices, databases.  One line each.
test_data += tests/fakes.bash
test_data += tests/plugins/fake.h
test_data += tests/browser.py
test_data += tests/get-perfetto
test_data += tests/perfetto.mjs
test_data += tests/spins.awk
test_data += tests/plugins/plain.h

# Fuzzers, one line each: NAME stands for tests/NAME.c, seeds in tests/corpus/NAME/.
fuzzers += fuzz_matrix
fuzzers += fuzz_pipe
