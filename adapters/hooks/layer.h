/* SPDX-License-Identifier: ISC
 *
 * A layer is a function between a hook and its original, for work that does not belong to the
 * hook's adapter. NEXT in the hook finds the layer instead of the original.
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

/* Finds the original of a layer's function. Ends the process if there is none. errno stays. */
void *weft__hooks_below(struct weft__hooks_layer *layer);

/* Makes `function`, which has the type of `name`, its layer; BELOW(name) is the original. */
#define HOOKS_LAYER(name, function)                                                           \
	static __typeof__(name) function;                                                         \
	static struct weft__hooks_layer layer_##name __attribute__((used, section("weft_layers"), \
		aligned(sizeof(void *)))) = {#name, (void *)(function), NULL}
#define BELOW(name) ((__typeof__(name) *)weft__hooks_below(&layer_##name))

#endif
