/* SPDX-License-Identifier: ISC
 *
 * Statistics of traces that tests make up. tests/e2e/oracle.py compares those of random traces with
 * a second implementation.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <weft/stats.h>

#include "trace_script.h"

#define US 1000

/* The statistics borrow the story in `loaded`, which therefore stays where it is. */
struct measured {
	struct loaded *loaded;
	struct weft_stats *stats;
};

static struct loaded *keep(struct loaded loaded)
{
	struct loaded *kept = malloc(sizeof(*kept));
	assert_non_null(kept);
	*kept = loaded;
	return kept;
}

/* `from` and `to` are us from the start; 0 and 0: everything. */
static struct measured measure(
	const char *script, int64_t n, enum weft_stats_by by, uint64_t from, uint64_t to)
{
	struct measured m = {.loaded = keep(trace_script_load(script, n))};
	uint64_t start = m.loaded->model->summary.start;
	const struct weft_stats_options options = {
		.by = by, .start_ns = start + from * US, .end_ns = to ? start + to * US : 0};
	assert_int_equal(weft_stats_create(&m.loaded->story, &options, &m.stats), 0);
	return m;
}

static void measured_finish(struct measured *m)
{
	weft_stats_destroy(m->stats);
	loaded_finish(m->loaded);
	free(m->loaded);
}

static const struct weft_stats_row *row_named(const struct measured *m, const char *name)
{
	char text[256];
	for (uint32_t i = 0; i < m->stats->row_count; i++) {
		weft_stats_format_name(m->stats, &m->stats->rows[i], text, sizeof(text));
		if (strcmp(text, name) == 0)
			return &m->stats->rows[i];
	}
	fail_msg("no row \"%s\"", name);
	return NULL;
}

static void digits_of_labels_are_one(void **state)
{
	struct measured m = measure("create 0 1 task; label 1 port-4; create 0 2 task; label 2 port-17;"
								"create 0 3 bind; label 3 port-4; create 0 4 task; label 4 port-x",
		0, WEFT_STATS_BY_LABEL, 0, 0);
	(void)state;
	uint32_t tasks = 0;
	for (uint32_t i = 0; i < m.stats->row_count; i++)
		tasks += m.stats->rows[i].count;
	assert_int_equal(tasks, m.loaded->model->tasks.count);
	assert_int_equal(m.stats->row_count, 4); /* two named port-#, of two kinds, and task 0 */
	assert_int_equal(row_named(&m, "port-x")->count, 1);
	measured_finish(&m);
}

static void an_empty_trace_has_no_rows(void **state)
{
	(void)state;
	for (unsigned by = 0; by < WEFT_STATS_BYS; by++) {
		struct measured m = measure("", 0, (enum weft_stats_by)by, 0, 0);
		assert_int_equal(m.stats->row_count, 0);
		assert_int_equal(m.stats->end_ns, m.stats->start_ns);
		measured_finish(&m);
	}
}

static void expect_name(struct measured *m, enum weft_stats_by by, uint32_t row, const char *name)
{
	const struct weft_stats_options options = {.by = by};
	char text[64];
	assert_int_equal(weft_stats_create(&m->loaded->story, &options, &m->stats), 0);
	assert_true(row < m->stats->row_count);
	size_t size = weft_stats_format_name(m->stats, &m->stats->rows[row], text, sizeof(text));
	assert_string_equal(text, name);
	assert_int_equal(size, strlen(name));
	weft_stats_destroy(m->stats);
}

/* Threads, processes and categories have names of their own. */
static void each_grouping_names_its_rows(void **state)
{
	static const struct weft_trace_buffer web = {
		.process = "web", .pid = 7, .host = "", .file = "web.weft"};
	struct made made = make_begin();
	(void)state;
	made.buffers = &web;
	made.buffer_count = 1;
	make(&made, (struct weft_event){.type = WEFT_EVENT_CREATE,
					.task = WEFT_TASK_NONE,
					.other = 1,
					.kind = WEFT_KIND_TASK,
					.category = {"net", 3}});
	make_label(&made, 1, "GET /1");
	make_begin_span(&made, 1, "part 7");
	make_switch(&made, 1);
	made.time += 5 * US;
	make_end_span(&made, 1);
	make(&made, (struct weft_event){.type = WEFT_EVENT_STACK, .task = 1, .text = {"serve", 5}});
	struct measured m = {.loaded = keep(make_end(&made))};
	expect_name(&m, WEFT_STATS_BY_LABEL, 0, "GET /#");
	expect_name(&m, WEFT_STATS_BY_KIND, 0, "task");
	expect_name(&m, WEFT_STATS_BY_PARENT, 0, "");
	expect_name(&m, WEFT_STATS_BY_THREAD, 0, "main");
	expect_name(&m, WEFT_STATS_BY_PROCESS, 0, "web 7");
	expect_name(&m, WEFT_STATS_BY_CATEGORY, 0, "net");
	expect_name(&m, WEFT_STATS_BY_SPAN, 0, "part #");
	expect_name(&m, WEFT_STATS_BY_STACK, 0, "serve");
	loaded_finish(m.loaded);
	free(m.loaded);
}

static void groupings_and_columns_have_names(void **state)
{
	(void)state;
	for (unsigned by = 0; by < WEFT_STATS_BYS; by++)
		for (unsigned other = 0; other <= by; other++)
			assert_int_equal(strcmp(weft_stats_by_name((enum weft_stats_by)by),
								 weft_stats_by_name((enum weft_stats_by)other)) == 0,
				by == other);
	for (unsigned sort = 0; sort < WEFT_STATS_SORTS; sort++)
		for (unsigned other = 0; other <= sort; other++)
			assert_int_equal(strcmp(weft_stats_sort_name((enum weft_stats_sort)sort),
								 weft_stats_sort_name((enum weft_stats_sort)other)) == 0,
				sort == other);
	assert_null(weft_stats_by_name(WEFT_STATS_BYS));
	assert_null(weft_stats_sort_name(WEFT_STATS_SORTS));
}

