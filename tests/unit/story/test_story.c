/* SPDX-License-Identifier: ISC
 *
 * Tasks, edges and waits in words: of the samples, and of events that tests make up.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <weft/story.h>

#include "loaded.h"
#include "wait_chain.h"

static uint32_t task_of(const struct loaded *loaded, uint64_t id)
{
	uint32_t task = weft_model_find_task(loaded->model, 0, id);
	assert_int_not_equal(task, WEFT_NONE);
	return task;
}

static const char *sentence(const struct loaded *loaded, uint64_t id, uint64_t at)
{
	static char text[WEFT_SENTENCE_BYTES];
	size_t size = weft_story_sentence(&loaded->story, task_of(loaded, id), at, text, sizeof(text));
	assert_int_equal(size, strlen(text));
	return text;
}

static void a_task_says_what_it_did(void **state)
{
	struct loaded loaded = load_sample("mirage-block-read.sexp");
	(void)state;
	assert_string_equal(sentence(&loaded, 80, WEFT_STORY_WHOLE),
		"bind 80: 55 us, ran 1 \xc3\x97 for 55 us; woken by after-chn-1 at 5.064 ms; failed at 5.256 "
		"ms: Xs_protocol.Enoent(\"read\").");
	assert_string_equal(sentence(&loaded, 3, WEFT_STORY_WHOLE),
		"bind 3 'after-chn-1': 313 us from 788 us, ran 1 \xc3\x97 for 8 us; made by create "
		"XenStore; woken by try 2 at 1.084 ms.");
	loaded_finish(&loaded);
}

static void a_task_says_what_it_waits_for(void **state)
{
	struct loaded loaded = load_sample("mirage-arp-good.ctf");
	(void)state;
	assert_string_equal(sentence(&loaded, 4428, WEFT_STORY_WHOLE),
		"try 4428 waits for task 4427 'port-1' since 12.319 ms; not resolved since; "
		"made by Xs.read waiting.");
	loaded_finish(&loaded);
}

static unsigned count_letters(const char *text)
{
	unsigned letters = 0;
	for (; *text; text++)
		letters += ((uint8_t)*text & 0xc0) != 0x80;
	return letters;
}

static void every_sentence_is_short_and_ends(void **state)
{
	static const char *const samples[] = {"mirage-arp-good.ctf", "mirage-block-read.sexp"};
	(void)state;
	for (int sample = 0; sample < 2; sample++) {
		struct loaded loaded = load_sample(samples[sample]);
		char text[WEFT_SENTENCE_BYTES];
		for (uint32_t task = 0; task < loaded.model->tasks.count; task++) {
			size_t size =
				weft_story_sentence(&loaded.story, task, WEFT_STORY_WHOLE, text, sizeof(text));
			assert_int_equal(text[size - 1], '.');
			assert_in_range(count_letters(text), 10, WEFT_SENTENCE_LETTERS);
		}
		for (uint32_t edge = 0; edge < loaded.model->edges.count; edge++) {
			size_t size = weft_story_edge_sentence(&loaded.story, edge, text, sizeof(text));
			assert_int_equal(text[size - 1], '.');
			assert_in_range(count_letters(text), 10, WEFT_SENTENCE_LETTERS);
		}
		loaded_finish(&loaded);
	}
}

static void lines_of_a_task_are_about_its_life(void **state)
{
	(void)state;
	struct loaded loaded = load_sample("mirage-block-read.sexp");
	const struct weft_model *m = loaded.model;
	for (uint32_t task = 0; task < m->tasks.count; task++) {
		uint64_t start = 0, end = m->tasks.end[task];
		struct weft_story_lines *lines;
		unsigned lives = 0;
		assert_int_equal(weft_story_lines_create(&loaded.story, task, &lines), 0);
		for (uint32_t i = 0; i < lines->count; i++) {
			const struct weft_story_line *line = &lines->lines[i];
			assert_true(line->title[0] || line->text[0]);
			if (line->has_time)
				assert_true(line->time >= m->summary.start);
			if (line->duration && line->type == WEFT_STORY_FACT)
				assert_true(line->duration <= m->summary.end - m->summary.start);
			if (strcmp(line->title, "starts") == 0)
				start = line->time;
			if (strcmp(line->title, "lives") == 0) {
				assert_int_equal(line->duration, end > start ? end - start : 0);
				lives++;
			}
		}
		assert_int_equal(lives, 1);
		weft_story_lines_destroy(lines);
	}
	loaded_finish(&loaded);
}

/* A sentence may have as many letters as allowed, and not one more. */
static void a_sentence_uses_all_its_letters(void **state)
{
	unsigned longest = 0;
	(void)state;
	for (unsigned length = 1; length < 60; length++) {
		struct made made = make_begin();
		char message[64] = "";
		memset(message, 'x', length);
		make_create(&made, 0, 1, WEFT_KIND_TASK);
		make_label(&made, 1, "a label of some length that is shown");
		make_switch(&made, 1);
		made.time = 1234567;
		make_fail(&made, 0, 1, message);
		struct loaded loaded = make_end(&made);
		unsigned letters = count_letters(sentence(&loaded, 1, WEFT_STORY_WHOLE));
		assert_true(letters <= WEFT_SENTENCE_LETTERS);
		longest = letters > longest ? letters : longest;
		loaded_finish(&loaded);
	}
	assert_int_equal(longest, WEFT_SENTENCE_LETTERS);
}

