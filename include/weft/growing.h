/* SPDX-License-Identifier: ISC
 *
 * A trace that grows, as one input for everything that shows or prints it: the events of its parts,
 * such as files and the rings of programs, in the order of time, and one state. Each byte is
 * decoded once.
 *
 *     weft_input_open_growing → next … AGAIN → wait → next … → END → close      follow.h
 *     create → add … → start → feed, next … → close       a trace that the caller is sent
 *
 * A file that has no writer any more holds up the others, and keeps events back that follow its
 * last mark. Nothing says that it will not grow, so a part of which nothing has come for a while is
 * taken for complete; if it grows later, all has to be opened again: the state is
 * WEFT_GROWING_OUTDATED.
 *
 * Parts of several boots have no common clock: the first event is WEFT_ERROR_UNSUPPORTED. Open such
 * files with weft_input_open_files(), again when they have grown, as what is new may change how the
 * clocks compare.
 *
 * A growing input belongs to one thread at a time. Times `now_ms` are of any clock of the caller.
 */
#ifndef WEFT_GROWING_H
#define WEFT_GROWING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/decoder.h>
#include <weft/refresh.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weft_growing;

enum weft_growing_phase {
	WEFT_GROWING_READING,  /* there are events that had been recorded before the opening */
	WEFT_GROWING_CURRENT,  /* all events were read that had come at some time */
	WEFT_GROWING_ENDED,    /* no more events will come */
	WEFT_GROWING_OUTDATED, /* all has to be opened again */
	WEFT_GROWING_FAILED,
};

struct weft_growing_state {
	enum weft_growing_phase phase;
	int error;            /* after WEFT_GROWING_FAILED */
	bool is_program;      /* the events are those of programs or guests, not of files */
	uint32_t parts, left; /* their number, and how many of them may still have events */
	uint32_t files;       /* how many parts weft_growing_part() knows */
	uint64_t bytes;       /* of files, or that the caller fed */
	uint64_t mark_ns;     /* all earlier events were read; 0: unknown */
	bool is_paused;       /* see weft_growing_pause() */
};

/* A part of a trace, see weft_growing_part(). */
struct weft_growing_part {
	const char *name;
	struct weft_decoder *decoder; /* NULL: the part is followed without one */
	uint64_t bytes;               /* that were read or fed */
	bool is_complete;             /* nothing more is expected */
	int error;                    /* why it is left out */
};

/* ---- A trace that the caller is sent ---- */

int weft_growing_create(struct weft_growing **ret_growing);

/* A part whose bytes the caller will feed. */
struct weft_growing_fed {
	const char *name;
	uint64_t hz;     /* see weft_decoder_set_hz() */
	bool is_program; /* the bytes are the stream of a program's ring */
	bool is_framed;  /* they come in frames, see weft_growing_feed_frames() */
};

/* Parts are numbered from 0 in the order of these calls. */
int weft_growing_add(struct weft_growing *growing, const struct weft_growing_fed *part);

/* Call it when all parts were added, before their bytes. */
int weft_growing_start(struct weft_growing *growing);

int weft_growing_feed(
	struct weft_growing *growing, uint32_t part, const void *bytes, size_t size, double now_ms);

/* Feeds the framed parts. A frame is the part's number among them, the number of bytes, both as 32
 * bits, the least significant byte first, and the bytes. One without bytes ends its part. */
int weft_growing_feed_frames(
	struct weft_growing *growing, const void *bytes, size_t size, double now_ms);

/* Says that no more bytes of a part will come. An error of one of several parts leaves it out. */
int weft_growing_finish(struct weft_growing *growing, uint32_t part);

/* Takes framed parts for complete of which nothing has come for long, though others have. */
int weft_growing_give_up(struct weft_growing *growing);

/* ---- Events ---- */

void weft_growing_close(struct weft_growing *growing);

/* WEFT_OK and an event; WEFT_AGAIN: none now; WEFT_END: there will be none; WEFT_ERROR_STATE: all
 * has to be opened again; or another error. The event borrows its texts until the next call. */
int weft_growing_next(struct weft_growing *growing, struct weft_event *ret_event);

/* Waits until there may be events, at most for that time. 0 or an error. */
int weft_growing_wait(struct weft_growing *growing, uint64_t timeout_ns);

const struct weft_trace_description *weft_growing_describe(const struct weft_growing *growing);
struct weft_diagnostics *weft_growing_diagnostics(struct weft_growing *growing);
void weft_growing_state(const struct weft_growing *growing, struct weft_growing_state *ret_state);
struct weft_growing_part weft_growing_part(const struct weft_growing *growing, uint32_t number);

/* The state in one sentence, such as "The program has ended, or records no more: this is all that
 * it recorded."; "" if there is nothing to say. */
const char *weft_growing_sentence(const struct weft_growing_state *state);

/* While it is paused, events are read, so that none are lost, but no model is due. */
void weft_growing_pause(struct weft_growing *growing, bool is_paused);

/* No model is due before the events go up to that time: what is opened again goes on where it was.
 */
void weft_growing_hold(struct weft_growing *growing, uint64_t until_ns);

/* The events, for weft_refresh_create(), whose refresh it must outlive. Files are read to their
 * ends before a model of them is due. */
struct weft_refresh_source weft_growing_source(struct weft_growing *growing);

#ifdef __cplusplus
}
#endif
#endif
