/* SPDX-License-Identifier: ISC
 *
 * A server's request with a context that came from another program, a query with one of its own,
 * and a task of a new trace. Prints the contexts.
 */
#include <stdio.h>
#include <string.h>

#include <weft/context.h>

static void print(const struct weft_context *context)
{
	char text[WEFT_CONTEXT_TEXT];
	weft_context_print(context, text);
	puts(text);
}

static uint64_t run(const char *name)
{
	const uint64_t task = weft_create(WEFT_KIND_TASK);
	weft_label_as(task, name);
	weft_switch(task);
	return task;
}

int main(void)
{
	struct weft_context remote, own, query, outer, inner, fresh;
	weft_context_from_environment(&remote);
	remote.state = "vendor=value";
	remote.state_size = (uint32_t)strlen(remote.state);
	const uint64_t request = run("request");
	weft_context_start(&remote, &own);
	print(&own);
	weft_context_begin("query", &own, &query);
	print(&query);
	weft_begin("parse");
	weft_end();
	weft_moment_begin();
	weft_context_begin("outer", &query, &outer);
	weft_context_begin("inner", &outer, &inner);
	weft_moment_end();
	print(&outer);
	print(&inner);
	weft_context_end(&outer);
	weft_context_end(&query);
	const uint64_t answer = weft_create(WEFT_KIND_TASK);
	weft_label_as(answer, "answer");
	weft_context_start_as(answer, &query, NULL);
	weft_context_end(&own);
	weft_resolve(answer);
	const uint64_t child = run("child");
	weft_resolve(child);
	const uint64_t other = run("other");
	weft_context_start(NULL, &fresh);
	print(&fresh);
	weft_resolve(other);
	weft_resolve_as(request, request);
	weft_switch(WEFT_TASK_NONE);
	return 0;
}
