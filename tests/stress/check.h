/* SPDX-License-Identifier: ISC
 *
 * Checks that readers get the events that were written: intact, in order, of the right thread; and
 * that together with the losses these are all events.
 */
#ifndef WEFT_TESTS_STRESS_CHECK_H
#define WEFT_TESTS_STRESS_CHECK_H

#include "round.h"

struct weft_decoder;

/* Checks a copy of a buffer that was made while threads recorded: the number of its events and
 * losses is between `least` and `most`. */
void check_copy(const struct round *round, const void *copy, uint64_t least, uint64_t most);

/* Checks the buffers when no thread writes any more. Returns the number of events that could be
 * read. */
uint64_t check_end(const struct round *round);

/* Follows the first buffer to its end, which may be set by a kill. */
void follow(const struct round *round);

/* Copies the buffer again and again until the round is over. */
void copy_often(const struct round *round);

#endif
