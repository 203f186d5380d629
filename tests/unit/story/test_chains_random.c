/* SPDX-License-Identifier: ISC
 *
 * Chains of random traces: each hop and end is in the model, and the groups of all that wait agree
 * with the chains.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <weft/chain.h>

#include "loaded.h"
#include "model/holds.h"

static uint32_t pick(uint32_t below)
{
	static uint64_t seed = 5;
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(seed >> 33) % below;
}

/* Half of the events have the time of the one before. Waits are given up and begun again; tasks are
 * created, and end, more than once. */
static struct loaded random_trace(uint32_t events, uint32_t tasks)
{
	static const uint8_t types[] = {WEFT_EVENT_READ, WEFT_EVENT_TRY_READ, WEFT_EVENT_TRY_READ,
		WEFT_EVENT_BECOME, WEFT_EVENT_SIGNAL, WEFT_EVENT_RESOLVE, WEFT_EVENT_SWITCH,
		WEFT_EVENT_WAIT_ANY, WEFT_EVENT_SEND, WEFT_EVENT_RECEIVE, WEFT_EVENT_TRY_READ,
		WEFT_EVENT_SIGNAL, WEFT_EVENT_SWITCH, WEFT_EVENT_CREATE, WEFT_EVENT_CANCEL,
		WEFT_EVENT_TIME_OUT, WEFT_EVENT_CLOSE, WEFT_EVENT_ACQUIRE, WEFT_EVENT_RELEASE};
	static const uint16_t kinds[] = {WEFT_KIND_TASK, WEFT_KIND_BIND, WEFT_KIND_LOCK,
		WEFT_KIND_CONDITION, WEFT_KIND_JOIN, WEFT_KIND_SEMAPHORE, WEFT_KIND_PROMISE};
	struct made made = make_begin();
	for (uint32_t id = 0; id < tasks; id++)
		make_create(&made, WEFT_TASK_NONE, id, kinds[pick(sizeof(kinds) / sizeof(*kinds))]);
	for (uint32_t i = 0; i < events; i++) {
		made.time += pick(2) ? pick(100) : 0;
		make(&made, (struct weft_event){.type = types[pick(sizeof(types))],
						.task = pick(tasks),
						.other = pick(tasks),
						.value = pick(2)});
	}
	return make_end(&made);
}

/* The end under which all waiters list the task: a held resource, if its holder does not wait. */
static uint32_t end_of_group(const struct loaded *loaded, const struct weft_chain *chain)
{
	const struct weft_chain_hop *last = &chain->hops[chain->kept - 1];
	uint32_t end = chain->end.task;
	for (uint32_t i = 0; i < chain->kept; i++)
		if (chain->hops[i].step == WEFT_CHAIN_WOKEN)
			return chain->hops[i].wait.task; /* a group ends at the condition */
	if (chain->end.type != WEFT_CHAIN_CIRCLE)
		return last->step == WEFT_CHAIN_HELD ? last->wait.task : end;
	for (uint32_t i = chain->end.first; i < chain->kept; i++)
		if (chain->hops[i].wait.task < end)
			end = chain->hops[i].wait.task;
	assert_int_equal(chain->hops[chain->end.first].wait.task, chain->end.task);
	(void)loaded;
	return end;
}

static uint32_t become_at(const struct weft_tasks *t, uint32_t task, uint64_t at)
{
	while (t->becomes[task] != WEFT_NONE && t->end[task] <= at)
		task = t->becomes[task];
	return task;
}

static void check_hop(const struct loaded *loaded, const struct weft_chain_hop *hop, uint64_t at)
{
	static const enum weft_edge_type ends[] = {[WEFT_CHAIN_RESOLVED] = WEFT_EDGE_RESOLVE,
		[WEFT_CHAIN_SIGNALLED] = WEFT_EDGE_SIGNAL,
		[WEFT_CHAIN_WOKEN] = WEFT_EDGE_SIGNAL,
		[WEFT_CHAIN_RECEIVES] = WEFT_EDGE_RECEIVE};
	const struct weft_edges *e = &loaded->model->edges;
	assert_true(hop->wait.since <= at && hop->wait.until >= at);
	if (hop->step == WEFT_CHAIN_WAITS || hop->step == WEFT_CHAIN_HELD ||
		hop->step == WEFT_CHAIN_THREAD)
		return;
	assert_int_equal(e->type[hop->edge], ends[hop->step]);
	assert_true(e->to[hop->edge] == hop->wait.task ||
				(hop->step == WEFT_CHAIN_WOKEN && e->to[hop->edge] == hop[-1].wait.task));
	assert_int_equal(e->from[hop->edge], hop->wait.source);
	assert_int_equal(e->time[hop->edge], hop->wait.until);
	if (hop->step == WEFT_CHAIN_RESOLVED)
		assert_int_equal(hop->wait.until, loaded->model->tasks.end[hop->wait.task]);
}

