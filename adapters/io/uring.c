/* SPDX-License-Identifier: ISC
 *
 * The functions of liburing that submit requests and wait for completions. What is inlined into the
 * program only fills and empties the queues, which are memory that the program shares with the
 * kernel: a completion that the program took without such a function is found at the next one.
 *
 * Before the original, the queues are read where the library reads them. After it, another thread
 * may have ended the ring: then the kernel copies.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/uio.h>

#define HOOKS_OF HOOKS_URING
#include "io/uring.h"

#include "hooks/library.h"
#include "hooks/unseen.h"
#include "io/call.h"

struct __kernel_timespec;

static struct weft__hooks_library liburing = {.file = "liburing.so.2"};

__attribute__((constructor(111))) static void find_library(void)
{
	weft__hooks_library_begin(&liburing, "io_uring_submit");
}

/* ---- Rings ---- */

/* Rings in which requests were made. Those of further ones are not recorded. */
#define RINGS 32

#define IS_KNOWN (UINT64_C(1) << 32)

/* How far a ring's completions have been looked at. The ring is known by the address of its tail,
 * because a program may move what liburing has of it. */
struct seen {
	const unsigned *tail; /* NULL: free */
	uint64_t count;       /* with IS_KNOWN; 0: what follows is not yet known, too */
	const unsigned *head;
	const struct io_uring_cqe *entries;
	unsigned mask, shift; /* an entry is 16 << shift bytes */
	unsigned mappings;
};

static struct seen rings[RINGS];
static unsigned inherited_mappings; /* of rings of the process before a fork */

static struct seen *find(const struct io_uring *ring)
{
	for (int i = 0; i < RINGS; i++)
		if (__atomic_load_n(&rings[i].tail, __ATOMIC_ACQUIRE) == ring->cq.ktail)
			return &rings[i];
	return NULL;
}

/* Another thread that uses the ring for the first time looks at the slots in the same order, so
 * both get the same one. */
