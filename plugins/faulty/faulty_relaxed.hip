/* SPDX-License-Identifier: MIT
 *
 * faulty_relaxed - every access to a flag is relaxed.
 *
 * The first report's "relaxed" rung as it was made: a block may see the word
 * that releases it before it sees the halo that its neighbours wrote.  No
 * interleaving of threads can show it, only a machine that reorders, or a
 * checker that knows what relaxed means.
 */
#include "faulty.h"

struct orders_none {
	template <class Scope, class T> static PK_FN T poll(const T *p)
	{
		return Scope::relaxed(p);
	}
	template <class Scope, class T> static PK_FN T seen(const T *p, T polled)
	{
		(void)p;
		return polled;
	}
	template <class Scope, class T> static PK_FN void put(T *p, T v)
	{
		Scope::put_relaxed(p, v);
	}
};

struct rung {
	using orders = orders_none;
	static const bool all_poll = false;
	static const uint32_t sweep = PKRUN_SWEEP_ROWS;
};

FAULTY_PLUGIN("faulty_relaxed", "flags without any order around the halo");
