/* SPDX-License-Identifier: ISC
 *
 * The levels of calls and categories.
 */
#ifndef WEFT_LEVELS_H
#define WEFT_LEVELS_H

enum weft_level {
#define LEVEL(number, id, name) WEFT_LEVEL_##id = number,
#include <weft/levels.def>
#undef LEVEL
};

#define WEFT_LEVEL_MAX  5 /* of a call */
#define WEFT_LEVEL_LAST 6 /* of a category */

#endif
