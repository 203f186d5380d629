/* SPDX-License-Identifier: ISC
 *
 * Connections that wait to be accepted, where both sides are in the trace. The kernel hands them
 * out in the order in which they came, so the n-th that came is the n-th that was accepted; those
 * of clients that are not in the trace only make the backlog seem shorter.
 */
#include "story/problems/backlogs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/sort.h"
#include "story/problems/findings.h"
#include "story/runs.h"

#define LISTENERS_MAX 16 /* of different addresses that are looked at */
#define LOOKED_MAX    16 /* edges of a connection that are examined for the end of a wait */
#define LEAST_SHARE   50 /* 1 / share of the trace: a wait that long is reported, … */
#define LEAST_NS      (100 * WEFT__MS) /* … and in a long trace one of that length */
#define LEAST_COUNT   4                /* tasks that wait at once */
#define HANG_NS       (500 * WEFT__MS) /* a killed program that accepts nothing for so long hangs */

struct backlog {
	struct weft__findings *findings;
	const struct weft_model *model;
	uint32_t listener, last;   /* `last`: the connection that was accepted last, or WEFT_NONE */
	uint64_t *came, *accepted; /* `came`: sorted by time, with the task */
	uint64_t *starts, *ends;   /* of waits */
	uint32_t *clients;
	uint32_t came_count, accepted_count, waits, left; /* `left`: waits without end */
	uint64_t longest, since;
};

static struct weft_slice label_of(const struct weft_model *model, uint32_t task)
{
	return weft_model_string(model, model->tasks.label[task]);
}

static bool is_same(struct weft_slice one, struct weft_slice other)
{
	return one.size == other.size && memcmp(one.bytes, other.bytes, one.size) == 0;
}

static bool take(struct weft_slice *text, const char *begin)
{
	const size_t size = strlen(begin);
	if (text->size < size || memcmp(text->bytes, begin, size) != 0)
		return false;
	text->bytes += size;
	text->size -= size;
	return true;
}

static bool is_listener(const struct weft_model *model, uint32_t task)
{
	return model->tasks.label[task] != WEFT_NONE && weft__story_is_of_category(model, task, "io") &&
		   weft__story_is_kind(model, task, "listener");
}

/* True for a connection to what is called "accept 127.0.0.1:80", "accept :80" or "accept unix
 * /run/x": "tcp 127.0.0.1:80", "unix /run/x". */
static bool leads_to(const struct weft_model *model, uint32_t task, struct weft_slice address)
{
	if (model->tasks.label[task] == WEFT_NONE || !weft__story_is_of_category(model, task, "io") ||
		model->tasks.outcome[task] == WEFT_OUTCOME_FAILED)
		return false;
	struct weft_slice label = label_of(model, task);
	if (weft__story_is_kind(model, task, "unix"))
		return address.size > 5 && is_same(label, address);
	if (!weft__story_is_kind(model, task, "tcp") || !take(&label, "tcp "))
		return false;
	if (address.bytes[0] == ':' && !take(&label, "127.0.0.1"))
		return false;
	return is_same(label, address);
}

/* ---- Who came, who was accepted ---- */

static void list_tasks(struct backlog *b)
{
	const struct weft_tasks *t = &b->model->tasks;
	const struct weft_slice name = label_of(b->model, b->listener);
	struct weft_slice address = name;
	uint64_t latest = 0;
	b->came_count = b->accepted_count = b->waits = b->left = 0;
	b->longest = 0;
	b->last = WEFT_NONE;
	if (!take(&address, "accept ") || !address.size)
		return;
	for (uint32_t task = 0; task < t->count; task++) {
		const uint32_t parent = t->parent[task];
		if (leads_to(b->model, task, address)) {
			b->clients[b->came_count] = task;
			b->came[b->came_count++] = t->start[task];
		} else if (parent != WEFT_NONE && is_listener(b->model, parent) &&
				   is_same(label_of(b->model, parent), name)) {
			b->accepted[b->accepted_count++] = t->start[task];
			b->last = t->start[task] >= latest ? task : b->last;
			latest = t->start[task] >= latest ? t->start[task] : latest;
		}
	}
	weft__sort_u64(b->came, b->came + b->came_count, b->came_count);
	weft__sort_u64(b->accepted, b->accepted + b->accepted_count, b->accepted_count);
}

