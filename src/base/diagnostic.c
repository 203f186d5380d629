/* SPDX-License-Identifier: ISC
 *
 * Diagnostics are counted by message, so that a damaged gigabyte makes one line, not a million.
 */
#include <weft/diagnostic.h>

#include <string.h>

#include "base/export.h"

WEFT__EXPORT void weft_diagnostics_add(
	struct weft_diagnostics *list, uint64_t offset, const char *message)
{
	for (size_t i = 0; i < list->count; i++) {
		struct weft_diagnostic *known = &list->list[i];
		if (known->message == message || strcmp(known->message, message) == 0) {
			known->count++;
			if (offset < known->offset)
				known->offset = offset;
			return;
		}
	}
	if (list->count == WEFT_DIAGNOSTICS_MAX)
		return; /* more literals than places: a bug that test_base would show */
	list->list[list->count++] = (struct weft_diagnostic){message, offset, 1};
}
