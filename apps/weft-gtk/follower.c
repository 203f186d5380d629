/* SPDX-License-Identifier: ISC
 *
 * See follower.h. Making a model copies all that came so far, and showing it costs the main loop
 * about as much: the longer both take, the rarer they are, so that most of the time is left for
 * reading events and for the person.
 *
 * As with a loading, the thread and who started it both hold the follower.
 */
#include "follower.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include <glib.h>

#include "opening.h"

#define SHARE       4      /* of the time that a model costs, until the next one is begun */
#define SHORTEST_US 100000 /* between two models */
#define IDLE_US     400000 /* more while nothing happens: only the time goes on */
#define WAIT_NS     50000000

struct follower {
	char *path;
	pid_t pid;
	struct follower_listener listener;
	atomic_int holders;
	atomic_bool is_unwanted, is_paused, is_taken;
	_Atomic int64_t shown_us; /* what the main loop needed for the last one */
	/* The thread's, or the main loop's while `is_taken` is false. */
	struct weft_model *model;
	char *error;
	bool is_last;
};

bool follower_is_wanted(const char *path, pid_t pid)
{
	struct weft_control *control;
	struct weft_ring_check check;
	if (strcmp(path, "-") == 0 || opening_control(path, pid, &control, &check))
		return false;
	bool is_live = weft_control_is_live(control);
	weft_control_close(control);
	return is_live;
}

static void let_go(struct follower *follower)
{
	if (atomic_fetch_sub(&follower->holders, 1) > 1)
		return;
	weft_model_destroy(follower->model);
	g_free(follower->error);
	g_free(follower->path);
	g_free(follower);
}

static gboolean hand_over(void *context)
{
	struct follower *follower = context;
	const struct follower_listener *listener = &follower->listener;
	int64_t start = g_get_monotonic_time(), cost_us = 0;
	if (!atomic_load(&follower->is_unwanted)) {
		struct weft_model *model = follower->model;
		follower->model = NULL;
		if (model)
			cost_us = listener->model(listener->context, model, follower->is_last);
		else if (follower->error)
			listener->error(listener->context, follower->error);
	}
	atomic_store(&follower->shown_us, g_get_monotonic_time() - start + cost_us);
	atomic_store(&follower->is_taken, true);
	let_go(follower);
	return G_SOURCE_REMOVE;
}

static void tell(struct follower *follower)
{
	atomic_store(&follower->is_taken, false);
	atomic_fetch_add(&follower->holders, 1);
	/* Before drawing: it is what is to be drawn. */
	g_idle_add_full(G_PRIORITY_DEFAULT, hand_over, follower, NULL);
}

/* What the thread works with. */
struct reader {
	struct follower *follower;
	struct weft_follow *follow;
	struct weft_model_builder *builder;
	uint64_t events, told_events;
	int64_t due_us;
	struct weft_ring_check check;
};

/* All that can be read now. WEFT_AGAIN, WEFT_END or an error. */
static int read_ready(struct reader *r)
{
	struct weft_event event;
	int status;
	while ((status = weft_follow_next(r->follow, &event)) == WEFT_OK) {
		int error = weft_model_builder_add(r->builder, &event, weft_follow_diagnostics(r->follow));
		if (error)
			return error;
		/* A program that records faster than we read never says AGAIN. */
		if (++r->events % 65536 == 0)
			return WEFT_AGAIN;
	}
	return status;
}

static bool is_due(const struct reader *r)
{
	const struct follower *follower = r->follower;
	int64_t due_us = r->due_us + (r->events == r->told_events ? IDLE_US : 0);
	return r->events && atomic_load(&follower->is_taken) && !atomic_load(&follower->is_paused) &&
		   g_get_monotonic_time() >= due_us;
}

static int make_model(struct reader *r)
{
	struct follower *follower = r->follower;
	int64_t start = g_get_monotonic_time();
	uint64_t now = weft_follow_mark(r->follow);
	int error = weft_model_builder_snapshot(
		r->builder, weft_follow_describe(r->follow), now == UINT64_MAX ? 0 : now, &follower->model);
	if (error)
		return error;
	int64_t end = g_get_monotonic_time();
	int64_t cost = end - start + atomic_load(&follower->shown_us);
	r->told_events = r->events;
	r->due_us = end + MAX(SHORTEST_US, SHARE * cost);
	tell(follower);
	return 0;
}

static int follow_on(struct reader *r)
{
	struct follower *follower = r->follower;
	int status;
	while ((status = read_ready(r)) == WEFT_AGAIN && !atomic_load(&follower->is_unwanted)) {
		if (is_due(r)) {
			status = make_model(r);
			if (status)
				return status;
		}
		status = weft_follow_wait(r->follow, WAIT_NS);
		if (status < 0)
			return status;
	}
	return status;
}

/* False: nobody wants more. */
static bool wait_until_taken(struct follower *follower)
{
	while (!atomic_load(&follower->is_taken) && !atomic_load(&follower->is_unwanted))
		g_usleep(SHORTEST_US / 10);
	return !atomic_load(&follower->is_unwanted);
}

static int make_last_model(struct reader *r)
{
	if (!wait_until_taken(r->follower))
		return WEFT_AGAIN;
	r->follower->is_last = true;
	return weft_model_builder_finish(
		r->builder, weft_follow_describe(r->follow), &r->follower->model);
}

static int follow(struct reader *r)
{
	int error = opening_follow(r->follower->path, r->follower->pid, &r->follow, &r->check);
	if (!error)
		error = weft_model_builder_create(&r->builder);
	if (!error)
		error = follow_on(r);
	if (error == WEFT_END)
		error = make_last_model(r);
	return error;
}

static void *run(void *context)
{
	struct follower *follower = context;
	struct reader reader = {.follower = follower};
	int error = follow(&reader);
	if (error < 0) {
		const char *text = opening_reason(error, errno, &reader.check);
		if (wait_until_taken(follower))
			follower->error = g_strdup_printf("%s: %s", follower->path, text);
	}
	weft_model_builder_destroy(reader.builder);
	weft_follow_close(reader.follow);
	if (!atomic_load(&follower->is_unwanted))
		tell(follower);
	let_go(follower);
	return NULL;
}

struct follower *follower_start(
	const char *path, pid_t pid, const struct follower_listener *listener)
{
	struct follower *follower = g_new0(struct follower, 1);
	follower->path = g_strdup(path);
	follower->pid = pid;
	follower->listener = *listener;
	atomic_init(&follower->holders, 2);
	atomic_init(&follower->is_taken, true);
	g_thread_unref(g_thread_new("follow", run, follower));
	return follower;
}

void follower_pause(struct follower *follower, bool is_paused)
{
	atomic_store(&follower->is_paused, is_paused);
}

void follower_stop(struct follower *follower)
{
	if (!follower)
		return;
	atomic_store(&follower->is_unwanted, true);
	let_go(follower);
}
