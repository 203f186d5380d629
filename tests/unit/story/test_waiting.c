/* SPDX-License-Identifier: ISC
 *
 * Which tasks wait, by the state of the events so far and by the story of the model of the same
 * events: in random traces, both must say the same at each time.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "loaded.h"
#include "model/state.h"

#define THREADS 2
#define TASKS   5
#define STEPS   60
#define SETUP   TASKS
#define EVENTS  (SETUP + 4 * STEPS)

#define NONE WEFT_TASK_NONE

/* A random program. Each source is waited for once and never ends. */
struct program {
	uint64_t seed, time, next_id;
	uint64_t tasks[TASKS]; /* those that live; NONE: the task has ended */
	uint64_t runs[THREADS];
	uint64_t paused[THREADS]; /* the task that an idle band interrupts */
	bool is_idle[THREADS];
	struct weft_event events[EVENTS];
	unsigned count;
};

static uint32_t pick(struct program *p, uint32_t below)
{
	p->seed = p->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(p->seed >> 33) % below;
}

static void emit(struct program *p, uint32_t thread, struct weft_event event)
{
	event.time_ns = p->time;
	event.thread = thread;
	p->events[p->count++] = event;
	p->time += 2 + (pick(p, 8)      ? pick(p, 1000)
					   : pick(p, 3) ? 60000 + pick(p, 80000)
									: WEFT__GOES_ON_NS - 2); /* the bound itself */
}

static bool runs_elsewhere(const struct program *p, uint32_t thread, uint64_t task)
{
	for (uint32_t i = 0; i < THREADS; i++)
		if (i != thread && p->runs[i] == task)
			return true;
	return false;
}

static void switch_to(struct program *p, uint32_t thread, uint64_t task)
{
	if (task != NONE && runs_elsewhere(p, thread, task))
		return;
	p->runs[thread] = task;
	p->is_idle[thread] = false;
	emit(p, thread,
		(struct weft_event){.type = WEFT_EVENT_SWITCH, .task = task, .text = {"poll", 4}});
}

/* Begins an idle band, or ends it: then the interrupted task goes on, if it lives and runs on no
 * other thread. */
static void poll(struct program *p, uint32_t thread)
{
	bool begins = !p->is_idle[thread];
	if (begins)
		p->paused[thread] = p->runs[thread];
	else if (p->paused[thread] != NONE && runs_elsewhere(p, thread, p->paused[thread]))
		return;
	p->runs[thread] = begins ? NONE : p->paused[thread];
	p->is_idle[thread] = begins;
	emit(p, thread,
		(struct weft_event){.type = WEFT_EVENT_BAND,
			.task = NONE,
			.band = WEFT_BAND_IDLE,
			.flag = begins,
			.text = {"poll", 4}});
}

static void act(struct program *p, uint32_t thread, enum weft_event_type type)
{
	uint64_t task = p->runs[thread];
	if (task != NONE)
		emit(p, thread,
			(struct weft_event){.type = (uint8_t)type, .task = task, .other = p->next_id++});
}

/* As a bind of Lwt: it is created, tries to read, and is then become by the running task. */
static void become(struct program *p, uint32_t thread)
{
	uint64_t from = p->runs[thread], to = p->next_id++;
	uint32_t slot = 0;
	while (slot < TASKS && p->tasks[slot] != from)
		slot++;
	if (from == NONE || slot == TASKS)
		return;
	emit(p, thread,
		(struct weft_event){
			.type = WEFT_EVENT_CREATE, .task = from, .other = to, .kind = WEFT_KIND_BIND});
	emit(p, thread,
		(struct weft_event){.type = WEFT_EVENT_TRY_READ, .task = to, .other = p->next_id++});
	emit(p, thread, (struct weft_event){.type = WEFT_EVENT_BECOME, .task = from, .other = to});
	p->tasks[slot] = p->runs[thread] = to;
	for (uint32_t i = 0; i < THREADS; i++)
		if (p->paused[i] == from)
			p->paused[i] = to;
}

