/* SPDX-License-Identifier: ISC
 *
 * Operands that name a ring in memory: core:FILE and mem:PID, with @ADDRESS if there are several.
 */
#ifndef WEFT_RUNS_OPERAND_H
#define WEFT_RUNS_OPERAND_H

#include <stdbool.h>
#include <stdint.h>

/* True for such an operand, unless a file has that name. */
bool weft__runs_is_image(const char *operand);

/* Copies the ring into a file in memory, which only its owner may read. `max_bytes` limits what a
 * compressed file unpacks to, and the ring; 0: the usual limit. A descriptor, or -1 after a
 * report. */
int weft__runs_image_copy_named(const char *operand, uint64_t max_bytes);

#endif
