/* SPDX-License-Identifier: ISC */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <weft/layout.h>

#include "base/search.h"
#include "base/sort.h"
#include "layout/labels.h"
#include "layout/forest.h"
#include "layout/occupancy.h"

static uint64_t seed = 1;

static uint32_t pick(uint32_t below)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(seed >> 33) % below;
}

/* A model that has only tasks and edges, made by hand. */
struct hand {
	uint32_t capacity;
	uint64_t *id, *start, *end, *edge_time;
	uint32_t *parent, *becomes, *first_edge, *from, *to, *by_actor, *first_run;
	uint64_t *run_start, *run_end;
	uint16_t *kind;
	uint8_t *flags, *edge_type;
	struct weft_model model;
};

static struct hand *hand_create(uint32_t capacity)
{
	struct hand *h = calloc(1, sizeof(*h));
	size_t n = capacity + (size_t)1;
	h->capacity = capacity;
	h->id = calloc(n, 8);
	h->start = calloc(n, 8);
	h->end = calloc(n, 8);
	h->parent = calloc(n, 4);
	h->becomes = calloc(n, 4);
	h->first_edge = calloc(n, 4);
	h->first_run = calloc(n, 4);
	h->run_start = calloc(n, 8);
	h->run_end = calloc(n, 8);
	h->flags = calloc(n, 1);
	h->kind = calloc(n, 2);
	h->from = calloc(2 * n, 4);
	h->to = calloc(2 * n, 4);
	h->by_actor = calloc(2 * n, 4);
	h->edge_time = calloc(2 * n, 8);
	h->edge_type = calloc(2 * n, 1);
	struct weft_tasks *t = &h->model.tasks;
	t->id = h->id;
	t->start = h->start;
	t->end = h->end;
	t->parent = h->parent;
	t->becomes = h->becomes;
	t->first_edge = h->first_edge;
	t->end_edge = h->first_edge + 1;
	t->first_activation = h->first_run;
	t->end_activation = h->first_run + 1;
	t->flags = h->flags;
	t->kind = h->kind;
	struct weft_edges *e = &h->model.edges;
	e->time = h->edge_time;
	e->from = h->from;
	e->to = h->to;
	e->type = h->edge_type;
	e->by_actor = h->by_actor;
	h->model.activations = (struct weft_activations){.start = h->run_start, .end = h->run_end};
	return h;
}

static void hand_destroy(struct hand *h)
{
	free(h->id);
	free(h->start);
	free(h->end);
	free(h->parent);
	free(h->becomes);
	free(h->first_edge);
	free(h->first_run);
	free(h->run_start);
	free(h->run_end);
	free(h->flags);
	free(h->kind);
	free(h->from);
	free(h->to);
	free(h->by_actor);
	free(h->edge_time);
	free(h->edge_type);
	free(h);
}

static uint32_t add_task(struct hand *h, uint32_t parent, uint64_t start, uint64_t end)
{
	uint32_t task = h->model.tasks.count++;
	h->id[task] = task;
	h->start[task] = start;
	h->end[task] = end;
	h->parent[task] = parent;
	h->becomes[task] = WEFT_NONE;
	h->first_run[task + 1] = h->model.activations.count;
	h->kind[task] = WEFT_KIND_TASK;
	if (parent != WEFT_NONE) {
		uint32_t edge = h->model.edges.count++;
		h->edge_time[edge] = start;
		h->from[edge] = parent;
		h->to[edge] = task;
		h->edge_type[edge] = WEFT_EDGE_CREATE;
	}
	return task;
}

/* The newest task runs. */
static void run_newest(struct hand *h, uint64_t start, uint64_t end)
{
	uint32_t run = h->model.activations.count++, task = h->model.tasks.count - 1;
	h->run_start[run] = start;
	h->run_end[run] = end;
	h->first_run[task + 1] = run + 1;
}

static void add_edge(struct hand *h, uint8_t type, uint32_t from, uint32_t to, uint64_t time)
{
	uint32_t edge = h->model.edges.count++;
	h->edge_time[edge] = time;
	h->from[edge] = from;
	h->to[edge] = to;
	h->edge_type[edge] = type;
}