/* The tasks 10 to 10 + n - 1 live for 1 us, 2 us, … n us, one after the other. */
static const char steps[] = "[n: create 0 10+i task; label 10+i step; +1+i; resolve 0 10+i]";

static void percentiles_are_lives_that_occurred(void **state)
{
	static const struct {
		int64_t n;
		uint64_t p50, p90, p99, max; /* us */
	} cases[] = {{1, 1, 1, 1, 1}, {2, 1, 1, 1, 2}, {3, 2, 2, 2, 3}, {10, 5, 9, 9, 10},
		{11, 6, 10, 10, 11}, {101, 51, 91, 100, 101}};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct measured m = measure(steps, cases[i].n, WEFT_STATS_BY_LABEL, 0, 0);
		const struct weft_stats_row *row = row_named(&m, "step");
		assert_int_equal(row->ended, cases[i].n);
		assert_int_equal(row->p50_ns, cases[i].p50 * US);
		assert_int_equal(row->p90_ns, cases[i].p90 * US);
		assert_int_equal(row->p99_ns, cases[i].p99 * US);
		assert_int_equal(row->max_ns, cases[i].max * US);
		measured_finish(&m);
	}
}

static void members_are_in_the_order_of_their_lives(void **state)
{
	struct measured m = measure("[n: create 0 10+i task; label 10+i step; +20-i; resolve 0 10+i]",
		9, WEFT_STATS_BY_LABEL, 0, 0);
	const struct weft_stats_row *row = row_named(&m, "step");
	const struct weft_stats_member *members = m.stats->members + row->first;
	(void)state;
	assert_int_equal(row->ended, 9);
	for (uint32_t i = 1; i < row->ended; i++)
		assert_true(members[i].end - members[i].start >= members[i - 1].end - members[i - 1].start);
	assert_int_equal(m.loaded->model->tasks.id[members[8].task], 10);
	measured_finish(&m);
}

static void equal_lives_have_equal_percentiles(void **state)
{
	struct measured m = measure("[n: create 0 10+i task; label 10+i step; +7; resolve 0 10+i]", 100,
		WEFT_STATS_BY_LABEL, 0, 0);
	const struct weft_stats_row *row = row_named(&m, "step");
	(void)state;
	assert_int_equal(row->p50_ns, 7 * US);
	assert_int_equal(row->max_ns, 7 * US);
	measured_finish(&m);
}

static void each_outcome_is_counted(void **state)
{
	struct measured m = measure(
		"[7: create 0 10+i task; label 10+i job]; create 0 17 task; +5; resolve 0 10; fail 0 11 bad;"
		"cancel 0 12; close 0 13; time_out 0 14; expect 15; become 16 17; +1; note 0 end",
		0, WEFT_STATS_BY_LABEL, 0, 0);
	const struct weft_stats_row *row = row_named(&m, "job");
	(void)state;
	assert_int_equal(row->count, 7);
	assert_int_equal(row->ended, 6);
	assert_int_equal(weft_stats_unfinished(row), 1);
	static const enum weft_outcome once[] = {WEFT_OUTCOME_FULFILLED, WEFT_OUTCOME_FAILED,
		WEFT_OUTCOME_CANCELLED, WEFT_OUTCOME_CLOSED, WEFT_OUTCOME_TIMED_OUT,
		WEFT_OUTCOME_NEVER_RESOLVED, WEFT_OUTCOME_BECAME};
	for (size_t i = 0; i < sizeof(once) / sizeof(*once); i++)
		assert_int_equal(row->by_outcome[once[i]], 1);
	measured_finish(&m);
}

/* Task 5 is created at 0, runs for 10 us, waits for 6 for 20 us, which task 7 resolves, runs 5 us
 * later for 10 us, and has ended at 45 us. */
static const char waiter[] =
	"create 0 5 task; label 5 waiter; create 0 6 promise; create 0 7 task; run 5; +10; try 5 6;"
	"run 7; +20; resolve 7 6; +5; run 5; read 5 6; +10; resolve 0 5; idle; +5; note 0 end";

static void time_is_running_waiting_or_delay(void **state)
{
	struct measured m = measure(waiter, 0, WEFT_STATS_BY_LABEL, 0, 0);
	const struct weft_stats_row *row = row_named(&m, "waiter");
	(void)state;
	assert_int_equal(row->running_ns, 20 * US);
	assert_int_equal(row->waiting_ns, 20 * US);
	assert_int_equal(row->delay_ns, 5 * US);
	assert_int_equal(row->max_delay_ns, 5 * US);
	assert_int_equal(m.loaded->model->tasks.id[row->most_delayed], 5);
	assert_int_equal(row->max_ns, 45 * US);
	measured_finish(&m);
}

static void a_lock_does_not_wait(void **state)
{
	static const uint16_t kinds[] = {
		WEFT_KIND_LOCK, WEFT_KIND_SEMAPHORE, WEFT_KIND_CONDITION, WEFT_KIND_TASK};
	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct made made = make_begin();
		make_create(&made, WEFT_TASK_NONE, 1, kinds[i]);
		made.time = 100;
		make_edge(&made, WEFT_EVENT_RESOLVE, WEFT_TASK_NONE, 1);
		struct loaded loaded = make_end(&made);
		struct weft_stats *stats;
		assert_int_equal(weft_stats_create(&loaded.story, NULL, &stats), 0);
		assert_int_equal(stats->rows[0].waiting_ns, kinds[i] == WEFT_KIND_TASK ? 100 : 0);
		weft_stats_destroy(stats);
		loaded_finish(&loaded);
	}
}

