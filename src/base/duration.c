/* SPDX-License-Identifier: ISC
 *
 * Lengths of time as people read them.
 */
#include <weft/duration.h>

#include <stdio.h>

#include "base/export.h"

WEFT__EXPORT void weft_format_duration(uint64_t ns, unsigned digits, char text[32])
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	double value = (double)ns;
	unsigned unit = 0;
	while (unit < 3 && value >= 999.5) {
		value /= 1000;
		unit++;
	}
	unsigned before = value < 9.9995 ? 1 : value < 99.995 ? 2 : 3;
	int decimals = unit == 0 || digits <= before ? 0 : (int)(digits - before);
	snprintf(text, 32, "%.*f", decimals, value);
	size_t length = 0, point = 0;
	for (; text[length]; length++)
		if (text[length] == '.' || text[length] == ',') {
			text[length] = '.'; /* whatever the locale */
			point = length;
		}
	while (point && (text[length - 1] == '0' || text[length - 1] == '.'))
		if (text[--length] == '.')
			break;
	snprintf(text + length, 32 - length, " %s", units[unit]);
}
