/* SPDX-License-Identifier: ISC
 *
 * Dark time: what may be said of a trace in which events are missing. The main test cuts events out
 * of sound traces at random, and declares them as lost: no error or warning may appear that the
 * whole trace does not have.
 *
 *     WEFT_DARK_SEEDS=1000 build/tests/test_dark      more cuts of each trace
 *     WEFT_DARK_TRACES='a.weft b.weft' build/tests/test_dark      of these files, too
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <weft/chain.h>
#include <weft/input.h>

#include "model/idle.h"
#include "problems_found.h"
#include "trace_script.h"

/* ---- What a cut changes ---- */

/* Events [first, last) of a thread, counted from 0, are missing. */
struct cut {
	uint32_t thread, first, last;
	uint64_t start, end; /* times of the events before and after them; set by cut_events() */
};

/* Gives the events of a trace, one after the other; false at the end. */
struct events {
	bool (*next)(struct events *events, struct weft_event *ret_event);
	const struct weft_trace_description *(*describe)(struct events *events);
	void (*close)(struct events *events);
	void *source;
	uint32_t position;
};

typedef struct events open_events(const void *trace);

#define CUTS_MAX    4
#define THREADS_MAX 4096

static bool is_cut(struct cut *cuts, unsigned count, const struct weft_event *event, uint32_t n)
{
	bool is_cut = false;
	for (unsigned i = 0; i < count; i++) {
		struct cut *cut = &cuts[i];
		if (cut->thread != event->thread)
			continue;
		is_cut = is_cut || (n >= cut->first && n < cut->last);
		if (n + 1 == cut->first || (n == 0 && cut->first == 0))
			cut->start = event->time_ns;
		if (n == cut->last)
			cut->end = event->time_ns;
	}
	return is_cut;
}

static struct weft_model *finish_cut(struct weft_model_builder *builder,
	const struct weft_trace_description *whole, const struct cut *cuts, unsigned count,
	uint64_t last_ns)
{
	struct weft_trace_description description = *whole;
	struct weft_model *model;
	struct weft_loss_period *losses = calloc(whole->loss_period_count + CUTS_MAX, sizeof(*losses));
	must(losses != NULL);
	if (whole->loss_period_count)
		memcpy(losses, whole->loss_periods, whole->loss_period_count * sizeof(*losses));
	for (unsigned i = 0; i < count; i++) {
		uint8_t cause = cuts[i].first ? WEFT_LOSS_STALLED : WEFT_LOSS_OVERWRITTEN;
		losses[description.loss_period_count++] = (struct weft_loss_period){
			.start = cuts[i].first ? cuts[i].start : 0,
			.end = cuts[i].end ? cuts[i].end : last_ns,
			.count = cuts[i].last - cuts[i].first,
			.thread = cuts[i].thread,
			.cause = cause,
		};
		description.losses[cause] += cuts[i].last - cuts[i].first;
	}
	description.loss_periods = losses;
	must(weft_model_builder_finish(builder, &description, &model) == 0);
	weft_model_builder_destroy(builder);
	free(losses);
	return model;
}

/* The model without the events of the cuts; `counts`: the number of events of each thread. */
static struct weft_model *cut_events(
	open_events *open, const void *trace, struct cut *cuts, unsigned count, uint32_t *counts)
{
	struct events events = open(trace);
	struct weft_model_builder *builder;
	struct weft_diagnostics diagnostics = {0};
	struct weft_event event;
	uint64_t last_ns = 0;
	must(weft_model_builder_create(&builder) == 0);
	memset(counts, 0, THREADS_MAX * sizeof(*counts));
	while (events.next(&events, &event)) {
		must(event.thread < THREADS_MAX);
		last_ns = event.time_ns;
		if (!is_cut(cuts, count, &event, counts[event.thread]++))
			must(weft_model_builder_add(builder, &event, &diagnostics) == 0);
	}
	struct weft_model *model = finish_cut(builder, events.describe(&events), cuts, count, last_ns);
	events.close(&events);
	return model;
}

/* ---- The property ---- */

static uint64_t id_of(const struct found *found, const struct weft_problem *problem)
{
	return problem->task == WEFT_NONE ? 0 : found->loaded.model->tasks.id[problem->task];
}

static bool is_grave(const struct weft_problem *problem)
{
	return problem->severity != WEFT_SEVERITY_HINT;
}