/* Fills by_actor from the edges in their order. */
static void index_edges(struct hand *h)
{
	uint32_t at = 0;
	for (uint32_t task = 0; task < h->model.tasks.count; task++) {
		h->first_edge[task] = at;
		for (uint32_t edge = 0; edge < h->model.edges.count; edge++)
			if (h->from[edge] == task && h->edge_type[edge] != WEFT_EDGE_CREATE)
				h->by_actor[at++] = edge;
	}
	h->first_edge[h->model.tasks.count] = at;
	h->model.edges.by_actor_count = at;
}

static struct weft_layout *lay_out(struct hand *h)
{
	struct weft_layout *layout = NULL;
	assert_int_equal(weft_layout_create(&h->model, NULL, &layout), 0);
	return layout;
}

static bool overlap(const struct weft_layout *layout, uint32_t a, uint32_t b)
{
	const uint64_t *end = layout->model->tasks.end;
	return layout->start[a] < end[b] && layout->start[b] < end[a];
}

static void numbers_are_sorted(void **state)
{
	(void)state;
	uint64_t values[500], scratch[500];
	for (unsigned round = 0; round < 20; round++) {
		for (unsigned i = 0; i < 500; i++)
			values[i] = (uint64_t)pick(1000) << (round * 3);
		weft__sort_u64(values, scratch, 500);
		for (unsigned i = 1; i < 500; i++)
			assert_true(values[i - 1] <= values[i]);
		size_t count = weft__unique_u64(values, 500);
		for (unsigned i = 1; i < count; i++)
			assert_true(values[i - 1] < values[i]);
		for (unsigned i = 0; i < count; i++)
			assert_int_equal(weft__lower_bound_u64(values, count, values[i]), i);
		assert_int_equal(weft__lower_bound_u64(values, count, UINT64_MAX), count);
	}
}

static void numbers_in_labels_are_one_letter(void **state)
{
	(void)state;
	static const struct {
		const char *text, *letters;
	} cases[] = {{"", ""}, {"7", "#"}, {"port 12", "port #"}, {"a1b22c333d", "a#b#c#d"},
		{"/0:9.", "/#:#."}, {"12:34", "#:#"}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct weft_slice text = {cases[i].text, strlen(cases[i].text)};
		char letters[16] = {0};
		size_t at = 0, count = 0;
		while (at < text.size)
			letters[count++] = weft__layout_label_letter(text, &at);
		assert_int_equal(at, text.size);
		assert_string_equal(letters, cases[i].letters);
	}
}

/* Compares each move in the forest with walking up the parents. */
static void forest_knows_descendants(void **state)
{
	(void)state;
	enum {
		COUNT = 60
	};
	for (unsigned round = 0; round < 50; round++) {
		uint32_t parent[COUNT];
		for (uint32_t i = 0; i < COUNT; i++)
			parent[i] = i == 0 || pick(10) == 0 ? WEFT_NONE : pick(i);
		struct weft__forest *forest = weft__layout_forest_create(parent, COUNT);
		for (unsigned move = 0; move < 300; move++) {
			uint32_t node = pick(COUNT), to = pick(COUNT), up = to;
			while (up != WEFT_NONE && up != node)
				up = parent[up];
			bool possible = up == WEFT_NONE;
			assert_int_equal(weft__layout_forest_move(forest, node, parent[node], to), possible);
			if (possible)
				parent[node] = to;
		}
		weft__layout_forest_destroy(forest);
	}
}

/* The tree's answers equal those of a loop over all placed intervals. */
static void first_free_row_is_exact_in_the_first_page(void **state)
{
	(void)state;
	enum {
		COUNT = 300
	};
	for (unsigned round = 0; round < 60; round++) {
		uint64_t start[COUNT], *sorted = malloc(sizeof(start)), scratch[COUNT], end[COUNT];
		uint32_t row[COUNT];
		uint32_t spread = 1 + pick(2000), length = 1 + pick(round < 50 ? 100 : 1000);
		assert_non_null(sorted);
		for (unsigned i = 0; i < COUNT; i++) {
			sorted[i] = start[i] = pick(spread);
			end[i] = start[i] + 1 + pick(length);
		}
		weft__sort_u64(sorted, scratch, COUNT);
		struct weft__occupancy occupancy;
		assert_int_equal(
			weft__layout_occupancy_init(&occupancy, sorted, weft__unique_u64(sorted, COUNT)), 0);
		for (unsigned i = 0; i < COUNT; i++) {
			uint32_t from = pick(30), want = from;
			for (unsigned j = 0; j < i; j++)
				if (row[j] == want && start[j] < end[i] && start[i] < end[j]) {
					want++;
					j = (unsigned)-1; /* look at all again */
				}
			struct weft__ranks ranks = weft__layout_occupancy_ranks(&occupancy, start[i], end[i]);
			assert_int_equal(weft__layout_occupancy_take(&occupancy, ranks, from, &row[i]), 0);
			if (want < WEFT__PAGE_ROWS)
				assert_int_equal(row[i], want);
			assert_true(row[i] >= want);
		}
		weft__layout_occupancy_finish(&occupancy);
	}
}

