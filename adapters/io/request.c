/* SPDX-License-Identifier: ISC
 *
 * Requests of io_uring as tasks, from the call that submits one until its completion is found.
 *
 * A completion names its request by the number that the program has chosen, `user_data`, which need
 * not differ between requests. Requests that have the same number at the same time are one task,
 * which ends with the last of them: their completions cannot be distinguished.
 *
 * The table has buckets of slots. A slot is free while no completion is to come; several threads
 * may look at the same time.
 */
#include "io/uring.h"

#include <errno.h>
#include <linux/time_types.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "io/traffic.h"

#define BUCKETS 512 /* a power of two */
#define SLOTS   8

enum {
	IS_TAKEN = 1u << 31, /* in `pending`: a thread fills the slot */
	IS_FIXED_FILE = 1 << 0,
	SKIPS_SUCCESS = 1 << 6, /* there is no completion if it succeeds */
	COMES_AGAIN = 1 << 1,   /* of a completion: more will come for the request */
	IS_NOTIFICATION = 1 << 3,
	FSYNC = 3,
	TIMEOUT = 11,
	OPENAT = 18,
	CLOSE = 19
};

struct request {
	uint32_t pending; /* completions that are to come; 0: the slot is free */
	const void *ring;
	uint64_t user_data;
	int fd; /* -1: none of the process's */
	int result;
	uint8_t opcode;
	bool is_shared;
	struct weft__hooks_alive alive;
};

struct requests {
	struct request slots[BUCKETS][SLOTS];
};

static struct requests *table;