/* True if the other trace has such a problem, at least as grave. */
static bool has(
	const struct found *other, const struct found *found, const struct weft_problem *problem)
{
	for (uint32_t i = 0; i < other->problems->count; i++) {
		const struct weft_problem *known = &other->problems->list[i];
		if (known->type == problem->type && known->severity >= problem->severity &&
			(known->count > 1 || id_of(other, known) == id_of(found, problem)))
			return true;
	}
	return false;
}

static void assert_none_appears(const struct found *whole, struct weft_model *model,
	const struct cut *cuts, unsigned count, const char *name)
{
	struct found found = find_in(load_model(model));
	for (uint32_t i = 0; i < found.problems->count; i++) {
		const struct weft_problem *problem = &found.problems->list[i];
		if (!is_grave(problem) || has(whole, &found, problem))
			continue;
		for (unsigned k = 0; k < count; k++)
			print_message("# thread %u without events [%u, %u)\n", cuts[k].thread, cuts[k].first,
				cuts[k].last);
		fail_msg("%s: %s: %s", name, weft_problem_name(problem->type), problem->sentence);
	}
	for (uint32_t task = 0; task < model->tasks.count; task++)
		if (model->tasks.outcome[task] == WEFT_OUTCOME_UNKNOWN)
			assert_false(model->tasks.flags[task] & (WEFT_TASK_FAILED | WEFT_TASK_RESOLVED));
	found_finish(&found);
}

static uint64_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 33;
}

/* A run of events: a few, or up to half of the thread's. */
static struct cut make_cut(uint64_t *random, const uint32_t *counts)
{
	struct cut cut = {0};
	do
		cut.thread = (uint32_t)(next_random(random) % THREADS_MAX);
	while (counts[cut.thread] < 2);
	const uint32_t count = counts[cut.thread];
	uint32_t most = next_random(random) % 2 ? 8 : count / 2;
	uint32_t length = 1 + (uint32_t)(next_random(random) % (most ? most : 1));
	/* The first events are missing where a ring has wrapped. */
	cut.first = next_random(random) % 4 ? (uint32_t)(next_random(random) % count) : 0;
	cut.last = cut.first + length < count ? cut.first + length : count;
	return cut;
}

static void check_cuts(open_events *open, const void *trace, const char *name, unsigned seeds)
{
	uint32_t *all = calloc(THREADS_MAX, sizeof(*all)), *counts = calloc(THREADS_MAX, sizeof(*all));
	must(all && counts);
	struct found whole = find_in(load_model(cut_events(open, trace, NULL, 0, all)));
	for (unsigned seed = 0; seed < seeds; seed++) {
		uint64_t random = seed * UINT64_C(7919) + 1;
		unsigned count = 1 + (unsigned)(next_random(&random) % CUTS_MAX);
		struct cut cuts[CUTS_MAX];
		for (unsigned i = 0; i < count; i++)
			cuts[i] = make_cut(&random, all);
		assert_none_appears(
			&whole, cut_events(open, trace, cuts, count, counts), cuts, count, name);
	}
	found_finish(&whole);
	free(all);
	free(counts);
}

static unsigned seeds(unsigned usual)
{
	const char *asked = getenv("WEFT_DARK_SEEDS");
	return asked ? (unsigned)strtoul(asked, NULL, 10) : usual;
}

/* ---- Files ---- */

static bool next_of_file(struct events *events, struct weft_event *ret_event)
{
	return weft_decoder_next(weft_input_decoder(events->source), ret_event) == WEFT_OK;
}

static const struct weft_trace_description *describe_file(struct events *events)
{
	return weft_decoder_describe(weft_input_decoder(events->source));
}

static void close_file(struct events *events)
{
	weft_input_close(events->source);
}

static struct events open_file(const void *path)
{
	struct weft_input *input;
	must(weft_input_open(path, NULL, &input) == 0);
	return (struct events){next_of_file, describe_file, close_file, input, 0};
}

/* Also cuts the traces of a list, separated by spaces. */
static void check_other_traces(const char *list)
{
	for (size_t size; list && *list; list += size + (list[size] == ' ')) {
		char path[512];
		size = strcspn(list, " ");
		snprintf(path, sizeof(path), "%.*s", (int)size, list);
		check_cuts(open_file, path, path, seeds(40));
	}
}

