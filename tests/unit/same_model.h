/* SPDX-License-Identifier: ISC
 *
 * Compares models by meaning: a live model has dropped edges and unused places that others lack.
 */
#ifndef WEFT_TESTS_SAME_MODEL_H
#define WEFT_TESTS_SAME_MODEL_H

#include <stdlib.h>
#include <string.h>

#include <weft/model.h>

static void same_string(
	const struct weft_model *a, uint32_t string_a, const struct weft_model *b, uint32_t string_b)
{
	struct weft_slice x = weft_model_string(a, string_a), y = weft_model_string(b, string_b);
	assert_int_equal(string_a == WEFT_NONE, string_b == WEFT_NONE);
	assert_int_equal(x.size, y.size);
	assert_memory_equal(x.bytes, y.bytes, x.size);
	assert_int_equal(x.bytes[x.size], 0);
}

/* The number of each edge without the dropped ones; the caller frees it. */
static uint32_t *number_edges(const struct weft_model *m, uint32_t *ret_count)
{
	uint32_t *number = calloc(m->edges.count + 1, sizeof(*number));
	*ret_count = 0;
	for (uint32_t edge = 0; edge < m->edges.count; edge++)
		number[edge] = m->edges.type[edge] == WEFT_EDGE_DROPPED ? WEFT_NONE : (*ret_count)++;
	return number;
}

static uint32_t next_edge(const struct weft_model *m, uint32_t edge)
{
	while (edge < m->edges.count && m->edges.type[edge] == WEFT_EDGE_DROPPED)
		edge++;
	return edge;
}

static void same_edges(const struct weft_model *a, const struct weft_model *b)
{
	const struct weft_edges *e = &a->edges, *f = &b->edges;
	uint32_t edges, others, i = next_edge(a, 0), j = next_edge(b, 0);
	uint32_t *x = number_edges(a, &edges), *y = number_edges(b, &others);
	assert_int_equal(edges, others);
	for (; i < e->count; i = next_edge(a, i + 1), j = next_edge(b, j + 1)) {
		assert_int_equal(e->time[i], f->time[j]);
		assert_int_equal(e->from[i], f->from[j]);
		assert_int_equal(e->to[i], f->to[j]);
		assert_int_equal(e->type[i], f->type[j]);
	}
	assert_int_equal(e->by_actor_count, f->by_actor_count);
	for (uint32_t task = 0; task < a->tasks.count; task++) {
		uint32_t first = a->tasks.first_edge[task], other = b->tasks.first_edge[task];
		uint32_t count = a->tasks.end_edge[task] - first;
		assert_int_equal(count, b->tasks.end_edge[task] - other);
		for (uint32_t k = 0; k < count; k++)
			assert_int_equal(x[e->by_actor[first + k]], y[f->by_actor[other + k]]);
	}
	free(x);
	free(y);
}

/* With the attributes of marks, whose rows may differ. */
static void same_note(
	const struct weft_model *a, uint32_t note, const struct weft_model *b, uint32_t other)
{
	char x[200], y[200];
	weft_model_format_note(a, note, x, sizeof(x));
	weft_model_format_note(b, other, y, sizeof(y));
	assert_string_equal(x, y);
	assert_int_equal(weft_model_attribute_count(a, note), weft_model_attribute_count(b, other));
	for (uint32_t i = weft_model_attribute_count(a, note); i-- > 0;)
		assert_int_equal(
			weft_model_attribute(a, note, i).type, weft_model_attribute(b, other, i).type);
}

static void same_notes_of(const struct weft_model *a, const struct weft_model *b, uint32_t task)
{
	const struct weft_notes *n = &a->notes, *o = &b->notes;
	uint32_t first = a->tasks.first_note[task], other = b->tasks.first_note[task];
	uint32_t count = a->tasks.end_note[task] - first;
	assert_int_equal(count, b->tasks.end_note[task] - other);
	for (uint32_t i = 0; i < count; i++) {
		assert_int_equal(n->time[first + i], o->time[other + i]);
		assert_int_equal(n->value[first + i], o->value[other + i]);
		assert_int_equal(n->type[first + i], o->type[other + i]);
		same_string(a, n->text[first + i], b, o->text[other + i]);
		same_note(a, first + i, b, other + i);
	}
}