static void without_an_index_there_is_no_delay(void **state)
{
	struct measured m = measure(waiter, 0, WEFT_STATS_BY_LABEL, 0, 0);
	const struct weft_story story = {.model = m.loaded->model};
	struct weft_stats *stats;
	(void)state;
	assert_int_equal(weft_stats_create(&story, NULL, &stats), 0);
	uint64_t delay = 0;
	for (uint32_t i = 0; i < stats->row_count; i++)
		delay += stats->rows[i].delay_ns;
	assert_int_equal(delay, 0);
	weft_stats_destroy(stats);
	measured_finish(&m);
}

static void a_range_clips_times_but_not_lives(void **state)
{
	struct measured m = measure(waiter, 0, WEFT_STATS_BY_LABEL, 5, 32);
	const struct weft_stats_row *row = row_named(&m, "waiter");
	(void)state;
	assert_int_equal(row->count, 1);
	assert_int_equal(row->ended, 0);
	assert_int_equal(weft_stats_unfinished(row), 1);
	assert_int_equal(row->running_ns, 5 * US);
	assert_int_equal(row->waiting_ns, 20 * US);
	assert_int_equal(row->delay_ns, 2 * US);
	measured_finish(&m);
	m = measure(waiter, 0, WEFT_STATS_BY_LABEL, 40, 46);
	row = row_named(&m, "waiter");
	assert_int_equal(row->ended, 1);
	assert_int_equal(row->max_ns, 45 * US);
	assert_int_equal(row->running_ns, 5 * US);
	assert_int_equal(row->delay_ns, 0);
	measured_finish(&m);
}

/* Adjacent ranges share neither an end nor a ns. */
static void ranges_add_up(void **state)
{
	(void)state;
	for (uint64_t middle = 1; middle < 45; middle++) {
		struct measured a = measure(waiter, 0, WEFT_STATS_BY_KIND, 0, middle);
		struct measured b = measure(waiter, 0, WEFT_STATS_BY_KIND, middle, 0);
		struct measured all = measure(waiter, 0, WEFT_STATS_BY_KIND, 0, 0);
		const struct weft_stats_row *ra = row_named(&a, "task"), *rb = row_named(&b, "task");
		const struct weft_stats_row *whole = row_named(&all, "task");
		assert_int_equal(ra->ended + rb->ended, whole->ended);
		assert_int_equal(ra->running_ns + rb->running_ns, whole->running_ns);
		assert_int_equal(ra->waiting_ns + rb->waiting_ns, whole->waiting_ns);
		assert_int_equal(ra->delay_ns + rb->delay_ns, whole->delay_ns);
		measured_finish(&a);
		measured_finish(&b);
		measured_finish(&all);
	}
}

static void a_range_outside_has_no_rows(void **state)
{
	struct measured m = measure(waiter, 0, WEFT_STATS_BY_LABEL, 100, 200);
	(void)state;
	assert_int_equal(m.stats->row_count, 0);
	assert_int_equal(m.stats->end_ns, m.stats->start_ns);
	measured_finish(&m);
}

static void idleness_is_clipped(void **state)
{
	static const char script[] = "run 1; +10; idle; +20; run 1; +10; note 1 end";
	struct measured m = measure(script, 0, WEFT_STATS_BY_KIND, 0, 0);
	(void)state;
	assert_int_equal(m.stats->idle_ns, 20 * US);
	measured_finish(&m);
	m = measure(script, 0, WEFT_STATS_BY_KIND, 15, 25);
	assert_int_equal(m.stats->idle_ns, 10 * US);
	measured_finish(&m);
}

static void parents_are_alike_too(void **state)
{
	struct measured m =
		measure("[3: create 0 10+i task; label 10+i request 1#; create 10+i 20+i task]", 3,
			WEFT_STATS_BY_PARENT, 0, 0);
	uint16_t kind;
	(void)state;
	const struct weft_stats_row *row = row_named(&m, "request #");
	assert_int_equal(row->count, 3);
	assert_true(weft_stats_kind(m.stats, row, &kind));
	assert_int_equal(kind, WEFT_KIND_TASK);
	measured_finish(&m);
}

static void tasks_belong_to_the_thread_that_ran_them_first(void **state)
{
	struct measured m =
		measure("thread 0; create 0 1 task; create 0 2 task; run 1; +5; thread 1; run 2; +5; idle;"
				"thread 0; run 2; +1; idle",
			0, WEFT_STATS_BY_THREAD, 0, 0);
	(void)state;
	uint32_t count = 0;
	for (uint32_t i = 0; i < m.stats->row_count; i++)
		if (m.stats->rows[i].key == 1)
			count = m.stats->rows[i].count;
	assert_int_equal(m.stats->row_count, 2);
	assert_int_equal(count, 1);
	measured_finish(&m);
}

/* Each us belongs to the thread that spent it, also on tasks that ran elsewhere before: so no
 * thread runs longer than the trace lasts. Task 0 lives for 1 us. */
static void times_belong_to_the_thread_that_spent_them(void **state)
{
	struct measured m = measure(
		"thread 0; create 0 1 task; create 0 2 task; run 1; +2; idle; +3; thread 1; run 1; +5;"
		"idle; thread 2; run 2; +4; idle; +1; resolve 1 1; resolve 2 2",
		0, WEFT_STATS_BY_THREAD, 0, 0);
	static const uint64_t running[] = {2, 5, 4}, waiting[] = {1, 3 + 5, 10 + 1},
						  count[] = {2, 0, 1};
	(void)state;
	assert_int_equal(m.stats->row_count, 3);
	for (uint32_t i = 0; i < 3; i++) {
		const struct weft_stats_row *row = &m.stats->rows[i];
		assert_int_equal(row->running_ns, running[row->key] * US);
		assert_int_equal(row->waiting_ns, waiting[row->key] * US);
		assert_int_equal(row->count, count[row->key]);
	}
	measured_finish(&m);
}

