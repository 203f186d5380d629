/* SPDX-License-Identifier: ISC
 *
 * Formats durations for people.
 */
#include <weft/duration.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/export.h"
#include "base/number.h"

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
	char number[WEFT__NUMBER_BYTES];
	size_t length = strlen(weft__number_fixed(value, decimals, number));
	bool has_point = strchr(number, '.') != NULL;
	while (has_point && (number[length - 1] == '0' || number[length - 1] == '.'))
		if (number[--length] == '.')
			break;
	snprintf(text, 32, "%.*s %s", (int)length, number, units[unit]);
}
