/* SPDX-License-Identifier: ISC
 *
 * Opens a trace's file. A ring in a run directory, where other users may create files, comes with
 * the process that it must belong to, and is checked at each opening: a file that replaced it after
 * an earlier check is refused.
 */
#ifndef WEFT_GTK_OPENING_H
#define WEFT_GTK_OPENING_H

#include <stdint.h>
#include <sys/types.h>

#include <weft/diagnostic.h>
#include <weft/follow.h>
#include <weft/input.h>
#include <weft/source.h>

#include "runs/guest.h"

/* `pid`: the process whose ring it must be; 0 for a file that the user named. 0 or an error. If the
 * ring is refused, the error is WEFT_ERROR_SYSTEM, and ret_check->reason says why; otherwise that
 * is empty. */
int opening_source(const char *path, pid_t pid, struct weft_source **ret_source,
	struct weft_ring_check *ret_check);
/* `ret_guest` is the buffer of a guest of Xen, if it is one, to be closed after the follower. */
int opening_follow(const char *path, pid_t pid, struct weft__runs_guest *ret_guest,
	struct weft_follow **ret_follow, struct weft_ring_check *ret_check);
int opening_control(const char *path, pid_t pid, struct weft_control **ret_control,
	struct weft_ring_check *ret_check);

/* The rate of the cycles in traces of Xen; 0: the trace's own. Set it before anything is opened. */
void opening_set_hz(uint64_t hz);
uint64_t opening_hz(void);

/* Opens a source, which the input then owns, with that rate. */
int opening_input(struct weft_source *source, struct weft_input **ret_input);

/* True if the paths are not those of a single file: there are more than one, or it is a directory.
 */
bool opening_is_several(char **paths);
/* Opens them as one trace. 0 or an error; then *ret_reason, which the caller frees, may have a
 * sentence. */
int opening_files(char **paths, struct weft_input **ret_input, char **ret_reason);
/* A line for each kind of damage, and for each file that was left out; "" if there is none. */
char *opening_all_damage(const struct weft_input *input);

/* A text that says why opening failed. `system_error` is its errno. */
const char *opening_reason(int error, int system_error, const struct weft_ring_check *check);

/* The damage that was found, one line for each message; "" if there is none. The text is the
 * caller's. */
char *opening_damage(const struct weft_diagnostics *diagnostics);

#endif
