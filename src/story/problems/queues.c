/* SPDX-License-Identifier: ISC
 *
 * Queues that the program does not name: promises of one label, each resolved by a task that had
 * waited for another of them before. That is how locks, semaphores, pools and limiters are made of
 * promises: the task that has its turn resolves the promise of the next one.
 *
 * A task hands its turn on once: one that lets several go on is no part of a queue, but of a
 * barrier. If the tasks do not get on in the order in which they came, the promises are of several
 * queues, and the one with most tasks is examined: turns are handed on only within a queue.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/search.h"
#include "base/sort.h"
#include "story/problems/backlogs.h"
#include "story/problems/consumers.h"
#include "story/problems/findings.h"

#define QUEUE_MIN   8  /* tasks that wait at once */
#define STOPPED     8  /* times as long as between two turns: then there are no more */
#define LEAST_SHARE 50 /* 1 / share of a trace: the queue is there for that long, … */
#define LEAST_NS    (10 * WEFT__MS) /* … and in a long trace for this long */
#define OUT_OF_TURN 10              /* at most 1 / OUT_OF_TURN of the tasks get on out of turn */
#define HANDED_ON   4 /* all turns but 1 / HANDED_ON are handed on by a task that had one */
#define HOPS_MAX    8 /* from the task that resolves a promise to its ancestor that waited */
#define FOUND_MAX   3
#define SAMPLES     8
#define SECOND      (1000 * WEFT__MS)

/* A wait in a queue, and who ended it. */
struct turn {
	uint64_t since, until;
	uint64_t served; /* when the turn began that ended with this; 0: it is unknown */
	uint32_t promise, waiter, resolver, line;
};

struct queues {
	struct weft__findings *findings;
	const struct weft_model *model;
	struct turn *list; /* of one group, by `until` */
	uint32_t count;
	uint64_t *open; /* promises that are pending at the end: group << 32 | task, ascending */
	uint32_t open_count;
	/* For each task, the last turn of the group that it got, until it hands it on. */
	uint64_t *got_at;
	uint32_t *got_of, *got_line; /* group, and the queue within it */
	bool *may;                   /* for each group: it is of promises, and they are enough */
	uint64_t *starts, *ends;     /* with room for twice as many */
};

/* A queue of the group. */
struct queue {
	uint32_t turns, resolved, handed_on, out_of_turn;
	uint32_t longest;
	uint64_t start, end, longest_at;
	double at_once; /* tasks that have their turn, on average */
};

/* The edge by which another task resolved a promise, or WEFT_NONE. */
static uint32_t resolve_of(const struct weft_model *model, struct weft__edge_list to)
{
	for (uint32_t i = to.count; i > 0; i--)
		if (model->edges.type[to.edges[i - 1]] == WEFT_EDGE_RESOLVE)
			return to.edges[i - 1];
	return WEFT_NONE;
}

/* When the task began to wait that read a promise: when it stopped running before, but not before
 * there was the promise. */
static uint64_t waits_since(const struct weft_model *model, uint32_t edge)
{
	const struct weft_edges *e = &model->edges;
	uint64_t time = e->time[edge], since = model->tasks.start[e->to[edge]];
	if (e->type[edge] == WEFT_EDGE_TRY_READ)
		return time;
	uint32_t runs = weft__story_activations_until(model, e->from[edge], time);
	uint32_t first = model->tasks.first_activation[e->from[edge]];
	if (runs && model->activations.start[first + runs - 1] < time)
		return time; /* it ran before it read, and had no need to wait */
	if (runs > 1 && model->activations.end[first + runs - 2] > since)
		since = model->activations.end[first + runs - 2];
	return since;
}

