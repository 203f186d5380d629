/* SPDX-License-Identifier: ISC
 *
 * Random programs in a simulated world: many threads, a clock and signal handlers that are numbers
 * here, in small buffers. Each event is read back as it was recorded, or it is counted as lost, for
 * a cause that the world allows.
 *
 * All simulated threads run on one real thread, which gets the recorder's state of the thread that
 * runs.
 */
#include "record_trace.h"

#include "abi/buffer_abi.h"
#include "abi/packet_abi.h"
#include "decoded.h"
#include "record/packet.h"
#include "record/recorder.h"
#include "record/reserve.h"

#define THREADS_MAX 120
#define LIVES_MAX   4000
#define CALLS_MAX   40000
#define TASKS_MAX   (1 << 20)
#define SLOTS       80 /* of the smallest buffer */

enum clock {
	CLOCK_FUNCTION, /* each reading of it may be interrupted by a signal handler */
	CLOCK_MEMORY,
	CLOCK_PROCESSOR, /* the fast path; times are not compared */
	CLOCKS
};

struct options {
	enum clock clock;
	uint32_t threads; /* that live at one time, at most */
	bool can_take;    /* packets of other threads, by a barrier */
	bool is_quiet, has_jumps;
	bool has_holds; /* and no moments: a hold has an effect for as long as the moment's stamp is
					   before its end */
	bool has_short_moments; /* they end before another thread runs, so its packet can be taken */
	size_t size;
};

/* A thread from its first event to its end; another one may have its number later. */
struct life {
	uint64_t task, moment;
	uint32_t tid, accepted, read, moment_events;
	bool is_in_moment;
};

struct call {
	struct weft_event event; /* as it is expected */
	uint32_t life;
};

static struct {
	struct options options;
	uint64_t seed, now, last_id;
	uint32_t tid; /* that runs, from 1 */
	uint32_t living[THREADS_MAX], living_count;
	uint32_t signals; /* that come soon … */
	uint32_t delay;   /* … at a later one of the points where they may */
	uint32_t handled; /* events of their handlers */
	bool is_left;     /* by the next handler: it ends its thread */
	jmp_buf left;
	uint32_t barriers, questions; /* since the call began */
	bool has_ended[THREADS_MAX + 1];
	struct weft__self selves[THREADS_MAX + 1];
	uint32_t life_of[THREADS_MAX + 1];
	struct life lives[LIVES_MAX];
	uint32_t life_count;
	struct call calls[CALLS_MAX];
	uint32_t call_count;
	uint64_t lost;
	uint64_t owners[1024]; /* of the slots, when they were last seen */
	bool is_created[TASKS_MAX];
	struct weft_abi_buffer *header;
} world;

static uint32_t pick(uint32_t below)
{
	return next_random(&world.seed) % below;
}

/* ---- The platform ---- */

/* Each of these functions is called inside of an event, which refuses those of a signal handler. */
static void be_interrupted(void)
{
	if (world.signals == 0)
		return;
	if (world.delay > 0) {
		world.delay--;
		return;
	}
	world.signals--;
	if (world.is_left)
		longjmp(world.left, 1);
	world.handled++;
	weft_note("in a handler");
}

static uint64_t read_ticks(void *context)
{
	(void)context;
	be_interrupted();
	return world.now;
}

static void read_clocks(void *context, uint64_t *ret_monotonic_ns, uint64_t *ret_unix_ns)
{
	(void)context;
	*ret_monotonic_ns = world.now;
	*ret_unix_ns = world.now + 5000;
}

static uint32_t self(void *context, char name[16])
{
	(void)context;
	be_interrupted();
	snprintf(name, 16, "life %u", world.life_of[world.tid]);
	return world.tid;
}

static bool has_ended(void *context, uint32_t tid)
{
	(void)context;
	assert_in_range(tid, 1, THREADS_MAX);
	world.questions++;
	be_interrupted();
	return world.has_ended[tid];
}

static bool barrier(void *context)
{
	(void)context;
	world.barriers++;
	be_interrupted();
	return world.options.can_take;
}