static struct requests *make_table(void)
{
	struct requests *none = NULL;
	void *memory = mmap(NULL, sizeof(*table), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return NULL;
	if (__atomic_compare_exchange_n(
			&table, &none, memory, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return memory;
	munmap(memory, sizeof(*table));
	return none;
}

/* The requests of the process before a fork are not those of the child. A handler of a signal may
 * have forked in a function below, so the table stays mapped. */
static void begin_child(void)
{
	table = NULL;
}

static struct request *bucket_of(struct requests *in, const void *ring, uint64_t user_data)
{
	return in->slots[weft__hooks_mix(user_data ^ (uintptr_t)ring) % BUCKETS];
}

static struct request *find(const void *ring, uint64_t user_data)
{
	struct requests *in = __atomic_load_n(&table, __ATOMIC_ACQUIRE);
	struct request *bucket = in ? bucket_of(in, ring, user_data) : NULL;
	for (int i = 0; bucket && i < SLOTS; i++) {
		uint32_t pending = __atomic_load_n(&bucket[i].pending, __ATOMIC_ACQUIRE);
		if (pending && pending != IS_TAKEN && bucket[i].ring == ring &&
			bucket[i].user_data == user_data)
			return &bucket[i];
	}
	return NULL;
}

/* A slot that the caller fills. NULL: all are used. */
static struct request *take(const void *ring, uint64_t user_data)
{
	struct requests *in = __atomic_load_n(&table, __ATOMIC_ACQUIRE);
	if (!in)
		in = make_table();
	struct request *bucket = in ? bucket_of(in, ring, user_data) : NULL;
	for (int i = 0; bucket && i < SLOTS; i++) {
		uint32_t none = 0;
		if (__atomic_compare_exchange_n(
				&bucket[i].pending, &none, IS_TAKEN, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return &bucket[i];
	}
	return NULL;
}

/* ---- Labels ---- */

static void append_file(struct weft__hooks_text *text, const struct io_uring_sqe *sqe)
{
	weft__hooks_append(text, " ");
	if (sqe->flags & IS_FIXED_FILE) {
		weft__hooks_append(text, "file ");
		weft__hooks_append_number(text, sqe->fd);
		weft__hooks_append(text, " of the ring");
		return;
	}
	struct weft__io_object *object = weft__io_object(sqe->fd);
	if (object) {
		weft__io_append_name(text, sqe->fd, object, NULL, 0);
	} else {
		weft__hooks_append(text, "fd ");
		weft__hooks_append_number(text, sqe->fd);
	}
}

static void append_time(struct weft__hooks_text *text, const struct io_uring_sqe *sqe)
{
	struct __kernel_timespec time;
	if (!weft__hooks_copy(&time, (const void *)(uintptr_t)sqe->addr, sizeof(time)) ||
		time.tv_sec < 0 || time.tv_sec > 1000000000)
		return;
	weft__hooks_append(text, " ");
	weft__hooks_append_duration(text, (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec);
}

/* "read pipe 5", "timeout 20 ms" */
static void append_request(struct weft__hooks_text *text, const struct io_uring_sqe *sqe)
{
	const struct weft__io_operation *operation = weft__io_operation(sqe->opcode);
	if (!operation) {
		weft__hooks_append(text, "operation ");
		weft__hooks_append_number(text, sqe->opcode);
		return;
	}
	weft__hooks_append(text, operation->name);
	if (operation->has_fd)
		append_file(text, sqe);
	if (sqe->opcode == TIMEOUT)
		append_time(text, sqe);
	if (sqe->opcode == OPENAT) {
		weft__hooks_append(text, " ");
		weft__hooks_append_copy(text, (const char *)(uintptr_t)sqe->addr);
	}
}

/* ---- Beginnings ---- */

/* Another one with that number: its completion is that of the same task. */
static bool join(struct request *it)
{
	uint32_t pending = __atomic_load_n(&it->pending, __ATOMIC_RELAXED);
	do
		if (!pending || pending >= IS_TAKEN - 1)
			return false;
	while (!__atomic_compare_exchange_n(
		&it->pending, &pending, pending + 1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
	if (!it->is_shared)
		weft_tag_as(it->alive.task, "other requests have its user_data");
	it->is_shared = true;
	return true;
}

static WEFT__OWN_FRAME void create(struct request *it, const struct io_uring_sqe *sqe)
{
	struct weft__hooks_text label = {0};
	append_request(&label, sqe);
	uint64_t creator = weft_current();
	weft__hooks_create(&it->alive, creator == WEFT_TASK_NONE ? weft__hooks_thread_task() : creator,
		weft_kind("request"), &label);
}

void weft__io_request_begins(const void *ring, const struct io_uring_sqe *sqe)
{
	const struct weft__io_operation *operation = weft__io_operation(sqe->opcode);
	struct request *it = find(ring, sqe->user_data);
	bool is_own_file = !(sqe->flags & IS_FIXED_FILE);
	if (sqe->opcode == CLOSE && is_own_file && !sqe->file_index && weft__io_is_known(sqe->fd))
		weft__io_closed(sqe->fd);
	if (sqe->flags & SKIPS_SUCCESS || (it && join(it)))
		return;
	it = take(ring, sqe->user_data);
	if (!it) {
		weft_counter_add("requests not recorded", 1);
		return;
	}
	it->ring = ring;
	it->user_data = sqe->user_data;
	it->opcode = sqe->opcode;
	it->fd = operation && operation->has_fd && is_own_file ? sqe->fd : -1;
	it->result = 0;
	it->is_shared = false;
	create(it, sqe);
	__atomic_store_n(&it->pending, 1, __ATOMIC_RELEASE);
}

/* ---- Ends ---- */

struct failed {
	uint64_t task;
	int error;
};

static void fail(void *of)
{
	const struct failed *it = of;
	const char *name = strerrorname_np(it->error);
	weft_fail_as(WEFT_TASK_NONE, it->task, name ? name : "error");
}

/* A timeout whose time is up has done what it was asked for. */
static void end_task(const struct request *it, uint64_t reader, bool was_taken)
{
	const struct weft__io_operation *operation = weft__io_operation(it->opcode);
	const uint64_t task = it->alive.task;
	int result = it->is_shared || (it->opcode == TIMEOUT && it->result == -ETIME) ? 0 : it->result;
	if (result > 0 && operation && operation->moves)
		weft_tag_value_as(task, "bytes", result);
	if (was_taken)
		weft_tag_value_as(task, WEFT_TAG_ENDED_BEFORE, 1);
	if (result == -ECANCELED)
		weft_cancel_as(WEFT_TASK_NONE, task);
	else if (result < 0)
		weft__hooks_aside(fail, &(struct failed){task, -result});
	else
		weft_resolve_as(WEFT_TASK_NONE, task);
	if (reader != WEFT_TASK_NONE && !was_taken)
		weft_read_later_as(reader, task);
}

static void count(const struct request *it, int result)
{
	const struct weft__io_operation *operation = weft__io_operation(it->opcode);
	if (result >= 0 && it->fd >= 0 && operation && operation->moves)
		weft__io_count(it->fd, operation->moves == 1 ? WEFT__IO_TRAFFIC_IN : WEFT__IO_TRAFFIC_OUT,
			(uint64_t)result, 1);
}

/* Counts a completion. The last one takes the slot, so that no request joins a task that ends. */
static bool is_last(struct request *it)
{
	uint32_t pending = __atomic_load_n(&it->pending, __ATOMIC_ACQUIRE);
	do
		if (!pending || pending == IS_TAKEN)
			return false;
	while (!__atomic_compare_exchange_n(&it->pending, &pending,
		pending == 1 ? IS_TAKEN : pending - 1, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
	return pending == 1;
}

void weft__io_request_ends(
	const void *ring, const struct io_uring_cqe *cqe, uint64_t reader, bool was_taken)
{
	struct request *it = find(ring, cqe->user_data);
	if (!it)
		return;
	if (!(cqe->flags & IS_NOTIFICATION)) {
		it->result = cqe->res;
		count(it, cqe->res);
	}
	if (!(cqe->flags & COMES_AGAIN) && is_last(it)) {
		end_task(it, reader, was_taken);
		__atomic_store_n(&it->pending, 0, __ATOMIC_RELEASE);
	}
}

void weft__io_requests_forget(const void *ring, bool are_cancelled)
{
	struct requests *in = __atomic_load_n(&table, __ATOMIC_ACQUIRE);
	for (int i = 0; in && i < BUCKETS; i++)
		for (int slot = 0; slot < SLOTS; slot++) {
			struct request *it = &in->slots[i][slot];
			uint32_t pending = __atomic_load_n(&it->pending, __ATOMIC_ACQUIRE);
			if (!pending || pending == IS_TAKEN || it->ring != ring)
				continue;
			if (are_cancelled)
				weft_cancel_as(WEFT_TASK_NONE, it->alive.task);
			__atomic_store_n(&it->pending, 0, __ATOMIC_RELEASE);
		}
}

/* ---- Rundowns ---- */

static unsigned run_down(void)
{
	struct requests *in = __atomic_load_n(&table, __ATOMIC_ACQUIRE);
	unsigned count = 0;
	for (int i = 0; in && i < BUCKETS; i++)
		for (int slot = 0; slot < SLOTS; slot++) {
			const struct request *it = &in->slots[i][slot];
			uint32_t pending = __atomic_load_n(&it->pending, __ATOMIC_ACQUIRE);
			if (!pending || pending == IS_TAKEN)
				continue;
			weft__hooks_rundown_task(&it->alive, WEFT_TASK_NONE);
			count++;
		}
	return count;
}

__attribute__((constructor)) static void add_rundown(void)
{
	weft__hooks_rundown_add(run_down);
	pthread_atfork(NULL, NULL, begin_child);
}
