/* SPDX-License-Identifier: ISC
 *
 * Following a program while it records: another process reads its events as they happen, without
 * the program's help or knowledge.
 *
 *     weft_follow_open → next … next → AGAIN → wait → next … → END → weft_follow_close
 *
 * Guarantees:
 * - The past never changes. Events come in the order of time, whichever thread recorded them; after
 *   an event, or after weft_follow_mark, no earlier event follows.
 * - No event is missing silently. Events that were overwritten before they were read are counted
 *   exactly: when END has been returned, the events that were returned plus `stalled` of the
 *   description's losses are all events that were recorded since the opening or could still be read
 *   then; those that were gone by then are `overwritten`. After a gap, the running task of a thread
 *   is repeated by a switch event whose `is_rundown` is set; it was not recorded, and is in no
 *   count.
 * - No committed event is lost when the program is killed: END comes after all of them.
 * - The program is not disturbed. The buffer is mapped read-only, except for one word that asks the
 *   program to wake us, if we may write the file. Any number of followers may follow, stop, be
 *   killed and begin again.
 * - Memory is bounded by the size of the buffer and the threads that it names, at most 65,536
 *   (later threads share the last one's index). In practice it is one packet for each recording
 *   thread.
 * - The buffer may be damaged or hostile: that leads to diagnostics at worst.
 *
 * An event is held back until no thread can commit an earlier one, that is for as long as another
 * thread is in the middle of recording: about 10 ns, unless it is interrupted there. A thread that
 * stays there for a second while others go on is no longer waited for; what it commits later is
 * lost
 * (`stalled`).
 *
 * A follower belongs to one thread at a time. It allocates, and reads files of /proc.
 */
#ifndef WEFT_FOLLOW_H
#define WEFT_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <weft/buffer.h>
#include <weft/diagnostic.h>
#include <weft/error.h>
#include <weft/event.h>
#include <weft/growing.h>
#include <weft/refresh.h>
#include <weft/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weft_follow;
struct weft_guest;

/* Begins with the oldest event that is still in the buffer. `path` is a buffer in a file, of a
 * running program or of one that has ended; in the latter case all of it can be read, and END
 * follows at once. The program must be in our pid namespace. WEFT_ERROR_SYSTEM leaves the reason in
 * errno; WEFT_ERROR_EMPTY, WEFT_ERROR_FORMAT: not a buffer, or an incomplete one. */
int weft_follow_open(const char *path, struct weft_follow **ret_follow);
/* The same of an open file, which stays the caller's and may be closed then. */
int weft_follow_open_descriptor(int fd, struct weft_follow **ret_follow);
/* The same of a guest of Xen (guest.h), which stays the caller's and must outlive the follower. END
 * follows when the guest no longer records there, however it ended. */
int weft_follow_open_guest(struct weft_guest *guest, struct weft_follow **ret_follow);
void weft_follow_close(struct weft_follow *follow);

/* The follower as a source for weft_refresh_create, whose refresh it must outlive. */
struct weft_refresh_source weft_follow_source(struct weft_follow *follow);

/* WEFT_OK and an event; WEFT_AGAIN: none now; WEFT_END: the program has ended or stopped recording
 * here, and all events were returned; or an error. Takes at most one look at each packet and about
 * 10 us. The event borrows its text until the next call. */
int weft_follow_next(struct weft_follow *follow, struct weft_event *ret_event);

/* Waits until `next` may have an event: WEFT_OK; WEFT_AGAIN after the timeout or a signal; or an
 * error. It looks after 1 ms first, then less and less often down to every 20 ms, and whenever the
 * program wakes it because a packet is full. */
int weft_follow_wait(struct weft_follow *follow, uint64_t timeout_ns);

/* The time up to which the past is complete, in ns on the trace's clock: no earlier event will
 * follow. UINT64_MAX when the program has ended or stopped recording. */
uint64_t weft_follow_mark(const struct weft_follow *follow);