static const struct weft_platform platforms[CLOCKS] = {
	[CLOCK_FUNCTION] = {.ticks = read_ticks,
		.ticks_hz = 1000000000,
		.read_clocks = read_clocks,
		.self = self,
		.has_ended = has_ended,
		.barrier = barrier},
	[CLOCK_MEMORY] = {.ticks_at = &world.now,
		.ticks_hz = 1000000000,
		.self = self,
		.has_ended = has_ended,
		.barrier = barrier},
	[CLOCK_PROCESSOR] = {.ticks_hz = 1000000000,
		.self = self,
		.has_ended = has_ended,
		.barrier = barrier},
};

/* ---- Threads ---- */

static struct life *present_life(void)
{
	return &world.lives[world.life_of[world.tid]];
}

static void end_moment(void)
{
	weft_moment_end();
	present_life()->is_in_moment = false;
}

static void run_thread(uint32_t tid)
{
	if (world.options.has_short_moments)
		end_moment();
	world.selves[world.tid] = *weft__record_self();
	world.tid = tid;
	*weft__record_self() = world.selves[tid];
}

/* A thread that has any number that is free now. */
static void begin_thread(void)
{
	uint32_t tid = 1 + pick(THREADS_MAX);
	if (!world.has_ended[tid] || world.living_count == world.options.threads ||
		world.life_count == LIVES_MAX)
		return;
	world.has_ended[tid] = false;
	world.life_of[tid] = world.life_count;
	world.lives[world.life_count++] = (struct life){.tid = tid, .task = WEFT_TASK_NONE};
	world.living[world.living_count++] = tid;
	run_thread(tid);
	*weft__record_self() = (struct weft__self){0, NULL};
}

static void run_any_thread(void)
{
	run_thread(world.living[pick(world.living_count)]);
}

static void end_thread(void)
{
	uint32_t at = 0;
	if (world.life_count == LIVES_MAX)
		return;
	while (world.living[at] != world.tid)
		at++;
	world.has_ended[world.tid] = true;
	world.living[at] = world.living[--world.living_count];
	if (world.living_count == 0)
		while (world.living_count == 0)
			begin_thread();
	else
		run_any_thread();
}

/* ---- Calls ---- */

static __attribute__((noinline)) uint64_t losses(void)
{
	uint64_t sum = 0;
	for (int cause = 0; cause < WEFT_ABI_LOSSES; cause++)
		sum += cause == WEFT_ABI_LOSS_NAMES_FULL ? 0 : world.header->losses[cause];
	return sum;
}

/* A moment's time is renewed after 64 reservations. */
static uint64_t time_of_reservation(struct life *life)
{
	if (!life->is_in_moment)
		return world.now;
	if (life->moment_events == 64) {
		life->moment = world.now;
		life->moment_events = 0;
	}
	life->moment_events++;
	return life->moment;
}

static struct weft_event expected(enum weft_event_type type, uint64_t other, int64_t value)
{
	return (struct weft_event){
		.type = (uint8_t)type, .task = present_life()->task, .other = other, .value = value};
}

/* One call; returns how many events it has, with the first of them. */
static uint32_t call_once(struct weft_event *ret_event)
{
	static char text[2000];
	uint64_t number = ++world.last_id, sources[9];
	uint32_t count = 1, size = pick(3) ? pick(30) : pick(1900);
	memset(text, 'a' + (int)pick(26), size);
	switch (pick(15)) {
	case 7:
		*ret_event = expected(WEFT_EVENT_CREATE, weft_create(WEFT_KIND_TASK), 0);
		assert_in_range(ret_event->other, 1, TASKS_MAX - 1);
		assert_false(world.is_created[ret_event->other]);
		world.is_created[ret_event->other] = true;
		break;
	case 0:
		*ret_event = expected(WEFT_EVENT_EXPECT, 0, 0);
		weft_expect();
		break;
	case 1:
		*ret_event = expected(WEFT_EVENT_RESOLVE, number, 0);
		weft_resolve(number);
		break;
	case 2:
		*ret_event = expected(WEFT_EVENT_CANCEL, number, 0);
		ret_event->task = 7;
		weft_cancel_as(7, number);
		break;
	case 3:
		*ret_event = expected(WEFT_EVENT_SWITCH, 0, 0);
		ret_event->task = number;
		weft_switch(number);
		break;
	case 4:
		*ret_event = expected(WEFT_EVENT_NOTE, 0, 0);
		ret_event->text.size = size;
		weft_note_n(text, size);
		break;
	case 5:
		count = 1 + pick(9);
		for (uint32_t i = 0; i < count; i++)
			sources[i] = world.last_id++;
		*ret_event = expected(WEFT_EVENT_WAIT_ANY, sources[0], 0);
		weft_wait_any(count, sources);
		break;
	case 6:
		*ret_event = expected(WEFT_EVENT_TAG, 0, (int64_t)number);
		ret_event->task = 9;
		weft_tag_value_as(9, "three words", (int64_t)number);
		break;
	default:
		*ret_event = expected(WEFT_EVENT_TAG, 0, (int64_t)number);
		weft_tag_value("two words", (int64_t)number);
		break;
	}
	return count;
}

