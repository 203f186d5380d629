/* SPDX-License-Identifier: ISC
 *
 * Bytes that epoll does not report: src/story/unreported.c.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <weft/ends.h>

#include "story/unreported.h"

#include "loaded.h"

enum {
	CLIENT = 1,
	SERVER = 2,
	ASKS = 20,   /* the client's end */
	SERVES = 21, /* the server's */
	KEY = 7
};

static const struct weft_trace_buffer processes[] = {
	{.process = "client", .host = "", .file = "client", .pid = 4},
	{.process = "server", .host = "", .file = "server", .pid = 5}};
static const struct weft_trace_thread threads[] = {
	{.name = "client", .buffer = 0}, {.name = "server", .buffer = 1}};

static void make_process(struct made *made, uint32_t buffer, uint64_t thread, uint64_t end,
	const char *label, const char *tag)
{
	made->buffer = made->thread = buffer;
	make_create(made, WEFT_TASK_NONE, thread, WEFT_KIND_THREAD);
	make_switch(made, thread);
	make(made, (struct weft_event){.type = WEFT_EVENT_CREATE,
				   .task = thread,
				   .other = end,
				   .kind = WEFT_KIND_UNKNOWN,
				   .kind_name = {"tcp", 3},
				   .category = {"io", 2}});
	make_label(made, end, label);
	make_tag(made, end, tag, KEY);
	made->time += 100;
}

static struct made begin(void)
{
	struct made made = make_begin();
	made.buffers = processes;
	made.buffer_count = made.thread_count = 2;
	made.threads = threads;
	make_process(&made, 1, SERVER, SERVES, "tcp :80 <- 10.0.0.7:9", WEFT_TAG_WRITES);
	make_process(&made, 0, CLIENT, ASKS, "tcp 10.0.0.1:80", WEFT_TAG_READS);
	make_edge(&made, WEFT_EVENT_TRY_READ, CLIENT, ASKS);
	make_switch(&made, WEFT_TASK_NONE);
	made.buffer = made.thread = 1;
	made.time += 100;
	return made;
}

/* At a time that long before the end. */
static void expect(struct made *made, uint64_t before_ns, const char *words)
{
	struct weft__sentence sentence;
	char text[WEFT_SENTENCE_BYTES];
	made->time += 100;
	make_switch(made, WEFT_TASK_NONE);
	struct loaded loaded = make_end(made);
	const uint32_t source = weft_model_find_task(loaded.model, 0, ASKS);
	const uint64_t at = loaded.model->summary.last - before_ns;
	weft__story_sentence_init(&sentence);
	weft__story_words_add(weft__story_clause(&sentence, 9), "it waits");
	const bool is = weft__story_add_unreported(&sentence, &loaded.story, source, at, 5);
	weft__story_sentence_write(&sentence, text, sizeof(text));
	assert_string_equal(text, words);
	assert_int_equal(is, strcmp(words, "it waits.") != 0);
	assert_int_equal(weft__story_is_unreported(&loaded.story, source, at), is);
	loaded_finish(&loaded);
}

static void bytes_are_left_behind_an_edge(void **state)
{
	struct made made = begin();
	(void)state;
	make_tag(&made, SERVES, WEFT_TAG_UNREAD, 136);
	expect(&made, 0, "it waits; the other end has 136 bytes left unread (EPOLLET).");
}

static void a_descriptor_is_not_armed(void **state)
{
	struct made made = begin();
	(void)state;
	make_tag(&made, SERVES, WEFT_TAG_UNARMED, 1);
	expect(&made, 0, "it waits; the other end is not armed again (EPOLLONESHOT).");
}

/* The last word counts, of the time that is asked for. */
static void it_is_made_up_for(void **state)
{
	struct made made = begin();
	(void)state;
	make_tag(&made, SERVES, WEFT_TAG_UNREAD, 136);
	made.time += 100;
	make_tag(&made, SERVES, WEFT_TAG_UNREAD, 0);
	expect(&made, 0, "it waits.");
	made = begin();
	make_tag(&made, SERVES, WEFT_TAG_UNARMED, 1);
	made.time += 100;
	make_tag(&made, SERVES, WEFT_TAG_UNARMED, 0);
	expect(&made, 150, "it waits; the other end is not armed again (EPOLLONESHOT).");
	made = begin();
	make_tag(&made, SERVES, WEFT_TAG_UNREAD, 8);
	made.time += 100;
	make_tag(&made, SERVES, WEFT_TAG_UNREAD, 0);
	make_tag(&made, SERVES, WEFT_TAG_UNREAD, 9);
	expect(&made, 0, "it waits; the other end has 9 bytes left unread (EPOLLET).");
}

/* Its own end says nothing about why the other side does not answer; nor does another tag. */
static void only_the_other_end_counts(void **state)
{
	struct made made = begin();
	(void)state;
	make_tag(&made, SERVES, WEFT_TAG_EPOLL, 1);
	made.buffer = made.thread = 0;
	make_tag(&made, ASKS, WEFT_TAG_UNREAD, 5);
	expect(&made, 0, "it waits.");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_are_left_behind_an_edge),
		cmocka_unit_test(a_descriptor_is_not_armed),
		cmocka_unit_test(it_is_made_up_for),
		cmocka_unit_test(only_the_other_end_counts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