static void cuts_of_recorded_traces_make_no_problem(void **state)
{
	static const char *const names[] = {"recorded/echo-server.weft", "recorded/threads-stream.weft",
		"recorded/arp-cut.weft", "traces/mirage-arp-good.ctf", "traces/mirage-block-read.sexp"};
	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char relative[256], path[512];
		snprintf(relative, sizeof(relative), "tests/data/%s", names[i]);
		sample_path(path, sizeof(path), relative);
		check_cuts(open_file, path, names[i], seeds(40));
	}
	check_other_traces(getenv("WEFT_DARK_TRACES"));
}

/* ---- Random programs without a fault ---- */

struct program {
	struct weft_event list[16384];
	uint32_t count;
	uint64_t time, random, next_id;
	uint64_t holder; /* of the lock, or 0 */
	struct weft_trace_thread threads[3];
	struct weft_trace_buffer buffer;
	struct weft_trace_description description;
};

enum {
	BOSS = 1,
	LOCK = 2,
	WORK = 3, /* a condition */
	FIRST_JOB = 10,
	WORKERS = 2,
};

static void put(struct program *p, uint32_t thread, struct weft_event event)
{
	must(p->count < sizeof(p->list) / sizeof(p->list[0]));
	p->time += 1 + next_random(&p->random) % (next_random(&p->random) % 16 ? 2000 : 200000);
	event.time_ns = p->time;
	event.thread = thread;
	p->list[p->count++] = event;
}

static void put_edge(
	struct program *p, uint32_t thread, enum weft_event_type type, uint64_t task, uint64_t other)
{
	put(p, thread, (struct weft_event){.type = (uint8_t)type, .task = task, .other = other});
}

static void put_create(struct program *p, uint32_t thread, uint64_t parent, uint64_t child,
	uint16_t kind, const char *label)
{
	put(p, thread,
		(struct weft_event){
			.type = WEFT_EVENT_CREATE, .task = parent, .other = child, .kind = kind});
	put(p, thread,
		(struct weft_event){
			.type = WEFT_EVENT_LABEL, .task = child, .text = {label, strlen(label)}});
}

static void put_count(struct program *p, uint32_t thread, uint64_t task, int64_t change)
{
	put(p, thread,
		(struct weft_event){
			.type = WEFT_EVENT_COUNTER, .task = task, .value = change, .text = {"in flight", 9}});
}

/* A worker takes a job, perhaps under the lock, and ends it; the boss reads the result. */
static void work(struct program *p, uint32_t thread)
{
	const uint64_t worker = BOSS + 4 + thread, job = p->next_id++;
	const uint64_t kind = next_random(&p->random) % 8;
	put_edge(p, 0, WEFT_EVENT_SWITCH, BOSS, 0);
	put_create(p, 0, BOSS, job, WEFT_KIND_TASK, kind ? "job" : "big job");
	put(p, 0, (struct weft_event){.type = WEFT_EVENT_EXPECT, .task = job});
	put_count(p, 0, BOSS, 1);
	put_edge(p, 0, WEFT_EVENT_SIGNAL, WORK, BOSS);
	put_edge(p, 0, WEFT_EVENT_TRY_READ, BOSS, job);
	put_edge(p, 0, WEFT_EVENT_SWITCH, WEFT_TASK_NONE, 0);
	put_edge(p, thread, WEFT_EVENT_SWITCH, worker, 0);
	put_edge(p, thread, WEFT_EVENT_READ, worker, WORK);
	put_edge(p, thread, WEFT_EVENT_SWITCH, job, 0);
	if (kind % 2) {
		put_edge(p, thread, WEFT_EVENT_ACQUIRE, job, LOCK);
		p->time += 1000 * (next_random(&p->random) % 300);
		put_edge(p, thread, WEFT_EVENT_RELEASE, job, LOCK);
	}
	p->time += kind ? 20000 : 2000000;
	put_count(p, thread, job, -1);
	if (kind == 3)
		put(p, thread,
			(struct weft_event){
				.type = WEFT_EVENT_FAIL, .task = job, .other = job, .text = {"busy", 4}});
	else
		put_edge(p, thread, WEFT_EVENT_RESOLVE, job, job);
	put_edge(p, thread, WEFT_EVENT_SWITCH, worker, 0);
	put_edge(p, thread, WEFT_EVENT_TRY_READ, worker, WORK);
	put_edge(p, thread, WEFT_EVENT_SWITCH, WEFT_TASK_NONE, 0);
	put_edge(p, 0, WEFT_EVENT_SWITCH, BOSS, 0);
	put_edge(p, 0, WEFT_EVENT_READ, BOSS, job);
}

