/* SPDX-License-Identifier: ISC
 *
 * See follower.h. A thread takes the events and makes models; weft/refresh.h says when.
 *
 * The thread and the caller that started it both hold a reference to the follower, as in loading.h.
 */
#include "follower.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include <glib.h>

#include <weft/growing.h>
#include <weft/refresh.h>

#include "opening.h"
#include "runs/memory/operand.h"

#define BATCH_EVENTS  65536
#define WAIT_NS       50000000
#define TAKEN_LOOK_US 10000

struct follower {
	char **paths; /* ends with NULL */
	pid_t pid;
	bool are_files; /* files that grow, not a ring */
	struct follower_listener listener;
	atomic_int holders;
	atomic_bool is_unwanted, is_paused, is_taken;
	_Atomic int64_t shown_us; /* the time that the main loop needed for the last model */
	/* Owned by the thread, or by the main loop while `is_taken` is false. */
	struct weft_model *model;
	char *error, *damage;
	struct weft_growing_state state;
	double read_ms; /* when the events of the model had been read */
	bool is_last, is_complete;
};

/* False for a guest of Xen that records in another format: its buffer is copied, not followed. */
static bool can_follow(const char *operand)
{
	struct weft__runs_guest guest;
	const void *bytes;
	size_t size;
	if (!weft__runs_guest_open(operand, &guest))
		return true; /* the follower says why it cannot */
	bool is_other = weft_guest_bytes(guest.guest, &bytes, &size);
	weft__runs_guest_close(&guest);
	return !is_other;
}

bool follower_is_wanted(const char *path, pid_t pid)
{
	struct weft_control *control;
	struct weft_ring_check check;
	if (weft__runs_guest_domain(path))
		return can_follow(path);
	if (strcmp(path, "-") == 0 || weft__runs_is_image(path) ||
		opening_control(path, pid, &control, &check))
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
	g_free(follower->damage);
	g_strfreev(follower->paths);
	g_free(follower);
}

