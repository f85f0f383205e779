/* SPDX-License-Identifier: MIT
 *
 * sync_cluster - the hardware barrier of a cluster of blocks, from sm_90 on;
 * skipped elsewhere.
 *
 * The blocks of a cluster run on compute units beside each other and have a
 * barrier and a window into each other's shared memory.  Only blocks of one
 * cluster wait for each other: `blocks` is rounded down to whole clusters.
 *
 * The barrier cannot be left alone, so the blocks of a cluster leave together,
 * as in sync_grid.
 */
#include "kernels/sync_body.h"

struct options {
	int64_t cluster;
};

static const struct pkrun_option option_table[] = {
	{"cluster", PKRUN_INT, offsetof(struct options, cluster), "8", 1, 16, NULL, "block",
	 "blocks of a cluster (1, 2, 4, 8 or 16)"},
	{},
};

#if defined(PKRUN_BUILD_CUDA)

static uint32_t cluster_of(const struct pkrun_run *run)
{
	return (uint32_t)((const struct options *)run->options)->cluster;
}

static __device__ __forceinline__ void cluster_barrier()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
	cooperative_groups::this_cluster().sync();
#endif
}

struct cluster_sync {
	using witness = sync_witness_grid;
	struct step_line *line; /* a cluster: do its blocks leave? */
	uint32_t size;

	static size_t lines(const struct pkrun_run *run, uint32_t blocks)
	{
		return blocks / cluster_of(run);
	}
	__device__ __forceinline__ bool agree(const struct device_control &, bool leave,
					      uint32_t *) const
	{
		uint64_t *word = &line[blockIdx.x / size].done;

		if (leave && threadIdx.x == 0)
			pk_agent::put_relaxed(word, (uint64_t)1);
		cluster_barrier();
		return pk_agent::relaxed(word) == 0;
	}
	__device__ __forceinline__ bool step(uint64_t, const struct device_control &, uint32_t *) const
	{
		cluster_barrier();
		return true;
	}
	__device__ __forceinline__ uint32_t peer(uint64_t look) const
	{
		uint32_t first = blockIdx.x / size * size;

		return first + (uint32_t)((blockIdx.x - first + 1 + look) % size);
	}
};

static int probe(struct pkrun_run *run)
{
	uint32_t size = cluster_of(run);
	int major = 0, status;

	PK_TRY(run, hipDeviceGetAttribute(&major, hipDeviceAttributeComputeCapabilityMajor,
					  run->device));
	if (major < 9) {
		run->host->say(run, "clusters begin with sm_90; this device is sm_%dx", major);
		return PKRUN_SKIP;
	}
	if (size & (size - 1)) {
		run->host->say(run, "cluster = %u is no power of two", size);
		return PKRUN_SKIP;
	}
	status = pk_built_for(run, sync_kernel<cluster_sync>, 90);
	return status == PKRUN_OK ? pk_no_check(run) : status;
}

static void configure(struct pkrun_run *run, uint32_t blocks, cudaLaunchAttribute *cluster,
		      cudaLaunchConfig_t *config)
{
	memset((void *)cluster, 0, sizeof(*cluster));
	memset((void *)config, 0, sizeof(*config));
	cluster->id = cudaLaunchAttributeClusterDimension;
	cluster->val.clusterDim.x = cluster_of(run);
	cluster->val.clusterDim.y = cluster->val.clusterDim.z = 1;
	config->gridDim = dim3(blocks);
	config->blockDim = dim3(run->threads);
	config->stream = pk_stream(run);
	config->attrs = cluster;
	config->numAttrs = 1;
}

/* Whole clusters, as many as fit at once. */
static int footprint(struct pkrun_run *run, struct pkrun_footprint *fp)
{
	struct sync_state *st = (struct sync_state *)run->state;
	uint32_t size = cluster_of(run);
	cudaLaunchAttribute cluster;
	cudaLaunchConfig_t config;
	int clusters = 0, status = sync_footprint<cluster_sync>(run, fp);

	if (status != PKRUN_OK)
		return status;
	PK_TRY(run, cudaFuncSetAttribute(sync_kernel<cluster_sync>,
					 cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
	configure(run, size, &cluster, &config);
	PK_TRY(run, cudaOccupancyMaxActiveClusters(&clusters, sync_kernel<cluster_sync>, &config));
	if (clusters < 1 || fp->blocks < size) {
		run->host->say(run, "no cluster of %u blocks: %u blocks asked for, %d clusters fit",
			       size, fp->blocks, clusters);
		return PKRUN_SKIP;
	}
	fp->resident_max = (uint32_t)clusters * size;
	fp->blocks = fp->blocks / size * size;
	if (run->blocks.index != PKRUN_BLOCKS_NUMBER && fp->blocks > fp->resident_max)
		fp->blocks = fp->resident_max;
	st->device.blocks = fp->blocks;
	return PKRUN_OK;
}

static int start(struct pkrun_run *run)
{
	struct sync_state *st = (struct sync_state *)run->state;
	struct cluster_sync sync = {NULL, cluster_of(run)};
	cudaLaunchAttribute cluster;
	cudaLaunchConfig_t config;
	int status = sync_clear(run);

	if (status != PKRUN_OK)
		return status;
	sync.line = st->line;
	configure(run, st->device.blocks, &cluster, &config);
	PK_TRY(run, cudaLaunchKernelEx(&config, sync_kernel<cluster_sync>, *sync_args(run), sync,
				       sync_control(run)));
	st->device.resident = 1;
	return device_await(run, 0, "the report that it is resident");
}

#define SETUP sync_setup<cluster_sync>
#else /* not CUDA */

static int probe(struct pkrun_run *run)
{
	run->host->say(run, "only CUDA has clusters of blocks (from sm_90 on)");
	return PKRUN_SKIP;
}

static int footprint(struct pkrun_run *run, struct pkrun_footprint *)
{
	return probe(run);
}

static int start(struct pkrun_run *run)
{
	return probe(run);
}

#define SETUP NULL
#endif

PKRUN_PLUGIN(
	.name = "sync_cluster",
	.brief = "the hardware barrier of a cluster of blocks (CUDA, sm_90)",
	.control = PKRUN_CONTROL_DEVICE,
	.result = PKRUN_EXACT,
	.flags = PKRUN_RESIDENT,
	.state_size = sizeof(struct sync_state),
	.workloads = "syncost",
	.options = option_table,
	.options_size = sizeof(struct options),
	.reserved = 0,
	.probe = probe,
	.footprint = footprint,
	.setup = SETUP,
	.start = start,
	.run = device_run,
	.wait = device_wait,
	.stop = device_stop,
	.teardown = device_teardown,
);