/* Fifty thousand tasks, 500 alive at any time, like a stair: rows stay near 500. */
static void high_concurrency_stays_compact(void **state)
{
	(void)state;
	enum {
		COUNT = 50000
	};
	struct hand *h = hand_create(COUNT + 1);
	uint32_t root = add_task(h, WEFT_NONE, 0, COUNT * 10);
	for (uint32_t i = 0; i < COUNT; i++)
		add_task(h, root, i * 10, i * 10 + 5000);
	struct weft_layout *layout = lay_out(h);
	assert_in_range(layout->row_count, 501, 625);
	weft_layout_destroy(layout);
	hand_destroy(h);
}

static struct hand *random_trace(uint32_t count, uint32_t life)
{
	struct hand *h = hand_create(count);
	uint64_t start = 0;
	for (uint32_t task = 0; task < count; task++) {
		start += pick(2) ? pick(7) : 0; /* half of them begin with another one */
		uint32_t parent =
			task == 0 || pick(40) == 0 ? WEFT_NONE : task - 1 - pick(task < 20 ? task : 20);
		add_task(h, parent, start, start + pick(life));
		if (pick(3) == 0)
			h->kind[task] = WEFT_KIND_BIND;
	}
	for (uint32_t task = 0; task < count; task++) {
		uint32_t other = pick(count);
		if (h->kind[task] == WEFT_KIND_BIND && pick(2))
			add_edge(h, WEFT_EDGE_READ, task, other,
				h->start[task] + pick((uint32_t)(h->end[task] - h->start[task]) + 1));
		else if (h->parent[task] != WEFT_NONE && pick(5) == 0)
			h->becomes[h->parent[task]] = task;
	}
	index_edges(h);
	return h;
}

/* True if these two may share a row for a short time, because one continues the other. */
static bool continues(const struct weft_layout *layout, uint32_t a, uint32_t b)
{
	const struct weft_tasks *tasks = &layout->model->tasks;
	return layout->parent[a] == b && tasks->becomes[b] == a && tasks->end[b] < tasks->end[a];
}

static void check_rows(const struct weft_layout *layout)
{
	const struct weft_tasks *tasks = &layout->model->tasks;
	for (uint32_t a = 0; a < tasks->count; a++) {
		uint32_t parent = layout->parent[a];
		assert_true(layout->row[a] < layout->row_count);
		assert_true(layout->start[a] <= tasks->end[a]);
		for (uint32_t b = 0; b < a; b++)
			assert_false(layout->row[a] == layout->row[b] && overlap(layout, a, b) &&
						 !continues(layout, a, b) && !continues(layout, b, a));
		if (parent == WEFT_NONE)
			continue;
		assert_true(layout->row[a] >= layout->row[parent]);
		if (layout->row[a] == layout->row[parent])
			assert_true(tasks->becomes[parent] == a || tasks->end[parent] <= layout->start[a]);
	}
}

static void rows_keep_their_promises(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 60; round++) {
		struct hand *h = random_trace(1 + pick(400), 1 + pick(round % 2 ? 30 : 2000));
		struct weft_layout *layout = lay_out(h);
		check_rows(layout);
		weft_layout_destroy(layout);
		hand_destroy(h);
	}
}

static void a_task_continues_in_the_row_of_one_that_became_it(void **state)
{
	(void)state;
	struct hand *h = hand_create(6);
	uint32_t root = add_task(h, WEFT_NONE, 0, 100);
	uint32_t first = add_task(h, root, 10, 20);
	uint32_t second = add_task(h, first, 18, 30); /* begins shortly before the first ends */
	uint32_t third = add_task(h, second, 19, 40); /* so early that it meets the first as well */
	uint32_t inside = add_task(h, third, 25, 38); /* gone before the third becomes it */
	h->becomes[first] = second;
	h->becomes[second] = third;
	h->becomes[third] = inside;
	index_edges(h);
	struct weft_layout *layout = lay_out(h);
	assert_int_equal(layout->row[first], 1);
	assert_int_equal(layout->row[second], 1);
	assert_int_equal(layout->row[third], 2);
	assert_int_equal(layout->row[inside], 3);
	weft_layout_destroy(layout);
	hand_destroy(h);
}

