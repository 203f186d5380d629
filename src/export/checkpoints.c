/* SPDX-License-Identifier: ISC
 *
 * A checkpoint is the rundown that a cut from its time on would begin with. A rundown has those
 * ended tasks that are named later, so the first pass notes when each task is named last. The
 * other sides of messages are not known either: a checkpoint has all messages with one side.
 */
#include <weft/checkpoint.h>

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/export.h"
#include "export/checkpoint_file.h"
#include "export/cut_clock.h"
#include "export/cut_state.h"

enum {
	SMALL_BYTES = 16384, /* of which half is what every trace begins and ends with */
	/* An event of a trace has 16 bytes or more: larger checkpoints take a fifth of it at most. */
	CHECKPOINT_BYTES_PER_EVENT = 3,
};

static const uint8_t zeros[WEFT__CHECKPOINT_ALIGNMENT];

struct rows {
	struct weft__checkpoint_row *list;
	uint32_t count;
	size_t capacity;
};

/* The bytes of one part of the file. */
struct part {
	uint8_t *bytes;
	size_t size, capacity;
};

struct weft_checkpoints {
	struct weft_checkpoint_key key;
	struct weft_cut_sink sink;
	uint64_t spacing, written;
	struct weft__alive seen; /* in the first pass */
	uint64_t *last_named;    /* when each task was named last, in the first pass */
	uint32_t named_count;    /* tasks that were mentioned in it */
	size_t named_capacity;
	bool is_refused; /* a rundown would lack something */
	/* The losses of the whole trace, of which the second pass learns late. */
	uint64_t losses[WEFT_LOSS_CAUSES];
	struct weft_loss_period *periods;
	uint32_t period_count;
	struct weft_cut *cut;  /* in the second pass: the state */
	uint64_t events, next; /* the next checkpoint comes after so many */
	uint64_t last_ns;
	struct part part;
	struct rows rows;
};

static int refuse(void *context, const void *bytes, size_t size)
{
	(void)context, (void)bytes, (void)size;
	return WEFT_ERROR_STATE; /* the range never begins */
}

WEFT__EXPORT int weft_checkpoints_create(const struct weft_checkpoint_key *key, uint64_t spacing,
	const struct weft_cut_sink *sink, struct weft_checkpoints **ret_checkpoints)
{
	static const struct weft_cut_range never = {.start_ns = UINT64_MAX, .end_ns = UINT64_MAX};
	static const struct weft_cut_sink nowhere = {refuse, NULL};
	struct weft_checkpoints *c = calloc(1, sizeof(*c));
	if (!c)
		return WEFT_ERROR_MEMORY;
	c->key = *key;
	c->sink = *sink;
	c->spacing = c->next = spacing;
	int error = weft__export_alive_init(&c->seen);
	if (!error)
		error = weft_cut_create(&never, NULL, &nowhere, &c->cut);
	if (error)
		weft_checkpoints_destroy(c);
	else
		*ret_checkpoints = c;
	return error;
}

WEFT__EXPORT void weft_checkpoints_destroy(struct weft_checkpoints *c)
{
	if (!c)
		return;
	weft__export_alive_finish(&c->seen);
	weft_cut_destroy(c->cut);
	free(c->last_named);
	free(c->periods);
	free(c->part.bytes);
	free(c->rows.list);
	free(c);
}

WEFT__EXPORT size_t weft_checkpoints_count(const struct weft_checkpoints *c)
{
	return c->rows.count;
}

/* ---- The first pass ---- */

/* The task and what it has become: a rundown has both, if they have ended. */
static void note_named(
	struct weft_checkpoints *c, const struct weft_event *event, enum weft_slot slot)
{
	const uint32_t task = weft__export_alive_find(&c->seen, event, slot);
	if (task == WEFT_NONE)
		return;
	c->last_named[task] = event->time_ns;
	c->last_named[weft__model_state_forward(&c->seen.state, task)] = event->time_ns;
}