/* When a task began to wait for the connection that waits at `until`; UINT64_MAX: none does. A wait
 * that was answered has only its read. */
static uint64_t waits_since(const struct backlog *b, uint32_t client, uint64_t until)
{
	const struct weft_edges *e = &b->model->edges;
	const uint64_t came = b->model->tasks.start[client];
	struct weft__edge_list to = weft__story_edges_to(b->findings->story, client);
	struct weft__runs runs;
	const uint32_t count = weft__story_edges_until(b->model, to, until);
	if (count && e->type[to.edges[count - 1]] == WEFT_EDGE_TRY_READ)
		return e->time[to.edges[count - 1]];
	for (uint32_t i = count; i < to.count && i - count < LOOKED_MAX; i++) {
		const uint32_t reader = e->from[to.edges[i]];
		if (e->type[to.edges[i]] != WEFT_EDGE_READ || reader == WEFT_NONE)
			continue;
		weft__story_runs_at(b->findings->story, reader, until, &runs);
		if (runs.is_running || runs.next < e->time[to.edges[i]])
			return UINT64_MAX;
		return runs.idle_since > came ? runs.idle_since : came;
	}
	return UINT64_MAX;
}

static void list_waits(struct backlog *b)
{
	const struct weft_tasks *t = &b->model->tasks;
	for (uint32_t i = 0; i < b->came_count; i++) {
		const uint32_t client = b->clients[i];
		const uint64_t at = weft__lower_bound_u64(b->came, b->came_count, t->start[client]);
		uint64_t end = t->end[client];
		const bool is_left = at >= b->accepted_count;
		if (!is_left && b->accepted[at] < end)
			end = b->accepted[at];
		if (end > t->end[b->listener])
			end = t->end[b->listener]; /* nothing is known after that */
		const uint64_t start = waits_since(b, client, end);
		if (start >= end)
			continue;
		b->starts[b->waits] = start;
		b->ends[b->waits++] = end;
		if (end - start > b->longest) {
			b->longest = end - start;
			b->since = start;
		}
	}
}

/* Clients that were killed earlier may have a record that ends early: they do not count. */
static void count_left(struct backlog *b)
{
	const uint64_t last = b->accepted_count ? b->accepted[b->accepted_count - 1] : 0;
	for (uint32_t i = 0; i < b->waits; i++)
		b->left += b->ends[i] > last && b->ends[i] - b->starts[i] >= b->longest / 2;
}

/* The largest number of waits at once, and when. Sorts both lists. */
static uint32_t most_at_once(struct backlog *b, uint64_t *ret_time)
{
	uint32_t most = 0;
	weft__sort_u64(b->starts, b->starts + b->waits, b->waits);
	weft__sort_u64(b->ends, b->ends + b->waits, b->waits);
	for (uint32_t i = 0, ended = 0; i < b->waits; i++) {
		while (b->ends[ended] <= b->starts[i])
			ended++;
		if (i + 1 - ended > most) {
			most = i + 1 - ended;
			*ret_time = b->starts[i];
		}
	}
	return most;
}

/* ---- The problem ---- */

/* The thread that used the connection first that was accepted last. */
static uint32_t acceptor(const struct backlog *b)
{
	if (b->last == WEFT_NONE)
		return WEFT_NONE;
	struct weft__edge_list to = weft__story_edges_to(b->findings->story, b->last);
	for (uint32_t i = 0; i < to.count; i++) {
		const uint32_t from = b->model->edges.from[to.edges[i]];
		if (from != WEFT_NONE && b->model->tasks.kind[from] == WEFT_KIND_THREAD)
			return from;
	}
	return WEFT_NONE;
}