/* A task that runs on two threads at once runs twice as long, but neither waits nor is delayed. */
static void a_task_on_two_threads_does_not_wait(void **state)
{
	struct measured m =
		measure("create 0 1 task; label 1 both; thread 0; run 1; +2; thread 1; run 1;"
				"+3; idle; +5; thread 0; idle; resolve 0 1",
			0, WEFT_STATS_BY_LABEL, 0, 0);
	const struct weft_stats_row *row = row_named(&m, "both");
	(void)state;
	assert_int_equal(row->running_ns, 13 * US);
	assert_int_equal(row->waiting_ns, 0);
	measured_finish(&m);
}

static struct weft_event span_event(enum weft_event_type type, uint64_t task, const char *name)
{
	return (struct weft_event){.type = (uint8_t)type, .task = task, .text = {name, strlen(name)}};
}

/* A span from 0 to 30 us, with one in it from 10 to 20 us; the task runs from 0 to 15 us. */
static void spans_have_rows_by_name(void **state)
{
	struct trace_script s = {.made = make_begin()};
	(void)state;
	trace_script_run_all(&s, "create 0 1 task; run 1");
	make(&s.made, span_event(WEFT_EVENT_BEGIN, 1, "outer"));
	trace_script_run_all(&s, "+10");
	make(&s.made, span_event(WEFT_EVENT_BEGIN, 1, "part 7"));
	trace_script_run_all(&s, "+5; idle; +5");
	make(&s.made, span_event(WEFT_EVENT_END, 1, ""));
	trace_script_run_all(&s, "+10");
	make(&s.made, span_event(WEFT_EVENT_END, 1, ""));
	struct measured m = {.loaded = keep(load_model(make_model(&s.made)))};
	const struct weft_stats_options options = {.by = WEFT_STATS_BY_SPAN};
	assert_int_equal(weft_stats_create(&m.loaded->story, &options, &m.stats), 0);
	assert_int_equal(m.stats->row_count, 2);
	assert_int_equal(row_named(&m, "outer")->max_ns, 30 * US);
	assert_int_equal(row_named(&m, "outer")->running_ns, 15 * US);
	assert_int_equal(row_named(&m, "outer")->waiting_ns, 15 * US);
	assert_int_equal(row_named(&m, "part #")->running_ns, 5 * US);
	measured_finish(&m);
}

/* Spans of one name, each from the end of the one before: to 10, 20 and 30 us. One that ends as the
 * range does has not ended in it, but in the next one. */
static void a_span_ends_in_one_range(void **state)
{
	static const struct {
		uint64_t from, to;
		uint32_t count, ended;
	} cases[] = {{0, 9, 1, 0}, {0, 10, 1, 0}, {0, 11, 2, 1}, {10, 20, 2, 1}, {0, 20, 2, 1},
		{20, 25, 2, 1}, {0, 0, 3, 3}, {20, 30, 2, 1}, {21, 0, 1, 1}};
	struct made made = make_begin();
	(void)state;
	make_tasks(&made, 1);
	for (unsigned i = 0; i < 3; i++) {
		make_begin_span(&made, 1, "part");
		made.time += 10 * US;
		make_end_span(&made, 1);
	}
	made.time += 10 * US;
	make_switch(&made, 1);
	struct measured m = {.loaded = keep(make_end(&made))};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct weft_stats_options options = {
			.by = WEFT_STATS_BY_SPAN, .start_ns = cases[i].from * US, .end_ns = cases[i].to * US};
		assert_int_equal(weft_stats_create(&m.loaded->story, &options, &m.stats), 0);
		const struct weft_stats_row *row = row_named(&m, "part");
		assert_int_equal(row->count, cases[i].count);
		assert_int_equal(row->ended, cases[i].ended);
		assert_int_equal(weft_stats_unfinished(row), cases[i].count - cases[i].ended);
		weft_stats_destroy(m.stats);
	}
	loaded_finish(m.loaded);
	free(m.loaded);
}

/* Task 1 waits for a lock from 10 to 40 us, then for timers from 50 to 60 us and from 70 us on, all
 * in calls; and from 45 to 47 us, where the calls were not noted. Task 2 has none noted. */
static const char waits[] =
	"create 0 1 thread; create 0 5 lock; create 0 6 timer; create 0 2 thread; run 1; +10;"
	"stack 1 flush; try 1 5; idle; +30; acquire 1 5; run 1;"
	"+5; try 1 6; idle; +2; resolve 0 6; read 1 6; run 1;"
	"+3; create 1 7 timer; stack 1 nap; try 1 7; idle; +10; resolve 0 7; read 1 7; run 1;"
	"+10; create 1 8 timer; stack 1 nap; try 1 8; idle;"
	"+1; create 2 9 timer; run 2; +1; try 2 9; idle; +8; run 2";

static void waits_have_rows_by_their_calls(void **state)
{
	struct measured m = measure(waits, 0, WEFT_STATS_BY_STACK, 0, 0);
	const struct weft_stats_row *flush = row_named(&m, "flush"), *nap = row_named(&m, "nap"),
								*others = row_named(&m, "");
	uint16_t kind = 0;
	(void)state;
	assert_int_equal(m.stats->row_count, 3);
	assert_int_equal(flush->count, 1);
	assert_int_equal(flush->waiting_ns + flush->delay_ns, 30 * US);
	assert_int_equal(flush->max_ns, 30 * US);
	assert_true(weft_stats_kind(m.stats, flush, &kind));
	assert_int_equal(kind, WEFT_KIND_LOCK);
	assert_int_equal(nap->count, 2);
	assert_int_equal(nap->ended, 1);
	assert_int_equal(weft_stats_unfinished(nap), 1);
	assert_int_equal(nap->waiting_ns + nap->delay_ns, 20 * US);
	assert_int_equal(nap->running_ns, 0);
	assert_int_equal(others->count, 1);
	assert_int_equal(others->waiting_ns + others->delay_ns, 2 * US);
	assert_true(weft_stats_kind(m.stats, others, &kind));
	assert_int_equal(kind, WEFT_KIND_TIMER);
	measured_finish(&m);
}

