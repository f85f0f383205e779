/* SPDX-License-Identifier: MIT
 *
 * mutants.hip - protocols that only a memory-order checker tells apart, to test
 * the checker: persistent_relaxed with other orders.  -DMUTANT= one of
 *
 *	fences		right: relaxed flags between system fences
 *	block_fence	a block fence before "done" where a system fence belongs
 *	block_scope	"done" is released at workgroup scope
 *	agent_scope	flags of the host acquired and released at agent scope
 *	no_barrier	no barrier between the work and "done"
 */
#include "plugins/faulty/faulty.h"

#define MUTANT_fences 1
#define MUTANT_block_fence 2
#define MUTANT_block_scope 3
#define MUTANT_agent_scope 4
#define MUTANT_no_barrier 5
#define CODE_(m) MUTANT_##m
#define CODE(m) CODE_(m)
#define TEXT_(m) #m
#define TEXT(m) TEXT_(m)
#define MUTANT_CODE CODE(MUTANT)

struct orders_mutant {
	template <class Scope, class T> static PK_FN T poll(const T *p)
	{
		return Scope::relaxed(p);
	}
	template <class Scope, class T> static PK_FN T seen(const T *p, T polled)
	{
#if MUTANT_CODE == MUTANT_fences || MUTANT_CODE == MUTANT_block_fence
		(void)p;
		__threadfence_system();
		return polled;
#elif MUTANT_CODE == MUTANT_agent_scope
		(void)polled;
		return pk_agent::acquire(p);
#else
		(void)polled;
		return Scope::acquire(p);
#endif
	}
	template <class Scope, class T> static PK_FN void put(T *p, T v)
	{
#if MUTANT_CODE == MUTANT_fences
		__threadfence_system();
		Scope::put_relaxed(p, v);
#elif MUTANT_CODE == MUTANT_block_fence
		__threadfence_block();
		Scope::put_relaxed(p, v);
#elif MUTANT_CODE == MUTANT_block_scope
		pk_block::put_release(p, v);
#elif MUTANT_CODE == MUTANT_agent_scope
		pk_agent::put_release(p, v);
#else
		Scope::put_release(p, v);
#endif
	}
};

struct rung {
	using orders = orders_mutant;
	static const bool all_poll = false;
	static const uint32_t sweep = PKRUN_SWEEP_ROWS;
};

#if MUTANT_CODE == MUTANT_no_barrier
template <class W> static __global__ void no_barrier_kernel(W work, struct host_control c)
{
	PK_SHARED(uint32_t, word, [1]);
	uint64_t s = 0;

	if (threadIdx.x == 0)
		pk_system::put_release(faulty_answer(c), 0u);
	for (;; s++) {
		if (threadIdx.x == 0)
			word[0] = faulty_poll<rung::orders>(c, s);
		__syncthreads();
		if (word[0] == FLAG_LEAVE)
			break;
		work.step(blockIdx.x, gridDim.x, s);
		if (threadIdx.x == 0)
			pk_system::put_release(faulty_answer(c), (uint32_t)s + 1);
		__syncthreads();
	}
	if (threadIdx.x == 0)
		c.steps[blockIdx.x] = s;
}

template <class W> struct host_kernel_of<W, rung> {
	static auto kernel()
	{
		return no_barrier_kernel<W>;
	}
};
#endif

FAULTY_PLUGIN("mutant_" TEXT(MUTANT), "for the tests of the race checker");
