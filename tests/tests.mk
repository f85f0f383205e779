# Unit tests, one line each: tests/test_NAME stands for tests/test_NAME.c (cmocka),
# linked with all of pkrun but main.
check_PROGRAMS += tests/test_conf
check_PROGRAMS += tests/test_matrix
check_PROGRAMS += tests/test_say
check_PROGRAMS += tests/test_stats
check_PROGRAMS += tests/test_store

# Programs that tests call, one line each, built but not run as tests.
test_tools += tests/make_db

# Command-line tests, one line each.
bats_tests += tests/build.bats

# Plugins that the tests load, one line each: NAME stands for tests/plugins/NAME.c,
# built for the host target as tests/plugins/NAME.so of the build folder.

# Whatever else the tests read: matrices, databases.  One line each.

# Fuzzers, one line each: NAME stands for tests/NAME.c, seeds in tests/corpus/NAME/.
