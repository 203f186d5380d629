/* SPDX-License-Identifier: ISC
 *
 * Tasks, edges, waits in words: of the samples, and of what tests make up.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <weft/story.h>

#include "told.h"

static uint32_t task_of(const struct told *told, uint64_t id)
{
	uint32_t task = weft_model_find_task(told->model, 0, id);
	assert_int_not_equal(task, WEFT_NONE);
	return task;
}

static const char *sentence(const struct told *told, uint64_t id, uint64_t at)
{
	static char text[WEFT_SENTENCE_BYTES];
	size_t size = weft_story_sentence(&told->story, task_of(told, id), at, text, sizeof(text));
	assert_int_equal(size, strlen(text));
	return text;
}

static void a_task_says_what_it_did(void **state)
{
	struct told told = told_sample("mirage-block-read.sexp");
	(void)state;
	assert_string_equal(sentence(&told, 80, WEFT_STORY_WHOLE),
		"bind 80: 55 us, ran 1 \xc3\x97 for 55 us; woken by after-chn-1 at 5.064 ms; failed at 5.256 "
		"ms: Xs_protocol.Enoent(\"read\").");
	assert_string_equal(sentence(&told, 3, WEFT_STORY_WHOLE),
		"bind 3 'after-chn-1': 313 us from 788 us, ran 1 \xc3\x97 for 8 us; made by create "
		"XenStore; woken by try 2 at 1.084 ms.");
	told_finish(&told);
}

static void a_task_says_what_it_waits_for(void **state)
{
	struct told told = told_sample("mirage-arp-good.ctf");
	(void)state;
	assert_string_equal(sentence(&told, 4428, WEFT_STORY_WHOLE),
		"try 4428 waits for task 4427 'port-1' since 12.319 ms; nobody has resolved it since; "
		"made by Xs.read waiting.");
	told_finish(&told);
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
		struct told told = told_sample(samples[sample]);
		char text[WEFT_SENTENCE_BYTES];
		for (uint32_t task = 0; task < told.model->tasks.count; task++) {
			size_t size =
				weft_story_sentence(&told.story, task, WEFT_STORY_WHOLE, text, sizeof(text));
			assert_int_equal(text[size - 1], '.');
			assert_in_range(count_letters(text), 10, WEFT_SENTENCE_LETTERS);
		}
		for (uint32_t edge = 0; edge < told.model->edges.count; edge++) {
			size_t size = weft_story_edge_sentence(&told.story, edge, text, sizeof(text));
			assert_int_equal(text[size - 1], '.');
			assert_in_range(count_letters(text), 10, WEFT_SENTENCE_LETTERS);
		}
		told_finish(&told);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_task_says_what_it_did),
		cmocka_unit_test(a_task_says_what_it_waits_for),
		cmocka_unit_test(every_sentence_is_short_and_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
