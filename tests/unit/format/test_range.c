/* SPDX-License-Identifier: ISC
 *
 * A range that is read without the rest of its trace: what its model has, the model of the whole
 * trace has as well; and of what happened in the range it has all that can be known from it. The
 * traces are random, and may lack packets or have damaged ones.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include <weft/cut.h>
#include <weft/text.h>

#include "decoded.h"
#include "made_stream.h"
#include "trace_script.h"

enum {
	THREADS = 3,
	EVENTS = 900,
	OPERANDS_MAX = 3,
	TASKS_MAX = 4096,
};

/* ---- Random streams ---- */

/* A thread while its stream is made. */
struct writer {
	struct made_packet packet;
	uint64_t task;   /* that runs */
	uint64_t number; /* of its events so far */
	uint32_t left;   /* events until the packet is full */
};

struct maker {
	struct made_stream stream;
	size_t at[EVENTS];
	uint32_t packets;
	struct writer writers[THREADS];
	uint64_t seed, sequence, tasks, opened; /* tasks: ids up to this one are in use */
	uint32_t now;
	bool loses;
	bool has_ended[TASKS_MAX];
};

static struct maker maker;

static uint32_t pick(uint32_t below)
{
	return (uint32_t)(next_random(&maker.seed) % below);
}

/* Appends the packet, or loses it. */
static void close_packet(struct writer *w)
{
	if (w->packet.count && !(maker.loses && pick(12) == 0)) {
		maker.at[maker.packets++] = maker.stream.size;
		made_add_packet(&maker.stream, &w->packet, 0);
	}
	w->left = 0;
}

static void open_packet(struct writer *w)
{
	w->packet = made_packet((uint32_t)(w - maker.writers) + 1, ++maker.sequence);
	w->packet.header.opened_ticks = maker.now;
	w->packet.header.number = w->number;
	w->packet.header.task = w->task;
	w->left = 1 + pick(20);
}

static void put(struct writer *w, unsigned kind, unsigned small, uint64_t operand, unsigned words)
{
	struct made_packet *p = &w->packet;
	p->words[p->count++] = WEFT_ABI_HEAD(kind, words, small) | maker.now;
	if (words > 1)
		p->words[p->count++] = operand;
	w->number++;
	w->left--;
}

static uint64_t any_task(void)
{
	return maker.tasks ? 1 + (uint64_t)pick((uint32_t)maker.tasks) : 0;
}

/* A task that another thread runs is ended by nobody else: a range would not know of it. */
static bool runs_elsewhere(const struct writer *w, uint64_t task)
{
	for (unsigned i = 0; i < THREADS; i++)
		if (&maker.writers[i] != w && maker.writers[i].task == task)
			return true;
	return false;
}

static uint64_t any_living(void)
{
	for (unsigned i = 0; i < 8; i++) {
		const uint64_t task = any_task();
		if (task && !maker.has_ended[task])
			return task;
	}
	return 0;
}

/* A program that keeps the rules says nothing of tasks that have ended, but that it reads them. */
static void put_about(struct writer *w)
{
	static const uint8_t kinds[] = {WEFT_ABI_READ, WEFT_ABI_TRY_READ, WEFT_ABI_RESOLVE,
		WEFT_ABI_SIGNAL, WEFT_ABI_CANCEL, WEFT_ABI_WAIT_ANY};
	const unsigned kind = kinds[pick(sizeof(kinds))];
	const uint64_t task = kind == WEFT_ABI_READ ? any_task() : any_living();
	const bool ends = kind == WEFT_ABI_RESOLVE || kind == WEFT_ABI_CANCEL;
	if (!task || (ends && runs_elsewhere(w, task)))
		return;
	put(w, kind, 0, task, 2);
	if (ends)
		maker.has_ended[task] = true;
}

