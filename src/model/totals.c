/* SPDX-License-Identifier: ISC
 *
 * The values of counters where the program says now and then what they are: in `total` events,
 * which also count changes that the trace lacks.
 *
 * A total gives an offset from what the trace's changes add up to. It holds before and after, as
 * far as no changes are missing in between: until the trace is dark for the buffer, its levels
 * change, or the counter is set. Between two totals with the same offset nothing is missing, even
 * if the trace is dark: what it has adds up.
 *
 *     samples    ×  ×  ×     ×  ×      ×  ×          ×  ×  ×
 *     totals              T        T         (dark)         T
 *     offset     ◀─ T's ──┘─ T's ─▶└─ T's ─▶        ◀─ T's ─┘
 *
 * That a counter was 0 when the record began is as good as a total of 0 before its first sample.
 *
 * Threads that count at the same moment may be seen in another order by the total than in the
 * trace. So of several totals without a gap the last one holds: it is that of the end, or close to
 * it.
 *
 * Samples of an unknown value at the begin of a trace are left out. If there are others, all values
 * of the counter stay relative.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "model/builder.h"
#include "model/dark.h"

/* ---- While the model is built ---- */

static int reserve(struct total_columns *t)
{
	const struct weft__column columns[] = {
		{&t->time, sizeof(*t->time)},
		{&t->offset, sizeof(*t->offset)},
		{&t->counter, sizeof(*t->counter)},
		{&t->samples, sizeof(*t->samples)},
		{&t->is_real, sizeof(*t->is_real)},
	};
	return weft__columns_reserve(
		columns, sizeof(columns) / sizeof(*columns), &t->capacity, t->count + (size_t)1);
}

static int64_t difference(struct weft_number total, struct weft_number observed)
{
	int64_t offset;
	if (total.is_real)
		return weft__model_bits_of(total.real - observed.real);
	if (!__builtin_sub_overflow(total.integer, observed.integer, &offset))
		return offset;
	return total.integer > 0 ? INT64_MAX : INT64_MIN;
}

int weft__model_builder_total(void *builder, uint32_t counter)
{
	struct weft_model_builder *b = builder;
	struct total_columns *t = &b->totals;
	const struct weft_number number = weft__model_state_number(&b->state, counter);
	int error = 0;
	if (counter == b->counters.count) {
		error = weft__model_builder_sample(b, counter, WEFT_NONE);
		if (!error)
			b->counters.list[counter].begins_total = true;
		return error;
	}
	error = reserve(t);
	if (error)
		return error;
	t->time[t->count] = b->state.now;
	t->offset[t->count] = difference(number, weft__model_state_observed(&b->state, counter));
	t->counter[t->count] = counter;
	t->samples[t->count] = b->counters.list[counter].count;
	t->is_real[t->count] = number.is_real;
	b->counters.list[counter].begins_at_0 |= b->state.counters.begins_at_0;
	t->count++;
	return 0;
}

/* ---- One counter ---- */

/* The samples and totals of a counter; `offset` and `is_known` are the result for each sample. */
struct work {
	const struct weft_model *model;
	const struct weft_trace_description *description;
	struct weft_counter *counter;
	const uint64_t *time; /* of samples */
	int64_t *value;
	const uint8_t *is_set;
	const struct total_columns *totals;
	uint32_t first, end; /* its totals */
	uint64_t known_ns;   /* before that, no change is missing */
	int64_t *offset;
	bool *is_known;
};

/* True if changes of the counter between two times may be missing. */
static bool is_gap(const struct work *w, uint64_t from, uint64_t to)
{
	return weft__model_dark_lacks_changes(w->description, w->model, w->counter->buffer, from, to);
}

/* True if changes before the trace, which is a part, may be missing before the sample. */
static bool begins_gap(const struct work *w, uint32_t sample)
{
	return w->counter->lacks_past && sample == w->counter->begins_set;
}

/* An integer has no offset with a fraction, and a real one may have lost an integer's digits. */
static void mark(struct work *w, uint32_t sample, uint32_t total)
{
	const struct total_columns *t = w->totals;
	if (t->is_real[total] != (sample >= w->counter->integers))
		return;
	w->offset[sample] = t->offset[total];
	w->is_known[sample] = true;
}