static void waits_are_cut_by_a_range(void **state)
{
	struct measured m = measure(waits, 0, WEFT_STATS_BY_STACK, 20, 55);
	(void)state;
	assert_int_equal(row_named(&m, "flush")->waiting_ns, 20 * US);
	assert_int_equal(row_named(&m, "flush")->ended, 1);
	assert_int_equal(row_named(&m, "nap")->count, 1);
	assert_int_equal(row_named(&m, "nap")->ended, 0);
	assert_int_equal(row_named(&m, "nap")->waiting_ns, 5 * US);
	measured_finish(&m);
	m = measure(waits, 0, WEFT_STATS_BY_STACK, 40, 45); /* where the one for the lock ends */
	assert_int_equal(row_named(&m, "flush")->count, 1);
	assert_int_equal(row_named(&m, "flush")->waiting_ns, 0);
	measured_finish(&m);
	m = measure(waits, 0, WEFT_STATS_BY_STACK, 5, 40);
	assert_int_equal(row_named(&m, "flush")->ended, 0);
	measured_finish(&m);
}

/* Before it waits for the lock, the thread sleeps, wakes, and does nothing that the trace shows. */
static void a_wait_does_not_begin_with_the_sleep_before_it(void **state)
{
	struct measured m =
		measure("create 0 1 thread; create 0 5 lock; run 1; +10; idle; +20; run 1;"
				"+1; stack 1 flush; try 1 5; idle; +30; acquire 1 5; run 1; +1; idle",
			0, WEFT_STATS_BY_STACK, 0, 0);
	uint16_t kind = 0;
	(void)state;
	assert_int_equal(m.stats->row_count, 1);
	assert_int_equal(row_named(&m, "flush")->waiting_ns, 30 * US);
	assert_true(weft_stats_kind(m.stats, row_named(&m, "flush"), &kind));
	assert_int_equal(kind, WEFT_KIND_LOCK);
	measured_finish(&m);
}

/* The same where no calls were noted. */
static void a_sleep_before_a_wait_without_calls_does_not_count(void **state)
{
	struct measured m =
		measure("create 0 1 thread; create 0 5 lock; create 0 6 timer; run 1; +5; stack 1 nap;"
				"try 1 6; idle; +5; resolve 0 6; read 1 6; run 1; +2; idle; +20; run 1; +1;"
				"try 1 5; idle; +30; acquire 1 5; run 1; +1; idle",
			0, WEFT_STATS_BY_STACK, 0, 0);
	(void)state;
	assert_int_equal(m.stats->row_count, 2);
	assert_int_equal(row_named(&m, "nap")->count, 1);
	assert_int_equal(row_named(&m, "")->count, 1);
	assert_int_equal(row_named(&m, "")->waiting_ns, 30 * US);
	measured_finish(&m);
}

/* Task 1 takes the lock, which nothing records, and sleeps; a waiter says who holds it. */
static void a_holder_that_sleeps_does_not_wait_for_its_lock(void **state)
{
	struct measured m = measure(
		"create 0 1 thread; create 0 2 thread; create 0 5 lock; create 0 6 timer; thread 1; run 1;"
		"+5; stack 1 nap; try 1 6; idle; +5; resolve 0 6; read 1 6; run 1; +2; idle; thread 2;"
		"run 2; +8; acquire 1 5; stack 2 flush; try 2 5; idle; +10; thread 1; run 1; release 1 5;"
		"+1; thread 2; acquire 2 5; run 2; +1; idle",
		0, WEFT_STATS_BY_STACK, 0, 0);
	(void)state;
	assert_int_equal(m.stats->row_count, 2);
	assert_int_equal(row_named(&m, "nap")->waiting_ns + row_named(&m, "nap")->delay_ns, 5 * US);
	assert_int_equal(
		row_named(&m, "flush")->waiting_ns + row_named(&m, "flush")->delay_ns, 11 * US);
	measured_finish(&m);
}

/* The task wakes and waits again within one tick of the clock, so it has no activation then. */
static void a_wait_ends_where_the_next_one_begins(void **state)
{
	struct measured m =
		measure("create 0 1 thread; create 0 5 timer; run 1; +10; stack 1 first;"
				"try 1 5; idle; +10; run 1; stack 1 second; idle; +5; run 1; +1; idle",
			0, WEFT_STATS_BY_STACK, 0, 0);
	(void)state;
	assert_int_equal(row_named(&m, "first")->waiting_ns, 10 * US);
	assert_int_equal(row_named(&m, "second")->waiting_ns, 5 * US);
	assert_int_equal(row_named(&m, "second")->ended, 1);
	measured_finish(&m);
}

/* Calls may be noted before the first activation that the trace has, and of a task without any. */
static void waits_need_no_activation(void **state)
{
	struct measured m =
		measure("create 0 1 thread; create 0 2 thread; create 0 5 timer; +1; stack 1 early; +4;"
				"run 1; +1; idle; stack 2 never; try 2 5; +5; run 1",
			0, WEFT_STATS_BY_STACK, 0, 0);
	(void)state;
	assert_int_equal(row_named(&m, "early")->waiting_ns, 4 * US);
	assert_int_equal(row_named(&m, "never")->waiting_ns, 5 * US);
	assert_int_equal(row_named(&m, "never")->ended, 0);
	measured_finish(&m);
}

static void hidden_tasks_are_left_out(void **state)
{
	struct loaded loaded = trace_script_load(waits, 0);
	uint8_t *hidden = calloc(loaded.model->tasks.count, 1);
	struct weft_stats *stats;
	(void)state;
	for (uint32_t task = 0; task < loaded.model->tasks.count; task++)
		hidden[task] = loaded.model->tasks.id[task] == 1;
	for (unsigned by = 0; by < WEFT_STATS_BYS; by++) {
		struct weft_stats_options options = {.by = (enum weft_stats_by)by};
		uint32_t counts[2] = {0, 0};
		for (unsigned hides = 0; hides < 2; hides++) {
			options.hidden = hides ? hidden : NULL;
			assert_int_equal(weft_stats_create(&loaded.story, &options, &stats), 0);
			for (uint32_t i = 0; i < stats->row_count; i++)
				counts[hides] += stats->rows[i].count;
			weft_stats_destroy(stats);
		}
		assert_int_equal(counts[0] - counts[1], by == WEFT_STATS_BY_SPAN    ? 0
												: by == WEFT_STATS_BY_STACK ? 4
																			: 1);
	}
	free(hidden);
	loaded_finish(&loaded);
}

