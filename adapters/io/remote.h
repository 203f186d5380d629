/* SPDX-License-Identifier: ISC
 *
 * Messages through connections between hosts. The two sides know the addresses, and how many bytes
 * were written or read before: the kernel counts them, however they were written. So each message
 * has a key of its own, and readers need not know which of two clocks is ahead.
 */
#ifndef WEFT_ADAPTERS_IO_REMOTE_H
#define WEFT_ADAPTERS_IO_REMOTE_H

#include <stdbool.h>
#include <stdint.h>

#include "io/descriptors.h"

/* The key of a direction of a connection, of which `what` is a hash; it is that of no message. */
static inline uint64_t weft__io_remote_direction(uint64_t what)
{
	return (uint64_t)WEFT__HOOKS_REMOTE << 56 | weft__hooks_mix(what) >> 8;
}

static inline bool weft__io_is_remote(uint64_t key)
{
	return key >> 56 == WEFT__HOOKS_REMOTE;
}

/* The key of the message that begins there. */
uint64_t weft__io_remote_key(uint64_t direction, uint64_t offset);

/* The bytes that the program has written so far. False if the kernel does not count them. */
bool weft__io_remote_written(int fd, uint64_t *ret_offset);

/* The bytes that the program has read so far, and whether there are more. False also while bytes
 * come in. */
bool weft__io_remote_read(int fd, uint64_t *ret_offset, bool *ret_has_more);

#endif
