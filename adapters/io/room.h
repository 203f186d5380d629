/* SPDX-License-Identifier: ISC
 *
 * Whether a call about a descriptor will wait: the kernel is asked without waiting.
 */
#ifndef WEFT_ADAPTERS_IO_ROOM_H
#define WEFT_ADAPTERS_IO_ROOM_H

#include "io/call.h"

/* True if a read finds nothing, or a write of `size` bytes (0: unknown) no room or perhaps too
 * little. False for files, for calls of the direction SYNC, where many such waits have just been
 * recorded (but not at level debug), and if the kernel may not be asked. errno stays, and no thread
 * is cancelled here. */
bool weft__io_will_wait(
	struct weft__io_object *object, const struct weft__io_call *call, size_t size);

/* True if a call of open waits for the other side of a named pipe, perhaps for ever. False where
 * many such calls have just been made (but not at level debug), and if the kernel may not be asked.
 * errno stays. */
bool weft__io_is_named_pipe(int folder, const char *path, int flags);

/* Asks the kernel for the descriptor's mode. errno stays. */
bool weft__io_is_nonblocking(int fd);

#endif
