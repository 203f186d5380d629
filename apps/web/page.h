/* SPDX-License-Identifier: ISC
 *
 * What the files of the page's WebAssembly share. There is one viewer in a worker, so its state is
 * the module's.
 */
#ifndef WEFT_APPS_WEB_PAGE_H
#define WEFT_APPS_WEB_PAGE_H

#include <weft/viewer.h>

/* What the worker calls by its name. */
#define PAGE_EXPORT(name) __attribute__((export_name(#name))) name

/* What the worker gives. */
#define PAGE_IMPORT(name) __attribute__((import_module("page"), import_name(#name))) name

extern struct weft_viewer *page_viewer;
extern const struct weft_font page_font;

/* A viewer of the trace that is called as page_text() says, in place of the one before. */
int page_create(uint32_t theme, uint32_t reduced_motion, uint32_t is_touched);

/* Text that the worker has written for the call under way; with a NUL. */
const char *page_text(void);

#endif
