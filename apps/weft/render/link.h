/* SPDX-License-Identifier: ISC
 *
 * The links of views in a page.
 */
#ifndef WEFT_APPS_RENDER_LINK_H
#define WEFT_APPS_RENDER_LINK_H

#include <stddef.h>

/* NULL if it is the link of a view; else what is expected, and at which byte. */
const char *render_link_mistake(const char *link, size_t *ret_at);

#endif
