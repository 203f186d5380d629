/* SPDX-License-Identifier: ISC
 *
 * A whole file is read twice: the first pass finds what later records tell of earlier ones, the
 * second one makes events. Both have the records in one order, so these are named by their numbers.
 */
#include "format/xentrace/whole.h"

#include <stdlib.h>

#include "base/array.h"
#include "format/xentrace/meaning.h"
#include "format/xentrace/survey.h"

/* A record of which later ones tell something. */
struct told {
	uint64_t number;
	struct weft__xentrace_hindsight what;
};

struct weft__xentrace_whole {
	struct weft__xentrace_reader *reader;
	struct weft__xentrace_meaning *meaning;
	struct weft__xentrace_irq *irqs; /* by begin */
	size_t irq_count, irq_capacity;
	size_t irq;        /* the next one */
	struct told *told; /* by number */
	size_t told_count, told_capacity;
	size_t next; /* of `told` */
	uint32_t kicks;
	uint64_t last_cycles;                       /* of all records */
	const struct weft__xentrace_record *record; /* the next one; NULL: none is left */
	bool has_begun;                             /* `record` was set */
};

/* ---- The first pass ---- */

static int tell(
	struct weft__xentrace_whole *w, uint64_t number, struct weft__xentrace_hindsight what)
{
	const struct weft__column column = {&w->told, sizeof(*w->told)};
	int error = weft__columns_reserve(&column, 1, &w->told_capacity, w->told_count + 1);
	if (!error)
		w->told[w->told_count++] = (struct told){number, what};
	return error;
}

static int tell_call(struct weft__xentrace_whole *w, uint64_t first, uint64_t number)
{
	int error = tell(w, first, (struct weft__xentrace_hindsight){.continuations = 1});
	return error ? error
				 : tell(w, number, (struct weft__xentrace_hindsight){.is_continuation = true});
}

