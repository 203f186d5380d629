/* SPDX-License-Identifier: ISC
 *
 * A machine that runs a few threads in every order, on memory that is as weak as C11 lets it be.
 *
 * The threads are coroutines. At each atomic access to a word that they share the machine chooses:
 * which thread goes on, and which store to the word a load returns. It then runs
 * everything again with other choices, until there are none left.
 *
 * Memory follows C11, modelled by views (Kang and others, "A Promising Semantics", POPL 2017,
 * without promises): each word has a history of stores, each thread a view, which is the oldest
 * store of each word that it may still read. A release store takes its thread's view along, and so
 * do those that its thread makes to the same word after it (C11's release sequence); an acquire
 * load adds it to the reader's; fences do so for the relaxed accesses around them. So a load may
 * return a value that another processor has overwritten long ago, unless an order forbids it.
 *
 * A test may have a signal handler: at each access of thread 0, shared or not, the machine chooses
 * whether the handler runs to its end before it, also nested in itself.
 *
 * Not covered: a store becomes the last of its word when it is made (of two unordered stores to one
 * word the machine takes both orders, but by scheduling alone), and no load sees a store that its
 * own thread's later stores caused. The machine finds words that only one thread uses, or that no
 * thread writes; they cost nothing.
 */
#ifndef WEFT_TESTS_MODEL_MACHINE_H
#define WEFT_TESTS_MODEL_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum machine_order {
	MACHINE_RELAXED = 0,
	MACHINE_ACQUIRE = 1,
	MACHINE_RELEASE = 2,
};

enum machine_operation {
	MACHINE_LOAD,
	MACHINE_STORE,
	MACHINE_EXCHANGE, /* compare and exchange */
	MACHINE_ADD,
	MACHINE_FENCE,
	MACHINE_BARRIER,
};

struct machine_access {
	enum machine_operation operation;
	const void *address; /* NULL: a fence or barrier */
	unsigned size;
	unsigned order; /* enum machine_order, or'd */
	uint64_t value; /* to be stored */
	uint64_t expected;
	/* Faults that a test may plant in the access, to see whether they are noticed: */
	bool is_torn;     /* an exchange or addition becomes a load, and later a store */
	bool is_late;     /* a store comes after the next one that isn't late */
	bool is_left_out; /* a barrier */
};

#define MACHINE_THREADS 4

struct machine_test {
	unsigned thread_count;
	void (*threads[MACHINE_THREADS])(void);
	void (*prepare)(void); /* alone, as thread 0, on plain memory; see machine_reuse */
	void (*check)(void);   /* when all threads have ended, on plain memory */
	void (*filter)(struct machine_access *access); /* sees each access before it is made */
	bool (*is_halves)(const void *address);        /* 64-bit words here may be torn in the middle */
	const char *(*describe)(const void *address);  /* for the report */
	bool verbose;                                  /* prints the steps that failed */
	bool first_may_die;   /* thread 0 may end at any access to shared memory */
	unsigned preemptions; /* at most this many, not counting switches at which a thread ends */
	unsigned old_loads;   /* at most this many loads return something other than the last store */
};

struct machine_result {
	uint64_t executions;
	unsigned words;      /* that threads share */
	const char *failure; /* NULL: none in any order */
};

/* Runs the test in every order, or until it fails. */
struct machine_result machine_run(const struct machine_test *test);

/* Called by a test's functions: reports a failure. Only the first is kept. */
void machine_fail(const char *failure);

/* The thread that runs, from 0. */
unsigned machine_self(void);

/* Called by `prepare`: at most `count` signals come to thread 0. */
void machine_signal(void (*handler)(void), unsigned count);

/* Called by `prepare`: other executions may begin with what it has made. The machine undoes their
 * atomic writes, and puts back these parts of memory, which are written otherwise. */
struct machine_memory {
	void *bytes;
	size_t size;
};
void machine_reuse(const struct machine_memory *memory, unsigned count);

/* Does the thread that runs handle one? */
bool machine_handles(void);

/* True if the thread has ended. The caller then sees all that it did, because the kernel takes
 * locks when threads end and when they are looked up. */
bool machine_has_ended(unsigned thread);

/* Called by the atomics under test. */
uint64_t machine_load(const void *address, unsigned size, unsigned order);
void machine_store(void *address, unsigned size, unsigned order, uint64_t value);
uint64_t machine_add(void *address, unsigned size, unsigned order, uint64_t value);
uint64_t machine_swap(void *address, unsigned size, unsigned order, uint64_t value);
bool machine_compare_exchange(
	void *address, unsigned size, unsigned order, uint64_t expected, uint64_t desired);
void machine_fence(unsigned order);

/* Lets another thread come first, where the order does not depend on memory alone. */
void machine_step(void);

/* From then on the calling thread sees everything that was stored before, as if it had waited for
 * the other processors' store buffers. */
void machine_settle(void);

/* A barrier in every thread: from then on each thread sees everything that was done before. */
void machine_barrier(void);

#endif