/* Adds the wait for a promise that another task has resolved, or that is pending at the end. */
static void add_turn(struct queues *q, uint32_t promise)
{
	const struct weft_edges *e = &q->model->edges;
	if (q->model->tasks.first_activation[promise] < q->model->tasks.end_activation[promise])
		return;
	struct weft__edge_list to = weft__story_edges_to(q->findings->story, promise);
	const bool is_over = q->model->tasks.flags[promise] & WEFT_TASK_RESOLVED;
	const uint32_t resolve = resolve_of(q->model, to);
	const uint32_t resolver = resolve == WEFT_NONE ? WEFT_NONE : e->from[resolve];
	const uint64_t until =
		is_over && resolve != WEFT_NONE ? e->time[resolve] : q->model->tasks.end[promise];
	if (is_over && resolver == WEFT_NONE)
		return;
	for (uint32_t i = 0; i < to.count; i++) {
		uint32_t edge = to.edges[i], waiter = e->from[edge];
		if ((e->type[edge] != WEFT_EDGE_TRY_READ && e->type[edge] != WEFT_EDGE_READ) ||
			waiter == WEFT_NONE || waiter == resolver)
			continue;
		uint64_t since = waits_since(q->model, edge);
		if (since < until)
			q->list[q->count++] = (struct turn){since, until, 0, promise, waiter, resolver, 0};
		return;
	}
}

/* By `since` where several end at one time: in a queue, the first one gets on first. */
static int by_until(const void *left, const void *right)
{
	const struct turn *l = left, *r = right;
	if (l->until != r->until)
		return l->until < r->until ? -1 : 1;
	if (l->since != r->since)
		return l->since < r->since ? -1 : 1;
	return l->waiter < r->waiter ? -1 : l->waiter > r->waiter;
}

/* The task that handed its turn on: the one that resolved the promise, or the ancestor on whose
 * behalf it did. WEFT_NONE: none of them has had a turn in this group. */
static uint32_t find_server(const struct queues *q, const struct turn *turn, uint32_t group)
{
	const struct weft_tasks *t = &q->model->tasks;
	uint32_t task = turn->resolver;
	for (unsigned hop = 0; hop < HOPS_MAX && task != WEFT_NONE; hop++, task = t->parent[task])
		if (q->got_of[task] == group && task != turn->waiter &&
			(task == turn->resolver || q->got_at[task] <= t->start[turn->resolver]))
			return task;
	return WEFT_NONE;
}

/* Finds out who handed each turn on. Turns that the same task began without having had one, such as
 * the first holder of a lock, are one queue. */
static void link_turns(struct queues *q, uint32_t group)
{
	for (uint32_t i = 0; i < q->count; i++)
		q->got_of[q->list[i].waiter] = WEFT_NONE;
	for (uint32_t i = 0; i < q->count; i++) {
		struct turn *turn = &q->list[i];
		uint32_t server = find_server(q, turn, group);
		if (server == WEFT_NONE) {
			turn->line = i;
		} else {
			turn->served = q->got_at[server];
			turn->line = q->got_line[server];
			q->got_of[server] = WEFT_NONE;
		}
		q->got_of[turn->waiter] = group;
		q->got_at[turn->waiter] = turn->until;
		q->got_line[turn->waiter] = turn->line;
	}
}

/* The largest number of tasks that wait at once. Sorts `starts` and `ends`. */
static void measure_length(struct queues *q, struct queue *queue)
{
	uint32_t waiting = 0;
	weft__sort_u64(q->starts, q->starts + queue->turns, queue->turns);
	weft__sort_u64(q->ends, q->ends + queue->turns, queue->turns);
	for (uint32_t i = 0, ended = 0; i < queue->turns; i++) {
		while (q->ends[ended] <= q->starts[i]) {
			ended++;
			waiting--;
		}
		if (++waiting > queue->longest) {
			queue->longest = waiting;
			queue->longest_at = q->starts[i];
		}
	}
	queue->start = q->starts[0];
	queue->end = q->ends[queue->turns - 1];
}

/* How many have their turn at once: the sum of the turns by the time in which there are some. */
static void measure_turns(struct queues *q, uint32_t line, struct queue *queue)
{
	uint32_t count = 0;
	uint64_t sum = 0, busy = 0, begun = 0;
	for (uint32_t i = 0; i < q->count; i++) {
		const struct turn *turn = &q->list[i];
		if (!turn->served || (line != WEFT_NONE && turn->line != line))
			continue;
		q->starts[count] = turn->served;
		q->ends[count++] = turn->until;
		sum += turn->until - turn->served;
	}
	weft__sort_u64(q->starts, q->starts + count, count);
	weft__sort_u64(q->ends, q->ends + count, count);
	for (uint32_t i = 0; i < count; i++) {
		begun = i == 0 || q->starts[i] > q->ends[i - 1] ? q->starts[i] : begun;
		if (i + 1 == count || q->starts[i + 1] > q->ends[i])
			busy += q->ends[i] - begun;
	}
	queue->at_once = busy ? (double)sum / (double)busy : 1;
}

