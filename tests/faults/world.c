/* SPDX-License-Identifier: ISC
 *
 * See world.h. `faults NAME SEED FILE` runs a program and writes its ring; `faults` lists the
 * programs.
 */
#include "world.h"

#include <inttypes.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/buffer_abi.h"

#define MIB       (1u << 20)
#define PAGE      4096
#define CALLS_MAX (1 << 17)

static const struct {
	const char *name;
	void (*run)(void);
	unsigned mib;
	const char *problem, *severity, *sentence;
} programs[] = {
#define PROGRAM(name, mib, problem, severity, sentence) \
	{#name, program_##name, mib, problem, severity, sentence},
#include "programs.def"
#undef PROGRAM
};

/* A call that the loop makes later. */
struct call {
	uint64_t due, number;
	void (*call)(uint64_t);
	uint64_t argument;
};

static struct {
	uint64_t now, random;
	unsigned thread;
	uint64_t memory[16][2];       /* of threads, as struct weft_platform wants it */
	struct call calls[CALLS_MAX]; /* a heap: none is due before its parent, (i - 1) / 2 */
	uint32_t call_count;
	uint64_t calls_made;
} world;

uint32_t world_status;

static void require(bool holds, const char *message)
{
	if (holds)
		return;
	fprintf(stderr, "faults: %s\n", message);
	exit(2);
}

/* ---- The platform ---- */

static uint64_t read_ticks(void *context)
{
	(void)context;
	return world.now;
}

static uint32_t read_self(void *context, char ret_name[16])
{
	(void)context;
	snprintf(ret_name, 16, world.thread ? "worker %u" : "main", world.thread);
	return world.thread + 1;
}

static void *thread_memory(void *context)
{
	(void)context;
	return world.memory[world.thread];
}

static const struct weft_platform platform = {
	.ticks = read_ticks,
	.ticks_hz = 1000000000,
	.self = read_self,
	.thread_memory = thread_memory,
};

/* ---- Time ---- */

uint64_t random_below(uint64_t limit)
{
	world.random = world.random * 6364136223846793005u + 1442695040888963407u;
	return (world.random >> 33) % limit;
}

uint64_t about(uint64_t ns)
{
	return ns - ns / 10 + random_below(ns / 5 + 1);
}

void pass(uint64_t ns)
{
	world.now += about(ns);
}

void pass_exactly(uint64_t ns)
{
	world.now += ns;
}

void on_thread(unsigned thread)
{
	world.thread = thread;
}

/* ---- The loop ---- */

static bool is_before(const struct call *a, const struct call *b)
{
	return a->due != b->due ? a->due < b->due : a->number < b->number;
}

void after(uint64_t ns, void (*call)(uint64_t), uint64_t argument)
{
	struct call added = {world.now + ns, world.calls_made++, call, argument};
	uint32_t i = world.call_count++;
	require(i < CALLS_MAX, "too many calls at once");
	for (; i > 0 && is_before(&added, &world.calls[(i - 1) / 2]); i = (i - 1) / 2)
		world.calls[i] = world.calls[(i - 1) / 2];
	world.calls[i] = added;
}

static struct call take_call(void)
{
	struct call first = world.calls[0], last = world.calls[--world.call_count];
	uint32_t i = 0, child;
	while ((child = 2 * i + 1) < world.call_count) {
		child +=
			child + 1 < world.call_count && is_before(&world.calls[child + 1], &world.calls[child]);
		if (!is_before(&world.calls[child], &last))
			break;
		world.calls[i] = world.calls[child];
		i = child;
	}
	world.calls[i] = last;
	return first;
}

void run_loop(void)
{
	while (world.call_count) {
		struct call next = take_call();
		if (next.due > world.now) {
			weft_switch(WEFT_TASK_NONE);
			world.now = next.due;
		}
		next.call(next.argument);
	}
	weft_switch(WEFT_TASK_NONE);
}

/* ---- Traffic ---- */

uint64_t make(uint16_t kind, const char *label)
{
	uint64_t task = weft_create_as(WEFT_TASK_NONE, kind);
	weft_label_as(task, label);
	return task;
}

struct request {
	uint64_t task, query;
};

static struct request requests[CALLS_MAX];
static uint64_t request_count;

static void answer(uint64_t number)
{
	struct request *request = &requests[number];
	weft_resolve_as(WEFT_TASK_NONE, request->query);
	weft_read_as(request->task, request->query);
	pass(20 * US);
	weft_resolve(request->task);
	weft_switch(WEFT_TASK_NONE);
}

void serve_one(uint64_t query_ns)
{
	struct request *request = &requests[request_count];
	require(request_count < CALLS_MAX, "too many requests");
	request->task = weft_create_as(WEFT_TASK_NONE, WEFT_KIND_TASK);
	weft_labelf_as(request->task, "request %d", (int)request_count);
	weft_switch(request->task);
	pass(10 * US);
	request->query = weft_create(WEFT_KIND_PROMISE);
	weft_label_as(request->query, "query");
	weft_try_read(request->query);
	weft_switch(WEFT_TASK_NONE);
	after(about(query_ns), answer, request_count++);
}

void serve(unsigned count, uint64_t every_ns, uint64_t query_ns)
{
	uint64_t when = 0;
	for (unsigned i = 0; i < count; i++) {
		after(when, serve_one, query_ns);
		when += every_ns / 2 + random_below(every_ns);
	}
}

uint64_t open_session(unsigned number)
{
	uint64_t session = weft_create_as(WEFT_TASK_NONE, WEFT_KIND_TASK);
	weft_labelf_as(session, "session %d", (int)number);
	weft_switch(session);
	pass(20 * US);
	return session;
}

void close_session(uint64_t session)
{
	weft_switch(session);
	pass(20 * US);
	weft_resolve(session);
}

/* ---- Turns ---- */

static void end_turn(uint64_t argument);

static void begin_turn(struct turns *turns)
{
	struct turn *turn = &turns->queue[turns->first];
	weft_switch(turn->task);
	weft_acquire(turns->lock);
	pass(20 * US);
	weft_switch(WEFT_TASK_NONE);
	after(about(turn->hold_ns), end_turn, (uintptr_t)turns);
}

static void end_turn(uint64_t argument)
{
	struct turns *turns = (struct turns *)(uintptr_t)argument;
	uint64_t task = turns->queue[turns->first++].task;
	weft_switch(task);
	pass(10 * US);
	weft_release(turns->lock);
	weft_resolve(task);
	if (turns->first < turns->last)
		begin_turn(turns);
}

void want_turn(struct turns *turns, uint64_t task, uint64_t hold_ns)
{
	require(turns->last < sizeof(turns->queue) / sizeof(*turns->queue), "too many turns");
	turns->queue[turns->last++] = (struct turn){task, hold_ns};
	if (turns->first + 1 == turns->last) {
		begin_turn(turns);
		return;
	}
	weft_try_read(turns->lock);
	weft_switch(WEFT_TASK_NONE);
}

/* ---- Running a program ---- */

static int list_programs(void)
{
	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++)
		printf("%s\t%s\t%s\t%s\n", programs[i].name, programs[i].problem, programs[i].severity,
			programs[i].sentence);
	return 0;
}

