/* SPDX-License-Identifier: ISC
 *
 * Makes events of an xentrace file while it grows. Some records are about the past: an interrupt is
 * recorded at its end, and a hypercall is known to have been preempted when it is issued again. So
 * records wait in a queue until those of the next tenth of a second have come, too:
 *
 *     growing.c, in the order of time ──▶ search ──▶ queue ──▶ meaning ──▶ events
 *                                            └─ hindsight ─▲
 *
 * Memory holds that tenth of a second, however long the trace is. A record that says something
 * about one that has left the queue comes too late: then the hypercall's record counts as a call of
 * its own, the kick is not shown, and the interrupt begins at the time that was reached. So does
 * the stop of the vCPU at a loss, which is recorded at its end.
 */
#include "format/xentrace/incoming.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "format/weft/follow/queue.h"
#include "format/xentrace/growing.h"
#include "format/xentrace/meaning.h"
#include "format/xentrace/survey.h"

/* A part of a second. Xen's schedulers let a vCPU run for up to 30 ms. */
#define AHEAD 10

/* With more records than this in that time, the queue gives the first ones earlier. */
#define QUEUED_MAX ((size_t)1 << 19)
#define QUEUED_MIN ((size_t)1 << 10)

#define LANES_MAX 0x8000u /* a vCPU of dom0 has 15 bits */

struct queued {
	struct weft__xentrace_record record;
	struct weft__xentrace_hindsight hindsight;
};

struct xentrace_incoming {
	struct weft__xentrace_reader reader; /* has the clock and the pCPUs */
	struct weft_xentrace_growing *growing;
	uint64_t batch; /* of `growing` */
	struct weft__xentrace_search search;
	struct weft__xentrace_meaning *meaning;
	struct weft__xentrace_survey *survey; /* counts the times between hypercalls */
	uint64_t *hypercalls;                 /* by pCPU: cycles, if its last record is one; else 0 */
	uint32_t cpu_count;
	uint16_t index_of[WEFT__XENTRACE_CPUS_MAX]; /* by number: 1 + the pCPU's index; 0: none yet */
	struct queued *queue; /* a ring; the record of number n is at n % capacity */
	size_t capacity;      /* a power of 2 */
	uint64_t first, next; /* the numbers of the queue's first record and of the next one */
	uint64_t last_cycles; /* of the last record */
	struct weft__xentrace_moments moments;
	struct weft__queue irqs; /* by begin, in cycles; that of the pCPU `sequence` */
	size_t irq_capacity;
	uint32_t kicks;
	bool is_flushed, has_ended;
};

static struct xentrace_incoming *of(struct weft__reader *base)
{
	return (struct xentrace_incoming *)base;
}

/* ---- pCPUs ---- */

static int add_cpu(struct xentrace_incoming *in, uint32_t number)
{
	struct weft__xentrace_reader *r = &in->reader;
	char name[WEFT__XENTRACE_THREAD_BYTES];
	uint32_t index = in->cpu_count++;
	in->index_of[number] = (uint16_t)in->cpu_count;
	r->running[index].now.domain = WEFT_XENTRACE_UNKNOWN;
	r->cpu_count = in->cpu_count;
	weft__format_xentrace_kicks_know(&in->search.kicks, index, number);
	in->meaning->senders++;
	snprintf(name, sizeof(name), "pCPU %u", number);
	return weft__format_xentrace_add_thread(
		r, name, number, WEFT__XENTRACE_XEN, &in->meaning->pcpus[index].thread);
}

/* pCPUs that come in one batch, normally all in the first one, are in the order of numbers. */
static int add_cpus(struct xentrace_incoming *in, const struct weft__xentrace_windows *windows)
{
	int error = 0;
	for (size_t i = 0; i < windows->cpu_count && !error; i++)
		if (!in->index_of[windows->cpus[i].number])
			error = add_cpu(in, windows->cpus[i].number);
	return error;
}

/* ---- The queue ---- */

