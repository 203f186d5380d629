/* SPDX-License-Identifier: ISC
 *
 * Two pieces of work that don't touch each other's data, at the same time if somebody helps.
 */
#ifndef WEFT_BASE_BOTH_H
#define WEFT_BASE_BOTH_H

#include <stddef.h>

#include <weft/help.h>

/* `help` may be NULL: in turn. */
static inline void weft__both(const struct weft_help *help, void (*first)(void *),
	void *first_argument, void (*second)(void *), void *second_argument)
{
	if (help) {
		help->both(help->context, first, first_argument, second, second_argument);
		return;
	}
	first(first_argument);
	second(second_argument);
}

#endif
