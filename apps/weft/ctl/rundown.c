/* SPDX-License-Identifier: ISC
 *
 * weft ctl FILE|PID rundown: asks a program to write again which tasks are alive, and waits for the
 * answer, since not every runtime knows its tasks.
 */
#include "ctl.h"

#include <stdio.h>
#include <time.h>

#include <weft/watch.h>

#include "runs/message.h"

static const uint64_t ANSWER_NS = 2000000000; /* a runtime that answers has begun by then */
static const uint64_t PAUSE_NS = 100000000;   /* and is done if nothing came for this long */

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Counts the alive events from `from_ns` on, on the trace's clock. */
static int count_answers(struct weft_follow *follow, uint64_t from_ns, unsigned *ret_count)
{
	uint64_t until = now_ns() + ANSWER_NS;
	unsigned count = 0;
	int status = WEFT_AGAIN;
	while ((status == WEFT_AGAIN || status == WEFT_OK) && now_ns() < until) {
		struct weft_event event;
		while ((status = weft_follow_next(follow, &event)) == WEFT_OK) {
			if (event.type != WEFT_EVENT_ALIVE || event.time_ns < from_ns)
				continue;
			count++;
			until = now_ns() + PAUSE_NS;
		}
		if (status == WEFT_AGAIN)
			status = weft_follow_wait(follow, PAUSE_NS);
	}
	*ret_count = count;
	return status < 0 ? status : 0;
}

static int ask(const struct ctl *ctl, struct weft_watch *watch, unsigned *ret_count)
{
	struct weft_follow *follow;
	int error = weft_follow_open_descriptor(ctl->fd, &follow);
	if (error)
		return error;
	/* After a second look, the low-water mark is at least the time of the first. */
	weft_follow_wait(follow, 0);
	weft_follow_wait(follow, 0);
	uint64_t from_ns = weft_follow_mark(follow);
	weft_watch_ask_rundown(watch);
	error = count_answers(follow, from_ns, ret_count);
	weft_follow_close(follow);
	return error;
}

int ctl_rundown(struct ctl *ctl, int count, char **arguments)
{
	struct weft_watch *watch = NULL;
	unsigned answers = 0;
	(void)count, (void)arguments;
	if (!weft_control_is_live(ctl->control))
		return ctl_fail(ctl, WEFT_ERROR_STATE);
	int error = weft_watch_open_descriptor(ctl->fd, &watch);
	if (!error)
		error = ask(ctl, watch, &answers);
	weft_watch_close(watch);
	if (error)
		return ctl_fail(ctl, error);
	if (answers == 0) {
		cli_error("%s: no answer; its runtime may be waiting, or may not know its tasks",
			weft__runs_shown(ctl->operand));
		return CLI_NO;
	}
	fprintf(
		stderr, "weft: the program listed %u living task%s\n", answers, answers == 1 ? "" : "s");
	return CLI_DONE;
}