/* "; thread 3 'server', which accepted before, waits for lock 4 'lock table'" */
static void write_acceptor(struct weft__sentence *s, const struct backlog *b, uint64_t time)
{
	struct weft_story_wait wait;
	const uint32_t task = acceptor(b);
	if (task == WEFT_NONE || !weft_story_wait_at(b->findings->story, task, time, &wait) ||
		wait.source == WEFT_NONE)
		return;
	struct weft__words *w = weft__story_clause(s, 6);
	weft__story_words_add(w, "; ");
	weft__story_words_add_task(w, b->model, task, 24);
	weft__story_words_add(w, ", which has accepted, waits for ");
	weft__story_words_add_other(w, b->model, wait.source, task, 28);
}

static bool is_killed(const struct backlog *b)
{
	const struct weft_model *m = b->model;
	const uint32_t buffer = m->tasks.buffer[b->listener];
	return weft_trace_buffer_at(m->buffers, m->buffer_count, buffer)->wait_status & 0x7f;
}

static void report(struct backlog *b)
{
	const uint64_t least = weft__story_least_ns(b->findings, LEAST_SHARE, LEAST_NS);
	uint64_t time = 0;
	const uint32_t most = most_at_once(b, &time);
	const bool hangs = b->left && b->longest >= HANG_NS && is_killed(b);
	if (b->longest < least || (most < LEAST_COUNT && !hangs))
		return;
	struct weft_problem problem =
		weft__story_problem(WEFT_PROBLEM_QUEUE, hangs ? WEFT_SEVERITY_ERROR : WEFT_SEVERITY_WARNING,
			most, (struct weft__case){b->listener, b->starts[0], b->ends[b->waits - 1]});
	struct weft__sentence s;
	weft__story_sentence_init(&s);
	struct weft__words *w = weft__story_clause(&s, 9);
	weft__story_words_add_count(w, most, "task");
	weft__story_words_add(w, most == 1 ? " waits at " : " wait at ");
	weft__story_words_add_task(w, b->model, b->listener, 36);
	weft__story_words_add(w, " to be accepted, for ");
	weft__story_words_add_length(w, b->longest);
	w = weft__story_clause(&s, 8);
	weft__story_words_add(w, b->left ? ", %" PRIu32 " until the end" : " at most", b->left);
	write_acceptor(&s, b, b->since + b->longest / 2);
	weft__story_find(b->findings, &problem, most, &s);
}

static void look_at(struct backlog *b, uint32_t listener)
{
	b->listener = listener;
	list_tasks(b);
	if (!b->came_count)
		return;
	list_waits(b);
	count_left(b);
	if (b->waits)
		report(b);
}

static bool is_first_of_name(const struct weft_model *model, const uint32_t *list, uint32_t count)
{
	for (uint32_t i = 0; i + 1 < count; i++)
		if (is_same(label_of(model, list[i]), label_of(model, list[count - 1])))
			return false;
	return true;
}

void weft__story_find_backlogs(struct weft__findings *findings)
{
	const struct weft_model *model = findings->story->model;
	uint32_t listeners[LISTENERS_MAX], count = 0;
	for (uint32_t task = 0; task < model->tasks.count && count < LISTENERS_MAX; task++)
		if (is_listener(model, task)) {
			listeners[count++] = task;
			count -= !is_first_of_name(model, listeners, count);
		}
	if (!count)
		return;
	const size_t room = model->tasks.count + (size_t)1;
	struct backlog b = {.findings = findings, .model = model};
	uint64_t *columns = malloc(4 * 2 * room * sizeof(*columns));
	b.clients = malloc(room * sizeof(*b.clients));
	if (!columns || !b.clients)
		findings->error = WEFT_ERROR_MEMORY;
	b.came = columns;
	b.accepted = columns + 2 * room;
	b.starts = columns + 4 * room;
	b.ends = columns + 6 * room;
	for (uint32_t i = 0; i < count && !findings->error; i++)
		look_at(&b, listeners[i]);
	free(columns);
	free(b.clients);
}