static void edges_bands_counters_and_losses_have_sentences(void **state)
{
	struct made made = make_begin();
	char text[WEFT_SENTENCE_BYTES];
	(void)state;
	make_create(&made, 0, 26, WEFT_KIND_WAIT);
	make_create(&made, 0, 31, WEFT_KIND_BIND);
	made.time = 1000000;
	make_edge(&made, WEFT_EVENT_TRY_READ, 31, 26);
	make_signal(&made, 0, 31, false); /* otherwise the read below would replace the try_read */
	make_counter(&made, 31, "queue", 7, true);
	made.time = 2000000;
	make_fail(&made, 0, 26, "no answer");
	make_counter(&made, 31, "queue", 9, true);
	make_switch(&made, WEFT_TASK_NONE);
	made.time = 2003000;
	make_edge(&made, WEFT_EVENT_READ, 31, 26);
	struct loaded loaded = make_end(&made);
	static const char *const expected[] = {
		"preexisting 0 creates wait 26 at 0 ns.",
		"preexisting 0 creates bind 31 at 0 ns.",
		"bind 31 waits for wait 26 at 1 ms, which ends 1 ms later.",
		"bind 31 signals preexisting 0 at 1 ms.",
		"preexisting 0 fails wait 26 at 2 ms: no answer.",
		"bind 31 reads wait 26 at 2.003 ms, which had failed 3 us before.",
	};
	assert_int_equal(loaded.model->edges.count, 6);
	for (uint32_t edge = 0; edge < 6; edge++) {
		weft_story_edge_sentence(&loaded.story, edge, text, sizeof(text));
		assert_string_equal(text, expected[edge]);
	}
	weft_story_band_sentence(&loaded.story, &loaded.model->bands[0], text, sizeof(text));
	assert_string_equal(text, "Idle from 2 ms for 3 us.");
	weft_story_counter_sentence(&loaded.story, 0, 2000000, text, sizeof(text));
	assert_string_equal(text, "queue is 9 at 2 ms: +2 by bind 31 at 2 ms.");
	weft_story_counter_sentence(&loaded.story, 0, 5, text, sizeof(text));
	assert_string_equal(text, "queue has no value at 5 ns, before its first change.");
	assert_int_equal(weft_story_losses_sentence(&loaded.story, text, sizeof(text)), 0);
	loaded_finish(&loaded);
}

static void real_counters_have_sentences(void **state)
{
	struct made made = make_begin();
	char text[WEFT_SENTENCE_BYTES];
	(void)state;
	make_create(&made, 0, 31, WEFT_KIND_BIND);
	make_real_counter(&made, 31, "load", 3.25, true);
	made.time = 2000000;
	make_real_counter(&made, 31, "load", -0.5, false);
	struct loaded loaded = make_end(&made);
	weft_story_counter_sentence(&loaded.story, 0, 0, text, sizeof(text));
	assert_string_equal(text, "load is 3.25 at 0 ns: +3.25 by bind 31 at 0 ns.");
	weft_story_counter_sentence(&loaded.story, 0, 2000000, text, sizeof(text));
	assert_string_equal(text, "load is 2.75 at 2 ms: -0.5 by bind 31 at 2 ms.");
	loaded_finish(&loaded);
}

static void no_name_can_hide_or_turn_text(void **state)
{
	struct made made = make_begin();
	(void)state;
	make_create(&made, 0, 1, WEFT_KIND_TASK);
	make_label(&made, 1,
		"a\x1b[31m\n\xe2\x80\xae"
		"b\xff\xc3");
	struct loaded loaded = make_end(&made);
	assert_non_null(
		strstr(sentence(&loaded, 1, WEFT_STORY_WHOLE), "'a\xef\xbf\xbd[31m\xef\xbf\xbd\xef\xbf\xbd"
													   "b\xef\xbf\xbd\xef\xbf\xbd'"));
	loaded_finish(&loaded);
}

static void a_small_buffer_has_whole_characters(void **state)
{
	struct loaded loaded = load_sample("mirage-block-read.sexp");
	uint32_t task = task_of(&loaded, 3);
	char text[WEFT_SENTENCE_BYTES], part[WEFT_SENTENCE_BYTES];
	size_t whole = weft_story_sentence(&loaded.story, task, WEFT_STORY_WHOLE, text, sizeof(text));
	(void)state;
	for (size_t size = 1; size <= whole + 1; size++) {
		size_t length = weft_story_sentence(&loaded.story, task, WEFT_STORY_WHOLE, part, size);
		assert_true(length < size && length + 2 >= size);
		assert_int_equal(strlen(part), length);
		assert_memory_equal(part, text, length);
	}
	loaded_finish(&loaded);
}

