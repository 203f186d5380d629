/* SPDX-License-Identifier: ISC
 *
 * Follows a running program, or a file that grows, in a thread of its own, and hands over models of
 * the events so far.
 */
#ifndef WEFT_GTK_FOLLOWER_H
#define WEFT_GTK_FOLLOWER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <weft/model.h>

struct follower;

struct follower_listener {
	/* In the main loop. The model is the listener's; the next one comes once this returned. Answers
	 * how long the one before kept the main loop busy after that. */
	int64_t (*model)(void *context, struct weft_model *model, bool is_last);
	/* In the main loop. It is the last call. */
	void (*error)(void *context, const char *sentence);
	void *context;
};

/* Does a program record into this file now? `pid` as for opening.h. */
bool follower_is_wanted(const char *path, pid_t pid);

struct follower *follower_start(
	const char *path, pid_t pid, const struct follower_listener *listener);

/* Follows a file that grows, from its beginning. The first model comes when the file has been read
 * as far as it went. The last model comes when the file was replaced, or has not grown for a while
 * and ends in the middle of something; if it grows then, another follower may begin. */
struct follower *follower_start_file(const char *path, const struct follower_listener *listener);

/* For calls of the listener of a file: the damage in it as text, "" if there is none; and its size
 * as far as it was read. */
const char *follower_damage(const struct follower *follower);
uint64_t follower_file_size(const struct follower *follower);

/* For calls of the listener's `model`: the time before which all events were read, in ns on the
 * trace's clock, when that was, in ms of the monotonic clock, and whether the model has all of
 * them. False if it is unknown. */
bool follower_complete(
	const struct follower *follower, uint64_t *ret_ns, double *ret_at_ms, bool *ret_is_shown);

/* While paused, events are still read, so that none are lost, but no models are made. */
void follower_pause(struct follower *follower, bool is_paused);

/* Ends the following; the listener is not called any more. */
void follower_stop(struct follower *follower);

#endif
