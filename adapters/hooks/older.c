/* SPDX-License-Identifier: ISC
 *
 * A program may bring a libweft that is older than these adapters. It runs with that one, so they
 * need no symbol that older libraries lack: those that came later are weak, and the levels
 * of categories that are off are their own.
 */
#include <weft/weft.h>

__attribute__((visibility("hidden"))) const uint8_t weft__levels_off[WEFT__COUNTING_AT + 1] = {0};