static void groups_and_folds_have_sentences(void **state)
{
	struct made made = make_begin();
	char text[WEFT_SENTENCE_BYTES];
	uint32_t tasks[9];
	(void)state;
	for (uint64_t id = 1; id <= 9; id++) {
		make_create(&made, 0, id, WEFT_KIND_BIND);
		make_label(&made, id, "grant");
		made.time += 1000 * id;
		if (id == 9)
			make_fail(&made, 0, id, "full");
		else
			make_edge(&made, WEFT_EVENT_RESOLVE, 0, id);
	}
	struct loaded loaded = make_end(&made);
	struct weft_story_group group;
	for (uint32_t i = 0; i < 9; i++)
		tasks[i] = task_of(&loaded, i + 1);
	assert_int_equal(weft_story_group_tasks(&loaded.story, tasks, 9, &group), 0);
	assert_int_equal(group.longest, tasks[8]);
	weft_story_group_sentence(&group, text, sizeof(text));
	assert_string_equal(text, "9 tasks, 1 failed, p50 5 us, longest 9 us.");
	weft_story_fold_sentence(&loaded.story, tasks[0], &group, text, sizeof(text));
	assert_string_equal(
		text, "9 \xc3\x97 bind 'grant' below preexisting 0, 1 failed: p50 5 us, longest 9 us.");
	loaded_finish(&loaded);
}

/* Each way to end is counted; of two that live longest, the first is named. */
static void a_group_counts_how_its_tasks_ended(void **state)
{
	struct made made = make_begin();
	struct weft_story_group group;
	char text[WEFT_SENTENCE_BYTES];
	uint32_t tasks[6];
	(void)state;
	for (uint64_t id = 1; id <= 6; id++)
		make_create(&made, 0, id, WEFT_KIND_WAIT);
	make(&made, (struct weft_event){.type = WEFT_EVENT_EXPECT, .task = 6});
	made.time = 5000;
	make_edge(&made, WEFT_EVENT_RESOLVE, 0, 1);
	made.time = 9000;
	make_edge(&made, WEFT_EVENT_RESOLVE, 0, 2);
	make_fail(&made, 0, 3, "no");
	made.time = 9500;
	make_switch(&made, 0);
	struct loaded loaded = make_end(&made);
	for (uint32_t i = 0; i < 6; i++)
		tasks[i] = task_of(&loaded, i + 1);
	assert_int_equal(weft_story_group_tasks(&loaded.story, tasks, 3, &group), 0);
	assert_int_equal(group.longest, tasks[1]);
	assert_int_equal(group.p50_ns, 9000);
	assert_int_equal(weft_story_group_tasks(&loaded.story, tasks, 2, &group), 0);
	assert_int_equal(group.p50_ns, 5000);
	assert_int_equal(weft_story_group_tasks(&loaded.story, tasks, 6, &group), 0);
	weft_story_group_sentence(&group, text, sizeof(text));
	assert_string_equal(
		text, "6 tasks, 1 failed, 1 never resolved, 2 unfinished, p50 5 us, longest 9.5 us.");
	assert_int_equal(weft_story_group_tasks(&loaded.story, tasks, 1, &group), 0);
	weft_story_group_sentence(&group, text, sizeof(text));
	assert_string_equal(text, "1 task, 5 us.");
	assert_int_equal(weft_story_group_tasks(&loaded.story, tasks, 0, &group), 0);
	weft_story_group_sentence(&group, text, sizeof(text));
	assert_string_equal(text, "0 tasks.");
	loaded_finish(&loaded);
}

static void a_chain_of_waits_leads_to_its_leaf(void **state)
{
	struct loaded loaded = load_sample("mirage-arp-good.ctf");
	struct weft_story_wait waits[16];
	static const uint64_t expected[] = {4430, 4429, 4428, 4427};
	bool cycle;
	(void)state;
	assert_int_equal(
		wait_chain(&loaded.story, task_of(&loaded, 4430), WEFT_STORY_WHOLE, waits, 16, &cycle), 3);
	assert_false(cycle);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(loaded.model->tasks.id[waits[i].task], expected[i]);
		assert_int_equal(loaded.model->tasks.id[waits[i].source], expected[i + 1]);
		assert_int_equal(waits[i].until, UINT64_MAX);
	}
	/* In the middle of its life, 4473 waits for what it reads in the end. */
	uint64_t middle = loaded.model->summary.start + 15000000;
	assert_true(weft_story_wait_at(&loaded.story, task_of(&loaded, 4473), middle, &waits[0]));
	assert_int_equal(loaded.model->tasks.id[waits[0].source], 4472);
	assert_int_equal(waits[0].until - loaded.model->summary.start, 23685463);
	loaded_finish(&loaded);
}

static void the_waker_of_a_task_is_known(void **state)
{
	struct made made = make_begin();
	struct weft_story_wake wake;
	(void)state;
	make_tasks(&made, 3);
	make_switch(&made, 1);
	made.time = 100;
	make_edge(&made, WEFT_EVENT_TRY_READ, 1, 3);
	make_switch(&made, 2);
	made.time = 200;
	make_edge(&made, WEFT_EVENT_RESOLVE, 2, 3);
	made.time = 300;
	make_edge(&made, WEFT_EVENT_READ, 1, 3);
	made.time = 400;
	make_switch(&made, 2);
	made.time = 500;
	make_signal(&made, 1, 2, true);
	made.time = 600;
	make_switch(&made, 2);
	struct loaded loaded = make_end(&made);
	uint32_t task = task_of(&loaded, 1), two = task_of(&loaded, 2), three = task_of(&loaded, 3);
	assert_true(weft_story_woken_by(&loaded.story, task, 350, &wake));
	assert_true(wake.task == two && wake.source == three && wake.time == 200 && wake.runs == 300);
	assert_true(weft_story_woken_by(&loaded.story, task, WEFT_STORY_WHOLE, &wake));
	assert_true(wake.task == two && wake.source == WEFT_NONE && wake.time == 500);
	assert_false(weft_story_woken_by(&loaded.story, task, 50, &wake));
	assert_int_equal(weft_story_creator(&loaded.story, task), task_of(&loaded, 0));
	loaded_finish(&loaded);
}