/* False if the id of a task that has not ended now means another one: a become that broke a rule
 * has ended the id's life, but not the task's. */
static bool is_new_life(
	const struct weft_checkpoints *c, const struct weft_event *create, uint32_t before)
{
	return weft__export_alive_find(&c->seen, create, WEFT_SLOT_OTHER) == before ||
		   c->seen.state.tasks.flags[before] & WEFT_TASK_RESOLVED;
}

WEFT__EXPORT int weft_checkpoints_look(struct weft_checkpoints *c, const struct weft_event *event)
{
	const struct weft__column column = {&c->last_named, sizeof(*c->last_named)};
	if (event->buffer)
		return WEFT_ERROR_UNSUPPORTED;
	/* Before the event, which may use an id again for another task. */
	note_named(c, event, WEFT_SLOT_TASK);
	note_named(c, event, WEFT_SLOT_OTHER);
	const uint32_t named = weft__export_alive_find(&c->seen, event, WEFT_SLOT_OTHER);
	int error = weft__export_alive_add(&c->seen, event);
	if (named != WEFT_NONE && event->type == WEFT_EVENT_CREATE)
		c->is_refused |= !is_new_life(c, event, named);
	c->is_refused |= c->seen.has_vain_creates;
	const uint32_t count = c->seen.state.tasks.count;
	if (!error)
		error = weft__columns_reserve(&column, 1, &c->named_capacity, count);
	while (!error && c->named_count < count)
		c->last_named[c->named_count++] = event->time_ns;
	return !error && c->is_refused ? WEFT_ERROR_DAMAGED : error;
}

WEFT__EXPORT int weft_checkpoints_know_losses(
	struct weft_checkpoints *c, const struct weft_trace_description *trace)
{
	int error =
		weft__array_resize(&c->periods, trace->loss_period_count + (size_t)1, sizeof(*c->periods));
	if (error)
		return error;
	memset(c->periods, 0, trace->loss_period_count * sizeof(*c->periods)); /* also gaps in it */
	for (uint32_t i = 0; i < trace->loss_period_count; i++) {
		c->periods[i].start = trace->loss_periods[i].start;
		c->periods[i].end = trace->loss_periods[i].end;
		c->periods[i].count = trace->loss_periods[i].count;
		c->periods[i].thread = trace->loss_periods[i].thread;
		c->periods[i].cause = trace->loss_periods[i].cause;
	}
	c->period_count = trace->loss_period_count;
	memcpy(c->losses, trace->losses, sizeof(c->losses));
	return 0;
}

/* ---- The second pass ---- */

static int append_part(void *context, const void *bytes, size_t size)
{
	struct part *part = context;
	if (size > part->capacity - part->size) {
		const size_t capacity = weft__array_next_capacity(part->capacity, part->size + size);
		int error = weft__array_resize(&part->bytes, capacity, 1);
		if (error)
			return error;
		part->capacity = capacity;
	}
	if (size)
		memcpy(part->bytes + part->size, bytes, size);
	part->size += size;
	return 0;
}

/* Hands the part out, and begins the next. */
static int write_part(struct weft_checkpoints *c)
{
	int error = append_part(&c->part, zeros, -c->part.size % (size_t)WEFT__CHECKPOINT_ALIGNMENT);
	if (!error)
		error = c->sink.append(c->sink.context, c->part.bytes, c->part.size);
	c->written += c->part.size;
	c->part.size = 0;
	return error;
}

static void name_ended(const struct weft_checkpoints *c, struct weft__alive *a, uint64_t time_ns)
{
	for (uint32_t i = 0; i < a->state.tasks.count; i++)
		a->is_named[i] = i < c->named_count && c->last_named[i] >= time_ns;
}

/* Names the holders of what is alive, also those that have ended. False if a rundown cannot express
 * who holds it. */
