/* SPDX-License-Identifier: ISC
 *
 * SHA-256 (FIPS 180-4), for the chain of the ledger's entries.
 */
#ifndef WEFT_AGENT_SHA256_H
#define WEFT_AGENT_SHA256_H

#include <stddef.h>

/* The hash in hexadecimal, with a NUL. */
void weft__agent_sha256(const void *bytes, size_t size, char ret_hash[65]);

#endif