static void describe_program(struct program *p)
{
	for (uint32_t i = 0; i <= WORKERS; i++)
		p->threads[i] = (struct weft_trace_thread){.name = "", .tid = 100 + i};
	p->buffer = (struct weft_trace_buffer){
		.process = "jobs", .host = "", .file = "", .pid = 7, .ending = WEFT_ENDING_EXIT};
	p->buffer.end_ns = p->time + 1000;
	p->description = (struct weft_trace_description){.format = "weft",
		.clock = {.name = "monotonic", .hz = 1000000000},
		.threads = p->threads,
		.thread_count = 1 + WORKERS,
		.buffers = &p->buffer,
		.buffer_count = 1};
}

static struct program *make_program(uint64_t seed)
{
	struct program *p = calloc(1, sizeof(*p));
	must(p != NULL);
	p->random = seed;
	p->time = 1000000;
	p->next_id = FIRST_JOB;
	unsigned jobs = 40 + (unsigned)(next_random(&p->random) % 160);
	put_create(p, 0, WEFT_TASK_NONE, BOSS, WEFT_KIND_TASK, "boss");
	put_edge(p, 0, WEFT_EVENT_SWITCH, BOSS, 0);
	put_create(p, 0, BOSS, LOCK, WEFT_KIND_LOCK, "lock");
	put_create(p, 0, BOSS, WORK, WEFT_KIND_CONDITION, "work");
	for (uint32_t thread = 1; thread <= WORKERS; thread++) {
		put_create(p, thread, BOSS, BOSS + 4 + thread, WEFT_KIND_TASK, "worker");
		put_edge(p, thread, WEFT_EVENT_SWITCH, BOSS + 4 + thread, 0);
		put_edge(p, thread, WEFT_EVENT_TRY_READ, BOSS + 4 + thread, WORK);
		put_edge(p, thread, WEFT_EVENT_SWITCH, WEFT_TASK_NONE, 0);
	}
	while (jobs--)
		work(p, 1 + (uint32_t)(next_random(&p->random) % WORKERS));
	for (uint32_t thread = 1; thread <= WORKERS; thread++)
		put_edge(p, thread, WEFT_EVENT_RESOLVE, BOSS + 4 + thread, BOSS + 4 + thread);
	put_edge(p, 0, WEFT_EVENT_RESOLVE, BOSS, BOSS);
	put_edge(p, 0, WEFT_EVENT_SWITCH, WEFT_TASK_NONE, 0);
	describe_program(p);
	return p;
}

static bool next_of_program(struct events *events, struct weft_event *ret_event)
{
	const struct program *p = events->source;
	if (events->position == p->count)
		return false;
	*ret_event = p->list[events->position++];
	return true;
}

static const struct weft_trace_description *describe_events(struct events *events)
{
	return &((const struct program *)events->source)->description;
}

static void close_nothing(struct events *events)
{
	(void)events;
}

static struct events open_program(const void *program)
{
	return (struct events){
		next_of_program, describe_events, close_nothing, (void *)(uintptr_t)program, 0};
}

static void cuts_of_random_programs_make_no_problem(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 100; seed++) {
		struct program *program = make_program(seed);
		char name[32];
		snprintf(name, sizeof(name), "program %u", seed);
		check_cuts(open_program, program, name, seeds(10));
		free(program);
	}
}

/* ---- What is known ---- */

/* Tasks 1 to 3 are alive before the loss. Task 2 is waited for after it, task 3 runs into it. */
static const char lossy[] =
	"create 0 1 task; expect 1; create 0 2 task; expect 2; create 0 3 task; expect 3; run 3; +10;"
	"note 3 the last event; lose 10000 30000 5 0 8; +20; create 0 4 task; expect 4; try 4 2; run 4;"
	"+10; note 4 the end";

static uint32_t task_of(const struct weft_model *model, uint64_t id)
{
	return weft_model_find_task(model, 0, id);
}