/* A task that signals itself, or resolves what it waits for, while another one runs: the trace is
 * wrong, and the task must not be named as what woke it. */
static void a_task_is_not_woken_by_itself(void **state)
{
	(void)state;
	for (int resolves = 0; resolves < 2; resolves++) {
		struct made made = make_begin();
		struct weft_story_wake wake;
		make_tasks(&made, 3);
		make_switch(&made, 1);
		made.time = 100;
		make_switch(&made, 2);
		made.time = 150;
		if (resolves)
			make_edge(&made, WEFT_EVENT_RESOLVE, 1, 3);
		else
			make_signal(&made, 1, 1, false);
		made.time = 200;
		make_switch(&made, 1);
		made.time = 210;
		make_edge(&made, WEFT_EVENT_READ, 1, 3);
		struct loaded loaded = make_end(&made);
		uint32_t three = task_of(&loaded, 3);
		assert_int_equal(
			weft_story_woken_by(&loaded.story, task_of(&loaded, 1), 205, &wake), resolves);
		if (resolves)
			assert_true(wake.task == three && wake.source == three && wake.time == 150);
		loaded_finish(&loaded);
	}
}

static void a_repeated_wait_counts_from_the_first_attempt(void **state)
{
	struct made made = make_begin();
	struct weft_story_wait wait;
	(void)state;
	make_tasks(&made, 3);
	make_switch(&made, 1);
	for (made.time = 100; made.time <= 300; made.time += 100)
		make_edge(&made, WEFT_EVENT_TRY_READ, 1, 3);
	make_switch(&made, 2);
	made.time = 500;
	make_edge(&made, WEFT_EVENT_RESOLVE, 2, 3);
	struct loaded loaded = make_end(&made);
	assert_true(weft_story_wait_at(&loaded.story, task_of(&loaded, 1), 450, &wait));
	assert_int_equal(wait.source, task_of(&loaded, 3));
	assert_int_equal(wait.since, 100);
	assert_int_equal(wait.others, 0);
	loaded_finish(&loaded);
}

static const struct weft_story_line *find_line(
	const struct weft_story_lines *lines, const char *title)
{
	for (uint32_t i = 0; i < lines->count; i++)
		if (strcmp(lines->lines[i].title, title) == 0)
			return &lines->lines[i];
	fail_msg("no line is called %s", title);
	return NULL;
}

/* Tasks that were cancelled, closed or timed out: in sentences, edges and facts. */
static void a_stopped_task_is_described(void **state)
{
	static const struct {
		enum weft_event_type event;
		const char *task, *edges[3], *fact, *group;
	} ends[] = {
		{WEFT_EVENT_CANCEL, "wait 26: 2 ms from 0 ns; made by preexisting 9; cancelled at 2 ms.",
			{"preexisting 9 creates wait 26 at 0 ns.", "preexisting 9 cancels wait 26 at 2 ms.",
				"preexisting 9 reads wait 26 at 5 ms, which had been cancelled 3 ms before."},
			"cancelled", "1 task, 1 cancelled, 2 ms."},
		{WEFT_EVENT_CLOSE, "wait 26: 2 ms from 0 ns; made by preexisting 9; closed at 2 ms.",
			{"preexisting 9 creates wait 26 at 0 ns.", "preexisting 9 closes wait 26 at 2 ms.",
				"preexisting 9 reads wait 26 at 5 ms, which had been closed 3 ms before."},
			"closed", "1 task, 1 closed, 2 ms."},
		{WEFT_EVENT_TIME_OUT, "wait 26: 2 ms from 0 ns; made by preexisting 9; timed out at 2 ms.",
			{"preexisting 9 creates wait 26 at 0 ns.", "preexisting 9 times out wait 26 at 2 ms.",
				"preexisting 9 reads wait 26 at 5 ms, which had timed out 3 ms before."},
			"timed out", "1 task, 1 timed out, 2 ms."},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		struct made made = make_begin();
		struct weft_story_group group;
		struct weft_story_lines *lines;
		char text[WEFT_SENTENCE_BYTES];
		make_create(&made, 9, 26, WEFT_KIND_WAIT);
		made.time = 2000000;
		make_edge(&made, ends[i].event, 9, 26);
		made.time = 5000000;
		make_edge(&made, WEFT_EVENT_READ, 9, 26);
		struct loaded loaded = make_end(&made);
		uint32_t task = task_of(&loaded, 26);
		assert_string_equal(sentence(&loaded, 26, WEFT_STORY_WHOLE), ends[i].task);
		for (uint32_t edge = 0; edge < 3; edge++) {
			weft_story_edge_sentence(&loaded.story, edge, text, sizeof(text));
			assert_string_equal(text, ends[i].edges[edge]);
		}
		assert_int_equal(weft_story_lines_create(&loaded.story, task, &lines), 0);
		assert_string_equal(find_line(lines, "outcome")->text, ends[i].fact);
		weft_story_lines_destroy(lines);
		assert_int_equal(weft_story_group_tasks(&loaded.story, &task, 1, &group), 0);
		weft_story_group_sentence(&group, text, sizeof(text));
		assert_string_equal(text, ends[i].group);
		loaded_finish(&loaded);
	}
}

