/* SPDX-License-Identifier: ISC
 *
 * The story room on small traces (trace_script.h): each task, edge and counter in words, its
 * waits and wake-ups over time, its lines, as in tests/data/golden/story.txt.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "golden.h"
#include "trace_script.h"
#include "wait_chain.h"

__attribute__((format(printf, 2, 3))) static void add(
	struct weft_text *text, const char *format, ...)
{
	char line[2048];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	weft_text_add_string(text, line);
}

static int id_of(const struct loaded *loaded, uint32_t task)
{
	return task == WEFT_NONE ? -1 : (int)loaded->model->tasks.id[task];
}

/* UINT64_MAX and other times that are not in the trace are -1. */
static int time_of(const struct loaded *loaded, uint64_t time)
{
	return time > loaded->model->summary.end ? -1 : (int)time;
}

/* Adds the texts about a task at a time, unless they equal `last`, those of the time before. */
static void add_moment(struct weft_text *text, const struct loaded *loaded, uint32_t task,
	uint64_t at, char last[3 * WEFT_SENTENCE_BYTES])
{
	char sentence[WEFT_SENTENCE_BYTES], waits[160] = "", woken[160] = "";
	char all[3 * WEFT_SENTENCE_BYTES];
	struct weft_story_wait wait;
	struct weft_story_wake wake;
	weft_story_sentence(&loaded->story, task, at, sentence, sizeof(sentence));
	if (weft_story_wait_at(&loaded->story, task, at, &wait))
		snprintf(waits, sizeof(waits), "      %d waits for %d from %d to %d, and %u others\n",
			id_of(loaded, wait.task), id_of(loaded, wait.source), time_of(loaded, wait.since),
			time_of(loaded, wait.until), (unsigned)wait.others);
	if (weft_story_woken_by(&loaded->story, task, at, &wake))
		snprintf(woken, sizeof(woken), "      woken by %d at %d, runs at %d, source %d, edge %d\n",
			id_of(loaded, wake.task), time_of(loaded, wake.time), time_of(loaded, wake.runs),
			id_of(loaded, wake.source), (int)wake.edge);
	snprintf(all, sizeof(all), "%s\n%s%s", sentence, waits, woken);
	if (strcmp(all, last) != 0)
		add(text, "    at %d: %s", time_of(loaded, at), all);
	strcpy(last, all);
}

static void add_lines(struct weft_text *text, const struct loaded *loaded, uint32_t task)
{
	struct weft_story_lines *lines;
	assert_int_equal(weft_story_lines_create(&loaded->story, task, &lines), 0);
	for (uint32_t i = 0; i < lines->count; i++) {
		const struct weft_story_line *line = &lines->lines[i];
		add(text, "    %d %s: %s", line->type, line->title, line->text);
		if (line->has_time)
			add(text, ", at %d", time_of(loaded, line->time));
		if (line->duration)
			add(text, ", for %d", (int)line->duration);
		if (line->task != WEFT_NONE)
			add(text, ", task %d", id_of(loaded, line->task));
		if (line->edge != WEFT_NONE)
			add(text, ", edge %d", (int)line->edge);
		add(text, "\n");
	}
	weft_story_lines_destroy(lines);
}

static void add_related(struct weft_text *text, const struct loaded *loaded, uint32_t task)
{
	uint32_t *list, count;
	bool more;
	assert_int_equal(weft_story_related(&loaded->story, task, 3, &list, &count, &more), 0);
	add(text, "    related:");
	for (uint32_t i = 0; i < count; i++)
		add(text, " %d", id_of(loaded, list[i]));
	add(text, "%s\n", more ? " and more" : "");
	free(list);
}

/* The chains of waits in the middle and at the end, and the task as a group of one. */
static void add_chain(struct weft_text *text, const struct loaded *loaded, uint32_t task)
{
	struct weft_story_wait waits[4];
	struct weft_story_group group;
	char sentence[WEFT_SENTENCE_BYTES];
	bool cycle;
	for (unsigned half = 1; half <= 2; half++) {
		uint64_t at = loaded->model->summary.end * half / 2;
		uint32_t count = wait_chain(&loaded->story, task, at, waits, 4, &cycle);
		for (uint32_t i = 0; i < count; i++)
			add(text, "%s %d for %d", i ? "," : "    chain:", id_of(loaded, waits[i].task),
				id_of(loaded, waits[i].source));
		add(text, "%s%s", cycle ? ", a circle" : "", count ? "\n" : "");
	}
	assert_int_equal(weft_story_group_tasks(&loaded->story, &task, 1, &group), 0);
	weft_story_fold_sentence(&loaded->story, task, &group, sentence, sizeof(sentence));
	add(text, "    as a group: %s\n", sentence);
}