static void put_any(struct writer *w)
{
	const bool is_of_ended = w->task != UINT64_MAX && maker.has_ended[w->task];
	switch (is_of_ended ? 2 : pick(12)) {
	case 0:
	case 1:
		put(w, WEFT_ABI_CREATE, pick(5), ++maker.tasks, 2);
		break;
	case 2:
	case 3:
	case 4:
		w->task = pick(5) ? any_living() : 0;
		w->task = w->task ? w->task : UINT64_MAX;
		put(w, WEFT_ABI_SWITCH, 0, w->task, 2);
		break;
	case 5:
		put(w, WEFT_ABI_LABEL, 1 + 3 * pick(3), 0, 1);
		break;
	case 6:
		put(w, pick(2) ? WEFT_ABI_COUNTER : WEFT_ABI_COUNTER_SET, 10, pick(9), 2);
		break;
	case 7:
		put(w, WEFT_ABI_BEGIN, 1 + 3 * pick(3), 0, 1);
		break;
	case 8:
		put(w, WEFT_ABI_END, 0, 0, 1);
		break;
	default:
		put_about(w);
		break;
	}
}

static void make_stream(uint64_t seed, bool loses)
{
	const struct weft_abi_buffer header = made_header();
	maker = (struct maker){.seed = seed, .now = 1000, .loses = loses};
	made_begin(&maker.stream, &header);
	made_name(&maker.stream, 0, "first");
	made_name(&maker.stream, 48, "second");
	made_name(&maker.stream, 96, "third");
	made_name(&maker.stream, 144, "counter");
	for (unsigned i = 0; i < THREADS; i++)
		maker.writers[i].task = UINT64_MAX;
	for (unsigned i = 0; i < EVENTS; i++) {
		struct writer *w = &maker.writers[pick(THREADS)];
		maker.now += pick(3) ? pick(3000) : 0;
		if (!w->left) {
			close_packet(w);
			open_packet(w);
		}
		put_any(w);
	}
	for (unsigned i = 0; i < THREADS; i++)
		close_packet(&maker.writers[i]);
}

/* ---- Models ---- */

/* The first stream of two, if `is_merged`; `maker` has the other one, or the only one. */
static struct made_stream first;
static bool is_merged;

static struct weft_decoder *open_stream(const struct made_stream *stream)
{
	struct weft_decoder *decoder;
	must(weft_decoder_create(&decoder) == 0);
	must(weft_decoder_feed_borrowed(decoder, stream->bytes, stream->size) == 0);
	must(weft_decoder_finish(decoder) == 0);
	return decoder;
}

static struct weft_model *model_of(const struct weft_range *range)
{
	struct weft_decoder *one = open_stream(&maker.stream), *decoder = one;
	struct weft_decoder *other = is_merged ? open_stream(&first) : NULL;
	struct weft_model *model;
	const struct weft_decoder_part parts[] = {{.decoder = other}, {.decoder = one}};
	if (is_merged)
		must(weft_decoder_create_merged(parts, 2, &decoder) == 0);
	must((range ? weft_decoder_build_range(decoder, range, NULL, &model)
				: weft_decoder_build_model(decoder, NULL, &model)) == 0);
	weft_decoder_destroy(decoder);
	if (is_merged)
		weft_decoder_destroy(one);
	weft_decoder_destroy(other);
	return model;
}

/* A model of a range, that of the whole trace, and the range. */
struct pair {
	const struct weft_model *part, *whole;
	uint64_t start, end;
	const char *name;
	bool is_cut; /* the part is a trace of its own, with which the lines of tracks end */
};