static int tell_kick(
	struct weft__xentrace_whole *w, uint64_t tickle, const struct weft__xentrace_record *record)
{
	const struct weft__xentrace_hindsight kick = {.kick = ++w->kicks, .target = record->cpu};
	int error = tell(w, tickle, kick);
	return error ? error : tell(w, record->number, kick);
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
		error = tell_call(w, finding->call, record->number);
	if (!error && finding->tickle)
		error = tell_kick(w, finding->tickle, record);
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

static int compare_told(const void *a, const void *b)
{
	uint64_t first = ((const struct told *)a)->number, second = ((const struct told *)b)->number;
	return (first > second) - (first < second);
}

/* Sorts the list, and counts the continuations of each hypercall. */
static void sort_told(struct weft__xentrace_whole *w)
{
	size_t count = 0;
	if (w->told_count)
		qsort(w->told, w->told_count, sizeof(*w->told), compare_told);
	for (size_t i = 0; i < w->told_count; i++) {
		if (count && w->told[count - 1].number == w->told[i].number)
			w->told[count - 1].what.continuations += w->told[i].what.continuations;
		else
			w->told[count++] = w->told[i];
	}
	w->told_count = count;
}

static int search_records(struct weft__xentrace_whole *w, struct weft__xentrace_search *search)
{
	struct weft__xentrace_records records = {0};
	const struct weft__xentrace_record *record;
	struct weft__xentrace_finding finding;
	int error = weft__xentrace_records_init(
		&records, w->reader->base.input.bytes, &w->reader->windows, NULL, NULL);
	while (!error && weft__xentrace_records_next(&records, &record)) {
		error = weft__xentrace_search_take(search, record, &finding);
		if (!error)
			error = take_finding(w, &finding, record);
		w->last_cycles = record->cycles;
	}
	weft__xentrace_records_finish(&records);
	return error;
}

static int search(struct weft__xentrace_whole *w, uint64_t quick_cycles)
{
	const struct weft__xentrace_windows *windows = &w->reader->windows;
	struct weft__xentrace_search search;
	int error = weft__xentrace_search_init(&search, w->reader, windows->cpu_count);
	search.quick_cycles = quick_cycles;
	for (uint32_t i = 0; i < windows->cpu_count && !error; i++)
		weft__xentrace_kicks_know(&search.kicks, i, windows->cpus[i].number);
	if (!error)
		error = search_records(w, &search);
	w->meaning->shows_raises = !w->reader->clock.rate && !search.has_gaps;
	weft__xentrace_search_finish(&search);
	if (w->irq_count)
		qsort(w->irqs, w->irq_count, sizeof(*w->irqs), compare_irqs);
	sort_told(w);
	return error;
}

/* Finds all that must be known before the first event. */
static int prepare(struct weft__xentrace_whole *w)
{
	struct weft__xentrace_reader *r = w->reader;
	struct weft__xentrace_survey *survey = calloc(1, sizeof(*survey));
	if (!survey)
		return WEFT_ERROR_MEMORY;
	weft__xentrace_survey(r->base.input.bytes, &r->windows, UINT64_MAX, survey);
	r->is_svm = survey->is_svm;
	r->has_vendor = true;
	int error = search(w, weft__xentrace_quick_cycles(survey));
	for (uint32_t domain = 0; domain < WEFT__XENTRACE_DOMAINS && !error; domain++) {
		w->meaning->sleepers[domain].vcpus = survey->vcpus[domain];
		if (survey->domains[domain / 8] >> domain % 8 & 1)
			error = weft__xentrace_add_domain(w->meaning, domain);
	}
	free(survey);
	weft__xentrace_end_buffers(w->meaning, w->last_cycles);
	w->meaning->senders = (uint32_t)r->windows.cpu_count;
	return error;
}

int weft__xentrace_whole_create(
	struct weft__xentrace_reader *reader, struct weft__xentrace_whole **ret_whole)
{
	struct weft__xentrace_whole *w = calloc(1, sizeof(*w));
	if (!w)
		return WEFT_ERROR_MEMORY;
	w->reader = reader;
	int error = weft__xentrace_meaning_create(reader, reader->windows.cpu_count, &w->meaning);
	if (!error)
		error = prepare(w);
	if (error)
		weft__xentrace_whole_destroy(w);
	else
		*ret_whole = w;
	return error;
}

void weft__xentrace_whole_destroy(struct weft__xentrace_whole *w)
{
	if (!w)
		return;
	weft__xentrace_meaning_destroy(w->meaning);
	free(w->irqs);
	free(w->told);
	free(w);
}

/* ---- The second pass ---- */

static void read_record(struct weft__xentrace_whole *w)
{
	if (!weft__xentrace_records_next(&w->reader->records, &w->record))
		w->record = NULL;
}

static const struct weft__xentrace_hindsight *hindsight_of(
	struct weft__xentrace_whole *w, uint64_t number)
{
	static const struct weft__xentrace_hindsight none;
	bool is_next = w->next < w->told_count && w->told[w->next].number == number;
	return is_next ? &w->told[w->next++].what : &none;
}

/* Moves on to the next record or interrupt; false at the end. */
static bool advance(struct weft__xentrace_whole *w)
{
	if (!w->has_begun)
		read_record(w);
	w->has_begun = true;
	if (!w->record)
		return false;
	if (w->irq < w->irq_count && w->irqs[w->irq].begin <= w->record->cycles) {
		weft__xentrace_meaning_begin_irq(w->meaning, &w->irqs[w->irq++]);
		return true;
	}
	weft__xentrace_meaning_take(w->meaning, w->record, hindsight_of(w, w->record->number));
	read_record(w);
	return true;
}

int weft__xentrace_whole_next(struct weft__xentrace_whole *w, struct weft_event *ret_event)
{
	int status;
	bool goes_on = true;
	while ((status = weft__xentrace_meaning_next(w->meaning, ret_event)) == WEFT_AGAIN) {
		if (!goes_on)
			return WEFT_END;
		goes_on = advance(w);
		if (!goes_on)
			weft__xentrace_meaning_end(w->meaning);
	}
	return status;
}
