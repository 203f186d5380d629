/* SPDX-License-Identifier: ISC
 *
 * Event loops that have ended by themselves (WEFT_TAG_LOOP_ENDED).
 */
#ifndef WEFT_STORY_LOOP_END_H
#define WEFT_STORY_LOOP_END_H

#include <weft/model.h>

/* True if the program's loop ended because it had nothing left to wait for. */
bool weft__story_loop_ended(const struct weft_model *model, uint32_t buffer);

#endif
