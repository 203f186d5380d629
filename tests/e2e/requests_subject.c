/* SPDX-License-Identifier: ISC
 *
 * A server that serves requests on request. Each line of standard input is a number of requests, or
 * "other" and a number, for a second thread, or "both", for this and that at once, or "begin",
 * after which a long one runs, or "end", which ends that; then it says "done". It ends at the end
 * of the input.
 */
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <unistd.h>

#include <weft/context.h>
#include <weft/weft.h>

static uint64_t server, running;
static atomic_long number;

/* The second thread serves `ordered` requests. */
static sem_t order, served;
static long ordered;

static uint64_t begin(const char *label)
{
	const uint64_t task = weft_create_as(server, WEFT_KIND_TASK);
	weft_label_as(task, label);
	return task;
}

static void serve_one(void)
{
	const long own = ++number;
	const uint64_t request = begin("request");
	weft_enter(request);
	if (own % 2)
		weft_context_start(NULL, NULL);
	weft_begin("parse");
	weft_mark("header", "number", own);
	weft_end();
	const uint64_t query = weft_create(WEFT_KIND_TASK);
	weft_label_as(query, "query");
	weft_try_read(query);
	weft_resolve_as(query, query);
	weft_read(query);
	weft_signal_as(request, running ? running : server);
	weft_resolve_as(request, request);
	weft_leave();
}

static void serve(long count)
{
	for (; count > 0; count--)
		serve_one();
}

static int serve_orders(void *unused)
{
	(void)unused;
	for (;;) {
		sem_wait(&order);
		serve(ordered);
		sem_post(&served);
	}
	return 0;
}

/* The thread lasts as long as the program: so does its packet, which it never fills. */
static void order_from_other(long count)
{
	static thrd_t other;
	if (!other) {
		sem_init(&order, 0, 0);
		sem_init(&served, 0, 0);
		thrd_create(&other, serve_orders, NULL);
	}
	ordered = count;
	sem_post(&order);
}

static void serve_by_other(long count, bool is_by_both)
{
	order_from_other(count);
	if (is_by_both)
		serve(count);
	sem_wait(&served);
}

int main(void)
{
	char line[64];
	server = weft_create(WEFT_KIND_TASK);
	weft_label_as(server, "server");
	printf("%d\n", (int)getpid());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		if (strncmp(line, "begin", 5) == 0) {
			running = begin("long one");
			weft_begin_as(running, "part of it");
		} else if (line[0] == 'e') {
			weft_end_as(running);
			weft_resolve(running);
			running = 0;
		}
		if (line[0] == 'o')
			serve_by_other(atol(line + sizeof("other")), false);
		else if (strncmp(line, "both", 4) == 0)
			serve_by_other(atol(line + sizeof("both")), true);
		else
			serve(atol(line));
		puts("done");
		fflush(stdout);
	}
	weft_resolve(server);
	return 0;
}