/* Reads one queue of the group, or all as one with WEFT_NONE. */
static struct queue read_queue(struct queues *q, uint32_t line)
{
	struct queue queue = {0};
	uint64_t latest = 0;
	for (uint32_t i = 0; i < q->count; i++) {
		const struct turn *turn = &q->list[i];
		if (line != WEFT_NONE && turn->line != line)
			continue;
		q->starts[queue.turns] = turn->since;
		q->ends[queue.turns++] = turn->until;
		queue.resolved += turn->resolver != WEFT_NONE;
		queue.handed_on += turn->served != 0;
		queue.out_of_turn += turn->since < latest;
		latest = turn->since > latest ? turn->since : latest;
	}
	if (queue.turns) {
		measure_length(q, &queue);
		measure_turns(q, line, &queue);
	}
	return queue;
}

/* The queue with most turns within the group. Its number is that of its first turn. */
static uint32_t largest_line(const struct queues *q)
{
	uint32_t *counts = calloc(q->count, sizeof(*counts)), largest = 0;
	if (!counts) {
		q->findings->error = WEFT_ERROR_MEMORY;
		return WEFT_NONE;
	}
	for (uint32_t i = 0; i < q->count; i++)
		if (++counts[q->list[i].line] > counts[largest])
			largest = q->list[i].line;
	free(counts);
	return largest;
}

static bool is_one(const struct queues *q, const struct queue *queue)
{
	return queue->longest >= QUEUE_MIN && queue->handed_on >= QUEUE_MIN &&
		   queue->handed_on >= queue->resolved - queue->resolved / HANDED_ON &&
		   queue->end - queue->start >= weft__story_least_ns(q->findings, LEAST_SHARE, LEAST_NS);
}

/* True if one task at a time has its turn. A limit to several may be meant so. */
static bool is_single(const struct queue *queue)
{
	return queue->at_once < 1.5;
}

/* The task that has its turn when the queue is longest: the one that resolves the next promise, or
 * if that never happens, the one that had its turn last. */
static uint32_t head_of(
	const struct queues *q, uint32_t line, const struct queue *queue, uint32_t *ret_promise)
{
	uint32_t last = WEFT_NONE;
	for (uint32_t i = 0; i < q->count; i++) {
		const struct turn *turn = &q->list[i];
		if ((line != WEFT_NONE && turn->line != line) || turn->resolver == WEFT_NONE)
			continue;
		*ret_promise = turn->promise;
		if (turn->until > queue->longest_at)
			return turn->resolver;
		last = turn->waiter;
	}
	return last;
}

/* When the last promise was resolved. */
static uint64_t last_turn(const struct queues *q, uint32_t line, const struct queue *queue)
{
	uint64_t last = queue->start;
	for (uint32_t i = 0; i < q->count; i++) {
		const struct turn *turn = &q->list[i];
		if ((line == WEFT_NONE || turn->line == line) && turn->resolver != WEFT_NONE &&
			turn->until > last)
			last = turn->until;
	}
	return last;
}

/* Writes "; the first, fetch 3, waits for reply 17". */
static void write_head(
	struct weft__sentence *s, const struct queues *q, uint32_t head, uint64_t time)
{
	struct weft_story_wait wait;
	const bool waits = weft_story_wait_at(q->findings->story, head, time, &wait) &&
					   wait.source != WEFT_NONE && wait.source != head;
	struct weft__words *w = weft__story_clause(s, 8);
	weft__story_words_add(w, waits ? "; the first, " : "; the first is ");
	weft__story_words_add_task(w, q->model, head, 24);
	if (!waits)
		return;
	weft__story_words_add(w, ", waits for ");
	weft__story_words_add_other(w, q->model, wait.source, head, 28);
}

/* Writes ", 80 a second" or ", one every 1.5 s". */
static void write_rate(struct weft__words *w, uint64_t every_ns)
{
	weft__story_words_add(w, every_ns > SECOND / 2 ? ", one every " : ", ");
	if (every_ns > SECOND / 2)
		weft__story_words_add_length(w, every_ns);
	else
		weft__story_words_add_number(w, every_ns ? SECOND / every_ns : SECOND);
	weft__story_words_add(w, every_ns > SECOND / 2 ? "" : " a second");
}

