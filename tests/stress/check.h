/* SPDX-License-Identifier: ISC
 *
 * What can be read must be what was written: whole, in order, each thread's its own; and with what
 * is counted as lost it must be all.
 */
#ifndef WEFT_TESTS_STRESS_CHECK_H
#define WEFT_TESTS_STRESS_CHECK_H

#include "round.h"

struct weft_decoder;

/* What a copy of a buffer, made meanwhile, has and counts lies between `least` and `most`. */
void check_copy(const struct round *round, const void *copy, uint64_t least, uint64_t most);

/* The buffers when nobody writes any more. Answers the events that could be read. */
uint64_t check_end(const struct round *round);

/* Follows the first buffer to its end, which may be set by a kill. */
void follow(const struct round *round);

/* Copies until the round is over. */
void copy_often(const struct round *round);

#endif
