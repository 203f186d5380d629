/* SPDX-License-Identifier: ISC
 *
 * Where each task is drawn: simplified starts and parents, and rows. A function of the model and
 * options alone; O(n log n) in tasks, whatever their concurrency. The rules are docs/model.md's.
 *
 * A layout borrows its model, which must outlive it, and is read-only once created.
 */
#ifndef WEFT_LAYOUT_H
#define WEFT_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/model.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weft_layout_options {
	bool no_simplify; /* binds and their like start where they were created */
};

/* Columns are indexed by task, like the model's. */
struct weft_layout {
	const struct weft_model *model;
	uint32_t row_count;
	const uint64_t *start;  /* ns */
	const uint32_t *parent; /* task, or WEFT_NONE */
	const uint32_t *row;    /* 0 is the top */
	const bool *moved;      /* simplified: its creation line is hidden */
};

/* `options` may be NULL: the defaults. */
int weft_layout_create(const struct weft_model *model, const struct weft_layout_options *options,
	struct weft_layout **ret_layout);
void weft_layout_destroy(struct weft_layout *layout);

#ifdef __cplusplus
}
#endif
#endif