static void a_story_has_facts_then_what_happened(void **state)
{
	struct loaded loaded = load_sample("mirage-arp-good.ctf");
	struct weft_story_lines *lines;
	(void)state;
	assert_int_equal(weft_story_lines_create(&loaded.story, task_of(&loaded, 4473), &lines), 0);
	assert_string_equal(find_line(lines, "kind")->text, "try");
	assert_int_equal(find_line(lines, "made by")->task, task_of(&loaded, 4460));
	assert_string_equal(find_line(lines, "outcome")->text, "fulfilled");
	assert_string_equal(find_line(lines, "runs")->text, "2.13 us in 2 activations");
	const struct weft_story_line *read = find_line(lines, "reads");
	assert_string_equal(
		read->text, "task 4472 'Wait for ARP response', which had ended 14.8 us before");
	assert_int_equal(read->task, task_of(&loaded, 4472));
	assert_int_equal(loaded.model->edges.to[read->edge], read->task);
	assert_int_equal(find_line(lines, "goes on from")->task, task_of(&loaded, 4460));
	assert_int_equal(find_line(lines, "is read by")->task, task_of(&loaded, 4461));
	weft_story_lines_destroy(lines);
	loaded_finish(&loaded);
}

/* "12 \xc3\x97 for ..." are twelve. */
static uint32_t activations_of(const struct weft_story_line *line)
{
	return strstr(line->text, "\xc3\x97") ? (uint32_t)strtoul(line->text, NULL, 10) : 1;
}

static void every_story_of_the_samples_is_whole_and_in_order(void **state)
{
	struct loaded loaded = load_sample("mirage-arp-good.ctf");
	(void)state;
	for (uint32_t task = 0; task < loaded.model->tasks.count; task++) {
		struct weft_story_lines *lines;
		uint32_t activations = 0, notes = 0;
		uint64_t last = 0;
		assert_int_equal(weft_story_lines_create(&loaded.story, task, &lines), 0);
		for (uint32_t i = 0; i < lines->count; i++) {
			const struct weft_story_line *line = &lines->lines[i];
			if (line->type == WEFT_STORY_ACTIVATION)
				activations += activations_of(line);
			notes += line->type == WEFT_STORY_LABEL || line->type == WEFT_STORY_NOTE;
			if (line->type == WEFT_STORY_FACT)
				continue;
			assert_true(line->has_time && line->time >= last);
			last = line->time;
		}
		const struct weft_tasks *t = &loaded.model->tasks;
		uint32_t runs = t->end_activation[task] - t->first_activation[task];
		uint32_t remarks = t->end_note[task] - t->first_note[task];
		assert_int_equal(activations, runs); /* none has so many that differ */
		assert_int_equal(notes, remarks < WEFT_STORY_LINES_MAX ? remarks : WEFT_STORY_LINES_MAX);
		weft_story_lines_destroy(lines);
	}
	loaded_finish(&loaded);
}

static void long_stories_say_what_they_leave_out(void **state)
{
	struct made made = make_begin();
	struct weft_story_lines *lines;
	(void)state;
	make_create(&made, 0, 1, WEFT_KIND_TASK);
	for (uint32_t i = 0; i < 1000; i++) {
		made.time += 10;
		make_label(&made, 1, "again");
		make_create(&made, 1, 100 + i, i % 500 ? WEFT_KIND_BIND : WEFT_KIND_WAIT);
	}
	struct loaded loaded = make_end(&made);
	assert_int_equal(weft_story_lines_create(&loaded.story, task_of(&loaded, 1), &lines), 0);
	assert_string_equal(find_line(lines, "not shown")->text, "800 further notes");
	uint32_t children = 0;
	for (uint32_t i = 0; i < lines->count; i++)
		children += lines->lines[i].type == WEFT_STORY_CHILD;
	assert_int_equal(children, 4); /* a wait, 499 binds, a wait, 499 binds */
	weft_story_lines_destroy(lines);
	loaded_finish(&loaded);
}

/* Twice "request" with "inflate" and three "deflate" in it, and once "deflate" alone. */
static struct weft_model *model_with_spans(void)
{
	struct made made = make_begin();
	make_create(&made, WEFT_TASK_NONE, 1, WEFT_KIND_TASK);
	make_switch(&made, 1);
	for (unsigned i = 0; i < 2; i++) {
		make_begin_span(&made, 1, "request");
		make_begin_span(&made, 1, "inflate");
		made.time += 1000;
		make_end_span(&made, 1);
		for (unsigned j = 0; j < 3; j++) {
			make_begin_span(&made, 1, "deflate");
			made.time += 10000;
			make_end_span(&made, 1);
		}
		make_end_span(&made, 1);
	}
	make_begin_span(&made, 1, "deflate");
	made.time += 38000;
	make_edge(&made, WEFT_EVENT_RESOLVE, 1, 1);
	return make_model(&made);
}