static void add_edges(struct weft_text *text, const struct loaded *loaded)
{
	char sentence[WEFT_SENTENCE_BYTES];
	for (uint32_t edge = 0; edge < loaded->model->edges.count; edge++) {
		size_t size = weft_story_edge_sentence(&loaded->story, edge, sentence, sizeof(sentence));
		assert_int_equal(size, strlen(sentence));
		add(text, "  edge %u: %s\n", (unsigned)edge, sentence);
	}
}

static void add_rest(struct weft_text *text, const struct loaded *loaded)
{
	const struct weft_model *model = loaded->model;
	char sentence[WEFT_SENTENCE_BYTES];
	for (uint32_t i = 0; i < model->band_count; i++) {
		size_t size =
			weft_story_band_sentence(&loaded->story, &model->bands[i], sentence, sizeof(sentence));
		assert_int_equal(size, strlen(sentence));
		add(text, "  band %u: %s\n", (unsigned)i, sentence);
	}
	for (uint32_t i = 0; i < model->counter_count; i++)
		for (uint64_t at = 0; at <= model->summary.end; at += model->summary.end / 3 + 1) {
			size_t size =
				weft_story_counter_sentence(&loaded->story, i, at, sentence, sizeof(sentence));
			assert_int_equal(size, strlen(sentence));
			add(text, "  counter %u: %s\n", (unsigned)i, sentence);
		}
}

/* Everything about every task. */
static void add_all(struct weft_text *text, const struct loaded *loaded)
{
	const struct weft_model *model = loaded->model;
	for (uint32_t task = 0; task < model->tasks.count; task++) {
		char last[3 * WEFT_SENTENCE_BYTES] = "";
		add(text, "  task %d\n", id_of(loaded, task));
		for (unsigned i = 0; i <= 20; i++)
			add_moment(text, loaded, task, model->summary.end * i / 20, last);
		add_moment(text, loaded, task, WEFT_STORY_WHOLE, last);
		add_lines(text, loaded, task);
		add_related(text, loaded, task);
		add_chain(text, loaded, task);
	}
	add_edges(text, loaded);
	add_rest(text, loaded);
}

/* The sentences about task 1 in the middle of the trace and as a whole, and how many are related.
 */
static void add_first(struct weft_text *text, const struct loaded *loaded)
{
	char last[3 * WEFT_SENTENCE_BYTES] = "";
	uint32_t task = weft_model_find_task(loaded->model, 0, 1), *list, count;
	bool more;
	add_moment(text, loaded, task, loaded->model->summary.end / 2, last);
	add_moment(text, loaded, task, WEFT_STORY_WHOLE, last);
	assert_int_equal(weft_story_related(&loaded->story, task, 1000, &list, &count, &more), 0);
	add(text, "    %u related\n", (unsigned)count);
	free(list);
}

/* The lines of task 1 that are not facts: their number, and the first and last. */
static void add_length(struct weft_text *text, const struct loaded *loaded)
{
	struct weft_story_lines *lines;
	uint32_t task = weft_model_find_task(loaded->model, 0, 1), count = 0;
	assert_int_equal(weft_story_lines_create(&loaded->story, task, &lines), 0);
	for (uint32_t i = 0; i < lines->count; i++) {
		const struct weft_story_line *line = &lines->lines[i];
		count += line->type != WEFT_STORY_FACT;
		if (line->type == WEFT_STORY_LEFT_OUT || (line->type != WEFT_STORY_FACT && count <= 2))
			add(text, "    %d %s: %s, at %d, for %d\n", line->type, line->title, line->text,
				time_of(loaded, line->time), (int)line->duration);
	}
	add(text, "    %u lines\n", (unsigned)count);
	weft_story_lines_destroy(lines);
}