/* A line of a track is no task, and its spans are work. */
static void tracks_have_only_spans(void **state)
{
	struct trace_script s = {.made = make_begin()};
	(void)state;
	trace_script_run_all(&s, "create 0 1 task; +50");
	struct weft_event event = span_event(WEFT_EVENT_SPAN, WEFT_TASK_NONE, "copy");
	event.other = WEFT_TRACK_FIRST;
	event.begin_ns = s.made.time - 30 * US;
	event.end_ns = s.made.time - 10 * US;
	event.kind_name = (struct weft_slice){"gpu", 3};
	make(&s.made, event);
	struct measured m = {.loaded = keep(load_model(make_model(&s.made)))};
	struct weft_stats_options options = {.by = WEFT_STATS_BY_SPAN};
	assert_int_equal(weft_stats_create(&m.loaded->story, &options, &m.stats), 0);
	assert_int_equal(row_named(&m, "copy")->max_ns, 20 * US);
	assert_int_equal(row_named(&m, "copy")->running_ns, 20 * US);
	assert_int_equal(row_named(&m, "copy")->waiting_ns, 0);
	weft_stats_destroy(m.stats);
	options.by = WEFT_STATS_BY_KIND;
	assert_int_equal(weft_stats_create(&m.loaded->story, &options, &m.stats), 0);
	for (uint32_t i = 0; i < m.stats->row_count; i++)
		assert_int_not_equal(m.stats->rows[i].key, WEFT_KIND_TRACK);
	assert_int_equal(m.stats->row_count, 2);
	measured_finish(&m);
}

static void rows_are_sorted(void **state)
{
	struct loaded loaded = trace_script_load(
		"[5: create 0 10+i task; label 10+i many; +1; resolve 0 10+i]; create 0 20 task;"
		"label 20 long; +100; fail 0 20 bad",
		0);
	static const struct {
		enum weft_stats_sort sort;
		const char *first;
	} cases[] = {{WEFT_STATS_SORT_COUNT, "many"}, {WEFT_STATS_SORT_MAX, "long"},
		{WEFT_STATS_SORT_FAILED, "long"}};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct weft_stats_options options = {.sort = cases[i].sort};
		struct weft_stats *stats;
		char name[16];
		assert_int_equal(weft_stats_create(&loaded.story, &options, &stats), 0);
		weft_stats_format_name(stats, &stats->rows[0], name, sizeof(name));
		assert_string_equal(name, cases[i].first);
		weft_stats_destroy(stats);
	}
	loaded_finish(&loaded);
}

static void counters_change_within_the_range(void **state)
{
	static const char script[] = "+1; count q 5; +10; count q 9; +10; count q 2; +10; note 0 end";
	struct measured m = measure(script, 0, WEFT_STATS_BY_KIND, 5, 25);
	struct weft_stats_counter counter = weft_stats_counter_of(m.stats, 0);
	(void)state;
	assert_int_equal(counter.changes, 2);
	assert_int_equal(counter.before.integer, 5);
	assert_int_equal(counter.after.integer, 2);
	assert_int_equal(counter.min.integer, 2);
	assert_int_equal(counter.max.integer, 9);
	assert_int_equal(weft_stats_change(&counter).integer, -3);
	measured_finish(&m);
	m = measure(script, 0, WEFT_STATS_BY_KIND, 25, 28);
	counter = weft_stats_counter_of(m.stats, 0);
	assert_int_equal(counter.changes, 0);
	assert_int_equal(counter.min.integer, 2);
	measured_finish(&m);
}

/* A counter that is set at first has no value before, and so none from which it changed. */
static void before_the_first_set_is_no_value(void **state)
{
	static const char script[] = "note 0 begin; +5; count q 5; +10; count q 9";
	struct measured m = measure(script, 0, WEFT_STATS_BY_KIND, 0, 0);
	struct weft_stats_counter counter = weft_stats_counter_of(m.stats, 0);
	(void)state;
	assert_int_equal(counter.changes, 2);
	assert_true(counter.has_no_before);
	assert_false(counter.has_no_value);
	assert_int_equal(counter.min.integer, 5);
	assert_int_equal(counter.max.integer, 9);
	measured_finish(&m);
	m = measure(script, 0, WEFT_STATS_BY_KIND, 0, 1);
	counter = weft_stats_counter_of(m.stats, 0);
	assert_int_equal(counter.changes, 0);
	assert_true(counter.has_no_value);
	measured_finish(&m);
}

/* A value that the program had before the trace is not a change. */
static void a_value_from_before_is_no_change(void **state)
{
	struct trace_script s = {.made = make_begin()};
	(void)state;
	trace_script_run_all(&s, "note 0 begin; +5");
	make(&s.made, (struct weft_event){.type = WEFT_EVENT_TOTAL, .text = {"jobs", 4}, .value = 5});
	s.made.time += US;
	make_counter(&s.made, 0, "jobs", 2, false);
	struct measured m = {.loaded = keep(load_model(make_model(&s.made)))};
	assert_int_equal(weft_stats_create(&m.loaded->story, NULL, &m.stats), 0);
	const struct weft_stats_counter counter = weft_stats_counter_of(m.stats, 0);
	assert_int_equal(counter.before.integer, 5);
	assert_int_equal(counter.changes, 1);
	assert_int_equal(counter.min.integer, 5);
	assert_int_equal(counter.after.integer, 7);
	measured_finish(&m);
}

