/* SPDX-License-Identifier: ISC
 *
 * A reader's view of a buffer: where its parts are, checked once against the input's size, and its
 * clock. The buffer may belong to a running program that may be hostile, so the header is copied
 * once, the copy is checked, and all sizes and offsets come from the checked copy.
 */
#ifndef WEFT_FORMAT_WEFT_BUFFER_H
#define WEFT_FORMAT_WEFT_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <weft/event.h>

#include "abi/buffer_abi.h"
#include "abi/packet_abi.h"
#include "format/format.h"
#include "format/weft/clock/guest_clock.h"
#include "format/weft/clock/host_clock.h"
#include "format/weft/identity.h"
#include "format/weft/clock/ticks.h"
#include "model/clock_ticks.h"

static const char WEFT__BUFFER_STOPPED_EARLY[] =
	"recording stopped early: memory of the buffer was gone";

struct weft__buffer {
	const uint8_t *bytes;
	size_t size;
	uint8_t header[sizeof(struct weft_abi_buffer)]; /* the copy made by init */
	uint64_t packets_offset;
	uint32_t packet_bytes;
	uint32_t packet_count; /* packets that the input has whole */
	const uint8_t *names;  /* the entries; in a buffer they may still change */
	uint64_t names_bytes;
	struct weft__names *own_names; /* see weft/names.c */
	struct weft__stacks *stacks;   /* see weft/stack.c; made with the names */
	struct weft__stream *stream;   /* NULL: a buffer */
	struct weft__tables *tables;   /* see weft/tables.c; NULL: none so far */
	uint64_t marked;               /* ticks of a stream's last mark; 0: none */
	/* Gives memory back while a large input is opened, which looks at each packet; else NULL. */
	const struct weft__forget *forget;
	struct weft__ticks clock;
	struct weft__clock_ticks ticks; /* for the description */
	struct weft__readings readings; /* of the clock, by this buffer alone */
	/* The clocks of the host of Xen that the program's domain is on; NULL: unknown. */
	const struct weft__host_clock *host_clock;
	struct weft__host_clock *own_host_clock; /* by this buffer alone */
	struct weft__guest_clock guest_clock;    /* by this buffer alone; 0: it needs none */
	uint32_t pid;
	struct weft_trace_buffer about; /* for the description: its texts are those below */
	char program[65];
	char host[65];
	char source[257]; /* "": not a part of another trace */
	char *code;       /* of `about`; NULL: none */
	char *unseen;     /* the same */
};

/* True if the bytes begin with a buffer's magic. */
bool weft__format_buffer_probe(const uint8_t *bytes, size_t size);

/* A text of a stream that lies outside the packets. */
struct weft__stream_text {
	uint64_t number, offset; /* of its chunk's content */
};

/* The parts that only a stream has: see stream_abi.h. */
struct weft__stream {
	uint64_t *offsets;               /* of the packets */
	struct weft__packet_head *heads; /* copies of their headers, or NULL: they are in the bytes */
	size_t capacity;
	uint8_t *names;
	struct weft__stream_text *texts; /* by number */
	size_t text_capacity;
	uint32_t text_count;
	uint64_t lost_offset; /* of the chunk that lists losses */
	uint32_t lost_count;
};

/* Reads the header of a buffer of this version; init_any also accepts a stream. 0 or an error.
 * Fills the description's clock and the losses that the header counts. Call finish for both, though
 * only a stream allocates. */
int weft__format_buffer_init(struct weft__buffer *buffer, const struct weft__input *input);
int weft__format_buffer_init_any(struct weft__buffer *buffer, const struct weft__input *input);
void weft__format_buffer_finish(struct weft__buffer *buffer);

/* Only the first step of init: checks the header and finds the packets and the names. It does not
 * accept a stream, and allocates nothing. */
int weft__format_buffer_find_parts(struct weft__buffer *buffer, const struct weft__input *input);

/* Copies the comparisons of the host's clocks from the header. Returns their number. */
uint32_t weft__format_buffer_comparisons(const struct weft__buffer *buffer,
	struct weft_abi_comparison ret_comparisons[WEFT_ABI_COMPARISONS]);

