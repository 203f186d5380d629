/* SPDX-License-Identifier: ISC
 *
 * Growing inputs, for the files of this folder.
 */
#ifndef WEFT_FOLLOW_GROWING_H
#define WEFT_FOLLOW_GROWING_H

#include <stdint.h>

struct weft_growing;
struct weft_guest;

/* Sleeps, at most for the shorter time. 0. */
int weft__follow_sleep(uint64_t timeout_ns, uint64_t most_ns);

/* pages.c: the events of a guest's pages with Mirage's CTF. 0 or an error. */
int weft__follow_grow_pages(struct weft_growing *growing, struct weft_guest *guest);

#endif