#define check(p, condition, ...)                                                            \
	do                                                                                      \
		if (!(condition)) {                                                                 \
			print_message("# %s [%llu, %llu): ", (p)->name, (unsigned long long)(p)->start, \
				(unsigned long long)(p)->end);                                              \
			print_message(__VA_ARGS__);                                                     \
			fail_msg("%s", #condition);                                                     \
		}                                                                                   \
	while (0)

/* The task of the whole trace. */
static uint32_t same_task(const struct pair *p, uint32_t task)
{
	const struct weft_tasks *t = &p->part->tasks;
	if (task == WEFT_NONE)
		return WEFT_NONE;
	uint32_t same = weft_model_find_task(p->whole, t->buffer[task], t->id[task]);
	check(p, same != WEFT_NONE, "task %llu ", (unsigned long long)t->id[task]);
	return same;
}

static bool is_text(
	const struct weft_model *a, uint32_t text, const struct weft_model *b, uint32_t other)
{
	struct weft_slice left = weft_model_string(a, text), right = weft_model_string(b, other);
	return left.size == right.size && memcmp(left.bytes, right.bytes, left.size) == 0;
}

/* True if it is one of the labels that the task has in the whole trace. */
static bool has_label(const struct pair *p, uint32_t task, uint32_t label)
{
	const struct weft_model *w = p->whole;
	bool has = is_text(p->part, label, w, w->tasks.label[task]);
	for (uint32_t i = w->tasks.first_note[task]; i < w->tasks.end_note[task] && !has; i++)
		has = w->notes.type[i] == WEFT_NOTE_LABEL && is_text(p->part, label, w, w->notes.text[i]);
	return has;
}

/* A part that was cut has its edge as the time of something that lies over it. */
static bool is_same_time(const struct pair *p, uint64_t of_part, uint64_t of_whole)
{
	if (p->is_cut && of_whole < p->start)
		return of_part == p->start;
	if (p->is_cut && of_whole > p->end)
		return of_part == p->end;
	return of_part == of_whole;
}

static void compare_task(const struct pair *p, uint32_t task)
{
	const struct weft_tasks *a = &p->part->tasks, *b = &p->whole->tasks;
	const uint32_t same = same_task(p, task);
	const unsigned long long id = a->id[task];
	check(p, a->label[task] == WEFT_NONE || has_label(p, same, a->label[task]), "task %llu ", id);
	if (a->flags[task] & WEFT_TASK_CREATED) {
		check(p, b->flags[same] & WEFT_TASK_CREATED, "task %llu ", id);
		check(p, a->start[task] == b->start[same], "task %llu ", id);
		check(p, a->kind[task] == b->kind[same], "task %llu ", id);
	} else {
		check(p, a->kind[task] == WEFT_KIND_PREEXISTING || a->kind[task] == b->kind[same],
			"task %llu ", id);
	}
	if (a->flags[task] & WEFT_TASK_RESOLVED) {
		check(p, a->outcome[task] == b->outcome[same], "task %llu ", id);
		check(p, is_same_time(p, a->end[task], b->end[same]), "task %llu ", id);
	} else if (a->outcome[task] != WEFT_OUTCOME_UNKNOWN) {
		check(p, a->outcome[task] == b->outcome[same], "task %llu ", id);
	}
}

/* For how long the task ran on the thread within the range. */
static uint64_t running(
	const struct pair *p, const struct weft_model *m, uint32_t task, uint32_t thread)
{
	uint64_t sum = 0;
	for (uint32_t i = m->tasks.first_activation[task]; i < m->tasks.end_activation[task]; i++) {
		uint64_t start = m->activations.start[i], end = m->activations.end[i];
		start = start > p->start ? start : p->start;
		end = end < p->end ? end : p->end;
		sum += m->activations.thread[i] == thread && end > start ? end - start : 0;
	}
	return sum;
}

static uint32_t find_in_part(const struct pair *p, uint32_t task)
{
	return weft_model_find_task(p->part, p->whole->tasks.buffer[task], p->whole->tasks.id[task]);
}

static void compare_running(const struct pair *p)
{
	for (uint32_t task = 0; task < p->whole->tasks.count; task++) {
		const uint32_t same = find_in_part(p, task);
		for (uint32_t thread = 0; thread < p->whole->thread_count; thread++) {
			const uint64_t whole = running(p, p->whole, task, thread);
			const uint64_t part = same == WEFT_NONE ? 0 : running(p, p->part, same, thread);
			check(p, whole == part, "task %llu thread %u whole %llu part %llu ",
				(unsigned long long)p->whole->tasks.id[task], thread, (unsigned long long)whole,
				(unsigned long long)part);
		}
	}
}

/* The edges of the range: how many there are of each sum of what they have. */
static uint64_t sum_of_edges(const struct pair *p, const struct weft_model *m, uint32_t *ret_count)
{
	const struct weft_edges *e = &m->edges;
	uint64_t sum = 0;
	*ret_count = 0;
	for (uint32_t i = 0; i < e->count; i++) {
		/* A later read may answer a try_read. */
		if (e->time[i] < p->start || e->time[i] >= p->end || e->type[i] == WEFT_EDGE_TRY_READ)
			continue;
		const uint64_t from = e->from[i] == WEFT_NONE ? 0 : m->tasks.id[e->from[i]];
		uint64_t hash = e->time[i] * 31 + e->type[i];
		hash = (hash * 1000003 + from) * 1000003 + m->tasks.id[e->to[i]];
		sum += hash * UINT64_C(0x9e3779b97f4a7c15);
		++*ret_count;
	}
	return sum;
}

static void compare_edges(const struct pair *p)
{
	uint32_t whole, part;
	const uint64_t of_whole = sum_of_edges(p, p->whole, &whole);
	const uint64_t of_part = sum_of_edges(p, p->part, &part);
	check(p, whole == part && of_whole == of_part, "%u edges, of the part %u ", whole, part);
}

static void compare_spans(const struct pair *p)
{
	const struct weft_spans *a = &p->part->spans, *b = &p->whole->spans;
	for (uint32_t task = 0; a->first && task < p->part->tasks.count; task++) {
		const uint32_t same = same_task(p, task);
		for (uint32_t i = a->first[task]; i < a->last[task]; i++) {
			/* Open spans end with their task, of which the whole trace may show more. */
			bool has = !(p->part->tasks.flags[task] & WEFT_TASK_RESOLVED) &&
					   a->end[i] == p->part->tasks.end[task];
			for (uint32_t k = b->first[same]; k < b->last[same] && !has; k++)
				has = is_same_time(p, a->start[i], b->start[k]) &&
					  is_same_time(p, a->end[i], b->end[k]) &&
					  is_text(p->part, a->name[i], p->whole, b->name[k]);
			check(p, has, "span [%llu, %llu) of task %llu ", (unsigned long long)a->start[i],
				(unsigned long long)a->end[i], (unsigned long long)p->part->tasks.id[task]);
		}
	}
}

static const struct weft_counter *same_counter(const struct pair *p, const struct weft_counter *c)
{
	for (uint32_t i = 0; i < p->whole->counter_count; i++)
		if (p->whole->counters[i].buffer == c->buffer &&
			is_text(p->part, c->name, p->whole, p->whole->counters[i].name))
			return &p->whole->counters[i];
	return NULL;
}

/* The value that the counter has after all samples up to a time. */
static int64_t value_at(const struct weft_model *m, const struct weft_counter *c, uint64_t time)
{
	int64_t value = 0;
	for (uint32_t i = c->first; i < c->first + c->count && m->samples.time[i] <= time; i++)
		value = m->samples.value[i];
	return value;
}

static void compare_counters(const struct pair *p)
{
	for (uint32_t i = 0; i < p->part->counter_count; i++) {
		const struct weft_counter *a = &p->part->counters[i], *b = same_counter(p, a);
		check(p, b, "a counter ");
		for (uint32_t k = a->first; k < a->first + a->count && !a->is_relative && !b->is_relative;
			 k++) {
			const uint64_t time = p->part->samples.time[k];
			check(p, value_at(p->part, a, time) == value_at(p->whole, b, time), "a counter ");
		}
	}
}

/* `is_complete`: no packets are missing, so nothing of the range is unknown for that. */
static void compare(const struct pair *p, bool is_complete)
{
	const struct weft_model_summary *a = &p->part->summary, *b = &p->whole->summary;
	check(p, a->start == b->start && a->end <= b->end, "summary ");
	for (uint32_t task = 0; task < p->part->tasks.count; task++)
		compare_task(p, task);
	compare_spans(p);
	compare_counters(p);
	if (!is_complete)
		return;
	compare_running(p);
	compare_edges(p);
}

/* Reads a range of the stream. */
static void check_range(const struct weft_model *whole, uint64_t start, uint64_t length,
	uint64_t past, bool is_complete, const char *name)
{
	const struct weft_range range = {
		.start_ns = start, .duration_ns = length, .past_ns = past, .is_absolute = true};
	struct weft_model *part = model_of(&range);
	compare(&(struct pair){part, whole, start, start + length, name, false}, is_complete);
	weft_model_destroy(part);
}

static void check_ranges(uint64_t seed, bool is_complete)
{
	struct weft_model *whole = model_of(NULL);
	char name[32];
	snprintf(name, sizeof(name), "seed %u", (unsigned)seed);
	for (int i = 0; i < 8; i++) {
		const uint32_t start = 1000 + pick(maker.now - 1000), past = pick(2) * pick(100000);
		check_range(whole, start, pick(200000), past, is_complete, name);
	}
	weft_model_destroy(whole);
}

static void ranges_of_random_streams(void **state)
{
	(void)state;
	is_merged = false;
	for (uint64_t seed = 1; seed <= 80; seed++) {
		make_stream(seed, seed % 2);
		check_ranges(seed, seed % 2 == 0);
	}
}

/* The seek may leave alone an event that a stream has given first. */
static void ranges_of_two_streams(void **state)
{
	(void)state;
	is_merged = true;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		make_stream(seed + 1000, false);
		first = maker.stream;
		make_stream(seed, false);
		check_ranges(seed, true);
	}
}

