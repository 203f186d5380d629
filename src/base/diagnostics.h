/* SPDX-License-Identifier: ISC
 *
 * Merges the diagnostics of two threads.
 */
#ifndef WEFT_BASE_DIAGNOSTICS_H
#define WEFT_BASE_DIAGNOSTICS_H

#include <weft/diagnostic.h>

/* Adds all of `from` to `to`; `from` is empty then. */
void weft__diagnostics_move(struct weft_diagnostics *from, struct weft_diagnostics *to);

#endif