static void accept(struct life *life, struct weft_event event)
{
	assert_in_range(world.call_count, 0, CALLS_MAX - 1);
	world.calls[world.call_count++] = (struct call){event, world.life_of[world.tid]};
	life->accepted++;
	if (event.type == WEFT_EVENT_SWITCH)
		life->task = event.task;
}

/* The events of a thread are those before its present packet, and those in it. */
static void check_numbers(const struct life *life)
{
	const struct weft_abi_slot *slot = weft__record_self()->slot;
	if (!weft__record_packet_is_held(slot))
		return;
	const struct weft_abi_packet *packet = weft__record_packet_of(weft__record_region(), slot);
	assert_int_equal(
		slot->number + weft__record_packet_events(slot, packet) - slot->inherited, life->accepted);
	if (packet->thread == slot->thread)
		assert_int_equal(packet->number, slot->number);
}

/* Events of one call share a reservation. If it is refused, the others are tried one by one: in the
 * packet's rest while a hold keeps the thread from another packet, or in another packet that it
 * finds later. */
static void call(void)
{
	struct weft_event event;
	struct life *life = present_life();
	uint64_t before = losses(), held = world.header->losses[WEFT_ABI_LOSS_HELD], refused, first;
	uint32_t handled = world.handled, count;
	bool had_slot =
		weft__record_entered_generation(weft__record_self()) == weft__record_generation();
	uint64_t lost_before = had_slot ? weft__record_self()->slot->lost : 0;
	world.signals = pick(8) == 0;
	world.delay = pick(4);
	world.barriers = world.questions = 0;
	count = call_once(&event);
	world.signals = 0;
	if (world.options.has_short_moments) /* each barrier costs time: a claim has four at most */
		assert_in_range(world.barriers, 0, 4 * count);
	refused = losses() - before - (world.handled - handled);
	world.lost += refused;
	if (had_slot)
		assert_int_equal(weft__record_self()->slot->lost - lost_before, losses() - before);
	else if (losses() == before) /* those of the slot's last thread do not count */
		assert_int_equal(weft__record_self()->slot->lost, 0);
	first = refused && world.header->losses[WEFT_ABI_LOSS_HELD] > held ? 1 : refused;
	for (uint32_t i = 0; i < count; i++) {
		if (i == 0 || refused)
			event.time_ns = time_of_reservation(life);
		if (i >= first && i - first < count - refused)
			accept(life, event);
		event.other += event.type == WEFT_EVENT_WAIT_ANY;
	}
	if (had_slot || losses() == before)
		check_numbers(life);
	/* Each costs a system call, and a slot that was never used costs none. */
	if (!had_slot && world.header->slots_used < world.header->slot_count)
		assert_in_range(world.questions, 0, 32);
}

/* A handler that interrupts the call ends the thread: then the event is neither there nor counted.
 */
static void be_left_in_a_call(void)
{
	const volatile uint64_t before = losses();
	world.is_left = true;
	world.signals = 1;
	world.delay = pick(7);
	/* As if another thread wanted the packet, so this one opens the next. */
	if (pick(2) &&
		weft__record_entered_generation(weft__record_self()) == weft__record_generation())
		weft__record_self()->slot->limit = 0;
	if (setjmp(world.left) == 0) {
		weft_tag_value("two words", 1);
		struct weft_event event = expected(WEFT_EVENT_TAG, 0, 1);
		event.time_ns = time_of_reservation(present_life());
		world.lost += losses() - before;
		if (losses() == before)
			accept(present_life(), event);
	}
	world.is_left = false;
	world.signals = 0;
	end_thread();
}