/* ---- Parts that were cut ---- */

static struct weft_text part_bytes;

static int append(void *context, const void *bytes, size_t size)
{
	weft_text_add(context, bytes, size);
	return part_bytes.error;
}

static void cut_part(uint64_t start, uint64_t end)
{
	const struct weft_cut_range range = {.start_ns = start, .end_ns = end};
	const struct weft_cut_sink sink = {append, &part_bytes};
	struct weft_decoder *decoder = open_stream(&maker.stream);
	struct weft_event event;
	struct weft_cut *cut;
	part_bytes.size = 0;
	must(weft_cut_create(&range, "whole", &sink, &cut) == 0);
	while (weft_decoder_next(decoder, &event) == WEFT_OK)
		must(weft_cut_add(cut, &event, weft_decoder_describe(decoder)) >= 0);
	must(weft_cut_finish(cut, weft_decoder_describe(decoder)) == 0);
	weft_cut_destroy(cut);
	weft_decoder_destroy(decoder);
}

static struct weft_model *model_of_part(const struct weft_model_part *part)
{
	struct weft_decoder *decoder;
	struct weft_model_builder *builder;
	struct weft_event event;
	struct weft_model *model;
	must(weft_decoder_create(&decoder) == 0);
	must(weft_decoder_feed_borrowed(decoder, part_bytes.bytes, part_bytes.size) == 0);
	must(weft_decoder_finish(decoder) == 0);
	must(weft_model_builder_create(&builder) == 0);
	weft_model_builder_set_part(builder, part);
	while (weft_decoder_next(decoder, &event) == WEFT_OK)
		must(weft_model_builder_add(builder, &event, weft_decoder_diagnostics(decoder)) == 0);
	must(weft_model_builder_finish(builder, weft_decoder_describe(decoder), &model) == 0);
	weft_model_builder_destroy(builder);
	weft_decoder_destroy(decoder);
	return model;
}