/* Makes room for one more record. */
static int grow_queue(struct xentrace_incoming *in)
{
	size_t capacity = in->capacity ? 2 * in->capacity : QUEUED_MIN;
	if (in->next - in->first < in->capacity)
		return 0;
	struct queued *queue = malloc(capacity * sizeof(*queue));
	if (!queue)
		return WEFT_ERROR_MEMORY;
	for (uint64_t number = in->first; number < in->next; number++)
		queue[number % capacity] = in->queue[number % in->capacity];
	free(in->queue);
	in->queue = queue;
	in->capacity = capacity;
	return 0;
}

/* The facts about a record in the queue; NULL if it has left. */
static struct weft__xentrace_hindsight *hindsight_of(struct xentrace_incoming *in, uint64_t number)
{
	return number >= in->first ? &in->queue[number % in->capacity].hindsight : NULL;
}

static int add_irq(struct xentrace_incoming *in, const struct weft__xentrace_irq *irq)
{
	const struct weft__column column = {&in->irqs.entries, sizeof(*in->irqs.entries)};
	int error = weft__columns_reserve(&column, 1, &in->irq_capacity, in->irqs.count + (size_t)1);
	if (!error)
		weft__format_queue_push(
			&in->irqs, (struct weft__queue_entry){
						   .time_ns = irq->begin, .sequence = irq->cpu, .followed = irq->number});
	return error;
}

/* Tells the records in the queue what this one, its last one, says about them. */
static int take_finding(struct xentrace_incoming *in, const struct weft__xentrace_finding *finding,
	struct queued *queued)
{
	struct weft__xentrace_hindsight *call = finding->call ? hindsight_of(in, finding->call) : NULL;
	struct weft__xentrace_hindsight *tickle =
		finding->tickle ? hindsight_of(in, finding->tickle) : NULL;
	if (call) {
		call->continuations++;
		queued->hindsight.is_continuation = true;
	}
	if (tickle) {
		const struct weft__xentrace_hindsight kick = {
			.kick = ++in->kicks, .target = queued->record.cpu};
		*tickle = queued->hindsight = kick;
	}
	return finding->has_irq ? add_irq(in, &finding->irq) : 0;
}

/* The estimate of the shortest times becomes better with their number. */
static void count_gap(struct xentrace_incoming *in, const struct weft__xentrace_record *record)
{
	uint64_t *last = &in->hypercalls[record->cpu];
	bool is_one = record->id == WEFT__XENTRACE_HYPERCALL && record->has_cycles;
	if (is_one && *last && record->cycles > *last) {
		weft__format_xentrace_add_gap(in->survey, record->cycles - *last);
		uint32_t count = in->survey->gap_count;
		if (!(count & (count - 1)) || count % 4096 == 0)
			in->search.quick_cycles = weft__format_xentrace_quick_cycles(in->survey);
	}
	*last = is_one ? record->cycles : 0;
}

static int enqueue(struct xentrace_incoming *in, const struct weft__xentrace_record *record)
{
	struct weft__xentrace_finding finding;
	int error = grow_queue(in);
	if (error)
		return error;
	struct queued *queued = &in->queue[in->next % in->capacity];
	*queued = (struct queued){.record = *record};
	queued->record.number = in->next++;
	count_gap(in, record);
	error = weft__format_xentrace_search_take(&in->search, &queued->record, &finding);
	if (record->cycles > in->last_cycles)
		in->last_cycles = record->cycles;
	return error ? error : take_finding(in, &finding, queued);
}

/* ---- Records ---- */

/* The first batch tells the clock; each may tell whose exits these are. */
static int take_batch(struct xentrace_incoming *in, const struct weft__xentrace_reader *batch)
{
	struct weft__xentrace_reader *r = &in->reader;
	r->clock = batch->clock;
	r->is_svm = batch->is_svm;
	in->meaning->is_filtered |= weft__format_xentrace_is_filtered(&batch->windows);
	r->base.input.description->clock = *weft_xentrace_growing_clock(in->growing);
	int error = add_cpus(in, &batch->windows);
	return error ? error
				 : weft__format_xentrace_moments_add(
					   &in->moments, batch->windows.notes, batch->windows.note_count);
}