static void begin_moment(void)
{
	struct life *life = present_life();
	weft_moment_begin();
	life->is_in_moment = life->accepted > 0; /* a thread without a slot has none */
	life->moment = world.now;
	life->moment_events = 0;
}

static void step(void)
{
	static const uint64_t pauses[] = {1, 50, 1000000, (uint64_t)3 << 32};
	uint32_t roll = pick(100);
	if (roll < 55)
		for (uint32_t i = pick(pick(5) ? 4 : 80); i > 0; i--)
			call();
	else if (roll < 67)
		run_any_thread();
	else if (roll < 73)
		begin_thread();
	else if (roll < 77)
		end_thread();
	else if (roll == 77 && world.options.has_jumps)
		be_left_in_a_call();
	else if (roll < 81 && present_life()->accepted > 0 && !world.options.has_holds)
		begin_moment();
	else if (roll < 86)
		end_moment();
	else if (roll == 86 && world.options.has_holds)
		world.header->hold_until = world.now + pick(2000);
	else if (roll == 87)
		for (uint32_t i = pick(world.living_count); i > 0; i--)
			end_thread();
	else
		world.now += pauses[pick(pick(10) ? 2 : 4)];
}

/* ---- What is read ---- */

static struct life *life_of_event(const struct trace *t)
{
	const struct weft_trace_thread *thread =
		&weft_decoder_describe(t->decoder)->threads[t->event.thread];
	unsigned number;
	assert_int_equal(sscanf(thread->name, "life %u", &number), 1);
	assert_in_range(number, 0, world.life_count - 1);
	assert_int_equal(thread->tid, world.lives[number].tid);
	assert_in_range(thread->number, 1, world.life_count);
	return &world.lives[number];
}

static void assert_same(const struct weft_event *read, const struct weft_event *recorded)
{
	assert_int_equal(read->type, recorded->type);
	assert_int_equal(read->task, recorded->task);
	assert_int_equal(read->other, recorded->other);
	if (read->type == WEFT_EVENT_TAG)
		assert_int_equal(read->value, recorded->value);
	if (read->type == WEFT_EVENT_NOTE)
		assert_int_equal(read->text.size, recorded->text.size);
	if (world.options.clock != CLOCK_PROCESSOR)
		assert_int_equal(read->time_ns, recorded->time_ns);
}

/* The calls of each life that were accepted, from this one on. */
static const struct weft_event *next_call(uint32_t *at, uint32_t life)
{
	while (world.calls[*at].life != life)
		(*at)++;
	return &world.calls[(*at)++].event;
}

/* Only the oldest events of a thread are overwritten, and the others are all there. Returns their
 * number. */
static uint32_t read_all(const void *buffer)
{
	static uint32_t at[LIVES_MAX];
	struct trace t;
	uint32_t count = 0;
	for (uint32_t i = 0; i < world.life_count; i++)
		world.lives[i].read = at[i] = 0;
	trace_open(&t, buffer, world.options.size);
	for (; trace_next(&t); count += !t.event.is_rundown)
		life_of_event(&t)->read += !t.event.is_rundown;
	assert_int_equal(count + trace_loss(&t, WEFT_LOSS_OVERWRITTEN), world.call_count);
	trace_close(&t);

	trace_open(&t, buffer, world.options.size);
	for (uint32_t i = 0; i < world.life_count; i++) {
		assert_true(world.lives[i].read <= world.lives[i].accepted);
		for (uint32_t gone = world.lives[i].accepted - world.lives[i].read; gone > 0; gone--)
			next_call(&at[i], i);
	}
	while (trace_next(&t)) {
		uint32_t life = (uint32_t)(life_of_event(&t) - world.lives);
		if (!t.event.is_rundown)
			assert_same(&t.event, next_call(&at[life], life));
	}
	trace_close(&t);
	return count;
}