/* One callback of a chain: it runs until its end, and its child is created while it runs. */
struct callback {
	uint64_t created, runs, ends;
};

static uint32_t add_callback(struct hand *h, uint32_t parent, struct callback callback)
{
	uint32_t task = add_task(h, parent, callback.created, callback.ends);
	h->flags[task] = WEFT_TASK_RESOLVED;
	run_newest(h, callback.runs, callback.ends);
	return task;
}

static void a_chain_of_callbacks_stays_in_its_row(void **state)
{
	(void)state;
	struct hand *h = hand_create(600);
	uint32_t task = WEFT_NONE;
	for (uint64_t i = 0; i < 600; i++)
		task = add_callback(h, task, (struct callback){10 * i, 10 * i + 5, 10 * i + 12});
	index_edges(h);
	struct weft_layout *layout = lay_out(h);
	assert_int_equal(layout->row_count, 1);
	weft_layout_destroy(layout);
	hand_destroy(h);
}

/* The row of a second callback after a first one that runs at 10 and ends at 20. */
static uint32_t row_of_second(struct callback second, bool is_resolved, uint32_t others)
{
	struct hand *h = hand_create(8);
	uint32_t first = add_callback(h, WEFT_NONE, (struct callback){0, 10, 20});
	h->flags[first] = is_resolved ? WEFT_TASK_RESOLVED : 0;
	h->model.summary.live = true;
	uint32_t task = add_callback(h, first, second);
	for (uint32_t i = 0; i < others; i++)
		add_callback(h, first, (struct callback){19, 25, 40});
	index_edges(h);
	struct weft_layout *layout = lay_out(h);
	uint32_t row = layout->row[task];
	weft_layout_destroy(layout);
	hand_destroy(h);
	return row;
}

static void only_the_next_callback_continues_in_the_row(void **state)
{
	(void)state;
	assert_int_equal(row_of_second((struct callback){12, 22, 30}, true, 0), 0);
	assert_int_equal(row_of_second((struct callback){12, 20, 30}, true, 0), 0);
	/* It was created before its parent ran, or runs before its parent ends. */
	assert_int_equal(row_of_second((struct callback){9, 22, 30}, true, 0), 1);
	assert_int_equal(row_of_second((struct callback){12, 19, 30}, true, 0), 1);
	/* The parent goes on. */
	assert_int_equal(row_of_second((struct callback){12, 22, 30}, false, 0), 1);
	/* The newest of several gets the row. */
	assert_int_equal(row_of_second((struct callback){12, 22, 30}, true, 2), 2);
}

/* Neither of two activations that end with the parent is its last. */
static void a_parent_on_two_threads_has_no_next_callback(void **state)
{
	(void)state;
	for (int is_twice = 0; is_twice < 2; is_twice++) {
		struct hand *h = hand_create(4);
		uint32_t first = add_callback(h, WEFT_NONE, (struct callback){0, 10, 20});
		if (is_twice)
			run_newest(h, 11, 20);
		uint32_t second = add_callback(h, first, (struct callback){12, 20, 30});
		index_edges(h);
		struct weft_layout *layout = lay_out(h);
		assert_int_equal(layout->row[second], is_twice);
		weft_layout_destroy(layout);
		hand_destroy(h);
	}
}

static bool hangs_under(const struct weft_layout *layout, uint32_t task, uint32_t ancestor)
{
	while (task != WEFT_NONE && task != ancestor)
		task = layout->parent[task];
	return task == ancestor;
}

static void a_moved_task_starts_at_its_read_below_its_source(void **state)
{
	(void)state;
	uint32_t moved = 0;
	for (unsigned round = 0; round < 40; round++) {
		struct hand *h = random_trace(200, 300);
		struct weft_layout *layout = lay_out(h);
		for (uint32_t task = 0; task < 200; task++) {
			uint32_t edge = h->by_actor[h->first_edge[task]];
			if (!layout->moved[task]) {
				assert_int_equal(layout->parent[task], h->parent[task]);
				assert_int_equal(layout->start[task], h->start[task]);
				continue;
			}
			moved++;
			assert_int_equal(h->kind[task], WEFT_KIND_BIND);
			assert_int_equal(layout->parent[task], h->to[edge]);
			assert_int_equal(layout->start[task], h->edge_time[edge]);
			assert_false(hangs_under(layout, h->to[edge], task));
		}
		weft_layout_destroy(layout);
		hand_destroy(h);
	}
	assert_true(moved > 100);
}