static void spans_are_added_up_by_name(void **state)
{
	static const char *const expected[] = {"request: 62 us (62 %) \xc3\x97 2",
		"request \xe2\x80\xba deflate: 60 us (60 %) \xc3\x97 6",
		"request \xe2\x80\xba inflate: 2 us (2 %) \xc3\x97 2", "deflate: 38 us (38 %)"};
	struct weft_story_lines *lines;
	uint32_t found = 0;
	(void)state;
	struct loaded loaded = load_model(model_with_spans());
	assert_int_equal(weft_story_lines_create(&loaded.story, task_of(&loaded, 1), &lines), 0);
	for (uint32_t i = 0; i < lines->count; i++)
		if (strcmp(lines->lines[i].title, "span") == 0) {
			assert_true(found < 4);
			assert_string_equal(lines->lines[i].text, expected[found++]);
		}
	assert_int_equal(found, 4);
	weft_story_lines_destroy(lines);
	loaded_finish(&loaded);
}

static void a_sentence_names_the_span_of_its_time(void **state)
{
	char text[WEFT_SENTENCE_BYTES];
	struct loaded loaded = load_model(model_with_spans());
	(void)state;
	weft_story_sentence(&loaded.story, task_of(&loaded, 1), 500, text, sizeof(text));
	assert_non_null(strstr(text, "; in 'inflate' for 1 us"));
	weft_story_sentence(&loaded.story, task_of(&loaded, 1), 62500, text, sizeof(text));
	assert_non_null(strstr(text, "; in 'deflate' for 38 us"));
	weft_story_sentence(&loaded.story, task_of(&loaded, 1), WEFT_STORY_WHOLE, text, sizeof(text));
	assert_null(strstr(text, "; in "));
	loaded_finish(&loaded);
}

static void a_sentence_counts_the_spans_of_a_track(void **state)
{
	char text[WEFT_SENTENCE_BYTES];
	struct made made = make_begin();
	(void)state;
	made.time = 5000;
	make_create(&made, WEFT_TASK_NONE, 1, WEFT_KIND_TASK);
	made.time = 9000;
	make_given_span(&made, "gpu 0", "draw", 6000, 7000);
	make_given_span(&made, "gpu 0", "blur", 7000, 8500);
	struct loaded loaded = load_model(make_model(&made));
	uint32_t track = task_of(&loaded, WEFT_TRACK_FIRST + WEFT_TRACK_LINES * (uint64_t)'g');
	weft_story_sentence(&loaded.story, track, 7200, text, sizeof(text));
	assert_string_equal(text, "track 'gpu 0': 2 spans; in 'blur' for 1.5 us.");
	loaded_finish(&loaded);
}

/* More names than there are lines for. */
static void further_spans_are_counted(void **state)
{
	struct made made = make_begin();
	struct weft_story_lines *lines;
	(void)state;
	make_create(&made, WEFT_TASK_NONE, 1, WEFT_KIND_TASK);
	for (int i = 0; i < 100; i++) {
		char name[16];
		snprintf(name, sizeof(name), "name %d", i);
		make_begin_span(&made, 1, name);
		make_begin_span(&made, 1, "in it");
		made.time += 1000;
		make_end_span(&made, 1);
		make_end_span(&made, 1);
	}
	struct loaded loaded = make_end(&made);
	assert_int_equal(weft_story_lines_create(&loaded.story, task_of(&loaded, 1), &lines), 0);
	assert_string_equal(find_line(lines, "not shown")->text, "136 further spans");
	weft_story_lines_destroy(lines);
	loaded_finish(&loaded);
}

static void four_similar_children_are_one_line(void **state)
{
	(void)state;
	for (uint32_t count = 3; count <= 4; count++) {
		struct made made = make_begin();
		struct weft_story_lines *lines;
		uint32_t found = 0;
		make_tasks(&made, count);
		struct loaded loaded = make_end(&made);
		assert_int_equal(weft_story_lines_create(&loaded.story, task_of(&loaded, 0), &lines), 0);
		for (uint32_t i = 0; i < lines->count; i++)
			found += lines->lines[i].type == WEFT_STORY_CHILD;
		assert_int_equal(found, count == 3 ? 3 : 1);
		weft_story_lines_destroy(lines);
		loaded_finish(&loaded);
	}
}

static void alike_activations_are_one_line(void **state)
{
	struct made made = make_begin();
	struct weft_story_lines *lines;
	(void)state;
	make_create(&made, 0, 1, WEFT_KIND_TASK);
	make_create(&made, 0, 2, WEFT_KIND_TASK);
	for (uint32_t i = 0; i < 400; i++) {
		make_switch(&made, 1);
		made.time += i == 100 ? 50000 : 45;
		make_switch(&made, 2);
		made.time += 100;
	}
	struct loaded loaded = make_end(&made);
	assert_int_equal(weft_story_lines_create(&loaded.story, task_of(&loaded, 1), &lines), 0);
	uint32_t found = 0, counts[4] = {0};
	for (uint32_t i = 0; i < lines->count; i++)
		if (lines->lines[i].type == WEFT_STORY_ACTIVATION && found < 4)
			counts[found++] = activations_of(&lines->lines[i]);
	assert_int_equal(found, 3); /* the long one is not merged with the others */
	assert_true(counts[0] == 100 && counts[1] == 1 && counts[2] == 299);
	weft_story_lines_destroy(lines);
	loaded_finish(&loaded);
}