/* Reads a record into the queue. WEFT_OK, WEFT_AGAIN, or an error. */
static int read_record(struct xentrace_incoming *in)
{
	const struct weft__xentrace_record *record;
	uint64_t number;
	int status = weft__format_xentrace_growing_take(in->growing, &record);
	if (status != WEFT_OK)
		return status;
	const struct weft__xentrace_reader *batch =
		weft__format_xentrace_growing_batch(in->growing, &number);
	int error = number != in->batch ? take_batch(in, batch) : 0;
	in->batch = number;
	if (error)
		return error;
	struct weft__xentrace_record own = *record;
	own.cpu = in->index_of[batch->windows.cpus[record->cpu].number] - 1u;
	own.offset = 0; /* it is one in the batch */
	if (own.is_loss_begin && in->search.cpus[own.cpu].running.is_in_loss)
		return WEFT_OK; /* the batch before ended within the loss */
	return enqueue(in, &own);
}

static uint64_t ahead_cycles(const struct xentrace_incoming *in)
{
	return in->reader.base.input.description->clock.hz / AHEAD;
}

static bool is_ready(const struct xentrace_incoming *in)
{
	if (in->first == in->next)
		return false;
	const struct weft__xentrace_record *record = &in->queue[in->first % in->capacity].record;
	return in->has_ended || in->next - in->first == QUEUED_MAX ||
		   in->last_cycles - record->cycles > ahead_cycles(in);
}

/* Makes events of the queue's first record, or of what comes before: an interrupt that begins, or a
 * moment of dom0's Linux. */
static void take_first(struct xentrace_incoming *in)
{
	const struct queued *queued = &in->queue[in->first % in->capacity];
	const struct weft__queue_entry *begin = in->irqs.entries;
	const bool is_irq = in->irqs.count && begin->time_ns <= queued->record.cycles;
	const struct weft__xentrace_moment *moment = weft__format_xentrace_moments_peek(
		&in->moments, is_irq ? begin->time_ns : queued->record.cycles);
	if (moment) {
		in->moments.next++;
		weft__format_xentrace_meaning_moment(in->meaning, moment);
		return;
	}
	if (is_irq) {
		const struct weft__xentrace_irq irq = {
			begin->time_ns, (uint32_t)begin->sequence, begin->followed};
		weft__format_queue_remove_first(&in->irqs);
		weft__format_xentrace_meaning_begin_irq(in->meaning, &irq);
		return;
	}
	in->first++;
	weft__format_xentrace_meaning_take(in->meaning, &queued->record, &queued->hindsight);
}

static void end(struct xentrace_incoming *in)
{
	weft__format_xentrace_meaning_end(in->meaning);
	weft__format_xentrace_end_buffers(in->meaning, in->last_cycles);
}

/* ---- The interface ---- */

static int feed(struct xentrace_incoming *in, struct weft__window *window)
{
	size_t size = window->size;
	int error = weft_xentrace_growing_feed(in->growing, window->bytes, size);
	if (!error)
		weft__format_window_take(window, size);
	return error;
}

/* No record is complete. WEFT_OK: look again. */
static int wait_or_end(struct xentrace_incoming *in, const struct weft__window *window)
{
	if (!window->is_whole)
		return WEFT_AGAIN;
	if (!in->is_flushed)
		weft_xentrace_growing_flush(in->growing, true);
	else
		in->has_ended = true;
	in->is_flushed = true;
	return WEFT_OK;
}

/* Reads a record, or makes events of one. WEFT_OK, WEFT_AGAIN, WEFT_END, or an error. */
static int advance(struct xentrace_incoming *in, const struct weft__window *window)
{
	if (is_ready(in)) {
		take_first(in);
		return WEFT_OK;
	}
	if (in->has_ended) {
		end(in);
		return WEFT_END;
	}
	int status = read_record(in);
	return status == WEFT_AGAIN ? wait_or_end(in, window) : status;
}