/* The rest of the whole trace is dark. */
static void compare_part(const struct pair *p)
{
	const struct weft_model_summary *s = &p->part->summary, *all = &p->whole->summary;
	const bool has_before = p->start > all->start, has_behind = p->end <= all->last;
	unsigned unread = 0;
	compare(p, false);
	for (uint32_t i = 0; i < p->part->dark_count; i++)
		unread += p->part->dark[i].reason == WEFT_DARK_UNREAD;
	check(p, unread == (unsigned)has_before + has_behind, "dark ");
	check(p, s->end >= all->last || !has_behind, "end ");
	check(p, !has_before || s->read_start == p->start, "start of what was read ");
	check(p, !has_behind || s->read_end == p->end, "end of what was read ");
	check(p, has_before || has_behind || !s->read_end, "all was read ");
}

static void parts_of_random_streams(void **state)
{
	(void)state;
	is_merged = false;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		make_stream(seed, false);
		struct weft_model *whole = model_of(NULL);
		const uint64_t first_ns = whole->summary.start, last_ns = whole->summary.last;
		for (unsigned i = 0; i < 6; i++) {
			const uint64_t start = i ? first_ns + pick((uint32_t)(last_ns - first_ns)) : first_ns;
			const uint64_t end = i != 1 ? start + 1 + pick(200000) : last_ns + 1;
			const struct weft_model_part part = {first_ns, last_ns, start, end};
			cut_part(start, end);
			struct weft_model *model = model_of_part(&part);
			compare_part(&(struct pair){model, whole, start, end, "part", true});
			weft_model_destroy(model);
		}
		weft_model_destroy(whole);
	}
	weft_text_finish(&part_bytes);
}

/* ---- Rules ---- */

