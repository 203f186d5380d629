/* SPDX-License-Identifier: ISC
 *
 * The key of the hash tables that hold a trace's ids and texts.
 *
 * Without a secret key, a hostile trace can choose ids and texts that collide in a table, so that
 * opening it takes hours. weft_source_open(), weft_follow_open() and the other functions that open
 * a trace draw a random key when the first of them is called. A program that feeds a decoder with
 * bytes of its own calls weft_seed_hashes() once, with 16 random bytes, before it makes a decoder.
 * Results do not depend on the key. Any thread may call.
 */
#ifndef WEFT_SEED_H
#define WEFT_SEED_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sets the key of tables that are made from now on. */
void weft_seed_hashes(const uint32_t key[4]);

#ifdef __cplusplus
}
#endif
#endif