static void mark_set(struct work *w, uint32_t sample)
{
	w->offset[sample] = 0;
	w->is_known[sample] = true;
}

/* Goes on from a total; from 0 or the first set if there is none. */
static void go_forward(struct work *w, uint32_t from, uint32_t to, const uint32_t *total)
{
	uint64_t before = total ? w->totals->time[*total] : w->known_ns;
	bool is_known = total || w->counter->begins_at_0, is_set = !total;
	for (uint32_t i = from; i < to; i++) {
		is_set |= w->is_set[i];
		is_known &= (total || !begins_gap(w, i)) && !is_gap(w, before, w->time[i]);
		is_known |= w->is_set[i];
		if (is_known && is_set)
			mark_set(w, i);
		else if (is_known)
			mark(w, i, *total);
		before = w->time[i];
	}
}

/* Goes back from a total to the latest set. */
static void go_back(struct work *w, uint32_t from, uint32_t to, uint32_t total)
{
	uint64_t after = w->totals->time[total];
	for (uint32_t i = to; i > from; i--) {
		if (w->is_set[i - 1] || is_gap(w, w->time[i - 1], after) ||
			(w->time[i - 1] == after &&
				weft_model_dark(w->model, w->counter->buffer, after, after)))
			return;
		mark(w, i - 1, total);
		after = w->time[i - 1];
	}
}

/* The samples before a total and after the last one. */
static void find_before(struct work *w, uint32_t from, uint32_t to, uint32_t total)
{
	const struct total_columns *t = w->totals;
	const uint32_t last = total - 1;
	const bool has_last = total > w->first;
	const int64_t offset = has_last ? t->offset[last] : 0;
	const bool is_same =
		(has_last || w->counter->begins_at_0) && total < w->end && t->offset[total] == offset;
	for (uint32_t i = from; is_same && i < to; i++)
		mark(w, i, total);
	if (is_same)
		return;
	go_forward(w, from, to, has_last ? &last : NULL);
	if (total < w->end)
		go_back(w, from, to, total);
}

static void find_offsets(struct work *w)
{
	uint32_t from = 0;
	for (uint32_t total = w->first; total < w->end; total++) {
		find_before(w, from, w->totals->samples[total], total);
		from = w->totals->samples[total];
	}
	find_before(w, from, w->counter->count, w->end);
}

/* The samples at the begin that have no known value. `*ret_others`: so have later ones. */
static uint32_t count_unknown(const struct work *w, bool *ret_others)
{
	uint32_t leading = 0, i;
	while (leading < w->counter->count && !w->is_known[leading])
		leading++;
	for (i = leading; i < w->counter->count && w->is_known[i]; i++)
		;
	*ret_others = i < w->counter->count;
	return leading;
}

static struct weft_number sum(int64_t value, int64_t offset, bool is_real)
{
	if (is_real)
		value = weft__model_bits_of(weft__model_real_of(value) + weft__model_real_of(offset));
	else if (__builtin_add_overflow(value, offset, &value))
		value = offset > 0 ? INT64_MAX : INT64_MIN;
	return (struct weft_number){
		is_real ? weft__model_real_of(value) : (double)value, value, is_real};
}

/* The value before a sample; 0 if the sample sets it. */
static struct weft_number value_before(const struct work *w, uint32_t sample)
{
	const bool is_real = sample >= w->counter->integers;
	const bool is_same_type = sample && is_real == (sample - 1 >= w->counter->integers);
	if (w->is_set[sample])
		return (struct weft_number){0};
	return sum(is_same_type ? w->value[sample - 1] : 0, w->offset[sample], is_real);
}

/* Leaves out the first samples, and makes the values of the others those of the program. */
static void correct(struct work *w, uint32_t leading)
{
	const struct weft_counter *old = w->counter;
	struct weft_counter c = {.name = old->name,
		.buffer = old->buffer,
		.first = old->first + leading,
		.begins_total = old->begins_total && !leading};
	const struct weft_number start = value_before(w, leading);
	for (uint32_t i = leading; i < old->count; i++) {
		struct weft_number number = sum(w->value[i], w->offset[i], i >= old->integers);
		w->value[i] = number.integer; /* also the bits of a real one */
		weft__model_counter_summarize(&c, number, w->is_set[i]);
	}
	c.begins_set |= leading > 0;
	c.start = start;
	*w->counter = c;
}

