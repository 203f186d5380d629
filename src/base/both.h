/* SPDX-License-Identifier: ISC
 *
 * Runs two functions that share no data, at the same time if the caller provides a second thread.
 */
#ifndef WEFT_BASE_BOTH_H
#define WEFT_BASE_BOTH_H

#include <stddef.h>

#include <weft/help.h>

/* `help` NULL: runs one after the other. */
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
