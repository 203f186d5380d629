/* SPDX-License-Identifier: ISC
 *
 * Shared by the files of the page's WebAssembly module. A worker has one viewer, so the state is
 * global.
 */
#ifndef WEFT_APPS_WEB_PAGE_H
#define WEFT_APPS_WEB_PAGE_H

#include <weft/viewer.h>

/* A function that the worker calls by its name. */
#define PAGE_EXPORT(name) __attribute__((export_name(#name))) name

/* A function that the worker provides. */
#define PAGE_IMPORT(name) __attribute__((import_module("page"), import_name(#name))) name

extern struct weft_viewer *page_viewer;
extern const struct weft_font page_font;
extern uint64_t page_shown_ns; /* the time of the last event that is shown */

/* Creates a viewer for the trace named by page_text(), replacing the one before. */
int page_create(uint32_t theme, uint32_t reduced_motion, uint32_t is_touched, uint32_t has_wasd,
	uint32_t has_list);

/* The text that the worker has written for this call; NUL-terminated. */
const char *page_text(void);

/* Says to the builder that the trace which is loaded is a part, if it is. */
void page_part_set(struct weft_model_builder *builder);

/* px of the letters whose widths the worker measures. */
#define PAGE_EM 100

#endif