static void same_runs_of(const struct weft_model *a, const struct weft_model *b, uint32_t task)
{
	const struct weft_activations *x = &a->activations, *y = &b->activations;
	uint32_t first = a->tasks.first_activation[task], other = b->tasks.first_activation[task];
	uint32_t count = a->tasks.end_activation[task] - first;
	assert_int_equal(count, b->tasks.end_activation[task] - other);
	for (uint32_t i = 0; i < count; i++) {
		assert_int_equal(x->start[first + i], y->start[other + i]);
		assert_int_equal(x->end[first + i], y->end[other + i]);
		assert_int_equal(x->thread[first + i], y->thread[other + i]);
	}
}

/* The ends of open spans differ: at a snapshot they reach the present. */
static void same_span(const struct weft_model *a, const struct weft_span *x,
	const struct weft_model *b, const struct weft_span *y)
{
	assert_int_equal(x->start, y->start);
	assert_int_equal(x->depth, y->depth);
	same_string(a, x->name, b, y->name);
	if (!x->is_open && !y->is_open)
		assert_int_equal(x->end, y->end);
}

static void same_spans(const struct weft_model *a, const struct weft_model *b)
{
	for (uint32_t task = 0; task < a->tasks.count; task++) {
		uint32_t count = weft_model_span_count(a, task);
		assert_int_equal(count, weft_model_span_count(b, task));
		for (uint32_t i = 0; i < count; i++) {
			const struct weft_span x = weft_model_span(a, task, i), y = weft_model_span(b, task, i);
			same_span(a, &x, b, &y);
		}
	}
}

static void same_off_cpu(const struct weft_model *a, const struct weft_model *b)
{
	for (uint32_t task = 0; task < a->tasks.count; task++) {
		uint32_t x = a->off_cpu.first ? a->off_cpu.first[task] : 0;
		uint32_t y = b->off_cpu.first ? b->off_cpu.first[task] : 0;
		assert_int_equal(weft_model_off_cpu_ns(a, task), weft_model_off_cpu_ns(b, task));
		for (; a->off_cpu.first && x < a->off_cpu.last[task]; x++, y++) {
			assert_int_equal(a->off_cpu.start[x], b->off_cpu.start[y]);
			assert_int_equal(a->off_cpu.end[x], b->off_cpu.end[y]);
			assert_int_equal(a->off_cpu.ns[x], b->off_cpu.ns[y]);
			assert_int_equal(a->off_cpu.thread[x], b->off_cpu.thread[y]);
		}
	}
}

static void same_counters(const struct weft_model *a, const struct weft_model *b)
{
	const struct weft_samples *s = &a->samples, *r = &b->samples;
	assert_int_equal(a->counter_count, b->counter_count);
	assert_int_equal(s->count, r->count);
	for (uint32_t i = 0; i < a->counter_count; i++) {
		const struct weft_counter *c = &a->counters[i], *d = &b->counters[i];
		same_string(a, c->name, b, d->name);
		assert_int_equal(c->count, d->count);
		assert_true(c->min.real == d->min.real && c->min.is_real == d->min.is_real);
		assert_true(c->max.real == d->max.real);
		assert_int_equal(c->integers, d->integers);
		for (uint32_t k = 0; k < c->count; k++) {
			assert_int_equal(s->time[c->first + k], r->time[d->first + k]);
			assert_int_equal(s->value[c->first + k], r->value[d->first + k]);
			assert_int_equal(s->task[c->first + k], r->task[d->first + k]);
		}
	}
}