static int incoming_next(
	struct weft__reader *base, struct weft__window *window, struct weft_event *ret_event)
{
	struct xentrace_incoming *in = of(base);
	int status = feed(in, window);
	while (status == WEFT_OK &&
		   (status = weft__format_xentrace_meaning_next(in->meaning, ret_event)) == WEFT_AGAIN) {
		status = advance(in, window);
		if (status == WEFT_END) /* which may have made events */
			return weft__format_xentrace_meaning_next(in->meaning, ret_event) == WEFT_OK ? WEFT_OK
																						 : status;
	}
	return status;
}

static bool incoming_is_pending(const struct weft__reader *base, const struct weft__window *window)
{
	const struct xentrace_incoming *in = (const struct xentrace_incoming *)base;
	return in->first < in->next || window->size ||
		   !weft__format_xentrace_growing_is_empty(in->growing);
}

/* Records to come are later than the last one, and records in the queue at most 0.1 s earlier. */
static uint64_t incoming_mark(const struct weft__reader *base)
{
	const struct xentrace_incoming *in = (const struct xentrace_incoming *)base;
	uint64_t ahead = ahead_cycles(in);
	return in->last_cycles > ahead
			   ? weft__format_xentrace_ns(&in->reader.clock, in->last_cycles - ahead)
			   : 0;
}

static void incoming_close(struct weft__reader *base)
{
	struct xentrace_incoming *in = of(base);
	weft_xentrace_growing_destroy(in->growing);
	weft__format_xentrace_meaning_destroy(in->meaning);
	weft__format_xentrace_search_finish(&in->search);
	weft__format_xentrace_finish(&in->reader);
	weft__format_queue_finish(&in->irqs);
	weft__format_xentrace_moments_finish(&in->moments);
	free(in->survey);
	free(in->hypercalls);
	free(in->queue);
	free(in);
}

/* The tables of pCPUs have room for all that there may be: most of it is never touched. */
static int make_tables(struct xentrace_incoming *in)
{
	struct weft__xentrace_reader *r = &in->reader;
	struct weft_trace_description *description = r->base.input.description;
	r->running = calloc(WEFT__XENTRACE_CPUS_MAX, sizeof(*r->running));
	in->survey = calloc(1, sizeof(*in->survey));
	in->hypercalls = calloc(WEFT__XENTRACE_CPUS_MAX, sizeof(*in->hypercalls));
	description->clock.name = "tsc";
	if (!r->running || !in->survey || !in->hypercalls)
		return WEFT_ERROR_MEMORY;
	return weft__format_xentrace_reserve_threads(r, WEFT__XENTRACE_CPUS_MAX + LANES_MAX);
}

/* A part of a merged trace is read whole, because it has to know its buffers when it begins. */
static int incoming_prepare(const struct weft__input *input, size_t *examined)
{
	(void)examined;
	return input->readings || input->is_part ? WEFT_END : WEFT_OK;
}

static int incoming_start(
	const struct weft__input *input, size_t examined, struct weft__reader **ret_reader)
{
	(void)examined;
	struct xentrace_incoming *in = calloc(1, sizeof(*in));
	if (!in)
		return WEFT_ERROR_MEMORY;
	in->reader.base.input = *input;
	in->first = in->next = 1;
	int error = make_tables(in);
	if (!error)
		error = weft_xentrace_growing_create(input->hz, &in->growing);
	if (!error)
		error =
			weft__format_xentrace_search_init(&in->search, &in->reader, WEFT__XENTRACE_CPUS_MAX);
	if (!error)
		error = weft__format_xentrace_meaning_create(
			&in->reader, WEFT__XENTRACE_CPUS_MAX, &in->meaning);
	if (error) {
		incoming_close(&in->reader.base);
		return error;
	}
	weft__format_xentrace_growing_report(in->growing, input->diagnostics);
	*ret_reader = &in->reader.base;
	return WEFT_OK;
}

const struct weft__incoming weft__xentrace_incoming = {
	.prepare = incoming_prepare,
	.start = incoming_start,
	.next = incoming_next,
	.is_pending = incoming_is_pending,
	.mark = incoming_mark,
	.close = incoming_close,
};
