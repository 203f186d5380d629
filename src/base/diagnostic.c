/* SPDX-License-Identifier: ISC
 *
 * Diagnostics are counted by message, so that a damaged gigabyte gives one line instead of a
 * million.
 */
#include <weft/diagnostic.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <weft/duration.h>

#include "base/diagnostics.h"
#include "base/export.h"

static void add_diagnostic(struct weft_diagnostics *list, const struct weft_diagnostic *more)
{
	for (size_t i = 0; i < list->count; i++) {
		struct weft_diagnostic *known = &list->list[i];
		if (known->message == more->message || strcmp(known->message, more->message) == 0) {
			known->count += more->count;
			known->amount_ns += more->amount_ns;
			if (more->offset < known->offset)
				known->offset = more->offset;
			return;
		}
	}
	if (list->count == WEFT_DIAGNOSTICS_MAX)
		return; /* more literals than entries: a bug that test_base would find */
	list->list[list->count++] = *more;
}

WEFT__EXPORT void weft_diagnostics_add(
	struct weft_diagnostics *list, uint64_t offset, const char *message)
{
	add_diagnostic(list, &(struct weft_diagnostic){message, offset, 1, 0});
}

WEFT__EXPORT void weft_diagnostics_add_ns(
	struct weft_diagnostics *list, uint64_t offset, const char *message, uint64_t amount_ns)
{
	add_diagnostic(list, &(struct weft_diagnostic){message, offset, 1, amount_ns});
}

WEFT__EXPORT size_t weft_diagnostic_format(
	const struct weft_diagnostic *diagnostic, char *text, size_t size)
{
	char amount[32] = "";
	if (diagnostic->amount_ns)
		weft_format_duration(diagnostic->amount_ns, 4, amount);
	int length = snprintf(text, size, "%s%s%s (×%" PRIu64 ")", diagnostic->message,
		amount[0] ? ": " : "", amount, diagnostic->count);
	return length > 0 ? (size_t)length : 0;
}

void weft__diagnostics_move(struct weft_diagnostics *from, struct weft_diagnostics *to)
{
	for (size_t i = 0; i < from->count; i++)
		add_diagnostic(to, &from->list[i]);
	from->count = 0;
}
