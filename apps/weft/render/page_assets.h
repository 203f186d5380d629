/* SPDX-License-Identifier: ISC
 *
 * The viewer's page, built from apps/web into this program. If clang's WebAssembly target was
 * missing at build time, WEFT_HAS_PAGE is 0 and these are not defined.
 */
#ifndef WEFT_APPS_PAGE_ASSETS_H
#define WEFT_APPS_PAGE_ASSETS_H

#include <stddef.h>

struct page_asset {
	const char *name, *type; /* "weft.js", "text/javascript; charset=utf-8" */
	const unsigned char *bytes;
	size_t size;
};

/* The files for a server: index.html, style.css, weft.js, worker.js, weft.wasm; the last entry has
 * no name. */
extern const struct page_asset page_assets[];

/* The page as one file, in pieces: the title, the options as JSON and the trace go in between. */
enum {
	PAGE_PIECES = 4
};
extern const struct page_asset page_pieces[PAGE_PIECES];

#endif
