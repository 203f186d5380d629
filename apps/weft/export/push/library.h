/* SPDX-License-Identifier: ISC
 *
 * libcurl, which is loaded when something is pushed: it brings thirty libraries, which no other
 * command needs.
 */
#ifndef WEFT_APPS_EXPORT_PUSH_LIBRARY_H
#define WEFT_APPS_EXPORT_PUSH_LIBRARY_H

#include <stdbool.h>

#include <curl/curl.h>

/* clang-format off */
#define PUSH_FUNCTIONS(X) \
	X(easy_cleanup) \
	X(easy_getinfo) \
	X(easy_init) \
	X(easy_perform) \
	X(easy_setopt) \
	X(easy_strerror) \
	X(global_init) \
	X(slist_append) \
	X(slist_free_all) \
	X(url) \
	X(url_cleanup) \
	X(url_set)

struct push_library {
#define FUNCTION(name) __typeof__(curl_##name) *name;
	PUSH_FUNCTIONS(FUNCTION)
#undef FUNCTION
};
/* clang-format on */

extern struct push_library push_library;

/* Loads the library; false after a message. */
bool push_load_library(void);

#endif
