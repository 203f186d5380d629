/* SPDX-License-Identifier: ISC
 *
 * Hooks of functions that programs call very often. The recording, and the search for an original
 * that is not known yet, are out of line. So the hook spills no registers while its level is off:
 * it is a test and a jump.
 *
 *     WEFT__IO_ENTRY(int, listen, (int fd, int most), (fd, most))
 *     {
 *         ... WEFT__IO_NEXT(listen)(fd, most) ...
 *     }
 *
 * The body runs only if HOOKS_RECORD is true. It also has `caller`, the return address of the call.
 */
#ifndef WEFT_ADAPTERS_IO_HOOK_H
#define WEFT_ADAPTERS_IO_HOOK_H

#define WEFT_CATEGORY io
#include "hooks/hooks.h"

#define WEFT__IO_NEXT(name) ((__typeof__(name) *)next_##name.found)

/* clang-format off */
#define WEFT__IO_ENTRY(type, name, parameters, arguments)                                       \
	HOOKS_ORIGINAL(next_##name, #name, NULL);                                                   \
	static type record_##name WEFT__IO_TAKE_CALLER parameters;                                  \
	static __attribute__((noinline)) type enter_##name WEFT__IO_TAKE_CALLER parameters          \
	{                                                                                           \
		if (unlikely(!__atomic_load_n(&next_##name.found, __ATOMIC_RELAXED)))                   \
			weft__hooks_find(&next_##name);                                                     \
		return HOOKS_RECORD ? record_##name WEFT__IO_PASS_CALLER arguments                      \
		                    : WEFT__IO_NEXT(name) arguments;                                    \
	}                                                                                           \
	HOOK(name) type name parameters                                                                   \
	{                                                                                           \
		const void *caller = __builtin_return_address(0);                                       \
		if (likely(!weft_enabled(WEFT_LEVEL_INFO) && __atomic_load_n(&next_##name.found, __ATOMIC_RELAXED))) \
			return WEFT__IO_NEXT(name) arguments;                                               \
		return enter_##name WEFT__IO_PASS_CALLER arguments;                                     \
	}                                                                                           \
	static type record_##name WEFT__IO_TAKE_CALLER parameters
#define WEFT__IO_TAKE_CALLER(...) (__attribute__((unused)) const void *caller, __VA_ARGS__)
#define WEFT__IO_PASS_CALLER(...) (caller, __VA_ARGS__)
/* clang-format on */

#endif
