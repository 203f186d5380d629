/* SPDX-License-Identifier: ISC
 *
 * Bytes in, events out: one interface over every trace format.
 *
 *     create → feed … feed → finish → next … next → destroy                 a finished trace
 *     create → feed → next … AGAIN → feed → … → finish → next … → destroy   one that still arrives
 *
 * The format is found by content. Input is hostile: whatever the bytes are, a decoder answers in
 * bounded time and memory, counts what it could not read as diagnostics, and goes on with the next
 * packet. Events come in time order; events with equal times keep the file's order, after its
 * packets have been ordered.
 *
 * Events can be taken while bytes still come, if the format allows it:
 * - streams of a running program, up to the last mark in them (see src/abi/stream_abi.h);
 * - Mirage CTF, packet by packet, if its first packet is the first that was ever written: a ring
 *   that was written more than once around has to be put in order first;
 * - sexp, form by form;
 * - xentrace, turn by turn of the pCPUs: docs/xen.md says what its events lack then.
 * The decoder then keeps only what it has not given yet. The events are those of the whole input,
 * except that given events cannot change any more: an event whose time is before that of a given
 * one gets that time, which is counted as a diagnostic. The clock's rate of a stream is the one
 * known at its first mark; times may differ from those of the whole input by 1 in 10,000. All other
 * input, such as a saved ring, is read when it is complete.
 *
 * A decoder belongs to one thread at a time. It allocates; it never does I/O, prints or exits.
 */
#ifndef WEFT_DECODER_H
#define WEFT_DECODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/density.h>
#include <weft/diagnostic.h>
#include <weft/error.h>
#include <weft/event.h>
#include <weft/help.h>
#include <weft/progress.h>
#include <weft/trace.h>
#include <weft/xentrace.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weft_decoder;
struct weft_model;

int weft_decoder_create(struct weft_decoder **ret_decoder);
void weft_decoder_destroy(struct weft_decoder *decoder);

/* A decoder whose events are a part of a merged decoder's. */
struct weft_decoder_part {
	struct weft_decoder *decoder; /* finished; or the caller feeds it, also while it merges */
	const char *name;             /* of its file, for the table of buffers; NULL: none */
};

/* Creates a decoder of the events of all parts, in the order of time; those with equal times are in
 * the order of parts. Each part's times must be on the same clock. The buffers and threads of the
 * parts get new numbers, those of the first part first. A part that cannot be read any further
 * ends, and the others go on. An event's offset is WEFT_PART_OFFSET. The parts keep their own
 * diagnostics; they and the names stay the caller's, and must outlive the decoder. There may be
 * 65,536.
 *
 * Parts that were not fed before begin together, when enough of each has come to know its clock;
 * until then `next` returns WEFT_AGAIN, finish returns no error of these parts, and a part that is
 * no trace ends at once. They convert ticks of a clock that they share by the same readings. Later,
 * `next` returns events up to the mark of each part that has none for now, and then WEFT_AGAIN: a
 * part without marks, see weft_decoder_mark(), holds up the others until it has an event or is
 * finished. */
int weft_decoder_create_merged(
	const struct weft_decoder_part *parts, size_t count, struct weft_decoder **ret_decoder);

/* In a merged decoder, the offset of an event or a diagnostic: the part's number, and the offset in
 * that part. */
#define WEFT_PART_OFFSET(part, offset) \
	((uint64_t)(part) << 48 | ((uint64_t)(offset) & (UINT64_MAX >> 16)))

/* Appends a copy of the bytes. The event that `next` gave last is no longer valid. */
int weft_decoder_feed(struct weft_decoder *decoder, const void *bytes, size_t size);

/* Gives the whole input at once, without a copy: the bytes must outlive the decoder. It must be the
 * only feed. */
int weft_decoder_feed_borrowed(struct weft_decoder *decoder, const void *bytes, size_t size);

/* Sets the rate of the counter in whose cycles the input's times are, in Hz, if its format does not
 * name it. Call it before the first feed. */
void weft_decoder_set_hz(struct weft_decoder *decoder, uint64_t hz);

/* Says that no more bytes will come. WEFT_ERROR_EMPTY if there were none, WEFT_ERROR_FORMAT if they
 * are in no known format. */
int weft_decoder_finish(struct weft_decoder *decoder);

/* Call it after `next` returned WEFT_AGAIN. True if some bytes or events still wait for more bytes,
 * so that finish would give more. */
bool weft_decoder_is_pending(const struct weft_decoder *decoder);

/* The time before which all events of a stream have come, in ns on the trace's clock: that of the
 * last mark that was read; of a merged decoder, the least of its parts that have not ended. 0 if
 * there is none. Once `next` has returned WEFT_AGAIN, they have been returned. */
uint64_t weft_decoder_mark(const struct weft_decoder *decoder);

/* WEFT_OK and an event, WEFT_AGAIN if more bytes or finish are needed first, WEFT_END, or an error.
 * The event borrows its texts until the next call of `next` or `feed`. */
int weft_decoder_next(struct weft_decoder *decoder, struct weft_event *ret_event);