/* main creates reader (a bind) at 10 and source at 20; reader reads source at 50. `extra` is one
 * more edge, at `extra_time`. */
static bool reader_moves(
	uint8_t flags, uint8_t extra_type, uint32_t extra_from, uint32_t extra_to, uint64_t extra_time)
{
	struct hand *h = hand_create(5);
	uint32_t top = add_task(h, WEFT_NONE, 0, 100);
	uint32_t reader = add_task(h, top, 10, 80), source = add_task(h, top, 20, 45);
	h->kind[reader] = WEFT_KIND_BIND;
	h->flags[reader] = flags;
	if (extra_type != WEFT_EDGE_TYPES && extra_time <= 50)
		add_edge(h, extra_type, extra_from, extra_to, extra_time);
	add_edge(h, WEFT_EDGE_READ, reader, source, 50);
	if (extra_type != WEFT_EDGE_TYPES && extra_time > 50)
		add_edge(h, extra_type, extra_from, extra_to, extra_time);
	index_edges(h);
	struct weft_layout *layout = lay_out(h);
	bool moved = layout->moved[reader];
	assert_int_equal(layout->start[reader], moved ? 50 : 10);
	assert_int_equal(layout->parent[reader], moved ? source : top);
	weft_layout_destroy(layout);
	hand_destroy(h);
	return moved;
}

static void only_quiet_readers_move(void **state)
{
	(void)state;
	assert_true(reader_moves(WEFT_TASK_RESOLVED, WEFT_EDGE_TYPES, 0, 0, 30));
	assert_false(reader_moves(WEFT_TASK_NOTED, WEFT_EDGE_TYPES, 0, 0, 30)); /* it has a note */
	assert_false(reader_moves(0, WEFT_EDGE_RESOLVE, 1, 2, 30));  /* its first edge is not a read */
	assert_false(reader_moves(0, WEFT_EDGE_TRY_READ, 0, 1, 30)); /* a task waits for it already */
	assert_false(reader_moves(0, WEFT_EDGE_TRY_READ, 0, 1, 50)); /* at the time of the read */
	assert_true(reader_moves(0, WEFT_EDGE_TRY_READ, 0, 1, 51));
	assert_true(reader_moves(0, WEFT_EDGE_TRY_READ, 0, 2, 30)); /* for another task */
}

/* A row is free from the time at which its task ends. */
static void a_child_from_the_end_on_is_beside_its_parent(void **state)
{
	(void)state;
	for (uint64_t start = 9; start <= 11; start++) {
		struct hand *h = hand_create(2);
		uint32_t parent = add_task(h, WEFT_NONE, 0, 10), child = add_task(h, parent, start, 20);
		index_edges(h);
		struct weft_layout *layout = lay_out(h);
		assert_int_equal(layout->row[child], layout->row[parent] + (start < 10));
		weft_layout_destroy(layout);
		hand_destroy(h);
	}
}

/* A read at a task's very end moves it, one after its end does not. */
static void a_read_at_the_end_moves_a_task(void **state)
{
	(void)state;
	for (uint64_t end = 49; end <= 51; end++) {
		struct hand *h = hand_create(3);
		uint32_t source = add_task(h, WEFT_NONE, 0, 100), parent = add_task(h, WEFT_NONE, 0, 100);
		uint32_t task = add_task(h, parent, 10, end);
		h->kind[task] = WEFT_KIND_BIND;
		add_edge(h, WEFT_EDGE_READ, task, source, 50);
		index_edges(h);
		struct weft_layout *layout = lay_out(h);
		assert_int_equal(layout->start[task], end < 50 ? 10 : 50);
		weft_layout_destroy(layout);
		hand_destroy(h);
	}
}

/* The task that another becomes begins where the other ended. */
static void what_a_task_becomes_does_not_move(void **state)
{
	(void)state;
	for (int becomes = 0; becomes < 2; becomes++) {
		struct hand *h = hand_create(3);
		uint32_t source = add_task(h, WEFT_NONE, 0, 100), parent = add_task(h, WEFT_NONE, 0, 20);
		uint32_t task = add_task(h, parent, 10, 80);
		h->kind[task] = WEFT_KIND_BIND;
		h->becomes[parent] = becomes ? task : WEFT_NONE;
		add_edge(h, WEFT_EDGE_READ, task, source, 50);
		index_edges(h);
		struct weft_layout *layout = lay_out(h);
		assert_int_equal(layout->start[task], becomes ? 10 : 50);
		weft_layout_destroy(layout);
		hand_destroy(h);
	}
}