/* Two tasks are woken equally late, and the first is named. */
static void of_equal_delays_the_first_is_named(void **state)
{
	struct measured m = measure("create 0 1 task; create 0 2 task; run 1; +1; run 2; +1; run 3; +1;"
								"signal 1 3; +5; run 1; +1; run 3; signal 2 3; +5; run 2; +1; idle",
		0, WEFT_STATS_BY_KIND, 0, 0);
	const struct weft_model *model = m.loaded->model;
	(void)state;
	for (uint32_t i = 0; i < m.stats->row_count; i++)
		if (m.stats->rows[i].key == WEFT_KIND_TASK) {
			assert_int_equal(m.stats->rows[i].max_delay_ns, 5 * US);
			assert_int_equal(model->tasks.id[m.stats->rows[i].most_delayed], 1);
		}
	measured_finish(&m);
}

static void expect_pair(const struct weft_stats_diff *diff, uint32_t number, const char *name,
	uint32_t a_count, uint32_t b_count)
{
	const struct weft_stats_pair *pair = &diff->pairs[number];
	char text[64];
	weft_stats_format_name(
		pair->b ? diff->b : diff->a, pair->b ? pair->b : pair->a, text, sizeof(text));
	assert_string_equal(text, name);
	assert_int_equal(pair->a ? pair->a->count : 0, a_count);
	assert_int_equal(pair->b ? pair->b->count : 0, b_count);
}

/* In b the jobs take 3 us and not 1 us, the long task 110 us and not 100 us, the quick ones 1 us
 * and not 2 us; "old" is gone, "new" is new. */
static const char before[] =
	"create 0 1 task; label 1 long; +90; [10: create 0 10+i task; label 10+i job; +1; resolve 0 10+i];"
	"resolve 0 1; create 0 2 task; label 2 old; create 0 3 task; label 3 quick; +2; resolve 0 3";
static const char after[] = "create 0 7 task; label 7 new; create 0 1 task; label 1 long; +80;"
							"[10: create 0 10+i task; label 10+i job; +3; resolve 0 10+i];"
							"resolve 0 1; create 0 3 task; label 3 quick; +1; resolve 0 3";

static void the_worst_change_is_first(void **state)
{
	struct measured a = measure(before, 0, WEFT_STATS_BY_LABEL, 0, 0);
	struct measured b = measure(after, 0, WEFT_STATS_BY_LABEL, 0, 0);
	struct weft_stats_diff *diff;
	(void)state;
	assert_int_equal(weft_stats_diff_create(a.stats, b.stats, &diff), 0);
	assert_int_equal(diff->count, 6);
	expect_pair(diff, 0, "job", 10, 10);
	expect_pair(diff, 1, "long", 1, 1);
	expect_pair(diff, 2, "", 1, 1); /* task 0 has not ended */
	expect_pair(diff, 3, "quick", 1, 1);
	expect_pair(diff, 4, "new", 0, 1);
	expect_pair(diff, 5, "old", 1, 0);
	/* 20 us more than expected, of 30 us */
	assert_int_equal((int)diff->pairs[0].score, 20 * US * 20 / 30);
	assert_true(diff->pairs[3].score < 0);
	weft_stats_diff_destroy(diff);
	measured_finish(&a);
	measured_finish(&b);
}

/* Long labels may differ behind the end of their rows' names. Such rows are compared in their
 * order, and one that has no other side is new. */
static void rows_of_one_name_are_compared_in_their_order(void **state)
{
	struct loaded loaded[2];
	struct weft_stats *stats[2];
	struct weft_stats_diff *diff;
	char label[2 * WEFT_STATS_NAME_BYTES];
	(void)state;
	for (uint64_t i = 0; i < 2; i++) {
		struct made made = make_begin();
		for (uint64_t id = 1; id <= 1 + i; id++) {
			make_create(&made, WEFT_TASK_NONE, id, WEFT_KIND_TASK);
			memset(label, 'x', sizeof(label));
			label[sizeof(label) - 2] = (char)('a' + id);
			label[sizeof(label) - 1] = '\0';
			make_label(&made, id, label);
			made.time += US;
		}
		loaded[i] = load_model(make_model(&made));
		assert_int_equal(weft_stats_create(&loaded[i].story, NULL, &stats[i]), 0);
	}
	assert_int_equal(stats[1]->row_count, 2);
	assert_int_equal(weft_stats_diff_create(stats[0], stats[1], &diff), 0);
	assert_int_equal(diff->count, 2);
	assert_ptr_equal(diff->pairs[0].a, &stats[0]->rows[0]);
	assert_ptr_equal(diff->pairs[0].b, &stats[1]->rows[0]);
	assert_ptr_equal(diff->pairs[1].b, &stats[1]->rows[1]);
	weft_stats_diff_destroy(diff);
	for (int i = 0; i < 2; i++) {
		weft_stats_destroy(stats[i]);
		loaded_finish(&loaded[i]);
	}
}

/* Half as many tasks of the same length. */
static void fewer_tasks_of_one_length_are_no_difference(void **state)
{
	static const char two[] = "[2: create 0 10+i task; label 10+i job; +8; resolve 0 10+i]",
					  one[] = "create 0 10 task; label 10 job; +8; resolve 0 10";
	struct measured a = measure(two, 0, WEFT_STATS_BY_LABEL, 0, 0),
					b = measure(one, 0, WEFT_STATS_BY_LABEL, 0, 0);
	struct weft_stats_diff *diff;
	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(
			weft_stats_diff_create(i ? b.stats : a.stats, i ? a.stats : b.stats, &diff), 0);
		for (uint32_t k = 0; k < diff->count; k++)
			if (diff->pairs[k].b->ended)
				assert_true(diff->pairs[k].score == 0);
		weft_stats_diff_destroy(diff);
	}
	measured_finish(&a);
	measured_finish(&b);
}