static void a_task_that_is_not_seen_after_a_loss_is_unknown(void **state)
{
	static const enum weft_outcome expected[] = {WEFT_OUTCOME_UNKNOWN, WEFT_OUTCOME_NEVER_RESOLVED,
		WEFT_OUTCOME_UNKNOWN, WEFT_OUTCOME_NEVER_RESOLVED};
	struct found found = find_in(trace_script_load(lossy, 0));
	const struct weft_model *m = found.loaded.model;
	(void)state;
	for (uint64_t id = 1; id <= 4; id++)
		assert_int_equal(m->tasks.outcome[task_of(m, id)], expected[id - 1]);
	assert_int_equal(m->summary.by_outcome[WEFT_OUTCOME_UNKNOWN], 2);
	/* It lasts until the loss, or a moment longer if it was seen then. */
	assert_int_equal(m->tasks.end[task_of(m, 1)], 10000);
	assert_int_equal(m->tasks.end[task_of(m, 3)], 11000);
	for (uint32_t i = 0; i < found.problems->count; i++)
		assert_int_equal(found.problems->list[i].severity, WEFT_SEVERITY_HINT);
	found_finish(&found);
}

static void a_loss_at_the_time_of_the_last_event_may_have_followed_it(void **state)
{
	struct loaded loaded =
		trace_script_load("create 0 1 task; expect 1; +10; note 1 last; lose 10000 10000 5 0 8", 0);
	(void)state;
	assert_int_equal(loaded.model->tasks.outcome[task_of(loaded.model, 1)], WEFT_OUTCOME_UNKNOWN);
	loaded_finish(&loaded);
}

/* Overwritten events of a flight recorder are before all others. */
static void events_before_the_record_make_nothing_unknown(void **state)
{
	struct loaded loaded =
		trace_script_load("run 1; expect 1; lose 0 0 500 0 0; +10; run 2; +10; note 2 the end", 0);
	const struct weft_model *m = loaded.model;
	(void)state;
	assert_int_equal(m->tasks.outcome[task_of(m, 1)], WEFT_OUTCOME_NEVER_RESOLVED);
	assert_int_equal(m->dark_count, 1);
	assert_int_equal(m->dark[0].reason, WEFT_DARK_BEFORE);
	assert_null(weft_model_dark(m, 0, 0, 20000));
	loaded_finish(&loaded);
}

/* It is unknown what a thread did while its events are missing, but not that it was idle. */
static void activations_and_bands_end_at_a_loss(void **state)
{
	struct loaded loaded = trace_script_load(
		"create 0 1 task; create 0 2 task; run 1; +10; idle; +10; thread 1; run 2; +10; idle;"
		"lose 25000 90000 5 0 8; +60; thread 0; run 1; lose 100000 200000 5 0 8; +110; idle; +1;"
		"run 1",
		0);
	const struct weft_model *m = loaded.model;
	const uint32_t task = task_of(m, 1), first = m->tasks.first_activation[task];
	struct weft__idle *idle;
	uint32_t count;
	(void)state;
	assert_int_equal(m->tasks.end_activation[task] - first, 2);
	assert_int_equal(m->activations.start[first + 1], 90000);
	assert_int_equal(m->activations.end[first + 1], 100000);
	assert_int_equal(m->bands[0].start, 10000);
	assert_int_equal(m->bands[0].end, 25000);
	assert_int_equal(weft__model_idle(m, &idle, &count), 0);
	for (uint32_t i = 0; i < count; i++)
		assert_false(idle[i].end > 25000 && idle[i].start < 200000);
	free(idle);
	loaded_finish(&loaded);
}

static struct loaded load_two_threads(const char *script)
{
	static const struct weft_trace_thread two[] = {{.name = "first"}, {.name = "second"}};
	struct trace_script s = {.made = make_begin()};
	s.made.threads = two;
	s.made.thread_count = 2;
	trace_script_run_all(&s, script);
	return load_model(make_model(&s.made));
}

/* Lost time is also that at its very begin and end, and is one if it touches; a thread's loss is
 * not that of another one. */
static void losses_have_their_bounds_and_their_thread(void **state)
{
	struct loaded loaded = load_two_threads(
		"create 0 1 task; lose 5000 9000 5 1 8; lose 9000 12000 5 0 8; lose 60000 70000 5 0 8; +20;"
		"run 1; +30; idle; +50; thread 1; run 2; +9; idle");
	const struct weft_model *m = loaded.model;
	const uint32_t first = m->tasks.first_activation[task_of(m, 1)];
	(void)state;
	assert_int_equal(m->dark_count, 2);
	assert_int_equal(m->dark[0].start, 5000);
	assert_int_equal(m->dark[0].end, 12000);
	assert_non_null(weft_model_dark(m, 0, 1000, 5000));
	assert_null(weft_model_dark(m, 0, 1000, 4999));
	assert_non_null(weft_model_dark(m, 0, 12000, 13000));
	assert_null(weft_model_dark(m, 0, 12001, 13000));
	assert_int_equal(m->tasks.end_activation[task_of(m, 1)] - first, 1);
	assert_int_equal(m->activations.start[first], 20000);
	assert_int_equal(m->activations.end[first], 50000);
	loaded_finish(&loaded);
}