static bool name_holders(struct weft__alive *a)
{
	bool is_expressed = true;
	for (uint32_t i = 0; i < a->state.tasks.count; i++) {
		const bool is_held = !(a->state.tasks.flags[i] & WEFT_TASK_RESOLVED);
		const struct weft__holders *h = is_held ? weft__export_alive_holders(a, i) : NULL;
		is_expressed &= !h || !h->unlisted;
		for (uint32_t k = 0; h && k < h->count; k++) {
			a->is_named[h->list[k].task] = true;
			is_expressed &= h->list[k].depth <= WEFT__ALIVE_DEPTH_MAX;
		}
	}
	return is_expressed;
}

static void name_task(struct weft__alive *a, uint32_t runs)
{
	if (runs < WEFT__RUNS_UNKNOWN)
		a->is_named[weft__model_state_forward(&a->state, runs)] = true;
}

/* Names what threads run, also if it has ended. */
static void name_running(struct weft__alive *a)
{
	for (uint32_t i = 0; i < a->state.thread_count; i++) {
		name_task(a, a->state.threads[i].running);
		name_task(a, a->state.threads[i].interrupted);
	}
}

/* True if the task runs last on another thread than a rundown would say. */
static bool ran_elsewhere(struct weft__state *s, uint32_t thread)
{
	const struct weft__state_thread *t = &s->threads[thread];
	const uint32_t runs = t->in_idle_band ? t->interrupted : t->running;
	return runs < WEFT__RUNS_UNKNOWN &&
		   s->tasks.ran_on[weft__model_state_forward(s, runs)] != thread;
}

/* True if it is not known yet, and a rundown cannot say, whether some task was woken. */
static bool is_undecided(struct weft__state *s)
{
	for (uint32_t i = 0; i < s->thread_count; i++) {
		const uint32_t resumed = s->threads[i].resumed;
		if ((resumed != WEFT_NONE && s->tasks.ran_on[resumed] == i) || ran_elsewhere(s, i))
			return true;
	}
	return false;
}

/* False if two tasks with one id are named: a rundown cannot tell which is which. */
static bool has_one_task_for_each_id(const struct weft__alive *a)
{
	const struct weft__identities *ids = &a->identities;
	for (uint32_t i = 0; i < a->state.tasks.count; i++)
		if (a->is_named[i] && weft__model_ids_find(&ids->by_id, ids->id, ids->buffer,
								  ids->buffer[i], ids->id[i]) != i)
			return false;
	return true;
}

static int list_messages(struct weft__alive *a)
{
	const struct weft__column column = {&a->messages, sizeof(*a->messages)};
	const struct weft__messages *pending = &a->state.messages;
	int error = weft__columns_reserve(&column, 1, &a->message_capacity, pending->count);
	a->message_count = 0;
	uint32_t i = pending->count ? pending->oldest : WEFT_NONE;
	for (; !error && i != WEFT_NONE; i = pending->list[i].newer) {
		struct weft__message *message = &a->messages[a->message_count++];
		*message = pending->list[i].message;
		message->task = weft__model_state_forward(&a->state, message->task);
		a->is_named[message->task] = true;
	}
	return error;
}

/* Describes only clock and threads: the rest is in the trace. */
static int write_state(
	struct weft_checkpoints *c, uint64_t time_ns, const struct weft_trace_description *trace)
{
	const struct weft_cut_sink sink = {append_part, &c->part};
	const struct weft_trace_buffer buffer = {
		.process = "",
		.host = "",
		.file = "",
		.has_categories =
			weft_trace_buffer_at(trace->buffers, trace->buffer_count, 0)->has_categories,
	};
	const struct weft_trace_description description = {
		.format = trace->format,
		.clock = trace->clock,
		.ticks = trace->ticks,
		.threads = trace->threads,
		.thread_count = trace->thread_count,
		.buffers = &buffer,
		.buffer_count = trace->buffer_count,
	};
	struct weft_trace_description whole = *trace;
	memcpy(whole.losses, c->losses, sizeof(whole.losses));
	whole.loss_periods = c->periods;
	whole.loss_period_count = c->period_count;
	return weft__export_cut_state(c->cut, time_ns, &sink, &description, &whole);
}

