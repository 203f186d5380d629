/* SPDX-License-Identifier: ISC
 *
 * Bytes in, events out: one interface over every trace format.
 *
 *     weft_decoder_create → feed … feed → finish → next … next → destroy
 *
 * The format is found by content. Input is hostile: whatever the bytes are, a decoder answers in
 * bounded time and memory, counts what it could not read as diagnostics, and goes on with the next
 * packet. Events come in time order; equal times keep the file's order, packets ordered first.
 *
 * A decoder belongs to one thread at a time. It allocates; it never does I/O, prints or exits.
 */
#ifndef WEFT_DECODER_H
#define WEFT_DECODER_H

#include <stddef.h>
#include <stdint.h>

#include <weft/diagnostic.h>
#include <weft/error.h>
#include <weft/event.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weft_decoder;

enum weft_clock_epoch {
	WEFT_EPOCH_UNKNOWN,
	WEFT_EPOCH_UNIX,      /* ns since 1970 */
	WEFT_EPOCH_MONOTONIC, /* ns since the host's boot */
};

struct weft_clock {
	const char *name;            /* "unix", "monotonic", "tsc", "xen", … */
	enum weft_clock_epoch epoch; /* of the times in events */
	uint64_t hz;                 /* of the ticks in the file */
	int64_t offset_ns;           /* add to an event's time for ns since 1970; 0 if unknown */
};

struct weft_trace_thread {
	const char *name;    /* "" if the trace doesn't say */
	const char *process; /* likewise */
	uint64_t pid;        /* 0 if the trace doesn't say */
	uint64_t tid;
	uint32_t buffer; /* which buffer of the trace: task ids are unique within one */
};

/* One kind of loss; see design.md's word "loss". */
#define WEFT_LOSSES(X)              \
	X(OVERWRITTEN, "overwritten")   \
	X(FULL, "full")                 \
	X(TOO_BIG, "too_big")           \
	X(NESTED, "nested")             \
	X(HELD, "held")                 \
	X(NAMES_FULL, "names_full")     \
	X(METRICS_FULL, "metrics_full") \
	X(STOPPED, "stopped")           \
	X(STALLED, "stalled")

enum weft_loss {
#define X(id, name) WEFT_LOSS_##id,
	WEFT_LOSSES(X)
#undef X
	WEFT_LOSS_CAUSES
};

/* "overwritten" … */
const char *weft_loss_name(enum weft_loss cause);

/* What a trace says of itself; filled as decoding proceeds, final once `next` has answered END.
 * Owned by the decoder. */
struct weft_trace_description {
	const char *format; /* "weft", "mirage-ctf", "sexp" */
	struct weft_clock clock;
	const struct weft_trace_thread *threads;
	uint32_t thread_count; /* at least 1 once an event came */
	uint64_t losses[WEFT_LOSS_CAUSES];
};

int weft_decoder_create(struct weft_decoder **ret_decoder);
void weft_decoder_destroy(struct weft_decoder *decoder);

/* Appends a copy of the bytes. */
int weft_decoder_feed(struct weft_decoder *decoder, const void *bytes, size_t size);

/* The whole input at once, not copied: it must outlive the decoder. Only as the first feed;
 * no other may follow. */
int weft_decoder_feed_borrowed(struct weft_decoder *decoder, const void *bytes, size_t size);

/* No more bytes will come. WEFT_ERROR_EMPTY if none came, WEFT_ERROR_FORMAT if no format knows
 * them. */
int weft_decoder_finish(struct weft_decoder *decoder);

/* WEFT_OK and an event, WEFT_END, WEFT_AGAIN while more bytes are needed (the formats of today all
 * order packets first, so: until finish), or an error. */
int weft_decoder_next(struct weft_decoder *decoder, struct weft_event *ret_event);

const struct weft_trace_description *weft_decoder_describe(const struct weft_decoder *decoder);
struct weft_diagnostics *weft_decoder_diagnostics(struct weft_decoder *decoder);

#ifdef __cplusplus
}
#endif
#endif
