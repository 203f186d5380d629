/* SPDX-License-Identifier: ISC
 *
 * Following a program while it records: its events as they happen, from another process, without
 * its help or its knowledge.
 *
 *     weft_follow_open → next … next → AGAIN → wait → next … → END → weft_follow_close
 *
 * Promised:
 * - The past never changes. Events come in the order of time, whichever thread recorded them;
 *   nothing earlier than an event that was given, or than weft_follow_mark, ever comes after it.
 * - Nothing is missing silently. Events that were overwritten before they were read are counted, to
 *   the event: those given and `stalled` of the description's losses are, when END has been
 *   answered, all that were recorded since the opening and what could be read then; those that were
 *   gone by then are `overwritten`. Who ran is told again after a gap: a switch whose `is_rundown`
 * is set, which nobody recorded and which is in no count.
 * - Nothing committed is lost when the program is killed: END comes after all of it.
 * - The program is not touched. The buffer is mapped read-only, but for one word, by which we ask
 * the program to wake us, if we may write the file; any number may follow it, stop, be killed, and
 *   begin again.
 * - Memory is bounded, by the size of the buffer and the threads that it names, 65,536 at most
 * (those that come later share the last's index). In practice it is one packet a thread that
 * records.
 * - The buffer may be damaged or hostile: the worst are diagnostics.
 *
 * An event waits until no thread can commit an earlier one: for as long as another thread is in the
 * middle of recording, which takes some 10 ns, unless it is interrupted there. A thread that stays
 * there for a second, while others go on, is not waited for: what it then commits is lost
 * (`stalled`).
 *
 * A follower belongs to one thread at a time. It allocates, and it reads files of /proc.
 */
#ifndef WEFT_FOLLOW_H
#define WEFT_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/buffer.h>
#include <weft/diagnostic.h>
#include <weft/error.h>
#include <weft/event.h>
#include <weft/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weft_follow;

/* Begins with the oldest event that is still there. `path` is a buffer in a file, of a running
 * program or of one that has ended: then all of it can be read, and END comes at once. The program
 * must be of the same pid namespace. WEFT_ERROR_SYSTEM leaves the reason in errno;
 * WEFT_ERROR_EMPTY, WEFT_ERROR_FORMAT: no buffer, or one that is not complete yet. */
int weft_follow_open(const char *path, struct weft_follow **ret_follow);
/* The same of an open file, which stays the caller's and may be closed then. */
int weft_follow_open_descriptor(int fd, struct weft_follow **ret_follow);
void weft_follow_close(struct weft_follow *follow);

/* WEFT_OK and an event, WEFT_AGAIN: none now, WEFT_END: the program has ended or records here no
 * more, having stopped perhaps, and all was given; or an error. Takes no longer than a look at each
 * packet and some 10 us. The event borrows its text until the next call. */
int weft_follow_next(struct weft_follow *follow, struct weft_event *ret_event);

/* Waits until `next` has something to say: WEFT_OK; or WEFT_AGAIN after so many ns or a signal; or
 * an error. It looks again and again, after 1 ms first and every 20 ms in the end, and when the
 * program wakes it because a packet was filled. */
int weft_follow_wait(struct weft_follow *follow, uint64_t timeout_ns);

/* Up to when the past is known, in ns on the trace's clock: what comes is not earlier. UINT64_MAX
 * when the program has ended or stopped recording. */
uint64_t weft_follow_mark(const struct weft_follow *follow);

/* The threads and the losses so far; both grow, and `threads` moves, with the calls above. The
 * clock's rate is what is known of it at the opening: ns may drift from those that a reader of the
 * finished trace sees, by 1 in 10,000 if the program had just begun. */
const struct weft_trace_description *weft_follow_describe(const struct weft_follow *follow);
struct weft_diagnostics *weft_follow_diagnostics(struct weft_follow *follow);

/* ---- Steering: what a running program records ---- */

/* A program's categories and their levels, for whoever may write into its buffer. Calls neither
 * block nor disturb the program, which looks at its levels before each event; any number of
 * processes may set some at a time. One thread at a time. */
struct weft_control;

/* `path` as for weft_follow_open. It is opened for reading where writing is not allowed. */
int weft_control_open(const char *path, struct weft_control **ret_control);
/* The same of an open file, which stays the caller's and may be closed then. */
int weft_control_open_descriptor(int fd, struct weft_control **ret_control);
void weft_control_close(struct weft_control *control);

/* Does the program still run and record there? */
bool weft_control_is_live(struct weft_control *control);

/* What the buffer says of its program, and its categories as they are now. The description's lists
 * are valid until the next call. */
int weft_control_summarize(
	const struct weft_control *control, struct weft_buffer_summary *ret_summary);
const struct weft_trace_description *weft_control_describe(struct weft_control *control);

/* So many categories match `pattern`, in which each * stands for any text. */
unsigned weft_control_matches(struct weft_control *control, const char *pattern);

/* Sets the level of all that match; "*" alone also of those that don't exist yet. From the next
 * event on it counts. `ret_matched` may be NULL. WEFT_ERROR_STATE: nobody records there any more;
 * WEFT_ERROR_SYSTEM: the file cannot be written, errno says why. */
int weft_control_set_level(struct weft_control *control, const char *pattern, enum weft_level level,
	unsigned *ret_matched);

#ifdef __cplusplus
}
#endif
#endif
