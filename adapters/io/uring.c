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

/* How far a ring's completions have been looked at. */
struct seen {
	const struct io_uring *ring; /* NULL: free */
	const unsigned *tail;        /* in the queue: another one if the ring was made again */
	uint32_t epoch;              /* of the process */
	unsigned count;
	unsigned mappings;
};

static struct seen rings[RINGS];

static struct seen *find(const struct io_uring *ring)
{
	for (int i = 0; i < RINGS; i++)
		if (__atomic_load_n(&rings[i].ring, __ATOMIC_ACQUIRE) == ring &&
			rings[i].epoch == weft__hooks_epoch())
			return &rings[i];
	return NULL;
}

/* Rings of the process before a fork are free. */
static struct seen *take(const struct io_uring *ring)
{
	for (int i = 0; i < RINGS; i++) {
		const struct io_uring *there = __atomic_load_n(&rings[i].ring, __ATOMIC_RELAXED);
		if ((!there || rings[i].epoch != weft__hooks_epoch()) &&
			__atomic_compare_exchange_n(
				&rings[i].ring, &there, ring, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
			rings[i].epoch = weft__hooks_epoch();
			return &rings[i];
		}
	}
	return NULL;
}

/* IORING_SETUP_SQE128 and IORING_SETUP_CQE32, which older headers lack: entries of twice the size.
 */
enum {
	LARGE_REQUESTS = 1 << 10,
	LARGE_COMPLETIONS = 1 << 11
};

/* Flags of later kernels may change the queues: as 1 << 18, by which entries differ in size. */
#define UNKNOWN_FLAGS (UINT32_MAX << 18)

/* NULL: there are too many, or the ring has unknown flags. */
static struct seen *know(const struct io_uring *ring)
{
	if (ring->flags & UNKNOWN_FLAGS)
		return NULL;
	struct seen *it = find(ring);
	if (!it)
		it = take(ring);
	if (it && it->tail != ring->cq.ktail) {
		it->tail = ring->cq.ktail;
		it->count = __atomic_load_n(ring->cq.khead, __ATOMIC_RELAXED);
		it->mappings = ring->sq.ring_ptr == ring->cq.ring_ptr ? 2 : 3;
	}
	return it;
}

static void forget(const struct io_uring *ring)
{
	struct seen *it = find(ring);
	if (!it)
		return;
	it->tail = NULL;
	weft__io_requests_forget(ring, true);
	__atomic_store_n(&it->ring, NULL, __ATOMIC_RELEASE);
}

static unsigned count_mappings(void)
{
	unsigned count = 0;
	for (int i = 0; i < RINGS; i++)
		if (rings[i].ring && rings[i].epoch == weft__hooks_epoch())
			count += rings[i].mappings;
	return count;
}

__attribute__((constructor)) static void offer_mappings(void)
{
	weft__hooks_offer_rings(count_mappings);
}

/* ---- Queues ---- */

#define BATCH_BYTES 256

/* A call, and what is needed of its ring after it. */
struct round {
	const struct io_uring *ring;
	struct seen *seen;
	const unsigned *tail;
	const struct io_uring_cqe *entries;
	unsigned mask, shift; /* an entry is 16 << shift bytes */
	struct weft__io_call call;
};

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
		weft__io_request_begins(ring, &sqe);
	}
}

/* Completions since the last look, as far as they fit. */
struct batch {
	unsigned tail;
	uint8_t bytes[BATCH_BYTES];
} __attribute__((packed, aligned(8)));

/* The number of completions that were fetched. More than the queue holds: some were overwritten. */
static unsigned fetch(const struct round *it, unsigned from, struct batch *batch)
{
	const unsigned most = BATCH_BYTES / (sizeof(struct io_uring_cqe) << it->shift);
	const unsigned index = from & it->mask, left = it->mask + 1 - index;
	const unsigned room = left < most ? left : most;
	const struct iovec parts[2] = {
		{(void *)(uintptr_t)it->tail, sizeof(batch->tail)},
		{(void *)(uintptr_t)(it->entries + ((size_t)index << it->shift)),
			(size_t)room * (sizeof(struct io_uring_cqe) << it->shift)},
	};
	if (!weft__hooks_copy_parts(batch, parts, 2))
		return 0;
	const unsigned count = batch->tail - from;
	return count > it->mask + 1 ? count : count < room ? count : room;
}

/* False: there are no more. */
static bool take_batch(const struct round *it, uint64_t reader)
{
	struct batch batch;
	unsigned from = __atomic_load_n(&it->seen->count, __ATOMIC_ACQUIRE);
	const unsigned count = fetch(it, from, &batch);
	const bool is_lost = count > it->mask + 1;
	if (!count ||
		!__atomic_compare_exchange_n(&it->seen->count, &from, is_lost ? batch.tail : from + count,
			false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return false;
	if (is_lost) {
		weft__io_requests_forget(it->ring, false);
		weft__hooks_unseen("io_uring", "the process");
		return false;
	}
	for (unsigned i = 0; i < count; i++) {
		struct io_uring_cqe cqe;
		__builtin_memcpy(&cqe, batch.bytes + (size_t)i * (16u << it->shift), 16);
		weft__io_request_ends(it->ring, &cqe, reader);
	}
	return true;
}

struct taking {
	const struct round *it;
	uint64_t reader;
};

static void take_all(void *of)
{
	const struct taking *taking = of;
	while (take_batch(taking->it, taking->reader))
		continue;
}

static void begin(struct round *it, const struct io_uring *ring, bool submits, bool waits)
{
	int saved = weft__hooks_begin();
	*it = (struct round){.ring = ring, .seen = know(ring)};
	if (it->seen) {
		it->tail = ring->cq.ktail;
		it->entries = ring->cq.cqes;
		it->mask = *ring->cq.kring_mask;
		it->shift = ring->flags & LARGE_COMPLETIONS ? 1 : 0;
	}
	if (it->seen && submits && ring->sq.sqe_tail != ring->sq.sqe_head)
		weft__hooks_aside(submit, (void *)(uintptr_t)ring);
	weft__hooks_end(saved);
	if (waits)
		weft__io_call_begin(&it->call, ring->ring_fd, WEFT__IO_IN, 0, "io_uring_enter");
}

static void end(const struct round *it, bool is_success)
{
	int saved = weft__hooks_begin();
	if (it->seen)
		weft__hooks_aside(take_all,
			&(struct taking){it, it->call.is_wait ? it->call.wait.waiter : weft_current()});
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
	struct round it;
	if (find(ring)) {
		begin(&it, ring, false, false);
		end(&it, true);
		int saved = weft__hooks_begin();
		forget(ring);
		weft__hooks_end(saved);
	}
	if (weft__io_is_known(ring->ring_fd))
		weft__io_closed(ring->ring_fd);
	NEXT_OF(io_uring_queue_exit)(ring);
}