static void same_stacks(const struct weft_model *a, const struct weft_model *b)
{
	assert_int_equal(a->stacks.count, b->stacks.count);
	for (uint32_t i = 0; i < a->stacks.count; i++) {
		assert_int_equal(a->stacks.time[i], b->stacks.time[i]);
		assert_int_equal(a->stacks.task[i], b->stacks.task[i]);
		same_string(a, a->stacks.text[i], b, b->stacks.text[i]);
	}
}

static void same_task(const struct weft_model *a, const struct weft_model *b, uint32_t task)
{
	const struct weft_tasks *x = &a->tasks, *y = &b->tasks;
	assert_int_equal(x->id[task], y->id[task]);
	assert_int_equal(x->buffer[task], y->buffer[task]);
	assert_int_equal(x->start[task], y->start[task]);
	assert_int_equal(x->parent[task], y->parent[task]);
	assert_int_equal(x->becomes[task], y->becomes[task]);
	assert_int_equal(x->kind[task], y->kind[task]);
	same_string(a, x->label[task], b, y->label[task]);
}

/* Compares the columns which no rule for the end of a trace changes. */
static inline void same_facts(const struct weft_model *a, const struct weft_model *b)
{
	assert_int_equal(a->tasks.count, b->tasks.count);
	assert_int_equal(a->notes.count, b->notes.count);
	assert_int_equal(a->creation_count, b->creation_count);
	assert_int_equal(a->thread_count, b->thread_count);
	assert_int_equal(a->summary.events, b->summary.events);
	assert_int_equal(a->summary.start, b->summary.start);
	assert_int_equal(a->summary.preexisting, b->summary.preexisting);
	for (unsigned i = 0; i < WEFT_OUTCOMES; i++)
		if (i != WEFT_OUTCOME_NEVER_RESOLVED && i != WEFT_OUTCOME_UNFINISHED)
			assert_int_equal(a->summary.by_outcome[i], b->summary.by_outcome[i]);
	assert_memory_equal(a->summary.by_event, b->summary.by_event, sizeof(a->summary.by_event));
	same_edges(a, b);
	same_counters(a, b);
	same_spans(a, b);
	same_off_cpu(a, b);
	same_stacks(a, b);
	for (uint32_t task = 0; task < a->tasks.count; task++) {
		same_task(a, b, task);
		same_notes_of(a, b, task);
	}
	for (uint32_t i = 0; i < a->creation_count; i++) {
		assert_int_equal(a->creations[i].task, b->creations[i].task);
		assert_int_equal(a->creations[i].time, b->creations[i].time);
	}
	for (uint32_t i = 0; i < a->thread_count; i++)
		assert_string_equal(a->threads[i].name, b->threads[i].name);
	assert_int_equal(a->buffer_count, b->buffer_count);
	for (uint32_t i = 0; i < a->buffer_count; i++)
		assert_string_equal(a->buffers[i].process, b->buffers[i].process);
}

static int by_band(const void *left, const void *right)
{
	const struct weft_band_period *l = left, *r = right;
	if (l->start != r->start)
		return l->start < r->start ? -1 : 1;
	if (l->thread != r->thread)
		return l->thread < r->thread ? -1 : 1;
	if (l->kind != r->kind)
		return l->kind < r->kind ? -1 : 1;
	return l->end < r->end ? -1 : l->end > r->end;
}

static struct weft_band_period *sorted_bands(const struct weft_model *m)
{
	struct weft_band_period *bands = calloc(m->band_count + 1, sizeof(*bands));
	for (uint32_t i = 0; i < m->band_count; i++) {
		assert_true(i == 0 || m->bands[i - 1].start <= m->bands[i].start);
		bands[i] = m->bands[i];
	}
	qsort(bands, m->band_count, sizeof(*bands), by_band);
	return bands;
}

