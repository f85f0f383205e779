/* SPDX-License-Identifier: MIT
 *
 * model_tsan.cpp - scopes and fences, for ThreadSanitizer.
 *
 * The checker knows neither: it takes every release and acquire for one of
 * the whole system, and no fence at all.  So the kernels' atomics are relaxed
 * to it (atomic_host.h) and the order comes from here, as releases and
 * acquires of *keys*.  An address has one key for each scope instance: one for
 * the system, one for the device, one for each block.
 *
 *	a release at scope S by block b gives b's key, the device's if S is
 *	agent or wider, the system's if S is system; an acquire takes likewise.
 *
 * So two accesses synchronise only when both scopes include both threads.
 * The host is outside every device scope: the system's key only.
 *
 * A release fence: a fiber of the checker's own takes the clock of the moment,
 * and gives it with every later store of the fencing thread.  An acquire
 * fence takes the keys of the relaxed loads before it.
 *
 * What it does not see: keys accumulate (a plain store does not end a release
 * sequence), and SEQ_CST counts as acquire and release.  Both can hide a race,
 * neither can make one up.
 */
#include <unordered_map>
#include <vector>
#include "runtime.h"

#define KEY_BLOCKS 256
#define SCOPES (__HIP_MEMORY_SCOPE_SYSTEM + 1)

struct keys { /* of one address; one checker object each */
	uint64_t system, device;
	uint64_t block[KEY_BLOCKS];
};

struct pending { /* a relaxed load that an acquire fence may come after */
	struct keys *keys;
	int scope;
};

struct fences {                      /* of one thread */
	void *released[SCOPES] = {}; /* fibers that hold the clock of a release fence */
	uint64_t handover[SCOPES];
	std::vector<pending> loads;
};

static lock model_lock;

static std::unordered_map<const volatile void *, keys *> &all_keys(void)
{
	static auto *map = new std::unordered_map<const volatile void *, keys *>();

	return *map;
}

static std::unordered_map<void *, fences *> &all_fences(void)
{
	static auto *map = new std::unordered_map<void *, fences *>();

	return *map;
}

static keys *keys_of(const volatile void *p)
{
	holding hold(model_lock);
	keys *&k = all_keys()[p];

	if (k == nullptr)
		k = new keys();
	return k;
}

static fences *fences_of(void *fiber)
{
	holding hold(model_lock);
	fences *&f = all_fences()[fiber];

	if (f == nullptr)
		f = new fences();
	return f;
}

static bool releases(int order)
{
	return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

static bool acquires(int order)
{
	return order == __ATOMIC_ACQUIRE || order == __ATOMIC_CONSUME ||
	       order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

/* The keys of scope `scope` in turn, for the thread that runs now. */
template <class F> static void keys_each(keys *k, int scope, F f)
{
	int64_t block = sched_block();

	if (block < 0) {
		f(&k->system);
		return;
	}
	f(&k->block[block % KEY_BLOCKS]);
	if (scope >= __HIP_MEMORY_SCOPE_AGENT)
		f(&k->device);
	if (scope >= __HIP_MEMORY_SCOPE_SYSTEM)
		f(&k->system);
}

static void keys_release(keys *k, int scope)
{
	keys_each(k, scope, [](void *key) { tsan_release(key); });
}

static void keys_acquire(keys *k, int scope)
{
	keys_each(k, scope, [](void *key) { tsan_acquire(key); });
}

static int narrower(int a, int b)
{
	return a < b ? a : b;
}

void pkh_note_store(const volatile void *p, int order, int scope)
{
	tsan_quiet quiet;
	keys *k = keys_of(p);
	void *me = tsan_current();
	fences *f = fences_of(me);

	if (releases(order))
		keys_release(k, scope);
	for (int s = 0; s < SCOPES; s++) {
		if (f->released[s] == nullptr)
			continue;
		tsan_switch(f->released[s]);
		keys_release(k, narrower(s, scope));
		tsan_switch(me);
	}
}

void pkh_note_load(const volatile void *p, int order, int scope)
{
	tsan_quiet quiet;
	keys *k = keys_of(p);
	fences *f;

	if (acquires(order)) {
		keys_acquire(k, scope);
		return;
	}
	f = fences_of(tsan_current());
	for (const pending &l : f->loads)
		if (l.keys == k && l.scope == scope)
			return;
	f->loads.push_back({k, scope});
}

void pkh_note_fence(int order, int scope)
{
	tsan_quiet quiet;
	void *me = tsan_current();
	fences *f = fences_of(me);

	__atomic_thread_fence(order);
	if (acquires(order)) {
		for (const pending &l : f->loads)
			keys_acquire(l.keys, narrower(l.scope, scope));
		f->loads.clear();
	}
	if (!releases(order))
		return;
	if (f->released[scope] == nullptr)
		f->released[scope] = tsan_create();
	tsan_release(&f->handover[scope]);
	tsan_switch(f->released[scope]);
	tsan_acquire(&f->handover[scope]);
	tsan_switch(me);
}

void tsan_forget(void *fiber)
{
	holding hold(model_lock);
	auto i = all_fences().find(fiber);

	if (i == all_fences().end())
		return;
	for (void *released : i->second->released)
		if (released != nullptr)
			tsan_destroy(released);
	delete i->second;
	all_fences().erase(i);
}