/* The value that the program said after the last sample. */
static void set_end(const struct work *w)
{
	struct weft_counter *c = w->counter;
	const struct total_columns *t = w->totals;
	const uint32_t last = w->end - 1;
	const bool is_real = c->count > c->integers;
	if (!c->count || t->samples[last] < c->count || t->is_real[last] != is_real)
		return;
	c->end = sum(w->value[c->count - 1], t->offset[last], is_real);
	c->is_end_known = true;
}

static void correct_if_known(struct work *w)
{
	bool has_others;
	memset(w->is_known, 0, w->counter->count * sizeof(*w->is_known));
	find_offsets(w);
	uint32_t leading = count_unknown(w, &has_others);
	if (!has_others && leading < w->counter->count) {
		correct(w, leading);
		return;
	}
	w->counter->is_relative = true;
	set_end(w);
}

/* ---- All of them ---- */

static void correct_all(struct work *w, struct weft_model *m, int64_t *value, const uint8_t *is_set,
	const uint32_t *first)
{
	struct weft_counter *list = (struct weft_counter *)(uintptr_t)m->counters;
	for (uint32_t i = 0; i < m->counter_count; i++) {
		struct weft_counter *c = &list[i];
		w->counter = c;
		w->time = m->samples.time + c->first;
		w->value = value + c->first;
		w->is_set = is_set + c->first;
		w->first = first[i];
		w->end = first[i + 1];
		if (w->first < w->end)
			correct_if_known(w);
	}
}

static void *copy(const void *rows, size_t bytes)
{
	void *made = malloc(bytes ? bytes : 1);
	if (made && bytes)
		memcpy(made, rows, bytes);
	return made;
}

static void finish(struct total_columns *t)
{
	free(t->time);
	free(t->offset);
	free(t->counter);
	free(t->samples);
	free(t->is_real);
}

/* The totals in the order of their counters; the builder goes on to add to its own. */
static int group(const struct total_columns *totals, uint32_t counters,
	struct total_columns *ret_grouped, uint32_t **ret_first)
{
	struct total_columns *t = ret_grouped;
	const struct weft__column columns[] = {{&t->time, sizeof(*t->time)},
		{&t->offset, sizeof(*t->offset)}, {&t->samples, sizeof(*t->samples)},
		{&t->is_real, sizeof(*t->is_real)}};
	const size_t n = totals->count;
	*t = (struct total_columns){
		.count = totals->count,
		.time = copy(totals->time, n * sizeof(*t->time)),
		.offset = copy(totals->offset, n * sizeof(*t->offset)),
		.counter = copy(totals->counter, n * sizeof(*t->counter)),
		.samples = copy(totals->samples, n * sizeof(*t->samples)),
		.is_real = copy(totals->is_real, n * sizeof(*t->is_real)),
	};
	if (!t->time || !t->offset || !t->counter || !t->samples || !t->is_real)
		return WEFT_ERROR_MEMORY;
	return weft__model_group_columns(&t->counter, t->count, counters, columns, 4, ret_first);
}

static uint32_t most_samples(const struct weft_model *m)
{
	uint32_t most = 0;
	for (uint32_t i = 0; i < m->counter_count; i++)
		if (m->counters[i].count > most)
			most = m->counters[i].count;
	return most;
}

int weft__model_totals_apply(const struct weft_model_builder *b,
	const struct weft_trace_description *description, struct weft_model *m, int64_t *value,
	const uint8_t *is_set)
{
	struct total_columns totals;
	uint32_t *first = NULL;
	const size_t samples = most_samples(m) + (size_t)1;
	struct work w = {.model = m,
		.known_ns = b->known_ns,
		.description = description,
		.totals = &totals,
		.offset = malloc(samples * sizeof(*w.offset)),
		.is_known = malloc(samples * sizeof(*w.is_known))};
	int error = group(&b->totals, m->counter_count, &totals, &first);
	if (!w.offset || !w.is_known)
		error = WEFT_ERROR_MEMORY;
	if (!error)
		correct_all(&w, m, value, is_set, first);
	finish(&totals);
	free(w.offset);
	free(w.is_known);
	free(first);
	return error;
}