static void report_queue(struct queues *q, uint32_t line, const struct queue *queue)
{
	const struct weft_model *model = q->model;
	uint32_t promise = WEFT_NONE, head = head_of(q, line, queue, &promise);
	const uint64_t last = last_turn(q, line, queue);
	const uint64_t every_ns = (last - queue->start) / queue->resolved;
	const bool has_stopped =
		queue->resolved < queue->turns && (queue->end - last) / STOPPED > every_ns;
	const bool has_head = head != WEFT_NONE && !weft__story_is_gone(model, head, queue->longest_at);
	struct weft_problem problem = weft__story_problem(WEFT_PROBLEM_QUEUE,
		is_single(queue) ? WEFT_SEVERITY_WARNING : WEFT_SEVERITY_HINT, queue->longest,
		(struct weft__case){head, queue->start, queue->end});
	struct weft__sentence s;
	struct weft__words words = weft__story_problem_note(&problem.cause, queue->longest_at, head);
	if (!has_head)
		weft__story_words_add(&words, "has had the last turn");
	else
		weft__story_words_add(&words, "%" PRIu32 " tasks wait for its turn to end", queue->longest);
	weft__story_sentence_init(&s);
	struct weft__words *w = weft__story_clause(&s, 9);
	weft__story_words_add_number(w, queue->longest);
	weft__story_words_add(w, " tasks queue at ");
	weft__story_words_add_task(w, model, promise, 40);
	write_rate(weft__story_clause(&s, 6), every_ns);
	if (has_stopped) {
		w = weft__story_clause(&s, 8);
		weft__story_words_add(w, ", and none gets on after ");
		weft__story_words_add_time(w, model, last);
	}
	if (has_head)
		write_head(&s, q, head, queue->longest_at);
	w = weft__story_clause(&s, 4);
	weft__story_words_add(w, "; it is longest at ");
	weft__story_words_add_time(w, model, queue->longest_at);
	weft__story_find(q->findings, &problem, queue->longest, &s);
}

/* True for promises: tasks that do not run, and are no resources. */
static bool may_be_one(const struct queues *q, const struct weft__alike_group *group)
{
	const struct weft_tasks *t = &q->model->tasks;
	if (group->count < QUEUE_MIN)
		return false;
	uint32_t task = q->findings->alike.members[group->first];
	return t->first_activation[task] == t->end_activation[task] && t->label[task] != WEFT_NONE &&
		   t->kind[task] != WEFT_KIND_TIMER && t->kind[task] != WEFT_KIND_JOIN;
}

/* Looks at a few promises of a group first: one that has ended without a wait is not of a queue,
 * and most groups have only such. */
static bool has_turns(struct queues *q, const struct weft__alike_group *group)
{
	struct turn samples[SAMPLES], *list = q->list;
	q->list = samples;
	q->count = 0;
	for (uint32_t i = 0; i < SAMPLES; i++)
		add_turn(
			q, q->findings->alike.members[group->first + (uint64_t)i * group->count / SAMPLES]);
	q->list = list;
	return q->count >= SAMPLES / 2;
}

/* True for a promise that is pending at the end, in a group that may be a queue. */
static bool is_open(const struct queues *q, uint32_t task)
{
	const struct weft__alike *alike = &q->findings->alike;
	const uint32_t group = alike->group_of[task];
	return !(q->model->tasks.flags[task] & WEFT_TASK_RESOLVED) && group != WEFT_NONE &&
		   q->may[group];
}

/* Lists the pending promises by group. Returns the largest number of turns that a group can have;
 * 0 if there is no queue, or too little memory. */
static uint32_t list_open(struct queues *q)
{
	const struct weft__alike *alike = &q->findings->alike;
	uint32_t most = 0, open = 0;
	for (uint32_t g = 0; g < alike->group_count; g++) {
		q->may[g] = may_be_one(q, &alike->groups[g]) && has_turns(q, &alike->groups[g]);
		if (!q->may[g])
			continue;
		most = alike->groups[g].all > most ? alike->groups[g].all : most;
		open += alike->groups[g].all - alike->groups[g].count;
	}
	q->open = malloc((2 * (size_t)open + 1) * sizeof(*q->open));
	if (!q->open) {
		q->findings->error = WEFT_ERROR_MEMORY;
		return 0;
	}
	for (uint32_t task = 0; open && task < q->model->tasks.count; task++)
		if (is_open(q, task))
			q->open[q->open_count++] = (uint64_t)alike->group_of[task] << 32 | task;
	weft__sort_u64(q->open, q->open + open, open);
	return most;
}

