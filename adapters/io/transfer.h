/* SPDX-License-Identifier: ISC
 *
 * Hooks of functions that read or write.
 */
#ifndef WEFT_ADAPTERS_IO_TRANSFER_H
#define WEFT_ADAPTERS_IO_TRANSFER_H

#include "io/call.h"
#include "io/loop.h"

/* Around a read or write that returns the number of bytes, or -1. `flags`: of recv or send, else 0.
 */
void weft__io_read_begin(struct weft__io_call *call, int fd, int flags, const char *name);
void weft__io_read_end(const struct weft__io_call *call, int64_t got);
void weft__io_write_begin(struct weft__io_call *call, int fd, int flags, const char *name);
void weft__io_write_end(const struct weft__io_call *call, int64_t put);

/* From one descriptor to another. */
void weft__io_move_begin(struct weft__io_call *call, int to, int from, const char *name);
void weft__io_move_end(const struct weft__io_call *call, int64_t put);

/* clang-format off */
/* A hook of a function that reads or writes `fd`. Recording, and the search for the original, are out of
 * line, so that the hook saves no registers while its level is off. */
#define WEFT__IO_HOOK(direction, fd, flags, type, name, parameters, arguments)     \
	static void *next_##name;                                                      \
	static __attribute__((noinline)) type record_##name parameters                 \
	{                                                                              \
		if (unlikely(!next_##name))                                                \
			weft__hooks_find(&next_##name, #name, NULL);                           \
		if (!HOOKS_RECORD)                                                         \
			return ((__typeof__(name) *)next_##name) arguments;                    \
		struct weft__io_call weft__call;                                           \
		weft__io_##direction##_begin(&weft__call, fd, flags, #name);               \
		type weft__result = ((__typeof__(name) *)next_##name) arguments;           \
		weft__io_##direction##_end(&weft__call, weft__result);                     \
		return weft__result;                                                       \
	}                                                                              \
	HOOK type name parameters                                                      \
	{                                                                              \
		void *next = __atomic_load_n(&next_##name, __ATOMIC_RELAXED);              \
		if (likely(!weft_enabled(WEFT_LEVEL_INFO) && next))                        \
			return ((__typeof__(name) *)next) arguments;                           \
		return record_##name arguments;                                            \
	}
/* clang-format on */

#endif
