/* SPDX-License-Identifier: ISC
 *
 * The interface of a trace format. Each format is a row of the table in decoder.c.
 *
 * A format has two readers that return the same events: one for whole input, one for input that is
 * still arriving. Both return events in time order and are pure: bytes in, events and diagnostics
 * out. Each reader embeds struct weft__reader as its first member.
 */
#ifndef WEFT_FORMAT_FORMAT_H
#define WEFT_FORMAT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/decoder.h>
#include <weft/xentrace.h>

#include "format/weft/identity.h"
#include "format/window.h"

struct weft__guest_facts;
struct weft__naming;
struct weft__fact;

/* The input of a reader. The bytes stay valid and in place until the reader is closed, but may be
 * another program's mapping: a reader must stay in bounds even if they change while it reads. */
struct weft__forget;

struct weft__input {
	const uint8_t *bytes;
	size_t size;
	struct weft_diagnostics *diagnostics;
	struct weft_trace_description *description;   /* format is set; the reader fills the rest */
	const struct weft_help *help;                 /* a second thread for opening; NULL: none */
	const struct weft__shared_readings *readings; /* of several inputs; NULL: the input's own */
	const struct weft__guest_facts
		*guest_facts; /* see weft/guest_facts.h; NULL: as the header says */
	uint64_t hz;      /* of a counter whose rate the format does not name; 0: unknown */
	bool is_part;     /* of a merged trace, whose buffers have numbers when it begins */
	/* The decoder owns the bytes, so they cannot change and are read where they are. The bytes of a
	 * mapped file can: another process may write to it or shorten it, also while it is mapped
	 * privately. They are copied packet by packet, which takes no measurable time, because a packet
	 * is then decoded from the cache. */
	bool is_stable;
	const struct weft__forget *forget; /* or NULL */
};

struct weft__reader {
	struct weft__input input;
};

/* The reader of input that is still arriving. */
struct weft__incoming {
	/* Says whether the bytes so far, `input`, are enough for `start`: WEFT_OK; WEFT_AGAIN: call
	 * again with more bytes; or WEFT_END: this input can only be read whole. `*examined` is 0 at
	 * first and kept between calls: the number of bytes that need not be examined again. */
	int (*prepare)(const struct weft__input *input, size_t *examined);
	/* Creates a reader, after `prepare` has returned WEFT_OK with these bytes or fewer. 0 or an
	 * error. */
	int (*start)(
		const struct weft__input *input, size_t examined, struct weft__reader **ret_reader);
	/* Returns WEFT_OK and an event, WEFT_AGAIN if it needs more bytes, WEFT_END, or an error. At
	 * the first call, the window begins with the input's first byte; each call takes out the bytes
	 * that it no longer needs. Events borrow from the window. */
	int (*next)(
		struct weft__reader *reader, struct weft__window *window, struct weft_event *ret_event);
	/* True if bytes or events wait for more bytes. */
	bool (*is_pending)(const struct weft__reader *reader, const struct weft__window *window);
	/* The time of the last mark that was read, in ns. NULL: the format has no marks. */
	uint64_t (*mark)(const struct weft__reader *reader);
	void (*close)(struct weft__reader *reader);
};

/* Takes a packet. 0 or an error. */
typedef int weft__format_weigh(void *context, uint64_t start_ns, uint64_t end_ns, uint64_t bytes);

struct weft__format {
	const char *name; /* as shown by `weft info --json` */
	/* True if the bytes are in this format. They are at most the first 64 MiB of the
	 * input, which it may search whole. */
	bool (*probe)(const uint8_t *bytes, size_t size);
	/* Returns 0 and a reader with `input` set, or an error. Damage is not an error: it is counted
	 * in the diagnostics. */
	int (*open)(const struct weft__input *input, struct weft__reader **ret_reader);
	/* Returns WEFT_OK and an event, WEFT_END, or an error that ends the reading. The caller zeroes
	 * the event. */
	int (*next)(struct weft__reader *reader, struct weft_event *ret_event);
	/* Gives the next events as facts, up to `most` of them, as long as these take nothing but
	 * numbers and are before `before_ns`; the next one is for `next`. 0 or an error. NULL: events
	 * of this format are given by `next` alone. */
	int (*next_facts)(struct weft__reader *reader, const struct weft__naming *naming,
		uint64_t before_ns, struct weft__fact *facts, uint32_t most, uint32_t *ret_count);
	/* For weft_decoder_seek(), and whether events are left out of the thread of the event that was
	 * given last. NULL: all of the input is read. */
	int (*seek)(struct weft__reader *reader, uint64_t time_ns, bool *ret_follows_given);
	/* Passes each packet to `take`, if no event was given yet: its time and bytes. It ends where
	 * its thread's next one begins; UINT64_MAX: it is the last. There with `seek`, or NULL. */
	int (*weigh)(struct weft__reader *reader, weft__format_weigh *take, void *context);
	/* For weft_decoder_next_xentrace(); or NULL. */
	int (*next_record)(struct weft__reader *reader, struct weft_xentrace_record *ret_record);
	/* For weft_decoder_xentrace_stays(); there with `next_record`. */
	int (*stays)(struct weft__reader *reader,
		int (*take)(void *context, const struct weft_xentrace_stay *stay), void *context);
	/* For weft_decoder_xentrace_notes(); there with `next_record`. */
	size_t (*notes)(const struct weft__reader *reader, const struct weft_xentrace_note **ret_list);
	void (*close)(struct weft__reader *reader);
	const struct weft__incoming *incoming;
};

#endif
