/* SPDX-License-Identifier: ISC
 *
 * Node: has it load what records its promises.
 */
#ifndef WEFT_ADAPTERS_NODE_H
#define WEFT_ADAPTERS_NODE_H

#include <stdbool.h>

/* Before main, with its arguments. True if the program is node, and will load it. */
bool weft__hooks_node_begin(int count, char *const arguments[]);

#endif