int64_t follower_used_us(void)
{
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static gboolean hand_over(void *context)
{
	struct follower *follower = context;
	const struct follower_listener *listener = &follower->listener;
	int64_t start = follower_used_us(), cost_us = 0;
	if (!atomic_load(&follower->is_unwanted)) {
		struct weft_model *model = follower->model;
		follower->model = NULL;
		if (model)
			cost_us = listener->model(listener->context, model, follower->is_last);
		else if (follower->error)
			listener->error(listener->context, follower->error);
	}
	atomic_store(&follower->shown_us, follower_used_us() - start + cost_us);
	atomic_store(&follower->is_taken, true);
	let_go(follower);
	return G_SOURCE_REMOVE;
}

static void offer_model(struct follower *follower)
{
	atomic_store(&follower->is_taken, false);
	atomic_fetch_add(&follower->holders, 1);
	/* The priority is higher than that of drawing, so that the next frame shows the model. */
	g_idle_add_full(G_PRIORITY_DEFAULT, hand_over, follower, NULL);
}

/* The thread's own data: the events that it reads. */
struct reader {
	struct follower *follower;
	struct weft__runs_guest guest; /* of Xen, whose buffer is followed */
	struct weft_growing *growing;
	struct weft_refresh *refresh;
	struct weft_ring_check check;
};

static double now_ms(void)
{
	return (double)g_get_monotonic_time() / 1000;
}

static bool is_due(const struct reader *r)
{
	weft_growing_pause(r->growing, atomic_load(&r->follower->is_paused));
	return atomic_load(&r->follower->is_taken) && weft_refresh_wait_ms(r->refresh, now_ms()) <= 0;
}

/* Stores what the main loop needs to know besides the model. `is_complete`: all events that have
 * come were read. */
static void describe(struct reader *r, bool is_complete)
{
	struct follower *follower = r->follower;
	g_free(follower->damage);
	follower->damage = opening_growing_damage(r->growing);
	weft_growing_state(r->growing, &follower->state);
	follower->read_ms = now_ms();
	follower->is_complete = is_complete;
}

static int make_model(struct reader *r, bool is_complete)
{
	struct follower *follower = r->follower;
	int64_t start_us = follower_used_us();
	describe(r, is_complete);
	int error = weft_refresh_model(r->refresh, &follower->model);
	if (error)
		return error;
	int64_t cost_us = follower_used_us() - start_us + atomic_load(&follower->shown_us);
	weft_refresh_shown(r->refresh, now_ms(), (double)cost_us / 1000);
	offer_model(follower);
	return 0;
}

/* Reads events and makes models. Returns WEFT_END, an error, or WEFT_AGAIN if no more models are
 * wanted. */
static int follow_on(struct reader *r)
{
	struct follower *follower = r->follower;
	while (!atomic_load(&follower->is_unwanted)) {
		int status = weft_refresh_read(r->refresh, BATCH_EVENTS);
		if (status == WEFT_END || status < 0)
			return status;
		const bool has_read_all = status == WEFT_AGAIN;
		if (is_due(r)) {
			status = make_model(r, has_read_all);
			if (status)
				return status;
		}
		status = has_read_all ? weft_growing_wait(r->growing, WAIT_NS) : 0;
		if (status < 0)
			return status;
	}
	return WEFT_AGAIN;
}

/* Waits for the main loop to take the last model. False if no more are wanted. */
static bool wait_until_taken(struct follower *follower)
{
	while (!atomic_load(&follower->is_taken) && !atomic_load(&follower->is_unwanted))
		g_usleep(TAKEN_LOOK_US);
	return !atomic_load(&follower->is_unwanted);
}

static int make_last_model(struct reader *r)
{
	if (!wait_until_taken(r->follower))
		return WEFT_AGAIN;
	r->follower->is_last = true;
	describe(r, true);
	return weft_refresh_model(r->refresh, &r->follower->model);
}

static int follow(struct reader *r)
{
	const struct follower *follower = r->follower;
	int error = opening_growing(
		follower->paths, follower->pid, follower->are_files, &r->guest, &r->growing, &r->check);
	if (error)
		return error;
	const struct weft_refresh_source source = weft_growing_source(r->growing);
	error = weft_refresh_create(&source, &r->refresh);
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
			follower->error = g_strdup_printf("%s: %s", follower->paths[0], text);
		if (follower->error && reader.growing)
			describe(&reader, false);
	}
	weft_refresh_destroy(reader.refresh);
	weft_growing_close(reader.growing);
	weft__runs_guest_close(&reader.guest);
	if (!atomic_load(&follower->is_unwanted))
		offer_model(follower);
	let_go(follower);
	return NULL;
}

static struct follower *start(
	char **paths, pid_t pid, bool are_files, const struct follower_listener *listener)
{
	struct follower *follower = g_new0(struct follower, 1);
	follower->paths = g_strdupv(paths);
	follower->pid = pid;
	follower->are_files = are_files;
	follower->listener = *listener;
	atomic_init(&follower->holders, 2);
	atomic_init(&follower->is_taken, true);
	g_thread_unref(g_thread_new("follow", run, follower));
	return follower;
}

struct follower *follower_start(char *path, pid_t pid, const struct follower_listener *listener)
{
	char *paths[] = {path, NULL};
	return start(paths, pid, false, listener);
}

struct follower *follower_start_files(char **paths, const struct follower_listener *listener)
{
	return start(paths, 0, true, listener);
}

const char *follower_damage(const struct follower *follower)
{
	return follower->damage;
}

const struct weft_growing_state *follower_state(const struct follower *follower)
{
	return &follower->state;
}

double follower_read_ms(const struct follower *follower, bool *ret_is_complete)
{
	*ret_is_complete = follower->is_complete;
	return follower->read_ms;
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
