/* SPDX-License-Identifier: ISC
 *
 * The texts of error codes, from the list in error.h.
 */
#include <weft/error.h>

#include "base/export.h"

WEFT__EXPORT const char *weft_error_text(int code)
{
	switch (code) {
#define X(name, number, text) \
	case number:              \
		return text;
		WEFT_ERRORS(X)
#undef X
	default:
		return code >= 0 ? "success" : "unknown error";
	}
}