/* Task 1 takes lock 9 at `takes`, and again 990 us after it; task 2 holds it. */
static struct loaded takes_a_lock(uint64_t takes)
{
	struct made made = make_begin();
	make_create(&made, 0, 1, WEFT_KIND_TASK);
	make_create(&made, 0, 9, WEFT_KIND_LOCK);
	make_label(&made, 9, "db");
	make_switch(&made, 1);
	made.time = 1000;
	make_switch(&made, 0);
	for (unsigned i = 0; i < 2; i++) {
		made.time = i ? takes + 991000 : takes;
		make_switch(&made, 1);
		make_edge(&made, WEFT_EVENT_ACQUIRE, 1, 9);
		made.time += 1000;
		make_edge(&made, WEFT_EVENT_RELEASE, 1, 9);
		make_switch(&made, 0);
	}
	make_edge(&made, WEFT_EVENT_RESOLVE, 0, 1);
	return make_end(&made);
}

static uint32_t count_waits(const struct weft_story_lines *lines)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < lines->count; i++)
		count += lines->lines[i].type == WEFT_STORY_WAIT;
	return count;
}

/* A wait that no edge shows is a line if it takes a hundredth of the task's life. */
static void a_long_wait_is_a_line(void **state)
{
	static const uint64_t takes[] = {9000, 500000};
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct loaded loaded = takes_a_lock(takes[i]);
		struct weft_story_lines *lines;
		assert_int_equal(weft_story_lines_create(&loaded.story, task_of(&loaded, 1), &lines), 0);
		assert_int_equal(count_waits(lines), i + 1);
		const struct weft_story_line *wait = find_line(lines, "waits for");
		assert_string_equal(wait->text, i ? "lock 9 'db' for 499 us" : "lock 9 'db' for 990 us");
		assert_int_equal(wait->time - loaded.model->summary.start, i ? 1000 : 10000);
		assert_int_equal(wait->task, task_of(&loaded, 9));
		weft_story_lines_destroy(lines);
		loaded_finish(&loaded);
	}
}

/* ---- What is related ---- */

static uint64_t seed = 9;

static uint32_t pick(uint32_t below)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(seed >> 33) % below;
}

/* Half of the events have the time of the one before; tasks are created and end more than once. */
static struct loaded random_trace(uint32_t events, uint32_t tasks)
{
	static const uint8_t types[] = {WEFT_EVENT_READ, WEFT_EVENT_TRY_READ, WEFT_EVENT_BECOME,
		WEFT_EVENT_SIGNAL, WEFT_EVENT_RESOLVE, WEFT_EVENT_SWITCH, WEFT_EVENT_CREATE,
		WEFT_EVENT_TRY_READ, WEFT_EVENT_CANCEL, WEFT_EVENT_TIME_OUT, WEFT_EVENT_LABEL};
	struct made made = make_begin();
	for (uint32_t i = 0; i < events; i++) {
		made.time += pick(2) ? pick(100) : 0;
		made.thread = pick(8) ? 0 : 1;
		make_edge(
			&made, (enum weft_event_type)types[pick(sizeof(types))], pick(tasks), pick(tasks));
	}
	return make_end(&made);
}

/* Grows a set along becomes both ways and along waits one way, until nothing changes. */
static void naive_grow(const struct weft_model *m, bool *set, bool down, bool up)
{
	const struct weft_edges *e = &m->edges;
	for (bool grows = true; grows;) {
		grows = false;
		for (uint32_t i = 0; i < e->count; i++) {
			uint32_t from = e->from[i], to = e->to[i];
			bool wait = e->type[i] == WEFT_EDGE_READ || e->type[i] == WEFT_EDGE_TRY_READ;
			bool become = e->type[i] == WEFT_EDGE_BECOME;
			if (from == WEFT_NONE || (!wait && !become))
				continue;
			if (set[from] && !set[to] && (become || (wait && down)))
				grows = set[to] = true;
			if (set[to] && !set[from] && (become || (wait && up)))
				grows = set[from] = true;
		}
	}
}

static void related_tasks_are_those_of_a_naive_search(void **state)
{
	uint32_t sum = 0;
	(void)state;
	for (int round = 0; round < 200; round++) {
		enum {
			TASKS = 30
		};
		struct loaded loaded = random_trace(10 + pick(50), TASKS);
		bool chain[TASKS] = {false}, down[TASKS], up[TASKS], more;
		uint32_t task = pick(loaded.model->tasks.count), *found, count, at = 0;
		chain[task] = true;
		naive_grow(loaded.model, chain, false, false);
		memcpy(down, chain, sizeof(chain));
		memcpy(up, chain, sizeof(chain));
		naive_grow(loaded.model, down, true, false);
		naive_grow(loaded.model, up, false, true);
		assert_int_equal(weft_story_related(&loaded.story, task, 1000, &found, &count, &more), 0);
		assert_false(more);
		for (uint32_t i = 0; i < loaded.model->tasks.count; i++) {
			bool is_found = at < count && found[at] == i;
			assert_int_equal(is_found, down[i] || up[i]);
			at += is_found;
		}
		assert_int_equal(at, count);
		sum += count;
		free(found);
		assert_int_equal(weft_story_related(&loaded.story, task, 2, &found, &count, &more), 0);
		assert_true(count <= 2 && (count == 2 || !more));
		free(found);
		loaded_finish(&loaded);
	}
	assert_true(sum > 400);
}

