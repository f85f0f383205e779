# One line a variant: NAME stands for plugins/NAME.hip, built for every target.
variants += launch
variants += launch_sync
variants += launch_coop
variants += launch_pdl
variants += graph
variants += graph_while
variants += persistent_naive
variants += persistent_poller
variants += persistent_relaxed
variants += persistent_neighbour
variants += persistent_spin
variants += persistent_tiled
variants += persistent_padded
variants += persistent_doorbell
variants += persistent_barrier
variants += persistent_device
variants += persistent_halo
variants += persistent_chaotic
variants += persistent_resident
variants += persistent_interpreter
# The second report's systems, each with a workload of its own.
variants += relay_counter
variants += relay_launch
variants += relay_round
variants += sync_block
variants += sync_cluster
variants += sync_counter
variants += sync_gather
variants += sync_grid
variants += sync_host
variants += sync_launch
variants += sync_neighbour
variants += sync_tree
variants += launchcost_coop
variants += launchcost_graph
variants += launchcost_nested
variants += launchcost_plain
variants += locality_launch
variants += locality_persistent
variants += pingpong_graph
variants += pingpong_launch
variants += pingpong_persistent
variants += progress_launch
variants += progress_persistent
variants += queue_counter
variants += queue_launch
variants += queue_ring
variants += queue_static

# The reports' mistakes, one line each: NAME stands for plugins/faulty/NAME.hip, built for
# every target as plugins/TARGET/faulty/NAME.so, never installed.
faulty += faulty_fence
faulty += faulty_relaxed
faulty += faulty_early_ack
faulty += faulty_coverage
faulty += faulty_volatile