/* A thread's packets, each with a switch to a task at its begin, and a change of a counter; a task
 * is created in the first and ends in the last one. */
static struct weft_model *model_of_life(uint64_t start, uint64_t length)
{
	const struct weft_abi_buffer header = made_header();
	const struct weft_range range = {.start_ns = start, .duration_ns = length};
	maker = (struct maker){.now = 1000};
	is_merged = false;
	made_begin(&maker.stream, &header);
	made_name(&maker.stream, 0, "counter");
	struct writer *w = &maker.writers[0];
	w->task = 1;
	for (unsigned i = 0; i < 10; i++) {
		open_packet(w);
		put(w, WEFT_ABI_SWITCH, 0, 1, 2);
		put(w, WEFT_ABI_COUNTER, 1, 1, 2);
		if (i == 0)
			put(w, WEFT_ABI_CREATE, 0, 2, 2);
		if (i == 9)
			put(w, WEFT_ABI_RESOLVE, 0, 2, 2);
		close_packet(w);
		maker.now += 10000;
	}
	return model_of(&range);
}

static unsigned outcome_of(const struct weft_model *model, weft_task_id id)
{
	const uint32_t task = weft_model_find_task(model, 0, id);
	return task == WEFT_NONE ? WEFT_OUTCOMES : model->tasks.outcome[task];
}

static void a_range_has_its_own_summary(void **state)
{
	(void)state;
	struct weft_model *model = model_of_life(45000, 20000);
	assert_int_equal(model->summary.start, 1000);
	assert_int_equal(model->summary.read_start, 46000);
	assert_int_equal(model->summary.read_end, 66000);
	assert_int_equal(model->summary.end, 91000); /* the last event */
	assert_int_equal(model->dark_count, 2);
	assert_int_equal(model->dark[0].start, 1000);
	assert_int_equal(model->dark[0].end, 46000);
	assert_int_equal(model->dark[1].start, 66000);
	assert_int_equal(model->dark[1].end, 91000);
	assert_int_equal(model->dark[1].reason, WEFT_DARK_UNREAD);
	/* It runs all the time, also before the first event of the range and behind the last one. */
	const uint32_t task = weft_model_find_task(model, 0, 1);
	assert_int_equal(model->tasks.outcome[task], WEFT_OUTCOME_UNKNOWN);
	assert_int_equal(model->tasks.end[task], 66000);
	assert_true(model->counters[0].is_relative);
	weft_model_destroy(model);
}

static void a_range_that_has_all_is_the_trace(void **state)
{
	(void)state;
	struct weft_model *model = model_of_life(0, UINT64_MAX);
	assert_int_equal(model->summary.read_end, 0);
	assert_int_equal(model->dark_count, 0);
	assert_int_equal(outcome_of(model, 1), WEFT_OUTCOME_UNFINISHED);
	assert_int_equal(outcome_of(model, 2), WEFT_OUTCOME_FULFILLED);
	weft_model_destroy(model);
}

/* Behind it nothing was left out; a task that began before may have ended unseen. */
static void a_range_up_to_the_end_knows_the_end(void **state)
{
	(void)state;
	struct weft_model *model = model_of_life(70000, UINT64_MAX);
	assert_int_equal(model->dark_count, 1);
	assert_int_equal(outcome_of(model, 1), WEFT_OUTCOME_UNKNOWN);
	assert_int_equal(outcome_of(model, 2), WEFT_OUTCOME_FULFILLED);
	weft_model_destroy(model);
}

static void a_range_from_the_begin_on_knows_the_begin(void **state)
{
	(void)state;
	struct weft_model *model = model_of_life(0, 20000);
	const uint32_t task = weft_model_find_task(model, 0, 2);
	assert_int_equal(model->dark_count, 1);
	assert_true(model->tasks.flags[task] & WEFT_TASK_CREATED);
	assert_int_equal(model->tasks.outcome[task], WEFT_OUTCOME_UNKNOWN);
	assert_int_equal(model->tasks.end[task], 21000);
	assert_false(model->counters[0].is_relative);
	weft_model_destroy(model);
}