static void expect_no_difference(const char *script)
{
	struct measured a = measure(script, 0, WEFT_STATS_BY_KIND, 0, 0);
	struct weft_stats_diff *diff;
	assert_int_equal(weft_stats_diff_create(a.stats, a.stats, &diff), 0);
	assert_int_equal(diff->count, a.stats->row_count);
	for (uint32_t i = 0; i < diff->count; i++) {
		assert_ptr_equal(diff->pairs[i].a, diff->pairs[i].b);
		assert_true(diff->pairs[i].score == 0);
	}
	weft_stats_diff_destroy(diff);
	measured_finish(&a);
}

static void equal_statistics_do_not_differ(void **state)
{
	(void)state;
	expect_no_difference(before);
	/* 15 us of 7 tasks: the quotient times 7 is not 15 us. */
	expect_no_difference("create 0 1 task; label 1 job; +3; resolve 0 1;"
						 "[6: create 0 10+i task; label 10+i job; +2; resolve 0 10+i]");
}

static void histograms_have_each_lifetime_once(void **state)
{
	/* 0, 1, 9, 81, … us: lifetimes from nothing to a day. */
	struct measured m =
		measure("create 0 1 task; label 1 wide; resolve 0 1; create 0 2 task; label 2 "
				"wide; ~1; resolve 0 2; create 0 3 task; label 3 wide; +3; resolve 0 3;"
				"create 0 4 task; label 4 wide; +86400000000; resolve 0 4",
			0, WEFT_STATS_BY_LABEL, 0, 0);
	struct weft_stats_bucket buckets[WEFT_STATS_BUCKETS];
	const struct weft_stats_row *row = row_named(&m, "wide");
	uint32_t count = weft_stats_histogram(m.stats, row, buckets), sum = 0;
	(void)state;
	assert_true(count > 10 && count <= WEFT_STATS_BUCKETS);
	for (uint32_t i = 0; i < count; i++) {
		assert_int_equal(buckets[i].first, sum);
		assert_true(i == 0 || buckets[i].from_ns == buckets[i - 1].to_ns);
		for (uint32_t k = sum; k < sum + buckets[i].count; k++) {
			const struct weft_stats_member *member = &m.stats->members[row->first + k];
			assert_true(member->end - member->start >= buckets[i].from_ns);
			assert_true(member->end - member->start < buckets[i].to_ns);
		}
		sum += buckets[i].count;
	}
	assert_int_equal(sum, 4);
	assert_true(buckets[0].count > 0 && buckets[count - 1].count > 0);
	measured_finish(&m);
}

static void a_histogram_of_one_length_has_one_bucket(void **state)
{
	struct measured m = measure("[n: create 0 10+i task; label 10+i step; +7; resolve 0 10+i]", 30,
		WEFT_STATS_BY_LABEL, 0, 0);
	struct weft_stats_bucket buckets[WEFT_STATS_BUCKETS];
	(void)state;
	assert_int_equal(weft_stats_histogram(m.stats, row_named(&m, "step"), buckets), 1);
	assert_int_equal(buckets[0].from_ns, 5 * US);
	assert_int_equal(buckets[0].to_ns, 10 * US);
	assert_int_equal(buckets[0].count, 30);
	assert_int_equal(weft_stats_histogram(m.stats, row_named(&m, ""), buckets), 0);
	measured_finish(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(digits_of_labels_are_one),
		cmocka_unit_test(an_empty_trace_has_no_rows),
		cmocka_unit_test(each_grouping_names_its_rows),
		cmocka_unit_test(groupings_and_columns_have_names),
		cmocka_unit_test(percentiles_are_lives_that_occurred),
		cmocka_unit_test(members_are_in_the_order_of_their_lives),
		cmocka_unit_test(equal_lives_have_equal_percentiles),
		cmocka_unit_test(each_outcome_is_counted),
		cmocka_unit_test(time_is_running_waiting_or_delay),
		cmocka_unit_test(a_lock_does_not_wait),
		cmocka_unit_test(without_an_index_there_is_no_delay),
		cmocka_unit_test(a_range_clips_times_but_not_lives),
		cmocka_unit_test(ranges_add_up),
		cmocka_unit_test(a_range_outside_has_no_rows),
		cmocka_unit_test(idleness_is_clipped),
		cmocka_unit_test(parents_are_alike_too),
		cmocka_unit_test(tasks_belong_to_the_thread_that_ran_them_first),
		cmocka_unit_test(times_belong_to_the_thread_that_spent_them),
		cmocka_unit_test(a_task_on_two_threads_does_not_wait),
		cmocka_unit_test(spans_have_rows_by_name),
		cmocka_unit_test(a_span_ends_in_one_range),
		cmocka_unit_test(waits_have_rows_by_their_calls),
		cmocka_unit_test(waits_are_cut_by_a_range),
		cmocka_unit_test(a_wait_ends_where_the_next_one_begins),
		cmocka_unit_test(a_wait_does_not_begin_with_the_sleep_before_it),
		cmocka_unit_test(a_sleep_before_a_wait_without_calls_does_not_count),
		cmocka_unit_test(a_holder_that_sleeps_does_not_wait_for_its_lock),
		cmocka_unit_test(waits_need_no_activation),
		cmocka_unit_test(hidden_tasks_are_left_out),
		cmocka_unit_test(tracks_have_only_spans),
		cmocka_unit_test(rows_are_sorted),
		cmocka_unit_test(counters_change_within_the_range),
		cmocka_unit_test(before_the_first_set_is_no_value),
		cmocka_unit_test(the_worst_change_is_first),
		cmocka_unit_test(a_value_from_before_is_no_change),
		cmocka_unit_test(of_equal_delays_the_first_is_named),
		cmocka_unit_test(rows_of_one_name_are_compared_in_their_order),
		cmocka_unit_test(fewer_tasks_of_one_length_are_no_difference),
		cmocka_unit_test(equal_statistics_do_not_differ),
		cmocka_unit_test(histograms_have_each_lifetime_once),
		cmocka_unit_test(a_histogram_of_one_length_has_one_bucket),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