/* clang-format off */
static const struct story_script {
	const char *what, *script;
	void (*add)(struct weft_text *text, const struct loaded *loaded);
	unsigned count;
	int n[4];
} scripts[] = {
	{"a task waits for a promise", "create 0 1 task; label 1 server; run 1; +10; create 1 2 promise; label 2 reply; try 1 2; +5; run 0; "
		"+100; resolve 0 2; +3; run 1; read 1 2; +20; resolve 1 1; run 0; +5", add_all, 1, {0}},
	{"a failure travels", "create 0 1 bind; create 1 2 wait; run 1; try 1 2; +5; run 3; +50; fail 3 2 no answer; +7; run 1; read 1 2; "
		"fail 1 1 broken pipe; +2; run 0", add_all, 1, {0}},
	{"a join waits for all", "create 0 1 join; create 0 2 task; create 0 3 task; run 1; try 1 2; try 1 3; +5; run 2; +30; resolve 2 2; +1; "
		"run 1; read 1 2; +1; run 3; +20; resolve 3 3; run 1; read 1 3; resolve 1 1; +1; run 0; +9", add_all, 1, {0}},
	{"a choice waits for any", "create 0 1 choose; create 0 2 task; create 0 3 task; run 1; try 1 2; +2; try 1 3; +5; run 2; +30; resolve 2 2; +1; "
		"run 1; read 1 2; resolve 1 1; +1; run 3; +20; resolve 3 3; run 0; +9", add_all, 1, {0}},
	{"a wait for any of several", "create 0 1 task; label 1 client; create 0 2 promise; label 2 cancel; create 0 3 promise; label 3 reply; create 0 4 task; "
		"run 1; +5; any 1 2; any 1 3; any 1 4; run 0; +100; resolve 0 3; run 1; read 1 3; +10; any 1 2; +20; run 0; +50; any 1 2; any 1 4; +9", add_all, 1, {0}},
	{"a wait for any of n", "create 0 1 task; [n: create 0 10+i task]; run 1; +5; [n: any 1 10+i]; run 0; +7; resolve 0 11; read 1 11; +5", add_length, 2, {2, 300}},
	{"a lock is held", "create 0 1 lock; label 1 db; create 0 2 task; create 0 3 task; label 3 worker; run 3; acquire 3 1; +10; acquire 3 1; +5; run 2; +1; "
		"try 2 1; run 3; +10; release 3 1; +10; release 3 1; run 2; acquire 2 1; +10; run 0; create 0 4 bind; become 2 4; +5; release 4 1; try 3 1; +9", add_all, 1, {0}},
	{"a pool has several holders", "create 0 1 pool; create 0 2 task; create 0 3 task; create 0 4 task; run 2; acquire 2 1; +5; run 3; acquire 3 1; +5; run 4; try 4 1; +1; run 0; "
		"+9; release 0 1; +9; release 3 1; acquire 3 1; +9; resolve 0 3; +2", add_all, 1, {0}},
	{"timers are due", "create 0 1 timer; label 1 heartbeat; due 1 9000; due 1 100000; create 0 2 timer; due 2 50000; create 0 3 timer; due 3 200000; create 0 4 task; due 4 5; "
		"create 0 5 timer; due 5 1000; +50; cancel 0 2; +54; resolve 0 1; run 0; +20", add_all, 1, {0}},
	{"a task goes on as another", "create 0 1 bind; run 1; +5; create 1 2 bind; create 0 3 promise; try 2 3; become 1 2; +10; run 0; +30; "
		"resolve 0 3; +4; run 2; read 2 3; +6; resolve 2 2; run 0; +5", add_all, 1, {0}},
	{"a signal wakes", "create 0 1 task; run 1; +5; run 2; +40; signal 1 2; +2; run 1; +5; run 2; +20; signal 2 2; signal 1 2; +3; resolve 2 1; +30; "
		"run 0", add_all, 1, {0}},
	{"tasks about themselves", "create 0 1 task; run 1; read 1 1; +4; signal 1 1; +4; try 1 1; +4; resolve 1 1; +4; run 0", add_all, 1, {0}},
	{"notes, counters, bands", "create 0 1 task; label 1 first; run 1; +5; label 1 second; count queue 5; +20; count queue 2; +5; run 0; +1; idle; +40; "
		"run 1; +9; gc 6000; +2; count heap 1234567; +1; resolve 1 1; +4", add_all, 1, {0}},
	{"unended tasks", "create 0 1 task; create 0 2 promise; label 2 never; expect 2; run 1; +5; try 1 2; try 1 2; +10; run 0; create 0 3 semaphore; "
		"create 0 4 task; try 4 3; +5; try 4 2; +20; run 0", add_all, 1, {0}},
	{"two threads", "create 0 1 task; create 0 2 task; run 1; +5; thread 1; run 2; +5; read 2 1; +10; signal 1 2; +1; thread 0; run 0; +5; run 1; +3; "
		"resolve 1 2; +1; thread 1; run 1; +7", add_all, 1, {0}},
	{"notes, paths, full stops", "create 0 1 task; label 1 /a-directory/with-a-longer-name/than-fits/40.txt; run 1; note 1 a remark; +5; "
		"count q 0; count q 0; +5; note 1 another; fail 0 1 it ended.; +5; run 0", add_all, 1, {0}},
	{"a signal comes while it waits", "create 0 1 task; create 0 2 condition; run 1; try 1 2; +5; run 0; +5; [n: signal 2 0]; +5; run 0", add_first, 2, {0, 1}},
	{"waits in a circle", "create 0 1 bind; create 0 2 bind; create 0 3 task; +5; try 1 2; try 2 1; try 3 1; +5; run 4; +1", add_all, 1, {0}},
	{"a read answers an earlier wait", "create 0 1 task; create 0 2 condition; run 1; try 1 2; signal 1 0; +5; read 1 2; +5; run 0; +20; run 1; +5", add_first, 1, {0}},
	{"a promise is read when it is resolved", "create 0 1 task; create 0 2 promise; run 0; +5; resolve 0 2; read 1 2; signal 2 1; +3; run 0; +1", add_all, 1, {0}},
	{"long names", "create 0 1 task; label 1 a-name-that-is-much-longer-than-what-fits-into-one-sentence-xyz; create 1 2 promise; label 2 a-name-that-is-much-longer-than-what-fits-into-one-sentence-xyz; run 1; try 1 2; +5; run 3; +50; label 3 a-name-that-is-much-longer-than-what-fits-into-one-sentence-xyz; fail 3 2 a-name-that-is-much-longer-than-what-fits-into-one-sentence-xyz; "
		"+7; run 1; read 1 2; signal 1 3; fail 1 1 a-name-that-is-much-longer-than-what-fits-into-one-sentence-xyz; +2; create 1 4 task; run 0", add_all, 1, {0}},
	{"a wait is asked for again after n edges", "create 0 1 task; create 0 2 promise; run 1; try 1 2; [n: create 0 10+i task; resolve 1 10+i]; +5; "
		"run 0; +10; resolve 0 2; run 1; read 1 2; +1; run 0", add_first, 2, {255, 256}},
	{"woken after n other reads", "create 0 1 task; create 0 2 promise; run 1; +1; run 0; +10; resolve 0 2; +1; run 1; [n: create 0 10+i promise; try 1 10+i]; "
		"read 1 2; +1; run 0; +5", add_first, 2, {63, 64}},
	{"signalled before n other edges to it", "create 0 1 task; run 1; +1; run 0; +10; signal 1 0; [n: create 0 10+i task; try 10+i 1]; +1; run 1; +1; "
		"run 0; +5", add_first, 2, {63, 64}},
	{"related by n waits", "create 0 1 task; [n: create 0 10+i promise; try 1 10+i]; +5; run 0", add_first, 2, {64, 65}},
	{"related to n waiting tasks", "create 0 1 promise; [n: create 0 10+i task; try 10+i 1]; +5; run 0", add_first, 2, {63, 64}},
	{"n alike activations", "create 0 1 task; [n: run 1; +5; run 2; +10]", add_length, 2, {7, 8}},
	{"activations of 1 to n us", "create 0 1 task; [20: run 1; +1; ?i=12 +n; run 2; +10]", add_length, 2, {7, 8}},
	{"activations of 100 to n ns", "create 0 1 task; [20: run 1; ~100; ?i=12 ~n; run 2; +10]", add_length, 2, {7907, 7908}},
	{"activations on two threads", "create 0 1 task; [n: run 1; +1; run 2; +10]; thread 1; [20: run 1; +1; run 2; +10]", add_length, 2, {7, 9}},
	{"n children", "create 0 1 task; [n: create 1 10+i task; label 10+i part; +1; create 1 3000+i wait]", add_length, 3, {100, 101, 102}},
	{"n alike children, then others", "create 0 1 task; [n: create 1 10+i task; +1]; [n: create 1 500+i wait; label 500+i x; +1]", add_length, 2, {3, 4}},
	{"n notes", "create 0 1 task; [n: +1; label 1 again]", add_length, 3, {200, 201, 202}},
	{"n edges", "create 0 1 task; [n: +1; signal 1 0]", add_length, 3, {200, 201, 202}},
	{"n activations of two lengths", "create 0 1 task; [n: run 1; +1; ?i%2=0 +50; run 2; +10]", add_length, 3, {200, 201, 202}},
};
/* clang-format on */

