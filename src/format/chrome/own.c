/* SPDX-License-Identifier: ISC
 *
 * Events that `weft export --to chrome` wrote have their fields as in `weft dump --json`, so that
 * they are the same again.
 */
#include "format/chrome/reader.h"

#include "format/chrome/number.h"

bool weft__format_chrome_is_own(const struct weft__chrome_reader *r)
{
	(void)r;
	return false;
}

void weft__format_chrome_read_own(struct weft__chrome_reader *r)
{
	(void)r;
}
