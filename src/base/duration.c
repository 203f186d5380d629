/* SPDX-License-Identifier: ISC
 *
 * Formats durations for people.
 */
#include <weft/duration.h>

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/export.h"
#include "base/number.h"

#define SECOND UINT64_C(1000000000)
/* From here on, seconds alone say little. */
#define LONG_NS (600 * SECOND)

/* Writes a number with so many decimals, but without zeros at its end. */
static void format_number(double value, int decimals, const char *unit, char *text, size_t size)
{
	char number[WEFT__NUMBER_BYTES];
	size_t length = strlen(weft__number_fixed(value, decimals, number));
	bool has_point = strchr(number, '.') != NULL;
	while (has_point && (number[length - 1] == '0' || number[length - 1] == '.'))
		if (number[--length] == '.')
			break;
	snprintf(text, size, "%.*s %s", (int)length, number, unit);
}

static void format_short(uint64_t ns, unsigned digits, char text[32])
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
	format_number(value, decimals, units[unit], text, 32);
}

static const struct part {
	const char *name;
	uint64_t ns;
} parts[] = {{"d", 86400 * SECOND}, {"h", 3600 * SECOND}, {"min", 60 * SECOND}, {"s", SECOND}};

enum {
	SECONDS = sizeof(parts) / sizeof(*parts) - 1
};

/* The least length of time that so many digits show. */
static uint64_t resolution(uint64_t ns, unsigned digits)
{
	for (unsigned i = 1; i < digits && ns >= 10; i++)
		ns /= 10;
	uint64_t power = 1;
	while (power <= ns / 10)
		power *= 10;
	return power;
}

/* The duration is rounded to its last part, or to decimals of a second. */
static void format_long(uint64_t ns, unsigned digits, char text[32])
{
	uint64_t step = resolution(ns, digits);
	unsigned last = SECONDS;
	int decimals = 0;
	size_t used = 0;
	while (last > 0 && parts[last - 1].ns <= step)
		last--;
	for (uint64_t fraction = SECOND; fraction > step; fraction /= 10)
		decimals++;
	step = decimals ? step : parts[last].ns;
	ns = (ns < UINT64_MAX - step / 2 ? ns + step / 2 : ns) / step * step;
	for (unsigned i = 0; i <= last && used < 32; i++) {
		const uint64_t rest = ns % parts[i].ns, count = ns / parts[i].ns;
		const char *space = used ? " " : "";
		if (i == SECONDS && rest) {
			text[used] = ' ';
			format_number((double)ns / 1e9, decimals, "s", text + used + 1, 32 - used - 1);
			return;
		}
		if (count)
			used += (size_t)snprintf(
				text + used, 32 - used, "%s%" PRIu64 " %s", space, count, parts[i].name);
		ns = rest;
	}
}

WEFT__EXPORT void weft_format_duration(uint64_t ns, unsigned digits, char text[32])
{
	if (ns >= LONG_NS)
		format_long(ns, digits, text);
	else
		format_short(ns, digits, text);
}
