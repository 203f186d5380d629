/* SPDX-License-Identifier: ISC
 *
 * Hooks of functions that read or write.
 */
#ifndef WEFT_ADAPTERS_IO_TRANSFER_H
#define WEFT_ADAPTERS_IO_TRANSFER_H

#include "io/call.h"
#include "io/hook.h"
#include "io/loop.h"

/* A flag beside those of recv and send: the result is a number of messages. */
#define WEFT__IO_MANY (1 << 28)

/* The same: the message may have descriptors for another process. */
#define WEFT__IO_MAY_HAND_ON (1 << 30)

/* Call these before and after a read or write, which returns the number of bytes (`got`, `put`) or
 * -1. `flags`: those of recv or send, else 0. `size`: the bytes to read or write; 0: unknown. */
void weft__io_read_begin(struct weft__io_call *call, int fd, int flags, const char *name);
void weft__io_read_end(const struct weft__io_call *call, int64_t got, size_t size, int flags);
void weft__io_write_begin(
	struct weft__io_call *call, int fd, int flags, size_t size, const char *name);
void weft__io_write_end(const struct weft__io_call *call, int64_t put, int flags);

/* The same for a call that moves bytes from one descriptor to another. */
void weft__io_move_begin(
	struct weft__io_call *call, int to, int from, size_t size, const char *name);
void weft__io_move_end(const struct weft__io_call *call, int64_t put, int from);

/* clang-format off */
/* A hook of a function that reads up to `size` bytes from `fd`, or looks at them. */
#define WEFT__IO_READ(fd, flags, size, type, name, parameters, arguments) \
	WEFT__IO_ENTRY(type, name, parameters, arguments)               \
	{                                                               \
		struct weft__io_call call;                                  \
		weft__io_read_begin(&call, fd, flags, #name);               \
		type weft__result = WEFT__IO_NEXT(name) arguments;          \
		weft__io_read_end(&call, weft__result, size, flags);        \
		return weft__result;                                        \
	}

/* A hook of a function that puts `size` bytes into `fd`. `verb`: "write"; or "move", from another
 * descriptor. `flags_or_from`: the flags of a write, or the other descriptor. */
#define WEFT__IO_PUT(verb, fd, flags_or_from, size, type, name, parameters, arguments) \
	WEFT__IO_ENTRY(type, name, parameters, arguments)                                  \
	{                                                                                  \
		struct weft__io_call call;                                                     \
		weft__io_##verb##_begin(&call, fd, flags_or_from, size, #name);                \
		type weft__result = WEFT__IO_NEXT(name) arguments;                             \
		weft__io_##verb##_end(&call, weft__result, flags_or_from);                     \
		return weft__result;                                                           \
	}
/* clang-format on */

#endif