/* The task begins to run because another becomes it. */
static bool begins_by_become(const struct weft_model *m, uint32_t task, uint64_t time)
{
	for (uint32_t i = 0; i < m->edges.count; i++)
		if (m->edges.type[i] == WEFT_EDGE_BECOME && m->edges.to[i] == task &&
			m->edges.time[i] == time)
			return true;
	return false;
}

/* The end of a chain whose task neither runs nor waits for another one. */
static void check_idle_end(const struct weft_model *m, const struct weft_chain *chain)
{
	uint32_t task = chain->end.task;
	uint64_t since = m->tasks.start[task], until = UINT64_MAX;
	for (uint32_t i = m->tasks.first_activation[task]; i < m->tasks.end_activation[task]; i++) {
		uint64_t start = m->activations.start[i];
		assert_false(start <= chain->at && chain->at < m->activations.end[i]);
		if (start <= chain->at)
			since = m->activations.end[i];
		else if (start < until && !begins_by_become(m, task, start))
			until = start;
	}
	if ((m->tasks.flags[task] & WEFT_TASK_RESOLVED) && m->tasks.end[task] < until)
		until = m->tasks.end[task];
	if (m->tasks.outcome[task] == WEFT_OUTCOME_CLOSED && chain->count &&
		chain->hops[chain->kept - 1].wait.until < until)
		until = chain->hops[chain->kept - 1].wait.until; /* it is closed when nobody needs it */
	if (chain->count && until == UINT64_MAX && m->tasks.kind[task] == WEFT_KIND_CONDITION)
		since = chain->hops[chain->kept - 1].wait.since;
	assert_int_equal(chain->end.since, since);
	assert_int_equal(chain->end.until, until);
}

static bool runs_between(const struct weft_model *m, uint32_t task, uint64_t start, uint64_t end)
{
	for (uint32_t i = m->tasks.first_activation[task]; i < m->tasks.end_activation[task]; i++)
		if (m->activations.start[i] == start && m->activations.end[i] == end)
			return true;
	return false;
}

/* It has run, and does not run between the time and the message. */
static void check_sender(const struct weft_model *m, uint32_t task, const struct weft_chain *chain)
{
	bool has_run = false;
	for (uint32_t i = m->tasks.first_activation[task]; i < m->tasks.end_activation[task]; i++) {
		has_run |= m->activations.start[i] <= chain->end.until;
		assert_true(
			m->activations.end[i] <= chain->at || m->activations.start[i] > chain->end.until);
	}
	assert_true(has_run);
}

static void check_end(const struct weft_model *m, const struct weft_chain *chain)
{
	uint32_t task = chain->end.task;
	bool is_resolved = m->tasks.flags[task] & WEFT_TASK_RESOLVED;
	bool has_run = m->tasks.first_activation[task] < m->tasks.end_activation[task], is_resource;
	switch (chain->end.type) {
	case WEFT_CHAIN_RUNS:
		assert_true(chain->end.since <= chain->at &&
					(chain->at < chain->end.until || chain->at == m->summary.end));
		assert_true(runs_between(m, task, chain->end.since, chain->end.until));
		break;
	case WEFT_CHAIN_IDLE:
	case WEFT_CHAIN_UNRESOLVED:
		is_resource = weft__model_is_resource(m->tasks.kind[task]);
		assert_int_equal(has_run || is_resource, chain->end.type == WEFT_CHAIN_IDLE);
		assert_true(has_run || is_resource || !is_resolved);
		check_idle_end(m, chain);
		break;
	case WEFT_CHAIN_OUTSIDE:
		assert_true(chain->end.until >= chain->at);
		break;
	case WEFT_CHAIN_SENT:
		assert_int_equal(m->edges.to[chain->end.edge], task);
		assert_int_equal(m->edges.type[chain->end.edge], WEFT_EDGE_RECEIVE);
		assert_true(m->edges.time[chain->end.edge] == chain->end.until);
		assert_true(chain->end.since <= chain->at && chain->at <= chain->end.until);
		check_sender(m, m->edges.from[chain->end.edge], chain);
		break;
	case WEFT_CHAIN_STOPPED:
		assert_int_equal(m->edges.to[chain->end.edge], task);
		assert_true(m->tasks.flags[task] & WEFT_TASK_STOPPED);
		assert_true(m->edges.time[chain->end.edge] == chain->end.until);
		assert_true(chain->end.until >= chain->at);
		break;
	case WEFT_CHAIN_LATER:
		assert_int_equal(chain->end.since, m->tasks.start[task]);
		assert_true(chain->end.since > chain->at);
		break;
	case WEFT_CHAIN_OVER:
		assert_int_equal(chain->end.since, m->tasks.end[task]);
		assert_true(is_resolved && chain->end.since <= chain->at);
		break;
	case WEFT_CHAIN_CIRCLE:
		assert_int_equal(chain->end.since, chain->hops[chain->end.first].wait.since);
		assert_true(chain->end.until == UINT64_MAX);
		break;
	}
}

