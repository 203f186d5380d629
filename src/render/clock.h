/* SPDX-License-Identifier: ISC
 *
 * Times of the day.
 */
#ifndef WEFT_RENDER_CLOCK_H
#define WEFT_RENDER_CLOCK_H

#include <stdint.h>

#include <weft/model.h>

/* ruler.c: a time of the day in UTC. */
void weft__render_format_clock(const struct weft_model *model, uint64_t time, char text[48]);

#endif
