/* SPDX-License-Identifier: ISC
 *
 * A whole file is read twice: the first pass finds what later records reveal of earlier ones, the
 * second one makes events. Both have the records in one order, so these are named by their numbers.
 */
#include "format/xentrace/whole.h"

#include <stdlib.h>

#include "base/array.h"
#include "format/xentrace/meaning.h"
#include "format/xentrace/survey.h"

/* Facts that later records reveal of the record with this number. */
struct late_fact {
	uint64_t number;
	struct weft__xentrace_hindsight hindsight;
};

struct weft__xentrace_whole {
	struct weft__xentrace_reader *reader;
	struct weft__xentrace_meaning *meaning;
	struct weft__xentrace_irq *irqs; /* by begin */
	size_t irq_count, irq_capacity;
	size_t irq; /* the next one */
	struct weft__xentrace_moments moments;
	struct late_fact *facts; /* by number */
	size_t fact_count, fact_capacity;
	size_t next; /* of `facts` */
	uint32_t kicks;
	uint64_t last_cycles;                       /* of all records */
	const struct weft__xentrace_record *record; /* the next one; NULL: none is left */
	bool has_begun;                             /* `record` was set */
};

/* ---- The first pass ---- */

static int add_fact(
	struct weft__xentrace_whole *w, uint64_t number, struct weft__xentrace_hindsight hindsight)
{
	const struct weft__column column = {&w->facts, sizeof(*w->facts)};
	int error = weft__columns_reserve(&column, 1, &w->fact_capacity, w->fact_count + 1);
	if (!error)
		w->facts[w->fact_count++] = (struct late_fact){number, hindsight};
	return error;
}

static int add_call(struct weft__xentrace_whole *w, uint64_t first, uint64_t number)
{
	int error = add_fact(w, first, (struct weft__xentrace_hindsight){.continuations = 1});
	return error ? error
				 : add_fact(w, number, (struct weft__xentrace_hindsight){.is_continuation = true});
}

static int add_kick(
	struct weft__xentrace_whole *w, uint64_t tickle, const struct weft__xentrace_record *record)
{
	const struct weft__xentrace_hindsight kick = {.kick = ++w->kicks, .target = record->cpu};
	int error = add_fact(w, tickle, kick);
	return error ? error : add_fact(w, record->number, kick);
}

static int add_irq(struct weft__xentrace_whole *w, struct weft__xentrace_irq irq)
{
	const struct weft__column column = {&w->irqs, sizeof(*w->irqs)};
	int error = weft__columns_reserve(&column, 1, &w->irq_capacity, w->irq_count + 1);
	if (!error)
		w->irqs[w->irq_count++] = irq;
	return error;
}

static int take_finding(struct weft__xentrace_whole *w,
	const struct weft__xentrace_finding *finding, const struct weft__xentrace_record *record)
{
	int error = 0;
	if (finding->call)
		error = add_call(w, finding->call, record->number);
	if (!error && finding->tickle)
		error = add_kick(w, finding->tickle, record);
	if (!error && finding->has_irq)
		error = add_irq(w, finding->irq);
	return error;
}

static int compare_irqs(const void *a, const void *b)
{
	const struct weft__xentrace_irq *first = a, *second = b;
	if (first->begin != second->begin)
		return first->begin < second->begin ? -1 : 1;
	return (first->cpu > second->cpu) - (first->cpu < second->cpu);
}

static int compare_facts(const void *a, const void *b)
{
	uint64_t first = ((const struct late_fact *)a)->number,
			 second = ((const struct late_fact *)b)->number;
	return (first > second) - (first < second);
}

/* Sorts the list, and counts the continuations of each hypercall. */
static void sort_facts(struct weft__xentrace_whole *w)
{
	size_t count = 0;
	if (w->fact_count)
		qsort(w->facts, w->fact_count, sizeof(*w->facts), compare_facts);
	for (size_t i = 0; i < w->fact_count; i++) {
		if (count && w->facts[count - 1].number == w->facts[i].number)
			w->facts[count - 1].hindsight.continuations += w->facts[i].hindsight.continuations;
		else
			w->facts[count++] = w->facts[i];
	}
	w->fact_count = count;
}

static int search_records(struct weft__xentrace_whole *w, struct weft__xentrace_search *search)
{
	struct weft__xentrace_records records = {0};
	const struct weft__xentrace_record *record;
	struct weft__xentrace_finding finding;
	int error = weft__format_xentrace_records_init(
		&records, w->reader->base.input.bytes, &w->reader->windows, NULL, NULL);
	while (!error && weft__format_xentrace_records_next(&records, &record)) {
		error = weft__format_xentrace_search_take(search, record, &finding);
		if (!error)
			error = take_finding(w, &finding, record);
		w->last_cycles = record->cycles;
	}
	weft__format_xentrace_records_finish(&records);
	return error;
}