static size_t find(const char *name)
{
	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++)
		if (strcmp(programs[i].name, name) == 0)
			return i;
	require(false, "no such program");
	return 0;
}

/* Notes the program's end in the ring, as `weft record` does. */
static void note_end(void *ring)
{
	struct weft_abi_buffer *header = ring;
	header->ending = WEFT_ABI_ENDING_EXIT;
	header->wait_status = WEFT_ABI_WAITED | world_status;
}

/* Leaves out pages of zeros, of which a ring has many. */
static void write_file(const char *path, const uint8_t *ring, size_t size)
{
	static const uint8_t zeros[PAGE];
	FILE *file = fopen(path, "wb");
	require(file != NULL, "the file cannot be made");
	for (size_t at = 0; at < size; at += PAGE) {
		bool is_left_out = at + PAGE < size && memcmp(ring + at, zeros, PAGE) == 0;
		require(
			is_left_out ? fseek(file, PAGE, SEEK_CUR) == 0 : fwrite(ring + at, PAGE, 1, file) == 1,
			"the file cannot be written");
	}
	require(fclose(file) == 0, "the file cannot be written");
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return list_programs();
	size_t number = find(argv[1]), size = (size_t)programs[number].mib * MIB;
	uint8_t *ring = aligned_alloc(PAGE, size);
	require(ring != NULL, "no memory");
	memset(ring, 0, size);
	world.now = S;
	world.random = strtoull(argv[2], NULL, 10) * 1000003;
	require(weft_start(ring, size, &platform) == 0, "recording does not start");
	weft_switch(WEFT_TASK_NONE);
	programs[number].run();
	pass_exactly(US);
	weft_stop();
	note_end(ring);
	write_file(argv[3], ring, size);
	free(ring);
	return 0;
}