static void stories_are_as_in_the_golden_text(void **state)
{
	struct weft_text text = {0};
	(void)state;
	for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++)
		for (unsigned k = 0; k < scripts[i].count; k++) {
			struct loaded loaded = trace_script_load(scripts[i].script, scripts[i].n[k]);
			add(&text, "%s, n=%d\n", scripts[i].what, scripts[i].n[k]);
			scripts[i].add(&text, &loaded);
			loaded_finish(&loaded);
		}
	golden_compare("story.txt", &text);
	weft_text_finish(&text);
}

static void check_losses(uint64_t full, uint64_t nested, const char *expected)
{
	struct weft_trace_description description = {.format = "test", .clock = {.name = "test"}};
	struct made made = make_begin();
	struct weft_model *model;
	char text[WEFT_SENTENCE_BYTES];
	description.losses[WEFT_LOSS_FULL] = full;
	description.losses[WEFT_LOSS_NESTED] = nested;
	assert_int_equal(weft_model_builder_finish(made.builder, &description, &model), 0);
	weft_model_builder_destroy(made.builder);
	struct loaded loaded = load_model(model);
	size_t size = weft_story_losses_sentence(&loaded.story, text, sizeof(text));
	assert_string_equal(text, expected);
	assert_int_equal(size, strlen(expected));
	loaded_finish(&loaded);
}