/* True if a slot has the packet, or its thread left it in the middle of opening or closing it. */
static bool is_held(const struct weft_abi_packet *packet, uint64_t sequence, bool is_opening)
{
	for (uint32_t i = 0; i < world.header->slots_used; i++) {
		const struct weft_abi_slot *slot = &weft__record_region()->slots[i];
		uintptr_t distance = (uintptr_t)packet - (uintptr_t)slot;
		if (slot->unfinished == sequence || (!is_opening && slot->packet == distance))
			return true;
	}
	return false;
}

/* An owner's epoch says that it is another one, even if it has the number of the one before. */
static void check_owners(void)
{
	for (uint32_t i = 0; i < world.header->slots_used; i++) {
		uint64_t owner = weft__record_region()->slots[i].owner, before = world.owners[i];
		assert_in_range(owner >> 32, before >> 32, (before >> 32) + world.life_count);
		if (owner >> 32 == before >> 32)
			assert_int_equal(owner, before);
		world.owners[i] = owner;
	}
}

/* No packet is lost: each is closed, or a slot has it. */
static void check_packets(void)
{
	uint32_t count = world.header->packet_count;
	for (uint32_t i = 0; i < count; i++) {
		const struct weft_abi_packet *packet = weft__record_packet_at(weft__record_region(), i + 1);
		uint64_t state = packet->state & WEFT_ABI_PACKET_STATE, sequence = packet->state >> 2;
		if (sequence == 0)
			continue;
		assert_int_equal((sequence - 1) % count, i);
		assert_true(sequence <= world.header->hand);
		if (state != WEFT_ABI_PACKET_CLOSED)
			assert_true(is_held(packet, sequence, state == WEFT_ABI_PACKET_OPENING));
	}
}

/* ---- Cases ---- */

static int stop(void **state)
{
	(void)state;
	weft_stop();
	return 0;
}

static void begin_world(uint64_t seed, struct options options)
{
	void *buffer = trace_buffer(options.size);
	memset(&world, 0, sizeof(world));
	world.options = options;
	world.seed = seed;
	world.now = 1000;
	world.header = buffer;
	memset(world.has_ended, true, sizeof(world.has_ended));
	while (world.living_count == 0)
		begin_thread();
	assert_int_equal(weft_start(buffer, options.size, &platforms[options.clock]), 0);
	world.header->is_quiet = options.is_quiet;
}

static uint32_t play(uint32_t steps)
{
	for (uint32_t i = 0; i < steps; i++) {
		step();
		if (i == steps / 2)
			read_all(world.header);
		if (i % 64 == 0)
			check_packets();
		check_owners();
	}
	weft_stop();
	assert_int_equal(world.header->losses[WEFT_ABI_LOSS_NESTED], world.handled);
	if (!world.options.has_holds)
		assert_int_equal(world.header->losses[WEFT_ABI_LOSS_HELD], 0);
	return read_all(world.header);
}

static void end_world(void)
{
	weft_stop();
	*weft__record_self() = (struct weft__self){0, NULL};
	free(world.header);
}

/* Threads that have ended keep no packet: while fewer threads live than there are packets, no event
 * is lost. */
static void few_threads_lose_nothing(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 12; seed++) {
		begin_world(seed, (struct options){.clock = (enum clock)(seed % CLOCKS),
							  .threads = 1 + (uint32_t)seed % 9,
							  .size = (size_t)64 << 10});
		assert_in_range(world.header->packet_count, 10, 15);
		play(1500);
		assert_int_equal(world.lost, 0);
		end_world();
	}
}

/* The first thread has a slot but no packet when all others end, who have them all. */
static void packets_of_ended_threads_are_claimed(void **state)
{
	(void)state;
	for (int is_quiet = 0; is_quiet <= 1; is_quiet++) {
		begin_world(3, (struct options){.clock = CLOCK_MEMORY,
						   .threads = 12,
						   .is_quiet = is_quiet,
						   .size = (size_t)64 << 10});
		assert_int_equal(world.header->packet_count, 11);
		while (world.living_count < 12)
			begin_thread();
		for (uint32_t i = 0; i < 12; i++) {
			run_thread(world.living[i]);
			assert_true(weft_is_recording());
			if (i > 0)
				call();
		}
		while (world.living_count > 1) {
			run_thread(world.living[1]);
			end_thread();
		}
		for (uint32_t i = 0; i < 1000; i++)
			call();
		assert_int_equal(world.lost > 0, is_quiet); /* it would cost system calls */
		check_packets();
		weft_stop();
		read_all(world.header);
		end_world();
	}
}