/* Leaves out what is before a time on the trace's clock, so that the events from there on cost what
 * they cost alone. `next` may still give earlier events, first a switch to what each thread
 * runs; those from `time_ns` on are the same as without this call. Parts that are left out are not
 * checked, so there are no diagnostics of them, and the description lacks the times of losses
 * before `time_ns`; an event there whose time is damaged, so that it comes later, is left out, too.
 * Call it on a finished decoder, also after events were given, for a time that is not before them.
 * Only weft's own format is read in parts; others give all events. The event that `next` gave last
 * is no longer valid. 0, or WEFT_ERROR_MEMORY or WEFT_ERROR_STATE. */
int weft_decoder_seek(struct weft_decoder *decoder, uint64_t time_ns);

/* True if the finished decoder's input is such a trace, so that records can be read. */
bool weft_decoder_has_xentrace(const struct weft_decoder *decoder);

/* The next record in the order of time. Records are read instead of the events that
 * weft_decoder_next() makes of them: a decoder gives one or the other. WEFT_OK, WEFT_END or an
 * error; WEFT_ERROR_STATE if the input is in another format, or if weft_decoder_next() was called.
 * Padding is left out. */
int weft_decoder_next_xentrace(
	struct weft_decoder *decoder, struct weft_xentrace_record *ret_record);

/* Gives all times that vCPUs, domains and pCPUs of such a trace spent in a state, in the order of
 * their ends. They are not the records, which can be read before or afterwards. `take` returns 0,
 * or an error, which ends it. 0 or an error; WEFT_ERROR_STATE if the input is in another format. */
int weft_decoder_xentrace_stays(struct weft_decoder *decoder,
	int (*take)(void *context, const struct weft_xentrace_stay *stay), void *context);

/* The notes of such a trace, in the order of the file; returns their number. The list belongs to
 * the decoder. */
size_t weft_decoder_xentrace_notes(
	const struct weft_decoder *decoder, const struct weft_xentrace_note **ret_list);

const struct weft_trace_description *weft_decoder_describe(const struct weft_decoder *decoder);
struct weft_diagnostics *weft_decoder_diagnostics(struct weft_decoder *decoder);

/* Lends a second thread to weft_decoder_finish and weft_decoder_build_model; NULL for none.
 * Borrowed while they run. */
void weft_decoder_lend(struct weft_decoder *decoder, const struct weft_help *help);

/* The share of the bytes that has been decoded, from 0 to 1, ascending. It is approximate, because
 * the threads' packets interleave. */
double weft_decoder_part(const struct weft_decoder *decoder);

/* Builds a model from all events of a finished decoder. `progress` may be NULL; its step is called
 * every 65,536 events with weft_decoder_part(). If it returns false, the model has the events so
 * far. Its `help` is used instead of what was lent, if it is not NULL. */
int weft_decoder_build_model(struct weft_decoder *decoder, const struct weft_progress *progress,
	struct weft_model **ret_model);

/* The same without what tasks did, in less time and memory: the model has no edges, activations,
 * notes, attributes, spans, off-CPU times, bands and stacks, and NULL where tasks have indices of
 * these, or samples their tasks; tasks that have not ended last until their last sign of life. All
 * else, such as the summary, the tasks' names and outcomes and the counters, is equal. */
int weft_decoder_build_summary(struct weft_decoder *decoder, const struct weft_progress *progress,
	struct weft_model **ret_model);

/* A range of a trace, in ns. */
struct weft_range {
	uint64_t start_ns;    /* after the trace's first event; or on its clock, if is_absolute */
	uint64_t duration_ns; /* UINT64_MAX: up to the trace's end */
	uint64_t past_ns;     /* how much time before the range is read as well */
	bool is_absolute;
	/* Finds the state at a time up to `time_ns` (checkpoint.h): a decoder of its events, which
	 * stays the caller's. NULL: there is none; as is a NULL pointer. */
	struct weft_decoder *(*find_state)(void *context, uint64_t time_ns, uint64_t *ret_time_ns);
	void *context;
};

/* Builds a model of a range alone, of a decoder that has given no event yet. Packets before the
 * range are not read (see weft_decoder_seek()), and of those behind it only the last ones of each
 * thread, which say when the trace ends. The model's summary is about the whole trace as far as it
 * is known. The time that was not read is dark time: of tasks that began before the range, the
 * model has only what the range shows; tasks that have not ended end with the range, and their
 * outcome is unknown. If there is a state, the model begins with it, and has
 * all tasks that are alive in the range. */
int weft_decoder_build_range(struct weft_decoder *decoder, const struct weft_range *range,
	const struct weft_progress *progress, struct weft_model **ret_model);

/* Reads the headers of all packets, and the last packet of each thread, which says when the trace
 * ends. The decoder has finished and given no event yet; afterwards it can only be destroyed. 0;
 * WEFT_ERROR_UNSUPPORTED if the format's packets cannot be read apart; or another error. */
int weft_decoder_weigh(struct weft_decoder *decoder, struct weft_density *ret_density);

/* The number of events that have been put into the model so far. */
uint64_t weft_decoder_events(const struct weft_decoder *decoder);

#ifdef __cplusplus
}
#endif
#endif