static void any_trace_can_be_asked_at_any_time(void **state)
{
	(void)state;
	for (int round = 0; round < 100; round++) {
		struct loaded loaded = random_trace(pick(400), 2 + pick(40));
		for (uint32_t task = 0; task < loaded.model->tasks.count; task++) {
			uint64_t at = loaded.model->summary.start + pick(20000);
			char text[WEFT_SENTENCE_BYTES];
			struct weft_story_wait wait;
			struct weft_story_wake wake;
			size_t size = weft_story_sentence(&loaded.story, task, at, text, sizeof(text));
			assert_true(size > 10 && text[size - 1] == '.');
			assert_true(count_letters(text) <= WEFT_SENTENCE_LETTERS);
			if (at > loaded.model->summary.end)
				at = loaded.model->summary.end;
			if (weft_story_wait_at(&loaded.story, task, at, &wait)) {
				assert_true(wait.since <= at && wait.until >= at);
				assert_true(wait.source != wait.task);
			}
			if (weft_story_woken_by(&loaded.story, task, at, &wake))
				assert_true(wake.time <= wake.runs && wake.task < loaded.model->tasks.count);
		}
		loaded_finish(&loaded);
	}
}

static void off_cpu_time_is_said(void **state)
{
	char text[WEFT_SENTENCE_BYTES];
	struct made made = make_begin();
	struct weft_story_lines *lines;
	(void)state;
	make_switch(&made, 1);
	made.time += 12000000;
	make(&made, (struct weft_event){.type = WEFT_EVENT_OFF_CPU, .task = 1, .value = 8000000});
	make_switch(&made, 2);
	made.time += 4000000;
	make_switch(&made, 1);
	made.time += 4000000;
	make_switch(&made, WEFT_TASK_NONE);
	struct loaded loaded = make_end(&made);
	uint32_t task = task_of(&loaded, 1);
	weft_story_sentence(&loaded.story, task, WEFT_STORY_WHOLE, text, sizeof(text));
	assert_non_null(strstr(text, ", ran 2 \xc3\x97 for 16 ms and had the processor for 8 ms"));
	assert_null(strstr(text, "in this run"));
	weft_story_sentence(&loaded.story, task, 500, text, sizeof(text));
	assert_non_null(strstr(text, "; in this run no processor for 8 ms of 12 ms"));
	weft_story_sentence(&loaded.story, task, 17000000, text, sizeof(text));
	assert_null(strstr(text, "in this run"));
	assert_int_equal(weft_story_lines_create(&loaded.story, task, &lines), 0);
	assert_string_equal(
		find_line(lines, "off CPU")->text, "8 ms (50 %): preempted, or blocked in a system call");
	weft_story_lines_destroy(lines);
	loaded_finish(&loaded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(edges_bands_counters_and_losses_have_sentences),
		cmocka_unit_test(real_counters_have_sentences),
		cmocka_unit_test(no_name_can_hide_or_turn_text),
		cmocka_unit_test(a_small_buffer_has_whole_characters),
		cmocka_unit_test(groups_and_folds_have_sentences),
		cmocka_unit_test(a_stopped_task_is_described),
		cmocka_unit_test(a_group_counts_how_its_tasks_ended),
		cmocka_unit_test(a_chain_of_waits_leads_to_its_leaf),
		cmocka_unit_test(the_waker_of_a_task_is_known),
		cmocka_unit_test(a_task_is_not_woken_by_itself),
		cmocka_unit_test(a_repeated_wait_counts_from_the_first_attempt),
		cmocka_unit_test(a_story_has_facts_then_what_happened),
		cmocka_unit_test(every_story_of_the_samples_is_whole_and_in_order),
		cmocka_unit_test(spans_are_added_up_by_name),
		cmocka_unit_test(off_cpu_time_is_said),
		cmocka_unit_test(a_sentence_names_the_span_of_its_time),
		cmocka_unit_test(further_spans_are_counted),
		cmocka_unit_test(a_sentence_counts_the_spans_of_a_track),
		cmocka_unit_test(four_similar_children_are_one_line),
		cmocka_unit_test(alike_activations_are_one_line),
		cmocka_unit_test(a_long_wait_is_a_line),
		cmocka_unit_test(long_stories_say_what_they_leave_out),
		cmocka_unit_test(related_tasks_are_those_of_a_naive_search),
		cmocka_unit_test(any_trace_can_be_asked_at_any_time),
		cmocka_unit_test(a_task_says_what_it_did),
		cmocka_unit_test(a_task_says_what_it_waits_for),
		cmocka_unit_test(every_sentence_is_short_and_ends),
		cmocka_unit_test(lines_of_a_task_are_about_its_life),
		cmocka_unit_test(a_sentence_uses_all_its_letters),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
