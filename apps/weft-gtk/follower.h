/* SPDX-License-Identifier: ISC
 *
 * Follows a running program, or files that grow, in a thread of its own, and hands over models of
 * the events so far.
 */
#ifndef WEFT_GTK_FOLLOWER_H
#define WEFT_GTK_FOLLOWER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <weft/growing.h>
#include <weft/model.h>

struct follower;

/* Functions that the follower calls in the main loop. */
struct follower_listener {
	/* Takes a model, which belongs to the listener from then on. The next model comes after the
	 * return. Returns the processor time that the main loop needed for the previous model
	 * after its call, in us. */
	int64_t (*model)(void *context, struct weft_model *model, bool is_last);
	/* Takes an error in one sentence. It is the last call. */
	void (*error)(void *context, const char *sentence);
	void *context;
};

/* The processor time of the calling thread so far: a busy machine makes no model expensive. */
int64_t follower_used_us(void);

/* True if a program records into this file now. `pid` as for opening.h. */
bool follower_is_wanted(const char *path, pid_t pid);

/* Follows a running program. The listener is copied. End it by follower_stop(). */
struct follower *follower_start(char *path, pid_t pid, const struct follower_listener *listener);

/* Follows a file that grows, or several as one trace, from the beginning. `paths` ends with NULL;
 * see weft_input_open_growing(). The first model comes when the files have been read to their ends.
 * The last model comes when the file was replaced, or when it has not grown for a while although
 * its last part is incomplete; of several, when none has grown for a while. If they grow later,
 * another follower may begin. */
struct follower *follower_start_files(char **paths, const struct follower_listener *listener);

/* To be called only by the listener: the damage in files as text, "" if there is none, valid until
 * the listener returns; and the state of the events. */
const char *follower_damage(const struct follower *follower);
const struct weft_growing_state *follower_state(const struct follower *follower);

/* To be called only by the listener's `model`: when the model's events had been read, in ms on the
 * monotonic clock, and whether these are all events that had come by then. */
double follower_read_ms(const struct follower *follower, bool *ret_is_complete);

/* While paused, events are still read, so that none are lost, but no models are made. */
void follower_pause(struct follower *follower, bool is_paused);

/* Stops the follower: it is not valid any more, and the listener is not called any more. NULL is
 * allowed. */
void follower_stop(struct follower *follower);

#endif
