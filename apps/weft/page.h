/* SPDX-License-Identifier: ISC
 *
 * The viewer and a trace as one HTML file.
 */
#ifndef WEFT_APPS_PAGE_H
#define WEFT_APPS_PAGE_H

#include <stddef.h>

#include <weft/text.h>

struct page_content {
	const char *title; /* the trace's name */
	const char *theme; /* "dark" …; NULL: the reader's system says */
	const char *view;  /* what is shown first, as a command of the viewer; "" for everything */
	const void *bytes; /* of the trace */
	size_t size;
};

/* Appends the page; 0, WEFT_ERROR_MEMORY, or WEFT_ERROR_UNSUPPORTED if this build has none. */
int page_write(const struct page_content *content, struct weft_text *text);

#endif