static void losses_are_summed_up(void **state)
{
	(void)state;
	check_losses(0, 0, "");
	check_losses(1, 0, "1 event is lost: 1 full.");
	check_losses(1234, 5, "1,239 events are lost: 1,234 full, 5 nested.");
	check_losses(UINT64_MAX, 5,
		"18,446,744,073,709,551,615 events are lost: 18,446,744,073,709,551,615 full, 5 nested.");
}

static void names_are_shortened(void **state)
{
	struct loaded loaded =
		trace_script_load("create 0 1 task; label 1 some name; +1; create 0 2 bind", 0);
	char text[64];
	(void)state;
	weft_story_name(loaded.model, weft_model_find_task(loaded.model, 0, 1), 40, text, sizeof(text));
	assert_string_equal(text, "some name");
	weft_story_name(loaded.model, weft_model_find_task(loaded.model, 0, 1), 6, text, sizeof(text));
	assert_string_equal(text, "some \xe2\x80\xa6");
	size_t size = weft_story_name(
		loaded.model, weft_model_find_task(loaded.model, 0, 2), 40, text, sizeof(text));
	assert_int_equal(size, strlen(text));
	assert_string_equal(text, "bind 2");
	loaded_finish(&loaded);
}

static void check_name(const char *label, unsigned letters, const char *expected)
{
	char script[128], text[64];
	snprintf(script, sizeof(script), "create 0 1 task; label 1 %s", label);
	struct loaded loaded = trace_script_load(script, 0);
	weft_story_name(
		loaded.model, weft_model_find_task(loaded.model, 0, 1), letters, text, sizeof(text));
	assert_string_equal(text, expected);
	loaded_finish(&loaded);
}

static void a_location_is_kept_if_there_is_room(void **state)
{
	(void)state;
	check_name("Queue.get at chat.py:33", 23, "Queue.get at chat.py:33");
	check_name("Queue.get at chat.py:33", 20, "Queue\xe2\x80\xa6 at chat.py:33");
	check_name("Queue.get at chat.py:33", 12, "Queue.get a\xe2\x80\xa6");
	check_name("Queue.get for chat.py:33", 20, "Queue.get for chat.\xe2\x80\xa6");
	check_name("Queue.get at chat.py:x3", 20, "Queue.get at chat.p\xe2\x80\xa6");
	check_name("x at :12345678901234567", 20, "x at :1234567890123\xe2\x80\xa6");
	check_name("at c:3 and 12345678901234567", 12, "at c:3 and \xe2\x80\xa6");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stories_are_as_in_the_golden_text),
		cmocka_unit_test(losses_are_summed_up),
		cmocka_unit_test(names_are_shortened),
		cmocka_unit_test(a_location_is_kept_if_there_is_room),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