/* A stream of a process that records a switch to task 1 at these times. */
static struct made_stream stream_of_process(uint32_t pid, uint32_t time, uint32_t later)
{
	struct weft_abi_buffer header = made_header();
	header.pid = pid;
	maker = (struct maker){.now = time};
	made_begin(&maker.stream, &header);
	struct writer *w = &maker.writers[0];
	w->task = UINT64_MAX;
	for (unsigned i = 0; i < 2; i++, maker.now = later) {
		open_packet(w);
		put(w, WEFT_ABI_SWITCH, 0, w->task = 1, 2);
		close_packet(w);
	}
	return maker.stream;
}

/* Among several processes, one of whose end nothing is known ends with its last event: not in a
 * range, of which that is unknown. */
static void a_process_may_go_on_behind_a_range(void **state)
{
	(void)state;
	const struct weft_range range = {.duration_ns = 50000};
	is_merged = true;
	first = stream_of_process(7, 1000, 90000);
	(void)stream_of_process(8, 2000, 80000);
	struct weft_model *model = model_of(&range);
	assert_int_equal(model->tasks.count, 2);
	for (uint32_t task = 0; task < 2; task++) {
		assert_int_equal(model->tasks.outcome[task], WEFT_OUTCOME_UNKNOWN);
		assert_int_equal(model->tasks.end[task], 51000);
		assert_int_equal(weft_model_running_ns(model, task), task ? 49000 : 50000);
	}
	weft_model_destroy(model);
}

static void a_range_without_events_is_no_error(void **state)
{
	(void)state;
	struct weft_model *model = model_of_life(UINT64_MAX, 5);
	assert_int_equal(model->summary.start, 1000);
	assert_true(model->summary.last < model->summary.read_start);
	weft_model_destroy(model);
}

static void a_range_before_the_trace_is_at_its_begin(void **state)
{
	const struct weft_range before = {.start_ns = 1, .duration_ns = 5, .is_absolute = true};
	(void)state;
	weft_model_destroy(model_of_life(0, 0));
	struct weft_model *model = model_of(&before);
	assert_int_equal(model->summary.events, 0);
	assert_int_equal(model->summary.start, 1000);
	assert_int_equal(model->summary.read_start, 1000);
	assert_int_equal(model->summary.read_end, 1000);
	assert_int_equal(model->summary.end, 91000);
	weft_model_destroy(model);
}

/* A thread runs no task, but counts; perhaps one in the last packet of the range. */
static struct weft_model *model_of_counts(bool runs)
{
	const struct weft_abi_buffer header = made_header();
	const struct weft_range range = {.start_ns = 40000, .duration_ns = 25000};
	maker = (struct maker){.now = 1000};
	is_merged = false;
	made_begin(&maker.stream, &header);
	made_name(&maker.stream, 0, "counter");
	struct writer *w = &maker.writers[0];
	w->task = UINT64_MAX;
	for (unsigned i = 0; i < 10; i++, maker.now += 10000) {
		open_packet(w);
		put(w, WEFT_ABI_COUNTER, 1, 1, 2);
		if (runs && i == 6)
			put(w, WEFT_ABI_SWITCH, 0, w->task = 1, 2);
		close_packet(w);
	}
	return model_of(&range);
}

static void a_thread_that_runs_nothing_is_not_idle(void **state)
{
	(void)state;
	struct weft_model *model = model_of_counts(false);
	assert_int_equal(model->band_count, 0);
	assert_true(model->presences[0].start > model->presences[0].end);
	weft_model_destroy(model);
	model = model_of_counts(true);
	assert_int_equal(model->band_count, 1);
	assert_int_equal(model->bands[0].end, 61000);
	weft_model_destroy(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranges_of_random_streams),
		cmocka_unit_test(ranges_of_two_streams),
		cmocka_unit_test(parts_of_random_streams),
		cmocka_unit_test(a_range_has_its_own_summary),
		cmocka_unit_test(a_range_that_has_all_is_the_trace),
		cmocka_unit_test(a_range_up_to_the_end_knows_the_end),
		cmocka_unit_test(a_range_from_the_begin_on_knows_the_begin),
		cmocka_unit_test(a_process_may_go_on_behind_a_range),
		cmocka_unit_test(a_range_without_events_is_no_error),
		cmocka_unit_test(a_range_before_the_trace_is_at_its_begin),
		cmocka_unit_test(a_thread_that_runs_nothing_is_not_idle),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
