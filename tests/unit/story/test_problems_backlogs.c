/* SPDX-License-Identifier: ISC
 *
 * Connections that wait to be accepted. Clients come 10 ms apart, and a thread of each waits for an
 * answer from then on.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "problems_found.h"

#define LISTENER 1
#define SERVER   2
#define CLIENT   100
#define THREAD   200
#define ACCEPTED 300

struct backlog_case {
	const char *listener, *client; /* labels */
	unsigned clients, accepts;
	uint64_t from_ns, every_ns; /* the first is accepted, and the others */
	int wait_status;            /* of the process */
	const char *sentence;       /* NULL: there is no problem */
	enum weft_problem_severity severity;
	bool closes; /* the listener is not seen after the last client came */
};

static void make_io(struct made *made, uint64_t task, uint64_t child, const char *kind)
{
	make(made, (struct weft_event){.type = WEFT_EVENT_CREATE,
				   .task = task,
				   .other = child,
				   .kind = WEFT_KIND_UNKNOWN,
				   .kind_name = {kind, strlen(kind)},
				   .category = {"io", 2}});
}

static void come(struct made *made, const struct backlog_case *c, unsigned i)
{
	char kind[8] = "";
	sscanf(c->client, "%7s", kind);
	make_create(made, 0, THREAD + i, WEFT_KIND_THREAD);
	make_io(made, WEFT_TASK_NONE, CLIENT + i, kind);
	make_label(made, CLIENT + i, c->client);
	make_edge(made, WEFT_EVENT_TRY_READ, THREAD + i, CLIENT + i);
}

/* The server's thread uses the connection. */
static void accept_next(struct made *made, unsigned i)
{
	make_io(made, LISTENER, ACCEPTED + i, "tcp");
	make_edge(made, WEFT_EVENT_READ, SERVER, ACCEPTED + i);
}

static struct found run(const struct backlog_case *c)
{
	static struct weft_trace_buffer buffer = {.process = "server", .host = "", .file = ""};
	struct made made = make_begin();
	unsigned came = 0, accepted = 0;
	buffer.wait_status = c->wait_status;
	made.buffers = &buffer;
	made.buffer_count = 1;
	make_io(&made, WEFT_TASK_NONE, LISTENER, "listener");
	make_label(&made, LISTENER, c->listener);
	make_create(&made, 0, SERVER, WEFT_KIND_THREAD);
	make_label(&made, SERVER, "server");
	while (came < c->clients || accepted < c->accepts) {
		const uint64_t comes = came < c->clients ? came * 10 * MS : UINT64_MAX;
		const uint64_t is_accepted =
			accepted < c->accepts ? c->from_ns + accepted * c->every_ns : UINT64_MAX;
		made.time = comes < is_accepted ? comes : is_accepted;
		if (comes < is_accepted)
			come(&made, c, came++);
		else
			accept_next(&made, accepted++);
	}
	made.time = 1000 * MS; /* all of them are there at the end */
	if (!c->closes)
		make_tag(&made, LISTENER, "size", 8);
	for (unsigned i = 0; i < came; i++)
		make_tag(&made, CLIENT + i, "size", 8);
	return find(&made);
}

static const struct backlog_case cases[] = {
	{"accept 127.0.0.1:80", "tcp 127.0.0.1:80", 6, 6, 300 * MS, 10 * MS, 0,
		"6 tasks wait at accept 127.0.0.1:80 to be accepted, for 300 ms at most; server, which has accepted, waits for tcp 300.",
		WEFT_SEVERITY_WARNING, false},
	{"accept 127.0.0.1:80", "tcp 127.0.0.1:80", 3, 3, 300 * MS, 10 * MS, 0, NULL, 0, false},
	{"accept 127.0.0.1:80", "tcp 127.0.0.1:80", 6, 2, 100 * MS, 10 * MS, 0,
		"6 tasks wait at accept 127.0.0.1:80 to be accepted, for 980 ms, 4 until the end.",
		WEFT_SEVERITY_WARNING, false},
	{"accept :80", "tcp 127.0.0.1:80", 6, 0, 0, 0, 0,
		"6 tasks wait at accept :80 to be accepted, for 1 s, 6 until the end.",
		WEFT_SEVERITY_WARNING, false},
	{"accept 127.0.0.1:80", "tcp 127.0.0.1:81", 6, 0, 0, 0, 0, NULL, 0, false},
	{"accept :80", "tcp 127.0.0.2:80", 6, 0, 0, 0, 0, NULL, 0, false},
	{"accept unix /run/x", "unix /run/x", 6, 0, 0, 0, 0,
		"6 tasks wait at accept unix /run/x to be accepted, for 1 s, 6 until the end.",
		WEFT_SEVERITY_WARNING, false},
	{"accept 127.0.0.1:80", "tcp 127.0.0.1:80", 6, 1, 150 * MS, 0, 0,
		"6 tasks wait at accept 127.0.0.1:80 to be accepted, for 150 ms, 5 until the end.",
		WEFT_SEVERITY_WARNING, true},
	/* Each comes when another is accepted: three wait at once. */
	{"accept 127.0.0.1:80", "tcp 127.0.0.1:80", 40, 40, 30 * MS, 10 * MS, 0, NULL, 0, false},
	/* A program that was killed hung, even if one client waits. */
	{"accept 127.0.0.1:80", "tcp 127.0.0.1:80", 1, 0, 0, 0, 9,
		"1 task waits at accept 127.0.0.1:80 to be accepted, for 1 s, 1 until the end.",
		WEFT_SEVERITY_ERROR, false},
	{"accept 127.0.0.1:80", "tcp 127.0.0.1:80", 1, 1, 700 * MS, 0, 9, NULL, 0, false},
	{"accept 127.0.0.1:80", "tcp 127.0.0.1:80", 1, 0, 0, 0, 0x100, NULL, 0, false},
};

static void tasks_that_wait_to_be_accepted_are_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct found found = run(&cases[i]);
		if (!cases[i].sentence) {
			expect_none(&found);
		} else {
			const struct weft_problem *problem = only(&found, WEFT_PROBLEM_QUEUE);
			assert_string_equal(problem->sentence, cases[i].sentence);
			assert_int_equal(problem->severity, cases[i].severity);
		}
		found_finish(&found);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tasks_that_wait_to_be_accepted_are_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