static void list_turns(struct queues *q, uint32_t group)
{
	const struct weft__alike *alike = &q->findings->alike;
	const struct weft__alike_group *g = &alike->groups[group];
	const uint64_t key = (uint64_t)group << 32;
	q->count = 0;
	for (uint32_t i = g->first; i < g->first + g->count; i++)
		add_turn(q, alike->members[i]);
	for (size_t i = weft__lower_bound_u64(q->open, q->open_count, key);
		 i < q->open_count && q->open[i] >> 32 == group; i++)
		add_turn(q, (uint32_t)q->open[i]);
	qsort(q->list, q->count, sizeof(*q->list), by_until);
}

/* Reads the queue of a group of promises, whose turns are listed then. False if it is none. */
static bool look_at_group(
	struct queues *q, uint32_t group, uint32_t *ret_line, struct queue *ret_queue)
{
	list_turns(q, group);
	if (q->count < QUEUE_MIN)
		return false;
	link_turns(q, group);
	*ret_line = WEFT_NONE;
	*ret_queue = read_queue(q, *ret_line);
	if (ret_queue->out_of_turn > ret_queue->turns / OUT_OF_TURN) {
		*ret_line = largest_line(q);
		*ret_queue = read_queue(q, *ret_line);
	}
	return is_one(q, ret_queue);
}

/* A group with a queue, and how grave that is. */
struct found {
	uint32_t group;
	uint64_t weight;
};

/* Keeps the gravest ones, the gravest first. */
static void keep(struct found list[FOUND_MAX], uint32_t group, const struct queue *queue)
{
	struct found moved = {group, (uint64_t)is_single(queue) << 32 | queue->longest};
	for (int i = 0; i < FOUND_MAX; i++)
		if (moved.weight > list[i].weight) {
			struct found less = list[i];
			list[i] = moved;
			moved = less;
		}
}

static void report_gravest(struct queues *q)
{
	struct found gravest[FOUND_MAX] = {{0}};
	struct queue queue;
	uint32_t line;
	for (uint32_t group = 0; group < q->findings->alike.group_count; group++)
		if (q->may[group] && look_at_group(q, group, &line, &queue))
			keep(gravest, group, &queue);
	for (int i = 0; i < FOUND_MAX && gravest[i].weight; i++)
		if (look_at_group(q, gravest[i].group, &line, &queue))
			report_queue(q, line, &queue);
}

static int make_room(struct queues *q, uint32_t most)
{
	const size_t room = q->model->tasks.count + (size_t)1;
	q->list = malloc((size_t)most * sizeof(*q->list));
	q->starts = malloc(2 * (size_t)most * sizeof(*q->starts));
	q->ends = malloc(2 * (size_t)most * sizeof(*q->ends));
	q->got_at = malloc(room * sizeof(*q->got_at));
	q->got_of = malloc(room * sizeof(*q->got_of));
	q->got_line = malloc(room * sizeof(*q->got_line));
	if (!q->list || !q->starts || !q->ends || !q->got_at || !q->got_of || !q->got_line)
		return WEFT_ERROR_MEMORY;
	for (size_t i = 0; i < room; i++)
		q->got_of[i] = WEFT_NONE;
	return 0;
}

void weft__find_queues(struct weft__findings *findings)
{
	const struct weft__alike *alike = &findings->alike;
	struct queues q = {.findings = findings, .model = findings->story->model};
	q.may = malloc(alike->group_count + (size_t)1);
	if (!q.may) {
		findings->error = WEFT_ERROR_MEMORY;
		return;
	}
	uint32_t most = list_open(&q);
	int error = most ? make_room(&q, most) : 0;
	if (error)
		findings->error = error;
	else if (most)
		report_gravest(&q);
	free(q.may);
	free(q.open);
	free(q.list);
	free(q.starts);
	free(q.ends);
	free(q.got_at);
	free(q.got_of);
	free(q.got_line);
	if (!findings->error)
		weft__story_find_backlogs(findings);
	if (!findings->error)
		weft__story_find_slow_consumers(findings);
}
