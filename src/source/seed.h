/* SPDX-License-Identifier: ISC
 *
 * The random key of the process's hash tables.
 */
#ifndef WEFT_SOURCE_SEED_H
#define WEFT_SOURCE_SEED_H

/* Draws the key at its first call. weft_source_open() and all functions that open a live buffer
 * call it, so that decoders created later use the key. */
void weft__source_seed_hashes_once(void);

#endif
