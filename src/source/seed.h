/* SPDX-License-Identifier: ISC
 *
 * The random key of the process's hash tables.
 */
#ifndef WEFT_SOURCE_SEED_H
#define WEFT_SOURCE_SEED_H

/* Draws the key when it is first called, for weft_source_open() and all that opens a live buffer:
 * decoders that are created later have it. */
void weft__seed_hashes_once(void);

#endif
