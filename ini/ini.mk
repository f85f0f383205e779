# One line a source; all go into libpkrun.a, which pkrun and the unit tests link.
libpkrun_a_SOURCES += ini/conf.c

# Matrices that ship, one line each; installed in share/pkrun/ini.
matrices += ini/quick.ini
matrices += ini/small.ini
matrices += ini/ladder.ini
matrices += ini/large.ini
matrices += ini/fair.ini
matrices += ini/overheads.ini
matrices += ini/busy.ini
matrices += ini/launch.ini
matrices += ini/locality.ini
matrices += ini/pingpong.ini
matrices += ini/queue.ini
matrices += ini/relay.ini
matrices += ini/sync.ini
matrices += ini/roofline.ini
matrices += ini/trace.ini
matrices += ini/timer.ini
