/* SPDX-License-Identifier: MIT
 *
 * sync_tree - a barrier of all blocks from a tree of counters: `arity` blocks
 * share a leaf, the last to arrive at a node goes on to the node above, and
 * the last at the root opens for all.
 *
 * Against sync_counter: at most `arity` additions meet at a word, and there are
 * log(blocks) of them behind each other.  Counters only grow: synchronisation s
 * has filled a node when it stands at (s + 1) times its children.
 *
 * Order: an arrival is an addition that releases and acquires.  The last one at
 * a node has acquired all earlier ones (additions keep the release sequence)
 * and carries them upwards by its own addition; so the last one at the root
 * has acquired every block, and its store releases all of it to the watchers.
 */
#include "kernels/sync_body.h"

struct options {
	int64_t arity;
};

static const struct pkrun_option option_table[] = {
	{"arity", PKRUN_INT, offsetof(struct options, arity), "8", 2, 1024, NULL, NULL,
	 "children of a node"},
	{},
};

static uint32_t arity_of(const struct pkrun_run *run)
{
	return (uint32_t)((const struct options *)run->options)->arity;
}

struct tree_sync {
	using witness = sync_witness_grid;
	struct step_line *line; /* the word that opens, then the nodes from the leaves up */
	uint32_t arity;

	static size_t lines(const struct pkrun_run *run, uint32_t blocks)
	{
		size_t all = 1;

		do {
			blocks = (blocks - 1) / arity_of(run) + 1;
			all += blocks;
		} while (blocks > 1);
		return all;
	}
	__device__ __forceinline__ bool agree(const struct device_control &, bool leave,
					      uint32_t *) const
	{
		return !leave;
	}
	/* One thread's business: true for the one that came last at the root. */
	__device__ __forceinline__ bool climb(uint64_t s) const
	{
		struct step_line *level = line + 1;
		uint32_t below = gridDim.x, at = blockIdx.x;

		for (;;) {
			uint32_t nodes = (below - 1) / arity + 1, node = at / arity;
			uint32_t rest = below - node * arity;
			uint64_t full = (s + 1) * (rest < arity ? rest : arity);

			if (pk_agent::add_acq_rel(&level[node].done, (uint64_t)1) + 1 != full)
				return false;
			if (nodes == 1)
				return true;
			level += nodes;
			below = nodes;
			at = node;
		}
	}
	__device__ __forceinline__ bool step(uint64_t s, const struct device_control &c,
					     uint32_t *left) const
	{
		__syncthreads();
		if (threadIdx.x == 0) {
			uint64_t v;

			if (climb(s))
				pk_agent::put_release(&line->done, s + 1);
			else if (!pk_wait<pk_agent, pk_orders_relaxed>(
					 &line->done, [=](uint64_t f) { return f > s; }, &v, c.watch,
					 blockIdx.x, s))
				*left = 1;
		}
		__syncthreads();
		return !*left;
	}
	__device__ __forceinline__ uint32_t peer(uint64_t look) const
	{
		return sync_any_peer(look);
	}
};

static int start(struct pkrun_run *run)
{
	struct tree_sync sync = {NULL, arity_of(run)};

	return sync_start_with(run, sync);
}

SYNC_PLUGIN("sync_tree", "a barrier of all blocks from a tree of counters", PKRUN_CONTROL_DEVICE,
	    tree_sync, start, device_run, option_table, sizeof(struct options));
