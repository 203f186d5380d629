/* SPDX-License-Identifier: ISC
 *
 * Makes an HTML file with the viewer and a trace.
 */
#ifndef WEFT_APPS_PAGE_H
#define WEFT_APPS_PAGE_H

#include <stddef.h>
#include <stdint.h>

#include <weft/text.h>

struct page_file {
	const char *name;
	const void *bytes;
	size_t size;
};

struct page_content {
	const char *title;             /* the trace's name */
	const char *theme;             /* "dark" and so on; NULL: the theme of the user's system */
	const char *view;              /* a command of the viewer to run first; "" shows everything */
	const struct page_file *files; /* the trace: one file, or several that fit together */
	size_t file_count;
	const char *const *views; /* addresses or their ends, as the viewer copies them; or none */
	int view_count;
	uint64_t hz; /* the rate of the trace's cycles; 0: its own */
};

/* Appends the page; 0, WEFT_ERROR_MEMORY, or WEFT_ERROR_UNSUPPORTED if this build has no page. */
int page_write(const struct page_content *content, struct weft_text *text);

#endif
