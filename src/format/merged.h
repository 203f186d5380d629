/* SPDX-License-Identifier: ISC
 *
 * The members of a merge, for merge.c, which orders the events, and merge_tables.c, which makes the
 * description.
 */
#ifndef WEFT_FORMAT_MERGED_H
#define WEFT_FORMAT_MERGED_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/decoder.h>

#include "base/index.h"
#include "format/format.h"
#include "format/kept.h"
#include "format/shift.h"

struct weft__merged_part {
	struct weft_decoder *decoder;
	const char *name;
	const struct weft__shift *shift; /* of its clock; or NULL */
	struct weft_event event;         /* the next one, if the part is in the heap */
	struct weft__kept kept;          /* its texts, if is_kept */
	bool is_kept;
	bool is_alone;                           /* what follows the event in its thread is left out */
	const struct weft_trace_thread *threads; /* the part's table when it was copied */
	uint32_t *thread_of;                     /* numbers of its threads in the merged trace */
	size_t thread_capacity;
	uint32_t thread_count, buffer_count, first_buffer;
};

struct weft__merged_table {
	void *rows;
	uint32_t count;
	size_t capacity;
};

#define WEFT__DOMAIN_BYTES 64

struct weft__merge {
	struct weft__reader base;
	struct weft__merged_part *parts;
	uint32_t count;
	uint32_t *heap;                         /* parts, the earliest event first */
	uint32_t *waiting;                      /* parts that have no event for now */
	uint32_t heap_count, waiting_count;     /* other parts have ended */
	uint64_t limit_ns;                      /* the least mark of the waiting parts */
	uint64_t given_ns;                      /* the time of the last event */
	bool has_begun;                         /* all parts know their clocks */
	bool has_given;                         /* the caller borrows the first event of the heap */
	struct weft__shared_readings *readings; /* of parts that began together; or NULL */
	struct weft__merged_table buffers, threads, categories, changes, losses;
	char (*domains)[WEFT__DOMAIN_BYTES]; /* names of those of Xen's own trace, by buffer; or NULL */
	uint32_t domain_count;
	struct weft__index by_number; /* threads of buffers that several parts may have */
};

/* merge_tables.c */

/* The number in the merged trace of the part's thread. */
uint32_t weft__format_merge_thread_of(const struct weft__merged_part *part, uint32_t thread);
/* Adds the part's buffers if it has none in the description yet. 0 or WEFT_ERROR_MEMORY. */
int weft__format_merge_take_buffers(struct weft__merge *m, struct weft__merged_part *part);
/* Copies the part's threads again if its table has changed. 0 or WEFT_ERROR_MEMORY. */
int weft__format_merge_take_threads(struct weft__merge *m, struct weft__merged_part *part);
/* Copies what has changed in the part's buffers. */
void weft__format_merge_copy_buffers(struct weft__merge *m, const struct weft__merged_part *part);
/* Makes the names of domains of Xen's own trace, when all parts have their buffers. 0 or
 * WEFT_ERROR_MEMORY. */
int weft__format_merge_name_domains(struct weft__merge *m);
/* Makes the parts of the description that may change with each event. 0 or WEFT_ERROR_MEMORY. */
int weft__format_merge_describe(struct weft__merge *m);
void weft__format_merge_finish_tables(struct weft__merge *m);

#endif