/* An activation that begins just when the lost time ends is known. */
static void an_activation_may_begin_at_the_end_of_a_loss(void **state)
{
	struct loaded loaded = trace_script_load(
		"create 0 1 task; lose 5000 20000 5 0 8; +20; run 1; +30; idle; +1; note 1 last", 0);
	const struct weft_model *m = loaded.model;
	const uint32_t first = m->tasks.first_activation[task_of(m, 1)];
	(void)state;
	assert_int_equal(m->activations.start[first], 20000);
	assert_int_equal(m->activations.end[first], 50000);
	loaded_finish(&loaded);
}

/* Changes of a counter that may be missing make it relative; one that is only set is known. */
static void counters_are_relative_where_changes_may_be_missing(void **state)
{
	static const struct {
		const char *losses;
		bool is_relative;
	} cases[] = {
		{"", false}, {"lose 0 0 5 0 0;", true}, /* before the first event */
		{"lose 12000 15000 5 0 8;", true},      /* between the samples */
		{"lose 60000 80000 5 0 8;", false},     /* after them */
	};
	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct trace_script s = {.made = make_begin()};
		struct weft_model *m;
		char number[32];
		trace_script_run_all(&s, cases[i].losses);
		trace_script_run_all(&s, "run 1; +10; count level 7; count level 9; +10");
		s.made.time = 10000;
		make_counter(&s.made, 1, "jobs", 3, false);
		s.made.time = 20000;
		make_counter(&s.made, 1, "jobs", 4, false);
		trace_script_run_all(&s, "+70; note 1 last");
		m = make_model(&s.made);
		assert_true(m->counters[0].begins_set);
		assert_false(m->counters[0].is_relative);
		assert_false(m->counters[1].begins_set);
		assert_int_equal(m->counters[1].is_relative, cases[i].is_relative);
		weft_counter_format(&m->counters[1], m->counters[1].max, number, sizeof(number));
		assert_string_equal(number, cases[i].is_relative ? "+7" : "7");
		weft_model_destroy(m);
	}
}

static void a_chain_says_where_events_are_missing(void **state)
{
	struct loaded loaded = trace_script_load("create 0 1 task; create 0 2 promise; run 1; +5;"
											 "try 1 2; idle; lose 6000 9000 5 0 8; +20; run 3; +9;"
											 "note 1 x; try 1 2; note 2 y",
		0);
	char sentence[WEFT_SENTENCE_BYTES];
	struct weft_chain *chain;
	(void)state;
	assert_int_equal(
		weft_chain_create(&loaded.story, task_of(loaded.model, 1), 8000, 10, &chain), 0);
	assert_int_equal(chain->count, 1);
	weft_chain_hop_sentence(&loaded.story, &chain->hops[0], sentence, sizeof(sentence));
	assert_non_null(strstr(sentence, "; events are missing from 6 us on."));
	weft_chain_end_sentence(&loaded.story, chain, sentence, sizeof(sentence));
	assert_string_equal(sentence, "Nobody resolved promise 2; events are missing from 6 us on.");
	weft_chain_destroy(chain);
	loaded_finish(&loaded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_task_that_is_not_seen_after_a_loss_is_unknown),
		cmocka_unit_test(a_loss_at_the_time_of_the_last_event_may_have_followed_it),
		cmocka_unit_test(events_before_the_record_make_nothing_unknown),
		cmocka_unit_test(activations_and_bands_end_at_a_loss),
		cmocka_unit_test(losses_have_their_bounds_and_their_thread),
		cmocka_unit_test(an_activation_may_begin_at_the_end_of_a_loss),
		cmocka_unit_test(counters_are_relative_where_changes_may_be_missing),
		cmocka_unit_test(a_chain_says_where_events_are_missing),
		cmocka_unit_test(cuts_of_random_programs_make_no_problem),
		cmocka_unit_test(cuts_of_recorded_traces_make_no_problem),
	};
	return cmocka_run_group_tests_name("dark", tests, NULL, NULL);
}