/* The threads and losses so far. Both grow, and `threads` may move, with the calls above. The
 * clock's rate is the one known at the opening: times may differ from those in the finished trace
 * by 1 in 10,000 if the program had just begun. */
const struct weft_trace_description *weft_follow_describe(const struct weft_follow *follow);
struct weft_diagnostics *weft_follow_diagnostics(struct weft_follow *follow);

/* ---- Files, programs and guests as one input that grows ---- */

struct weft_ring_check;

enum weft_growing_what {
	WEFT_GROWING_ANY,   /* a program's ring, or else a file */
	WEFT_GROWING_RING,  /* of a running program, or of one that has ended */
	WEFT_GROWING_FILES, /* whose bytes are appended to, such as streams */
};

/* A trace to be opened: one path; several that fit together, in the order of
 * weft_input_open_files(); or a guest of Xen. */
struct weft_growing_spec {
	size_t size; /* sizeof(struct weft_growing_spec), or 0; members that an older header lacks are
					0 */
	const char *const *paths;
	size_t count;
	/* The processes whose rings the paths must be, in a run directory: see
	 * weft_source_open_ring(). 0: a path that the user named. NULL: all are 0. */
	const pid_t *pids;
	struct weft_ring_check *ret_check; /* why such a ring is refused; NULL: not wanted */
	struct weft_guest *guest;          /* see guest.h; it must outlive the input */
	enum weft_growing_what what;       /* of an only path without a process */
	uint64_t hz;                       /* see weft_decoder_set_hz() */
	/* Waits for a file whose events can be taken as they come, however long it does not grow. */
	bool is_patient;
};

/* Opens a trace that grows, see growing.h. Events of a guest with Mirage's CTF are those that its
 * pages hold whenever they are looked at. 0 or an error of weft_follow_open(),
 * weft_source_growth_open() and weft_source_open_ring(). */
int weft_input_open_growing(
	const struct weft_growing_spec *spec, struct weft_growing **ret_growing);

/* ---- Control: what a running program records ---- */

/* A program's categories and their levels, for a process that may write into its buffer. Calls
 * neither block nor disturb the program, which reads its levels before each event. Several
 * processes may set levels at a time. One thread at a time. */
struct weft_control;

/* `path` as for weft_follow_open. The file is opened read-only where writing is not permitted. */
int weft_control_open(const char *path, struct weft_control **ret_control);
/* The same of an open file, which stays the caller's and may be closed then. */
int weft_control_open_descriptor(int fd, struct weft_control **ret_control);
/* The same for a guest's buffer, which must outlive the control. It is open only for reading if the
 * guest lets this domain read it only. WEFT_ERROR_FORMAT: it has Mirage's CTF, and no levels. */
int weft_control_open_guest(struct weft_guest *guest, struct weft_control **ret_control);
void weft_control_close(struct weft_control *control);

/* True if the program still runs and records there. */
bool weft_control_is_live(struct weft_control *control);

/* The buffer's description of its program, and its categories as they are now. The description's
 * lists are valid until the next call. */
int weft_control_summarize(
	const struct weft_control *control, struct weft_buffer_summary *ret_summary);
const struct weft_trace_description *weft_control_describe(struct weft_control *control);

/* The number of categories that match `pattern`, in which each * stands for any text. */
unsigned weft_control_matches(struct weft_control *control, const char *pattern);

/* Sets the level of all categories that match; "*" alone also of those that are registered later.
 * It applies from the next event on. `ret_matched` may be NULL. WEFT_ERROR_STATE: no program
 * records there any more; WEFT_ERROR_SYSTEM: the file cannot be written, errno says why;
 * WEFT_ERROR_UNSUPPORTED: the program's recorder does not have that level. */
int weft_control_set_level(struct weft_control *control, const char *pattern, enum weft_level level,
	unsigned *ret_matched);

#ifdef __cplusplus
}
#endif
#endif
