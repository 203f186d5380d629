/* SPDX-License-Identifier: ISC
 *
 * Access to memory that a reader, another thread or a signal handler may access at any time.
 *
 * Everything in a buffer is stored and loaded as relaxed atomics of 32 or 64 bits: plain moves on
 * the machines that we know, but never torn and never a data race. Where the protocol needs an
 * order, the name of the operation says so.
 */
#ifndef WEFT_RECORD_ATOMICS_H
#define WEFT_RECORD_ATOMICS_H

/* Avoids libgcc's out-of-line atomics, which ask the operating system what the processor can do. */
#if defined(WEFT_FREESTANDING) && defined(__aarch64__) && !defined(__clang__)
#pragma GCC target("no-outline-atomics")
#endif

#define weft__load(address)                 __atomic_load_n(address, __ATOMIC_RELAXED)
#define weft__load_acquire(address)         __atomic_load_n(address, __ATOMIC_ACQUIRE)
#define weft__store(address, value)         __atomic_store_n(address, value, __ATOMIC_RELAXED)
#define weft__store_release(address, value) __atomic_store_n(address, value, __ATOMIC_RELEASE)
/* Read-modify-write of memory that no other living thread stores to: not atomic, so that the
 * compiler may use one instruction. For ThreadSanitizer, which does not know that a thread has
 * ended, it is atomic. */
#ifdef __SANITIZE_THREAD__
#define weft__load_own(address) weft__load(address)
#else
#define weft__load_own(address) (*(address))
#endif

#define weft__fetch_add(address, value) __atomic_fetch_add(address, value, __ATOMIC_RELAXED)

/* Acquires what the previous owner released. The value after a failure is not used. */
#define weft__compare_exchange(address, expected, desired)                                \
	__atomic_compare_exchange_n(address, &(__typeof__(*(address))){expected}, desired, 0, \
		__ATOMIC_ACQ_REL, __ATOMIC_RELAXED)

/* A barrier for the compiler, between this thread and its own signal handlers. */
#define weft__signal_fence() __atomic_signal_fence(__ATOMIC_SEQ_CST)

/* A release fence: a thread that sees a store after it also sees the stores before it.
 * ThreadSanitizer does not model fences; as all stores are atomic, it needs none. */
#ifdef __SANITIZE_THREAD__
#define weft__fence_release() __atomic_signal_fence(__ATOMIC_SEQ_CST)
#else
#define weft__fence_release() __atomic_thread_fence(__ATOMIC_RELEASE)
#endif

/* A full fence: other threads see earlier stores before we load what follows. */
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
/* For variables on the hot path: otherwise the compiler loads their addresses from a table first.
 */
#define WEFT__HIDDEN __attribute__((visibility("hidden")))

#endif
