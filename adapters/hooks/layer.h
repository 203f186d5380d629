/* SPDX-License-Identifier: ISC
 *
 * Functions between a hook and its original, for what does not belong to the hook's adapter: a hook
 * gets the layer from NEXT.
 *
 *     HOOKS_LAYER(execve, execute);
 *
 *     static int execute(const char *path, ...)
 *     {
 *         ... BELOW(execve)(path, ...) ...
 *     }
 */
#ifndef WEFT_ADAPTERS_LAYER_H
#define WEFT_ADAPTERS_LAYER_H

#include "hooks/hooks.h"

struct weft__hooks_layer {
	const char *name;
	void *function;
	void *original; /* found when this library is loaded, or earlier by a call */
};

/* The original of a layer's function. */
void *weft__hooks_below(struct weft__hooks_layer *layer);

#define HOOKS_LAYER(name, function)                                                           \
	static __typeof__(name) function;                                                         \
	static struct weft__hooks_layer layer_##name __attribute__((used, section("weft_layers"), \
		aligned(sizeof(void *)))) = {#name, (void *)(function), NULL}
#define BELOW(name) ((__typeof__(name) *)weft__hooks_below(&layer_##name))

#endif
