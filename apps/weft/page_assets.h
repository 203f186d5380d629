/* SPDX-License-Identifier: ISC
 *
 * The viewer's page, built from apps/web into this program. Without clang's WebAssembly at build
 * time WEFT_HAS_PAGE is 0 and nothing of this is there.
 */
#ifndef WEFT_APPS_PAGE_ASSETS_H
#define WEFT_APPS_PAGE_ASSETS_H

#include <stddef.h>

struct page_asset {
	const char *name, *type; /* "weft.js", "text/javascript; charset=utf-8" */
	const unsigned char *bytes;
	size_t size;
};

/* What a server serves: index.html, style.css, weft.js, worker.js, weft.wasm; behind the last one
 * stands one without a name. */
extern const struct page_asset page_assets[];

/* The page as one file, in pieces: between them go the title, the options as JSON, the trace. */
enum {
	PAGE_PIECES = 4
};
extern const struct page_asset page_pieces[PAGE_PIECES];

#endif