/* A thread takes the packets of others that only hold them. */
static void threads_that_share_packets_lose_nothing(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 12; seed++) {
		begin_world(seed, (struct options){.clock = (enum clock)(seed % CLOCKS),
							  .threads = SLOTS - 2,
							  .can_take = true,
							  .has_short_moments = true,
							  .size = (size_t)64 << 10});
		play(1500);
		assert_int_equal(world.lost, 0);
		end_world();
	}
}

static void each_event_is_read_or_counted(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 24; seed++) {
		begin_world(seed, (struct options){.clock = (enum clock)(seed % CLOCKS),
							  .threads = seed & 1 ? THREADS_MAX : 20,
							  .can_take = seed & 2,
							  .has_jumps = seed & 8,
							  .is_quiet = seed % 5 == 0,
							  .has_holds = seed & 4,
							  .size = (size_t)64 << (10 + seed % 3)});
		play(1500);
		end_world();
	}
}

/* It would ask each of the others whether it has ended, which costs system calls. */
static void a_new_thread_takes_an_unused_slot(void **state)
{
	(void)state;
	begin_world(
		1, (struct options){
			   .clock = CLOCK_MEMORY, .threads = 70, .can_take = true, .size = (size_t)64 << 10});
	while (world.living_count < 70)
		begin_thread();
	for (uint32_t i = 0; i < 70; i++) {
		run_thread(world.living[i]);
		call();
		assert_int_equal(world.header->slots_used, i + 1);
		assert_int_equal(world.questions, i < 32 ? i : 32);
	}
	end_world();
}

/* Each thread takes several blocks of ids. */
static void ids_of_all_threads_are_unique(void **state)
{
	(void)state;
	begin_world(1, (struct options){.clock = CLOCK_MEMORY, .threads = 3, .size = (size_t)64 << 10});
	while (world.living_count < 3)
		begin_thread();
	const uint64_t first = weft_create(WEFT_KIND_TASK);
	for (uint32_t i = 0; i < 9000; i++) {
		run_thread(world.living[i % 3]);
		uint64_t task = i % 7 ? weft_create(WEFT_KIND_TASK) : weft_create_as(7, WEFT_KIND_TASK);
		assert_in_range(task, first + 1, first + 20000); /* few are left out */
		assert_false(world.is_created[task]);
		world.is_created[task] = true;
	}
	end_world();
}

/* No handler records that much, so its thread must have left the event. */
static void a_guard_that_was_left_is_repaired_in_time(void **state)
{
	(void)state;
	begin_world(1, (struct options){.clock = CLOCK_MEMORY, .threads = 1, .size = (size_t)64 << 10});
	weft_note("first");
	for (uint64_t round = 1; round <= 2; round++) {
		world.header->losses[WEFT_ABI_LOSS_NESTED] = 0;
		weft__record_self()->slot->sequence |= 1;
		for (uint32_t i = 0; i < WEFT__NESTED_MAX; i++)
			weft_note("refused");
		assert_int_equal(world.header->losses[WEFT_ABI_LOSS_NESTED], WEFT__NESTED_MAX);
		assert_int_equal(weft__record_self()->slot->sequence % 2, 0);
		weft_note("recorded");
		weft_note("recorded");
		assert_int_equal(world.header->losses[WEFT_ABI_LOSS_NESTED], WEFT__NESTED_MAX);
	}
	end_world();
}

#define CASE(name) cmocka_unit_test_teardown(name, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(few_threads_lose_nothing),
		CASE(packets_of_ended_threads_are_claimed),
		CASE(threads_that_share_packets_lose_nothing),
		CASE(each_event_is_read_or_counted),
		CASE(a_new_thread_takes_an_unused_slot),
		CASE(ids_of_all_threads_are_unique),
		CASE(a_guard_that_was_left_is_repaired_in_time),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