static void same_bands(const struct weft_model *a, const struct weft_model *b)
{
	struct weft_band_period *x = sorted_bands(a), *y = sorted_bands(b);
	assert_int_equal(a->band_count, b->band_count);
	for (uint32_t i = 0; i < a->band_count; i++) {
		assert_int_equal(by_band(&x[i], &y[i]), 0);
		same_string(a, x[i].reason, b, y[i].reason);
	}
	free(x);
	free(y);
}

/* Activations and bands: equal if the live model's present is the last event. */
static inline void same_periods(const struct weft_model *a, const struct weft_model *b)
{
	assert_int_equal(a->summary.end, b->summary.end);
	assert_int_equal(a->activations.count, b->activations.count);
	for (uint32_t task = 0; task < a->tasks.count; task++)
		same_runs_of(a, b, task);
	same_bands(a, b);
	assert_int_equal(a->thread_count, b->thread_count);
	for (uint32_t thread = 0; thread < a->thread_count; thread++) {
		assert_int_equal(a->presences[thread].start, b->presences[thread].start);
		assert_int_equal(a->presences[thread].end, b->presences[thread].end);
	}
}

/* A sum over all that a model says, to notice any change. */
static inline uint64_t checksum(const struct weft_model *m)
{
	uint64_t sum = m->summary.end + m->summary.events;
#define ADD(value) sum = (sum ^ (uint64_t)(value)) * UINT64_C(0x9e3779b97f4a7c15) + 1
	for (uint32_t t = 0; t < m->tasks.count; t++) {
		ADD(m->tasks.id[t] + m->tasks.start[t] * 3 + m->tasks.end[t] * 5 + m->tasks.flags[t]);
		ADD(m->tasks.parent[t] + m->tasks.becomes[t] * UINT64_C(7) + m->tasks.kind[t]);
		ADD(m->tasks.label[t] + m->tasks.message[t] * UINT64_C(7) + m->tasks.buffer[t]);
		for (uint32_t i = m->tasks.first_edge[t]; i < m->tasks.end_edge[t]; i++)
			ADD(m->edges.by_actor[i]);
		for (uint32_t i = m->tasks.first_note[t]; i < m->tasks.end_note[t]; i++)
			ADD(m->notes.time[i] + m->notes.text[i] + (uint64_t)m->notes.value[i] +
				m->notes.type[i]);
		for (uint32_t i = m->tasks.first_activation[t]; i < m->tasks.end_activation[t]; i++)
			ADD(m->activations.start[i] + m->activations.end[i] * 3 + m->activations.thread[i]);
	}
	for (uint32_t t = 0; t < m->tasks.count; t++)
		for (uint32_t i = 0; i < weft_model_span_count(m, t); i++) {
			const struct weft_span span = weft_model_span(m, t, i);
			ADD(span.start + span.end * 3 + span.name * UINT64_C(5) + span.depth);
		}
	for (uint32_t t = 0; t < m->tasks.count && m->off_cpu.first; t++)
		for (uint32_t i = m->off_cpu.first[t]; i < m->off_cpu.last[t]; i++)
			ADD(m->off_cpu.start[i] + m->off_cpu.end[i] * 3 + m->off_cpu.ns[i] * 5 +
				m->off_cpu.thread[i]);
	for (uint32_t e = 0; e < m->edges.count; e++)
		ADD(m->edges.time[e] + m->edges.from[e] * 3 + m->edges.to[e] * 5 + m->edges.type[e]);
	for (uint32_t c = 0; c < m->counter_count; c++)
		for (uint32_t i = m->counters[c].first; i < m->counters[c].first + m->counters[c].count;
			 i++)
			ADD(m->samples.time[i] + (uint64_t)m->samples.value[i] + m->samples.task[i]);
	for (uint32_t i = 0; i < m->band_count; i++)
		ADD(m->bands[i].start + m->bands[i].end * 3 + m->bands[i].reason);
	for (uint32_t i = 0; i < weft_model_string_count(m); i++)
		ADD(weft_model_string(m, i).bytes[0] + weft_model_string(m, i).size);
#undef ADD
	return sum;
}

#endif
