/* SPDX-License-Identifier: ISC
 *
 * Public option structs begin with their size, so that a program that was built with an older
 * header, whose struct has fewer members, works with this library: the missing members are 0, which
 * is the default of each.
 *
 *     struct weft_x_options options;
 *     WEFT__OPTIONS_COPY(&options, given);
 */
#ifndef WEFT_BASE_OPTIONS_H
#define WEFT_BASE_OPTIONS_H

#include <stddef.h>
#include <string.h>

/* `from` begins with its size; 0 stands for `own_size`. */
static inline void weft__options_copy(void *to, size_t own_size, const void *from)
{
	size_t size;
	memcpy(&size, from, sizeof(size));
	memset(to, 0, own_size);
	memcpy(to, from, size && size < own_size ? size : own_size);
}

#define WEFT__OPTIONS_COPY(to, from) weft__options_copy(to, sizeof(*(to)), from)

#endif
