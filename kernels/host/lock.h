/* SPDX-License-Identifier: MIT
 *
 * lock.h - a lock and a signal between the host threads and the device thread,
 * from futexes.  Not std::mutex: ThreadSanitizer would see that, see tsan.h.
 */
#ifndef PKRUN_HOST_LOCK_H
#define PKRUN_HOST_LOCK_H

#include <atomic>
#include <climits>
#include <cstdint>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline void futex_wait(std::atomic<uint32_t> *word, uint32_t while_value)
{
	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, while_value, nullptr, nullptr, 0);
}

static inline void futex_wake(std::atomic<uint32_t> *word, int count)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

/* 0 free, 1 held, 2 held and somebody waits */
class lock
{
	std::atomic<uint32_t> word{0};

public:
	bool try_take()
	{
		uint32_t none = 0;

		return word.compare_exchange_strong(none, 1, std::memory_order_acquire);
	}
	void take()
	{
		if (try_take())
			return;
		while (word.exchange(2, std::memory_order_acquire) != 0)
			futex_wait(&word, 2);
	}
	void give()
	{
		if (word.exchange(0, std::memory_order_release) == 2)
			futex_wake(&word, 1);
	}
};

struct holding {
	lock &l;

	explicit holding(lock &l_) : l(l_)
	{
		l.take();
	}
	~holding()
	{
		l.give();
	}
};

/* Something happened.  Take a ticket, look at what you wait for, then wait:
 * what is announced after the ticket ends the wait. */
class bell
{
	std::atomic<uint32_t> count{0};
	std::atomic<uint32_t> sleepers{0};

public:
	uint32_t ticket() const
	{
		return count.load(std::memory_order_acquire);
	}
	void ring()
	{
		count.fetch_add(1, std::memory_order_seq_cst);
		if (sleepers.load(std::memory_order_seq_cst) != 0)
			futex_wake(&count, INT_MAX);
	}
	void wait(uint32_t ticket_)
	{
		sleepers.fetch_add(1, std::memory_order_seq_cst);
		if (count.load(std::memory_order_seq_cst) == ticket_)
			futex_wait(&count, ticket_);
		sleepers.fetch_sub(1, std::memory_order_relaxed);
	}
};

#endif
