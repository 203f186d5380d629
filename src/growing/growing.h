/* SPDX-License-Identifier: ISC
 *
 * The members of a growing input, for src/growing and for src/follow, which opens files and
 * programs with it.
 */
#ifndef WEFT_GROWING_GROWING_H
#define WEFT_GROWING_GROWING_H

#include <weft/growing.h>

#define WEFT__GROWING_FRAME_BYTES 8u

/* The bytes of a part that grows by itself. */
struct weft__growing_bytes {
	/* WEFT_OK and bytes, WEFT_AGAIN, WEFT_END, WEFT_ERROR_STATE if what was read is no longer
	 * there, or another error. NULL: the caller feeds them. */
	int (*next)(void *context, const void **ret_bytes, size_t *ret_size);
	/* The size of the file as far as it was read, and how long ago it was written; or NULL. */
	uint64_t (*size)(void *context);
	double (*age_ms)(void *context);
	void (*close)(void *context);
	void *context;
};

/* The only part, if its events need no decoder of this input. All members are set, or none. */
struct weft__growing_events {
	struct weft_refresh_source source;
	uint64_t (*mark)(const void *context);
	void (*close)(void *context);
};

/* The operating system's part; members may be NULL. */
struct weft__growing_system {
	double (*now_ms)(void);
	int (*wait)(struct weft_growing *growing, uint64_t timeout_ns);
	void (*close)(void *context);
	void *context;
};

struct weft__growing_part {
	char *name;
	struct weft_decoder *decoder;
	struct weft__growing_bytes bytes;
	uint64_t size;
	double fed_ms;  /* when bytes came last; 0: never */
	uint32_t feeds; /* of all parts that have come since then */
	bool is_framed, is_current, is_complete;
	int error;
};

struct weft_growing {
	struct weft__growing_part *parts;
	uint32_t count;
	struct weft_decoder *decoder; /* of the only part, or merged */
	struct weft__growing_events events;
	struct weft__growing_system system;
	uint64_t given_ns;                    /* the time of the last event */
	uint64_t held_until_ns;               /* no model before the events go up to this time */
	double opened_ms, read_ms, looked_ms; /* read_ms: how long it took to become current */
	bool is_program, has_events, is_current, is_outdated, has_ended;
	bool is_paused;
	bool is_patient; /* a part with events is never taken for complete */
	int error;
	uint8_t frame[WEFT__GROWING_FRAME_BYTES]; /* the head of the frame that is arriving */
	uint32_t frame_part, frame_left, head_bytes;
};

/* The part that was added last. */
struct weft__growing_part *weft__growing_last(struct weft_growing *growing);

/* Reads the parts' bytes. WEFT_OK if a decoder has new ones or its end, WEFT_AGAIN, or an error. */
int weft__growing_pull(struct weft_growing *growing);
/* Looks whether parts that were taken for complete have grown. 0, or WEFT_ERROR_STATE. */
int weft__growing_look(struct weft_growing *growing);
/* Takes a part for complete. */
int weft__growing_complete(struct weft_growing *growing, struct weft__growing_part *part);

#endif