static void options_and_empty_models(void **state)
{
	(void)state;
	struct hand *h = hand_create(4);
	struct weft_layout *layout = lay_out(h);
	assert_int_equal(layout->row_count, 0);
	weft_layout_destroy(layout);
	uint32_t top = add_task(h, WEFT_NONE, 0, 100);
	uint32_t bind = add_task(h, top, 1, 90), source = add_task(h, top, 2, 50);
	h->kind[bind] = WEFT_KIND_BIND;
	add_edge(h, WEFT_EDGE_READ, bind, source, 60);
	index_edges(h);
	struct weft_layout_options plain = {.no_simplify = true};
	assert_int_equal(weft_layout_create(&h->model, &plain, &layout), 0);
	assert_false(layout->moved[bind]);
	assert_int_equal(layout->start[bind], 1);
	assert_int_equal(layout->row_count, 3);
	weft_layout_destroy(layout);
	layout = lay_out(h);
	assert_true(layout->moved[bind]);
	assert_int_equal(layout->row[bind], layout->row[source]);
	weft_layout_destroy(layout);
	weft_layout_destroy(NULL);
	hand_destroy(h);
}

/* A loop by recursion: each task creates the next, and each is a bind that reads the one before. */
static void chains_a_million_deep(void **state)
{
	(void)state;
	enum {
		DEPTH = 1000000
	};
	struct hand *h = hand_create(DEPTH + 1);
	for (uint32_t i = 0; i < DEPTH; i++) {
		add_task(h, i ? i - 1 : WEFT_NONE, i, 3 * (uint64_t)DEPTH);
		h->kind[i] = WEFT_KIND_BIND;
	}
	for (uint32_t i = 0; i < DEPTH; i++) { /* the even ones read what hangs below them */
		uint32_t source = i % 2 ? i - 1 : (i + 7) % DEPTH;
		h->first_edge[i] = i;
		h->by_actor[i] = h->model.edges.count;
		add_edge(h, WEFT_EDGE_READ, i, source, DEPTH + i);
	}
	h->first_edge[DEPTH] = h->model.edges.by_actor_count = DEPTH;
	struct weft_layout *layout = lay_out(h);
	assert_true(layout->moved[1]);
	assert_false(layout->moved[0]);
	assert_true(layout->row_count > 4096);
	weft_layout_destroy(layout);
	hand_destroy(h);
}

static void creation_in_a_circle_keeps_all_tasks(void **state)
{
	(void)state;
	struct hand *h = hand_create(3);
	add_task(h, 1, 0, 10);
	add_task(h, 2, 0, 10);
	add_task(h, 0, UINT64_MAX, UINT64_MAX);
	struct weft_layout *layout = lay_out(h);
	assert_int_equal(layout->row_count, 3);
	weft_layout_destroy(layout);
	hand_destroy(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_sorted),
		cmocka_unit_test(numbers_in_labels_are_one_letter),
		cmocka_unit_test(forest_knows_descendants),
		cmocka_unit_test(first_free_row_is_exact_in_the_first_page),
		cmocka_unit_test(high_concurrency_stays_compact),
		cmocka_unit_test(rows_keep_their_promises),
		cmocka_unit_test(a_task_continues_in_the_row_of_one_that_became_it),
		cmocka_unit_test(a_chain_of_callbacks_stays_in_its_row),
		cmocka_unit_test(only_the_next_callback_continues_in_the_row),
		cmocka_unit_test(a_parent_on_two_threads_has_no_next_callback),
		cmocka_unit_test(a_moved_task_starts_at_its_read_below_its_source),
		cmocka_unit_test(only_quiet_readers_move),
		cmocka_unit_test(a_child_from_the_end_on_is_beside_its_parent),
		cmocka_unit_test(a_read_at_the_end_moves_a_task),
		cmocka_unit_test(what_a_task_becomes_does_not_move),
		cmocka_unit_test(options_and_empty_models),
		cmocka_unit_test(chains_a_million_deep),
		cmocka_unit_test(creation_in_a_circle_keeps_all_tasks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
