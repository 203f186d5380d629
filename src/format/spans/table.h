/* SPDX-License-Identifier: ISC
 *
 * All spans of a file, found in one pass: which programs they are of, and which is below which.
 */
#ifndef WEFT_FORMAT_SPANS_TABLE_H
#define WEFT_FORMAT_SPANS_TABLE_H

#include "base/index.h"
#include "base/strings.h"
#include "format/format.h"
#include "format/order.h"
#include "format/spans/view.h"

#define WEFT__SPANS_NONE UINT32_MAX

struct weft__spans_row {
	uint64_t trace[2], id, parent;
	uint64_t start_ns;
	uint64_t offset; /* of its object */
	uint32_t buffer;
	bool is_zipkin, is_shared;
};

/* An event or a link of a span. */
struct weft__spans_item {
	uint64_t offset; /* of its object */
	uint32_t row;
	uint32_t other; /* of a link: the row that it leads to; WEFT__SPANS_NONE: the file lacks it */
	bool is_link;
};

/* In the offset of a position: the number of a row, which begins or ends, or of an item. */
#define WEFT__SPANS_BEGIN            (UINT64_C(0) << 62)
#define WEFT__SPANS_END              (UINT64_C(1) << 62)
#define WEFT__SPANS_ITEM             (UINT64_C(2) << 62)
#define WEFT__SPANS_TYPE             (UINT64_C(3) << 62)
#define WEFT__SPANS_NUMBER(position) ((uint32_t)(position)->offset)

/* A program: its name, host and process id are interned together. */
struct weft__spans_program {
	uint32_t name, host; /* strings */
	uint64_t pid;
};

struct weft__spans_table {
	struct weft_slice text; /* the file */
	struct weft_diagnostics *diagnostics;
	struct weft__spans_row *rows;
	uint32_t row_count;
	size_t row_capacity;
	struct weft__spans_item *items;
	uint32_t item_count;
	size_t item_capacity;
	struct weft__order order;
	struct weft__index index; /* of rows, by their ids */
	struct weft__strings strings;
	struct weft__strings programs; /* the bytes of each struct weft__spans_program */
	int error;
};

/* True if the bytes look like spans. */
bool weft__format_spans_probe(const uint8_t *bytes, size_t size);

/* 0 or an error; the caller calls finish in any case. */
int weft__format_spans_table_init(struct weft__spans_table *table, const struct weft__input *input);
void weft__format_spans_table_finish(struct weft__spans_table *table);

/* The span around a span: the server's side of a call is below the client's, which has the same id.
 * WEFT__SPANS_NONE: the file has none. */
uint32_t weft__format_spans_parent(const struct weft__spans_table *table, uint32_t row);

/* The program that is buffer `number`. */
struct weft__spans_program weft__format_spans_program(
	const struct weft__spans_table *table, uint32_t number);

#endif
