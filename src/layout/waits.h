/* SPDX-License-Identifier: ISC
 *
 * The promises that have no row, because they lie in a wait of the task that created them.
 */
#ifndef WEFT_LAYOUT_WAITS_H
#define WEFT_LAYOUT_WAITS_H

#include <weft/layout.h>

/* The one of them for which a task waits at a time; or WEFT_NONE. */
uint32_t weft__layout_wait_at(const struct weft_layout *layout, uint32_t task, uint64_t time);

#endif