static int search(struct weft__xentrace_whole *w, uint64_t quick_cycles)
{
	const struct weft__xentrace_windows *windows = &w->reader->windows;
	struct weft__xentrace_search search;
	int error = weft__format_xentrace_search_init(&search, w->reader, windows->cpu_count);
	search.quick_cycles = quick_cycles;
	for (uint32_t i = 0; i < windows->cpu_count && !error; i++)
		weft__format_xentrace_kicks_know(&search.kicks, i, windows->cpus[i].number);
	if (!error)
		error = search_records(w, &search);
	w->meaning->is_filtered = weft__format_xentrace_is_filtered(windows);
	w->meaning->shows_raises =
		!w->reader->clock.rate && !search.has_gaps && !w->meaning->is_filtered;
	weft__format_xentrace_search_finish(&search);
	if (w->irq_count)
		qsort(w->irqs, w->irq_count, sizeof(*w->irqs), compare_irqs);
	sort_facts(w);
	return error;
}

static int prepare_processes(struct weft__xentrace_whole *w)
{
	const struct weft__xentrace_windows *windows = &w->reader->windows;
	int error = weft__format_xentrace_moments_add(&w->moments, windows->notes, windows->note_count);
	if (!error)
		error = weft__format_xentrace_moments_name(&w->moments);
	return error ? error : weft__format_xentrace_describe_processes(w->meaning, &w->moments);
}

/* Finds all that must be known before the first event. */
static int prepare(struct weft__xentrace_whole *w)
{
	struct weft__xentrace_reader *r = w->reader;
	struct weft__xentrace_survey *survey = calloc(1, sizeof(*survey));
	if (!survey)
		return WEFT_ERROR_MEMORY;
	weft__format_xentrace_survey(r->base.input.bytes, &r->windows, UINT64_MAX, survey);
	r->is_svm = survey->is_svm;
	r->has_vendor = true;
	int error = search(w, weft__format_xentrace_quick_cycles(survey));
	for (uint32_t domain = 0; domain < WEFT__XENTRACE_DOMAINS && !error; domain++) {
		w->meaning->sleepers[domain].vcpus = survey->vcpus[domain];
		if (survey->domains[domain / 8] >> domain % 8 & 1)
			error = weft__format_xentrace_add_domain(w->meaning, domain);
	}
	free(survey);
	if (!error)
		error = prepare_processes(w);
	weft__format_xentrace_end_buffers(w->meaning, w->last_cycles);
	w->meaning->senders = (uint32_t)r->windows.cpu_count;
	return error;
}

int weft__format_xentrace_whole_create(
	struct weft__xentrace_reader *reader, struct weft__xentrace_whole **ret_whole)
{
	struct weft__xentrace_whole *w = calloc(1, sizeof(*w));
	if (!w)
		return WEFT_ERROR_MEMORY;
	w->reader = reader;
	int error =
		weft__format_xentrace_meaning_create(reader, reader->windows.cpu_count, &w->meaning);
	if (!error)
		error = prepare(w);
	if (error)
		weft__format_xentrace_whole_destroy(w);
	else
		*ret_whole = w;
	return error;
}

void weft__format_xentrace_whole_destroy(struct weft__xentrace_whole *w)
{
	if (!w)
		return;
	weft__format_xentrace_meaning_destroy(w->meaning);
	weft__format_xentrace_moments_finish(&w->moments);
	free(w->irqs);
	free(w->facts);
	free(w);
}

/* ---- The second pass ---- */

static void read_record(struct weft__xentrace_whole *w)
{
	if (!weft__format_xentrace_records_next(&w->reader->records, &w->record))
		w->record = NULL;
}

static const struct weft__xentrace_hindsight *hindsight_of(
	struct weft__xentrace_whole *w, uint64_t number)
{
	static const struct weft__xentrace_hindsight none;
	bool is_next = w->next < w->fact_count && w->facts[w->next].number == number;
	return is_next ? &w->facts[w->next++].hindsight : &none;
}

/* Moves on to the next record, interrupt or moment of dom0's Linux; false at the end. */
static bool advance(struct weft__xentrace_whole *w)
{
	if (!w->has_begun)
		read_record(w);
	w->has_begun = true;
	if (!w->record)
		return false;
	const bool is_irq = w->irq < w->irq_count && w->irqs[w->irq].begin <= w->record->cycles;
	const struct weft__xentrace_moment *moment = weft__format_xentrace_moments_peek(
		&w->moments, is_irq ? w->irqs[w->irq].begin : w->record->cycles);
	if (moment) {
		w->moments.next++;
		weft__format_xentrace_meaning_moment(w->meaning, moment);
		return true;
	}
	if (is_irq) {
		weft__format_xentrace_meaning_begin_irq(w->meaning, &w->irqs[w->irq++]);
		return true;
	}
	weft__format_xentrace_meaning_take(w->meaning, w->record, hindsight_of(w, w->record->number));
	read_record(w);
	return true;
}

int weft__format_xentrace_whole_next(struct weft__xentrace_whole *w, struct weft_event *ret_event)
{
	int status;
	bool goes_on = true;
	while ((status = weft__format_xentrace_meaning_next(w->meaning, ret_event)) == WEFT_AGAIN) {
		if (!goes_on)
			return WEFT_END;
		goes_on = advance(w);
		if (!goes_on)
			weft__format_xentrace_meaning_end(w->meaning);
	}
	return status;
}