static struct seen *take(const struct io_uring *ring)
{
	for (int i = 0; i < RINGS; i++) {
		const unsigned *there = NULL;
		if (__atomic_compare_exchange_n(&rings[i].tail, &there, ring->cq.ktail, false,
				__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ||
			there == ring->cq.ktail)
			return &rings[i];
	}
	return NULL;
}

/* IORING_SETUP_SQE128 and IORING_SETUP_CQE32, which older headers lack: entries of twice the size.
 */
enum {
	LARGE_REQUESTS = 1 << 10,
	LARGE_COMPLETIONS = 1 << 11
};

/* IORING_SETUP_REGISTERED_FD_ONLY: `ring_fd` is no descriptor, but a number of the kernel's. */
#define HAS_NO_DESCRIPTOR (1u << 15)

static int descriptor_of(const struct io_uring *ring)
{
	return ring->flags & HAS_NO_DESCRIPTOR ? -1 : ring->ring_fd;
}

/* Flags of later kernels may change the queues: as 1 << 18, by which entries differ in size. */
#define UNKNOWN_FLAGS (UINT32_MAX << 18)

static void begin_ring(struct seen *it, const struct io_uring *ring)
{
	uint64_t unknown = 0;
	it->head = ring->cq.khead;
	it->entries = ring->cq.cqes;
	it->mask = *ring->cq.kring_mask;
	it->shift = ring->flags & LARGE_COMPLETIONS ? 1 : 0;
	it->mappings = ring->sq.ring_ptr == ring->cq.ring_ptr ? 2 : 3;
	__atomic_compare_exchange_n(&it->count, &unknown,
		IS_KNOWN | __atomic_load_n(it->head, __ATOMIC_RELAXED), false, __ATOMIC_ACQ_REL,
		__ATOMIC_RELAXED);
}

/* NULL: there are too many, or the ring has unknown flags. */
static struct seen *know(const struct io_uring *ring)
{
	if (ring->flags & UNKNOWN_FLAGS)
		return NULL;
	struct seen *it = find(ring);
	if (!it)
		it = take(ring);
	if (it && !__atomic_load_n(&it->count, __ATOMIC_ACQUIRE))
		begin_ring(it, ring);
	return it;
}

static void forget(struct seen *it)
{
	weft__io_requests_forget(it->tail, true);
	__atomic_store_n(&it->count, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&it->tail, NULL, __ATOMIC_RELEASE);
}

/* ---- Queues ---- */

/* The requests that the library is about to pass on. */
static void submit(void *of)
{
	const struct io_uring *ring = of;
	const struct io_uring_sq *sq = &ring->sq;
	const unsigned mask = *sq->kring_mask, shift = ring->flags & LARGE_REQUESTS ? 1 : 0;
	unsigned count = sq->sqe_tail - sq->sqe_head;
	if (count > mask + 1)
		return;
	for (unsigned i = 0; i < count; i++) {
		const struct io_uring_sqe sqe = sq->sqes[((sq->sqe_head + i) & mask) << shift];
		weft__io_request_begins(ring->cq.ktail, &sqe);
	}
}

#define BATCH_BYTES 256

/* Completions since the last look, as far as they fit. */
struct batch {
	unsigned head, tail;
	uint8_t bytes[BATCH_BYTES + sizeof(unsigned)]; /* and the tail again */
};

/* The number of completions that were fetched. More than the queue holds: some were overwritten. */
static unsigned fetch(const struct seen *it, unsigned from, struct batch *batch)
{
	const unsigned most = BATCH_BYTES / (sizeof(struct io_uring_cqe) << it->shift);
	const unsigned index = from & it->mask, left = it->mask + 1 - index;
	const unsigned room = left < most ? left : most;
	const size_t bytes = (size_t)room * (sizeof(struct io_uring_cqe) << it->shift);
	const struct iovec parts[4] = {
		{(void *)(uintptr_t)it->head, sizeof(batch->head)},
		{(void *)(uintptr_t)it->tail, sizeof(batch->tail)},
		{(void *)(uintptr_t)(it->entries + ((size_t)index << it->shift)), bytes},
		{(void *)(uintptr_t)it->tail, sizeof(batch->tail)},
	};
	unsigned tail;
	if (!weft__hooks_copy_parts(batch, parts, 4))
		return 0;
	__builtin_memcpy(&tail, batch->bytes + bytes, sizeof(tail));
	if (tail - from > it->mask + 1)
		return tail - from;
	return batch->tail - from < room ? batch->tail - from : room;
}

/* False: there are no more. */
static bool take_batch(struct seen *it, uint64_t reader)
{
	struct batch batch;
	uint64_t known = __atomic_load_n(&it->count, __ATOMIC_ACQUIRE);
	const unsigned from = (unsigned)known, count = known ? fetch(it, from, &batch) : 0;
	const bool is_lost = count > it->mask + 1;
	if (!count)
		return false;
	if (!__atomic_compare_exchange_n(&it->count, &known, IS_KNOWN | (from + count), false,
			__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return true; /* another thread has them */
	if (is_lost) {
		weft__io_requests_forget(it->tail, false);
		weft__hooks_unseen("completions", "the program took them without a call of liburing");
		return false;
	}
	for (unsigned i = 0; i < count; i++) {
		struct io_uring_cqe cqe;
		const bool was_taken = (int)(from + i - batch.head) < 0;
		__builtin_memcpy(&cqe, batch.bytes + (size_t)i * (16u << it->shift), 16);
		weft__io_request_ends(it->tail, &cqe, reader, was_taken);
	}
	return from + count != batch.tail;
}

struct taking {
	struct seen *seen;
	uint64_t reader;
};

static void take_all(void *of)
{
	const struct taking *it = of;
	while (take_batch(it->seen, it->reader))
		continue;
}

static void take_ended(struct seen *it, uint64_t reader)
{
	weft__hooks_aside(take_all, &(struct taking){it, reader});
}

/* ---- Ends ---- */

static unsigned count_mappings(void)
{
	unsigned count = inherited_mappings;
	for (int i = 0; i < RINGS; i++)
		if (rings[i].tail)
			count += rings[i].mappings;
	return count;
}

/* Rings of the process before the fork are not those of the child, which may have them mapped. */
static void begin_child(void)
{
	inherited_mappings = count_mappings();
	__builtin_memset(rings, 0, sizeof(rings));
}

/* The program may have taken completions since. */
static unsigned look_at_end(void)
{
	for (int i = 0; i < RINGS; i++)
		if (rings[i].tail)
			take_ended(&rings[i], WEFT_TASK_NONE);
	return count_mappings();
}

__attribute__((constructor)) static void watch_ends(void)
{
	weft__hooks_offer_rings(look_at_end);
	pthread_atfork(NULL, NULL, begin_child);
}

/* ---- Calls ---- */

struct round {
	struct seen *seen;
	struct weft__io_call call;
};

/* Completions that the program took by itself come before new requests, which may have the same
 * `user_data`, and before new completions, for which the queue may have no room otherwise. */
static void begin(struct round *it, const struct io_uring *ring, bool submits, bool waits)
{
	int saved = weft__hooks_begin();
	*it = (struct round){.seen = know(ring)};
	if (it->seen && __atomic_load_n(ring->cq.ktail, __ATOMIC_ACQUIRE) !=
						(unsigned)__atomic_load_n(&it->seen->count, __ATOMIC_RELAXED))
		take_ended(it->seen, weft_current());
	if (it->seen && submits && ring->sq.sqe_tail != ring->sq.sqe_head)
		weft__hooks_aside(submit, (void *)(uintptr_t)ring);
	weft__hooks_end(saved);
	if (waits)
		weft__io_call_begin(&it->call, descriptor_of(ring), WEFT__IO_IN, 0, "io_uring_enter");
}

static void end(const struct round *it, bool is_success)
{
	int saved = weft__hooks_begin();
	if (it->seen)
		take_ended(it->seen, it->call.is_wait ? it->call.wait.waiter : weft_current());
	weft__hooks_end(saved);
	weft__io_call_end(&it->call, is_success);
}

/* ---- Hooks ---- */

#define NEXT_OF(name) LIBRARY_NEXT(liburing, name)

#define RING_HOOK(type, name, submits, waits, parameters, arguments) \
	type name parameters;                                            \
	HOOK(name)                                                       \
	type name parameters                                             \
	{                                                                \
		struct round it;                                             \
		if (!HOOKS_RECORD)                                           \
			return NEXT_OF(name) arguments;                          \
		begin(&it, ring, submits, waits);                            \
		type result = NEXT_OF(name) arguments;                       \
		end(&it, (int)result >= 0);                                  \
		return result;                                               \
	}

RING_HOOK(int, io_uring_submit, true, false, (struct io_uring * ring), (ring))
RING_HOOK(int, io_uring_submit_and_wait, true, wait_nr, (struct io_uring * ring, unsigned wait_nr),
	(ring, wait_nr))
RING_HOOK(int, io_uring_submit_and_wait_timeout, true, wait_nr,
	(struct io_uring * ring, struct io_uring_cqe **cqe, unsigned wait_nr,
		struct __kernel_timespec *time, sigset_t *mask),
	(ring, cqe, wait_nr, time, mask))
RING_HOOK(int, io_uring_submit_and_get_events, true, false, (struct io_uring * ring), (ring))
RING_HOOK(int, io_uring_get_events, false, false, (struct io_uring * ring), (ring))
RING_HOOK(int, io_uring_wait_cqes, false, wait_nr,
	(struct io_uring * ring, struct io_uring_cqe **cqe, unsigned wait_nr,
		struct __kernel_timespec *time, sigset_t *mask),
	(ring, cqe, wait_nr, time, mask))
RING_HOOK(int, io_uring_wait_cqe_timeout, false, true,
	(struct io_uring * ring, struct io_uring_cqe **cqe, struct __kernel_timespec *time),
	(ring, cqe, time))
RING_HOOK(int, __io_uring_get_cqe, false, wait_nr,
	(struct io_uring * ring, struct io_uring_cqe **cqe, unsigned submits, unsigned wait_nr,
		sigset_t *mask),
	(ring, cqe, submits, wait_nr, mask))
RING_HOOK(unsigned, io_uring_peek_batch_cqe, false, false,
	(struct io_uring * ring, struct io_uring_cqe **cqes, unsigned count), (ring, cqes, count))

void io_uring_queue_exit(struct io_uring *ring);
HOOK(io_uring_queue_exit)
void io_uring_queue_exit(struct io_uring *ring)
{
	struct seen *it = find(ring);
	if (it) {
		int saved = weft__hooks_begin();
		take_ended(it, weft_current());
		forget(it);
		weft__hooks_end(saved);
	}
	if (weft__io_is_known(descriptor_of(ring)))
		weft__io_closed(descriptor_of(ring));
	NEXT_OF(io_uring_queue_exit)(ring);
}
