/* SPDX-License-Identifier: ISC
 *
 * Memory that a reader, another thread or a signal handler may look at any time.
 *
 * Everything in a buffer is stored and loaded as relaxed atomics of 32 or 64 bits: plain moves on
 * the machines we know, but never torn and never a data race. Order is asked for by name where the
 * protocol needs it.
 */
#ifndef WEFT_RECORD_ATOMICS_H
#define WEFT_RECORD_ATOMICS_H

/* No call of a function that asks a system what the processor can do. */
#if defined(WEFT_FREESTANDING) && defined(__aarch64__) && !defined(__clang__)
#pragma GCC target("no-outline-atomics")
#endif

#define weft__load(address)                 __atomic_load_n(address, __ATOMIC_RELAXED)
#define weft__load_acquire(address)         __atomic_load_n(address, __ATOMIC_ACQUIRE)
#define weft__store(address, value)         __atomic_store_n(address, value, __ATOMIC_RELAXED)
#define weft__store_release(address, value) __atomic_store_n(address, value, __ATOMIC_RELEASE)
/* Of what no other living thread stores: no atomic, so that the compiler may make it part of an
 * instruction. To ThreadSanitizer, which knows nothing of threads that ended, it is one. */
#ifdef __SANITIZE_THREAD__
#define weft__load_own(address) weft__load(address)
#else
#define weft__load_own(address) (*(address))
#endif

#define weft__fetch_add(address, value) __atomic_fetch_add(address, value, __ATOMIC_RELAXED)

/* Acquires what the previous owner released; a failure tells nothing. */
#define weft__compare_exchange(address, expected, desired)                                \
	__atomic_compare_exchange_n(address, &(__typeof__(*(address))){expected}, desired, 0, \
		__ATOMIC_ACQ_REL, __ATOMIC_RELAXED)

/* Between this thread and its own signal handlers: the compiler must not move stores across. */
#define weft__signal_fence() __atomic_signal_fence(__ATOMIC_SEQ_CST)

/* Stores after it are seen by nobody who has not seen the stores before it. ThreadSanitizer knows
 * no fences; as all stores are atomic, it needs none. */
#ifdef __SANITIZE_THREAD__
#define weft__fence_release() __atomic_signal_fence(__ATOMIC_SEQ_CST)
#else
#define weft__fence_release() __atomic_thread_fence(__ATOMIC_RELEASE)
#endif

/* What was stored before is seen by others before we load what follows. */
#ifdef __SANITIZE_THREAD__
#define weft__fence()                                        \
	do {                                                     \
		static uint32_t weft__any;                           \
		__atomic_fetch_add(&weft__any, 1, __ATOMIC_SEQ_CST); \
	} while (0)
#else
#define weft__fence() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#endif

#define WEFT__LIKELY(x)   __builtin_expect(!!(x), 1)
#define WEFT__UNLIKELY(x) __builtin_expect(!!(x), 0)
#define WEFT__COLD        __attribute__((cold, noinline))
#define WEFT__OUT_OF_LINE __attribute__((noinline))
#define WEFT__EXPORT      __attribute__((visibility("default")))
/* Of variables that the hot path touches: without it the compiler looks for their addresses first.
 */
#define WEFT__HIDDEN __attribute__((visibility("hidden")))

#endif
