/* SPDX-License-Identifier: ISC
 *
 * The task for which an idle gap waited.
 */
#ifndef WEFT_STORY_AWAITED_H
#define WEFT_STORY_AWAITED_H

#include <weft/model.h>

/* The task that existed during the whole gap and ends first, soon after it: as far as the trace
 * shows, all waited for it. WEFT_NONE if there is none. */
uint32_t weft__story_awaited(const struct weft_model *model, uint64_t start, uint64_t end);

#endif
