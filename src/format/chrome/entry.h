/* SPDX-License-Identifier: ISC
 *
 * One object of the list of events, and its texts without escapes.
 */
#ifndef WEFT_FORMAT_CHROME_ENTRY_H
#define WEFT_FORMAT_CHROME_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/event.h>

#include "format/json/json.h"

/* Memory for the texts of one object at a time. It is taken when the object begins, so that texts
 * stay where they are. */
struct weft__chrome_texts {
	char *bytes;
	size_t capacity, used;
};

/* Which tasks an id distinguishes. */
enum weft__chrome_id_type {
	WEFT__CHROME_ID_NONE,
	WEFT__CHROME_ID_OF_PROCESS, /* "id" or "id2":{"local":…} */
	WEFT__CHROME_ID_GLOBAL,     /* "id2":{"global":…} */
};

/* A pid or tid: a number, or by some programs a name. */
struct weft__chrome_who {
	struct weft_slice text; /* size 0: it is missing */
	bool is_name;
};

struct weft__chrome_entry {
	uint64_t offset;
	char phase; /* 0: it is missing */
	bool has_time, has_duration;
	bool flows_in, flows_out;
	uint8_t id_type; /* enum weft__chrome_id_type */
	int64_t time_ns, duration_ns;
	struct weft_slice name, category, id, scope, bind_id;
	struct weft__chrome_who pid, tid;
	struct weft__json_value args; /* an object, or of type null */
	struct weft__json_value weft; /* what weft itself wrote into it; or of type null */
};

/* Reads the members. 0 or WEFT_ERROR_MEMORY; the texts are valid until the next call. */
int weft__format_chrome_read(struct weft__chrome_texts *texts,
	const struct weft__json_value *object, struct weft__chrome_entry *ret_entry);

/* A string of the object that was read last, without escapes. */
struct weft_slice weft__format_chrome_text(
	struct weft__chrome_texts *texts, const struct weft__json_value *value);

/* The texts with `between` between them, or only the first one if memory was not enough. */
struct weft_slice weft__format_chrome_join(struct weft__chrome_texts *texts,
	struct weft_slice first, const char *between, struct weft_slice second);

#endif
