/* SPDX-License-Identifier: ISC
 *
 * Messages on disk that no receiver has taken yet: a file for each, packed by gzip. One process
 * uses a spool at a time. A file is complete when it has its name, and is removed when it was
 * taken.
 */
#ifndef WEFT_APPS_EXPORT_PUSH_SPOOL_H
#define WEFT_APPS_EXPORT_PUSH_SPOOL_H

#include <weft/text.h>

#include "push.h"

struct spooled {
	uint64_t number; /* of the message, in the order in which they came */
	uint64_t bytes;
	enum weft_otlp_signal signal;
	uint32_t count;
	uint32_t failures; /* after which others were taken */
};

struct spool {
	const char *path;
	int directory, lock;
	uint64_t bytes, most_bytes;
	uint64_t last;             /* the highest number of a message */
	uint64_t waiting;          /* spans and points in its messages */
	struct spooled *list;      /* the messages, in order */
	size_t first, count, room; /* those before `first` are done with */
	bool is_json;
};

/* Creates the directory if there is none. False after a message. The caller closes it if it is
 * true. */
bool spool_open(const char *path, uint64_t most_bytes, bool is_json, struct spool *ret_spool);
void spool_close(struct spool *spool);

/* Adds a message. False with errno; EDQUOT: it has no room. */
bool spool_add(struct spool *spool, enum weft_otlp_signal signal, uint32_t count, const void *bytes,
	size_t size);

/* Reads a message; false with errno. */
bool spool_read(struct spool *spool, const struct spooled *message, struct weft_text *ret_bytes);
void spool_remove(struct spool *spool, const struct spooled *message);

/* Moves the message at `first` behind all others. */
void spool_defer_first(struct spool *spool);

#endif
