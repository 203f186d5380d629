/* SPDX-License-Identifier: ISC
 *
 * What a trace format gives to the decoder: a row of the table in decoder.c.
 *
 * A format has two readers, which give the same events: one of the whole input, and one of input
 * that still comes. Both give events in time order, and are pure: bytes in, events and diagnostics
 * out. Each reader embeds struct weft__reader as its first member, and lives in its own file.
 */
#ifndef WEFT_FORMAT_FORMAT_H
#define WEFT_FORMAT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/decoder.h>

#include "format/window.h"

/* What a reader works on. The bytes don't move or go before the reader's close, but may be another
 * program's mapping: a reader must stay in bounds even if they change under it. */
struct weft__input {
	const uint8_t *bytes;
	size_t size;
	struct weft_diagnostics *diagnostics;
	struct weft_trace_description *description; /* format is set; the reader fills the rest */
	const struct weft_help *help;               /* while it opens; NULL: nobody's */
	bool is_stable; /* the bytes are our own, so that nobody else writes to them */
};

struct weft__reader {
	struct weft__input input;
};

/* Reads input while it comes. */
struct weft__incoming {
	/* Can events be given before all bytes are there? `input` has all bytes so far. WEFT_OK and a
	 * reader; WEFT_AGAIN: ask again when there are more bytes; WEFT_END: no, all must be there; or
	 * an error. `*examined` is 0 at first and kept from call to call: bytes that need no second
	 * look. */
	int (*start)(
		const struct weft__input *input, size_t *examined, struct weft__reader **ret_reader);
	/* WEFT_OK and an event, WEFT_AGAIN if it takes more bytes, WEFT_END, or an error. The window
	 * begins with the input's first byte; next takes from it what it needs no more. Events borrow
	 * from it. */
	int (*next)(
		struct weft__reader *reader, struct weft__window *window, struct weft_event *ret_event);
	void (*close)(struct weft__reader *reader);
};

struct weft__format {
	const char *name; /* as in `weft info --json` */
	/* Is this the format? Looks at the whole input if need be, but stops at the first proof. */
	bool (*probe)(const uint8_t *bytes, size_t size);
	/* 0 and a reader with `input` set, or an error. Damage is no error here: it is counted. */
	int (*open)(const struct weft__input *input, struct weft__reader **ret_reader);
	/* WEFT_OK and an event, WEFT_END, or an error that ends it. The event arrives zeroed. */
	int (*next)(struct weft__reader *reader, struct weft_event *ret_event);
	void (*close)(struct weft__reader *reader);
	const struct weft__incoming *incoming;
};

#endif
