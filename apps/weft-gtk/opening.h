/* SPDX-License-Identifier: ISC
 *
 * Opens a trace's file. A ring in a run directory, where other users may create files, comes with
 * the process that it must belong to, and is checked at each opening: a file that replaced it after
 * an earlier check is refused.
 */
#ifndef WEFT_GTK_OPENING_H
#define WEFT_GTK_OPENING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <glib.h>

#include <weft/diagnostic.h>
#include <weft/follow.h>
#include <weft/input.h>
#include <weft/source.h>

#include "runs/guests/guest.h"

/* `pid`: the process whose ring it must be; 0 for a file that the user named. 0 or an error. If the
 * ring is refused, the error is WEFT_ERROR_SYSTEM, and ret_check->reason says why; otherwise that
 * is empty. */
int opening_source(const char *path, pid_t pid, struct weft_source **ret_source,
	struct weft_ring_check *ret_check);
/* Opens files that grow, or a ring, for which `ret_guest` is the buffer of a guest of Xen, if it is
 * one, to be closed after the input. */
int opening_growing(char **paths, pid_t pid, bool are_files, struct weft__runs_guest *ret_guest,
	struct weft_growing **ret_growing, struct weft_ring_check *ret_check);
int opening_control(const char *path, pid_t pid, struct weft_control **ret_control,
	struct weft_ring_check *ret_check);

/* The rate of the cycles in traces of Xen; 0: the trace's own. Set it before anything is opened. */
void opening_set_hz(uint64_t hz);

/* Leaves the clocks of several hosts as they are. */
void opening_set_no_align(void);

/* Opens a source, which the input then owns, with that rate. */
int opening_input(struct weft_source *source, struct weft_input **ret_input);

/* True if the paths are not those of a single file: there are more than one, or it is a directory.
 */
bool opening_is_several(char **paths);
/* Opens them as one trace. 0 or an error; then *ret_reason, which the caller frees, may have a
 * sentence. */
int opening_files(char **paths, struct weft_input **ret_input, char **ret_reason);
/* A line for each kind of damage; "" if there is none. The text is the caller's. */
char *opening_all_damage(const struct weft_input *input);
/* A line for each file that was left out; "" if there is none. The text is the caller's. */
char *opening_left_out(const struct weft_input *input);
/* A line for each host, but the first, of a trace of several: how its clock was placed. */
char *opening_hosts(const struct weft_input *input);
/* The paths of several files that make up the trace, in the order of the input, for the caller to
 * free; NULL if a format among them can only be read as a whole. */
char **opening_shown(const struct weft_input *input);

/* A text that says why opening failed. `system_error` is its errno. */
const char *opening_reason(int error, int system_error, const struct weft_ring_check *check);

/* The damage in files that grow, a line each; "" if there is none. The text is the caller's. */
char *opening_growing_damage(struct weft_growing *growing);

#endif