/* Where much is alive, the next checkpoint is further away. */
static void space(struct weft_checkpoints *c, size_t bytes)
{
	const size_t more = bytes > SMALL_BYTES ? bytes - SMALL_BYTES : 0;
	const uint64_t distance = more / CHECKPOINT_BYTES_PER_EVENT;
	c->next = c->events + (distance > c->spacing ? distance : c->spacing);
}

static int add_checkpoint(
	struct weft_checkpoints *c, uint64_t time_ns, const struct weft_trace_description *trace)
{
	struct weft__alive *alive = weft__export_cut_alive(c->cut);
	const struct weft__column column = {&c->rows.list, sizeof(*c->rows.list)};
	weft__model_state_pass(&alive->state, time_ns);
	if (is_undecided(&alive->state))
		return 0;
	name_ended(c, alive, time_ns);
	name_running(alive);
	int error = list_messages(alive);
	if (!error && !(name_holders(alive) && has_one_task_for_each_id(alive))) {
		c->next = c->events + c->spacing;
		return 0;
	}
	if (!error)
		error = weft__columns_reserve(&column, 1, &c->rows.capacity, c->rows.count + (size_t)1);
	alive->is_checkpoint = true;
	if (!error)
		error = write_state(c, time_ns, trace);
	if (error)
		return error;
	c->rows.list[c->rows.count++] = (struct weft__checkpoint_row){.time_ns = time_ns,
		.offset = c->written,
		.size = c->part.size,
		.hash = weft__checkpoint_hash(c->part.bytes, c->part.size)};
	space(c, c->part.size);
	return write_part(c);
}

/* A time without events before this one, which the clock's ticks can express: an event at the time
 * of a rundown might be taken for a part of it. */
static bool find_pause(const struct weft_checkpoints *c, const struct weft_event *event,
	const struct weft_trace_description *trace, uint64_t *ret_time_ns)
{
	if (event->time_ns <= c->last_ns + 1)
		return false;
	*ret_time_ns = weft__export_cut_round(trace, event->time_ns - 1);
	return *ret_time_ns > c->last_ns && *ret_time_ns < event->time_ns;
}

WEFT__EXPORT int weft_checkpoints_add(struct weft_checkpoints *c, const struct weft_event *event,
	const struct weft_trace_description *trace)
{
	int error = 0;
	uint64_t time_ns;
	if (trace->buffer_count > 1 || event->buffer)
		return WEFT_ERROR_UNSUPPORTED;
	if (c->events >= c->next && find_pause(c, event, trace, &time_ns))
		error = add_checkpoint(c, time_ns, trace);
	c->events++;
	c->last_ns = event->time_ns;
	return error ? error : weft_cut_add(c->cut, event, trace);
}

WEFT__EXPORT int weft_checkpoints_finish(struct weft_checkpoints *c)
{
	struct weft__checkpoint_tail tail = {.key = c->key,
		.periods_offset = c->written,
		.period_count = c->period_count,
		.row_count = c->rows.count,
		.version = WEFT__CHECKPOINT_VERSION,
		.magic = WEFT__CHECKPOINT_MAGIC};
	memcpy(tail.losses, c->losses, sizeof(tail.losses));
	int error = append_part(&c->part, c->periods, c->period_count * sizeof(*c->periods));
	tail.rows_offset = c->written + c->part.size;
	if (!error)
		error = append_part(&c->part, c->rows.list, c->rows.count * sizeof(*c->rows.list));
	tail.rows_hash = weft__checkpoint_hash(c->part.size ? c->part.bytes : zeros, c->part.size);
	tail.hash = weft__checkpoint_hash(&tail, offsetof(struct weft__checkpoint_tail, hash));
	if (!error)
		error = append_part(&c->part, &tail, sizeof(tail));
	return error ? error : write_part(c);
}