/* weft/stream.c: finds a stream's packets, its names, and the last of its headers. */
int weft__format_stream_init(struct weft__buffer *buffer, const struct weft__input *input);

static inline const uint8_t *weft__format_buffer_packet(
	const struct weft__buffer *buffer, uint32_t packet)
{
	return buffer->bytes +
		   (buffer->stream ? buffer->stream->offsets[packet]
						   : buffer->packets_offset + (uint64_t)packet * buffer->packet_bytes);
}

/* The buffer's clock (enum weft_abi_clock) at init. */
static inline uint32_t weft__format_buffer_clock(const struct weft__buffer *buffer)
{
	uint32_t clock;
	memcpy(&clock, buffer->header + offsetof(struct weft_abi_buffer, clock), sizeof(clock));
	return clock;
}

/* The number of this file of a stream; 0: unknown. */
static inline uint32_t weft__format_buffer_piece(const struct weft__buffer *buffer)
{
	uint32_t piece;
	memcpy(&piece, buffer->header + offsetof(struct weft_abi_buffer, piece), sizeof(piece));
	return piece;
}

/* True if it is the processor's, which all programs of a machine share. A guest of Xen says so,
 * too, but its readings must not count for others. */
static inline bool weft__format_buffer_has_counter(const struct weft__buffer *buffer)
{
	uint32_t clock = weft__format_buffer_clock(buffer);
	return !buffer->own_host_clock &&
		   (clock == WEFT_ABI_CLOCK_TSC || clock == WEFT_ABI_CLOCK_CNTVCT);
}

/* Reads from the header copy when and why the record ended, into `about`. init does this; call it
 * again once a later header of a stream was taken. */
void weft__format_buffer_read_end(struct weft__buffer *buffer);

/* Loads from a running program's header how its record ended. If it has not said so, the record
 * ended at `ticks`, as `ending` says. */
void weft__format_buffer_load_end(
	struct weft__buffer *buffer, enum weft_abi_ending ending, uint64_t ticks);

/* Loads the present losses from a running program's header. Two causes are left unchanged: packets
 * count overwritten events, and the reader counts stalled ones. */
void weft__format_buffer_load_losses(
	const struct weft__buffer *buffer, uint64_t losses[WEFT_LOSS_CAUSES]);

/* weft/stream.c: the text with this number; its bytes are NULL if there is none. */
struct weft_slice weft__format_stream_text(const struct weft__buffer *buffer, uint64_t number);

/* weft/names.c: allocates the reader's copy of the names, without which weft__format_buffer_name()
 * finds none. 0 or WEFT_ERROR_MEMORY. finish frees the copy. */
int weft__format_buffer_keep_names(struct weft__buffer *buffer);
void weft__format_buffer_drop_names(struct weft__buffer *buffer);

/* The text of a name; its bytes are NULL if there is no such name. The text is in the reader's copy
 * and stays unchanged until finish, even if a program changes the name later. */
struct weft_slice weft__format_buffer_name(const struct weft__buffer *buffer, unsigned id);

/* weft/code.c: the next name of the table; false at its end. `*at` is 0 at first. The name's bytes
 * are NULL where the table is damaged. */
bool weft__format_buffer_next_name(
	const struct weft__buffer *buffer, uint64_t *at, struct weft_slice *ret_name);

/* weft/code.c: takes the two parts of a name after a prefix that ends with a NUL. False if it has
 * another prefix, or if a part is empty or has control characters. */
bool weft__format_name_has_parts(struct weft_slice name, const char *prefix, size_t prefix_bytes,
	struct weft_slice *ret_first, struct weft_slice *ret_second);

/* weft/stack.c: the calls that a name of a stack lists, as text; its bytes are NULL if there is no
 * such name. Like those of names, the text stays unchanged until finish. */
struct weft_slice weft__format_buffer_stack(const struct weft__buffer *buffer, unsigned id);
struct weft__stacks *weft__format_stacks_create(void); /* NULL without memory */
void weft__format_stacks_destroy(struct weft__stacks *stacks);

/* weft/code.c: reads the lines of functions, and what could not be recorded, into `about`. Needs
 * the copy of all names. 0 or WEFT_ERROR_MEMORY. */
int weft__format_buffer_read_code(struct weft__buffer *buffer);

#endif