/* All hops are kept: each leads to the next, and the last one to the end. */
static void check_chain(const struct loaded *loaded, const struct weft_chain *chain)
{
	const struct weft_tasks *t = &loaded->model->tasks;
	assert_int_equal(chain->count, chain->kept);
	for (uint32_t i = 0; i < chain->count; i++) {
		uint32_t next = i + 1 < chain->count ? chain->hops[i + 1].wait.task : chain->end.task;
		check_hop(loaded, &chain->hops[i], chain->at);
		assert_int_equal(become_at(t, chain->hops[i].wait.source, chain->at), next);
	}
	check_end(loaded->model, chain);
}

/* The tasks with one end, and the longest wait of these. */
struct waiting_for {
	uint32_t count;
	uint64_t since;
};

/* By end. Groups of alike ends are compared in all. */
static void check_counts(
	const struct weft_waiting *waiting, const struct waiting_for *expected, uint32_t tasks)
{
	uint32_t ends = 0, count = 0, groups = 0;
	for (uint32_t task = 0; task < tasks; task++)
		ends += expected[task].count > 0;
	for (uint32_t i = 0; i < waiting->count; i++) {
		const struct weft_waiters *waiters = &waiting->list[i];
		assert_true(waiters->ends == 1 || waiters->ends > 3);
		assert_true(waiters->ends > 1 || waiters->count == expected[waiters->end].count);
		assert_int_equal(waiters->since, expected[waiters->end].since);
		assert_true(i == 0 || waiters[-1].count >= waiters->count);
		groups += waiters->ends;
		count += waiters->count;
	}
	assert_int_equal(groups, ends);
	assert_int_equal(count, waiting->tasks);
}

/* True if the list of all that wait was compared with the chains. */
static bool check_at(const struct loaded *loaded, uint64_t at)
{
	struct weft_waiting *waiting;
	struct waiting_for expected[64] = {0};
	uint32_t tasks = loaded->model->tasks.count, sum = 0;
	char text[WEFT_SENTENCE_BYTES];
	bool has_turns = false;
	assert_int_equal(weft_waiting_create(&loaded->story, at, &waiting), 0);
	for (uint32_t task = 0; task < tasks; task++) {
		struct weft_chain *chain;
		assert_int_equal(weft_chain_create(&loaded->story, task, at, WEFT_CHAIN_HOPS, &chain), 0);
		assert_int_equal(chain->count > 0, weft_chain_waits(&loaded->story, task, at));
		size_t size = weft_chain_end_sentence(&loaded->story, chain, text, sizeof(text));
		assert_true(size > 5 && text[size - 1] == '.');
		bool waits = chain->count && chain->hops[0].wait.task == task &&
					 chain->hops[0].step != WEFT_CHAIN_HELD &&
					 chain->hops[0].step != WEFT_CHAIN_RESOLVED;
		for (uint32_t i = 0; i < chain->kept; i++)
			weft_chain_hop_sentence(&loaded->story, &chain->hops[i], text, sizeof(text));
		check_chain(loaded, chain);
		/* All that wait are listed by what they wait for, not by who has their thread. */
		for (uint32_t i = 0; i < chain->kept; i++)
			has_turns |= chain->hops[i].step == WEFT_CHAIN_THREAD;
		if (waits && !has_turns) {
			struct waiting_for *end = &expected[end_of_group(loaded, chain)];
			uint64_t since = chain->hops[0].wait.since;
			end->since = end->count++ && end->since < since ? end->since : since;
		}
		sum += waits;
		weft_chain_destroy(chain);
	}
	if (!has_turns) {
		assert_int_equal(waiting->tasks, sum);
		check_counts(waiting, expected, tasks);
	}
	weft_waiting_destroy(waiting);
	return !has_turns;
}

static void chains_and_groups_agree(void **state)
{
	(void)state;
	unsigned compared = 0; /* of 600 */
	for (int round = 0; round < 100; round++) {
		struct loaded loaded = random_trace(20 + pick(300), 3 + pick(30));
		for (int i = 0; i < 5; i++)
			compared += check_at(&loaded, loaded.model->summary.start + pick(20000));
		compared += check_at(&loaded, WEFT_STORY_WHOLE);
		for (uint32_t task = 0; task < loaded.model->tasks.count; task++) {
			uint64_t at;
			if (weft_chain_time(&loaded.story, task, 0, UINT64_MAX, &at))
				assert_true(weft_chain_waits(&loaded.story, task, at));
		}
		loaded_finish(&loaded);
	}
	assert_true(compared > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chains_and_groups_agree),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