static void step(struct program *p)
{
	uint32_t thread = pick(p, THREADS);
	switch (pick(p, 12)) {
	case 0:
		act(p, thread, WEFT_EVENT_RESOLVE);
		break;
	case 1:
	case 2:
		act(p, thread, WEFT_EVENT_TRY_READ);
		break;
	case 3:
		become(p, thread);
		break;
	case 4:
		switch_to(p, thread, NONE);
		break;
	case 5:
	case 6:
	case 7:
		switch_to(p, thread, p->tasks[pick(p, TASKS)]);
		break;
	default:
		poll(p, thread);
	}
}

static void make_program(struct program *p, uint64_t seed)
{
	*p = (struct program){.seed = seed, .next_id = 1};
	for (uint32_t i = 0; i < THREADS; i++)
		p->runs[i] = p->paused[i] = NONE;
	for (uint32_t i = 0; i < TASKS; i++) {
		p->tasks[i] = p->next_id++;
		emit(p, 0,
			(struct weft_event){.type = WEFT_EVENT_CREATE,
				.task = NONE,
				.other = p->tasks[i],
				.kind = WEFT_KIND_TASK});
	}
	for (unsigned i = 0; i < STEPS; i++)
		step(p);
}

struct reader {
	struct weft__identities identities;
	struct weft__state state;
};

static void reader_take(struct reader *r, const struct weft_event *event)
{
	struct weft__fact fact;
	assert_int_equal(weft__model_fact_of_event(&r->identities, NULL, event, &fact), 0);
	fact.text = WEFT_NONE;
	assert_int_equal(weft__model_state_take(&r->state, &fact), 0);
}

/* The source of a task that waits, by the state; or WEFT_NONE. */
static uint32_t source_in_state(struct reader *r, uint32_t task)
{
	const struct weft__state_tasks *t = &r->state.tasks;
	return weft__model_state_waits(&r->state, task)
			   ? weft__model_state_forward(&r->state, t->asked[task])
			   : WEFT_NONE;
}

/* The same by the story at the end of the model. */
static uint32_t source_in_story(const struct loaded *loaded, uint32_t task)
{
	struct weft_story_wait wait;
	uint64_t end = loaded->model->summary.end;
	return weft_story_wait_at(&loaded->story, task, end, &wait) ? wait.source : WEFT_NONE;
}

/* The model of the first events, and of a label some time after them. */
static struct loaded load_first(const struct program *p, unsigned count, struct weft_event last)
{
	struct made made = make_begin();
	for (unsigned i = 0; i < count + 1; i++) {
		const struct weft_event *event = i < count ? &p->events[i] : &last;
		must(weft_model_builder_add(made.builder, event, &made.diagnostics) == 0);
	}
	assert_int_equal(made.diagnostics.count, 0);
	return make_end(&made);
}

static unsigned compare(const struct program *p, struct reader *r, unsigned count)
{
	static const struct weft_event none;
	struct weft_event last = none;
	unsigned waits = 0;
	last.type = WEFT_EVENT_LABEL;
	last.task = p->events[0].other;
	last.time_ns = p->events[count].time_ns - 1;
	struct loaded loaded = load_first(p, count, last);
	weft__model_state_pass(&r->state, last.time_ns);
	for (uint32_t task = 0; task < r->state.tasks.count; task++) {
		if (r->state.tasks.flags[task] & WEFT_TASK_RESOLVED)
			continue;
		uint32_t source = source_in_state(r, task);
		if (source_in_story(&loaded, task) != source)
			fail_msg("seed %llu, event %u, task %u", (unsigned long long)p->seed, count, task);
		waits += source != WEFT_NONE;
	}
	loaded_finish(&loaded);
	return waits;
}

static void state_and_story_agree(void **state)
{
	static struct program p;
	unsigned waits = 0;
	(void)state;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct reader r = {.state = {0}};
		static const struct weft__listener deaf;
		assert_int_equal(weft__model_identities_init(&r.identities), 0);
		weft__model_state_init(&r.state, &deaf, NULL);
		make_program(&p, seed);
		for (unsigned i = 0; i + 1 < p.count; i++) {
			reader_take(&r, &p.events[i]);
			waits += compare(&p, &r, i + 1);
		}
		weft__model_state_finish(&r.state);
		weft__model_identities_finish(&r.identities);
	}
	assert_true(waits > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(state_and_story_agree),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
