/* SPDX-License-Identifier: ISC
 *
 * Times as the command line writes them: "12.5ms" from the trace's start, "@123" on its clock.
 * Exact, in integers, so that a link leads where it was copied.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "viewer/state.h"

static const struct unit {
	const char *name;
	uint64_t ns;
} units[] = {
	{"ns", 1},
	{"us", 1000},
	{"\xc2\xb5s", 1000},
	{"ms", 1000000},
	{"s", 1000000000},
};

/* Digits with a point at most; digits finer than 1/scale are dropped. Where it ends, or NULL. */
static const char *parse_decimal(const char *text, uint64_t scale, uint64_t *ret_value)
{
	uint64_t value = 0, share = scale;
	bool after_point = false, any = false;
	for (;; text++) {
		if (*text == '.' && !after_point) {
			after_point = true;
			continue;
		}
		if (*text < '0' || *text > '9')
			break;
		uint64_t digit = (uint64_t)(*text - '0');
		any = true;
		share = after_point ? share / 10 : share;
		if (!after_point && value > (UINT64_MAX - 9 * scale) / 10)
			return NULL;
		if (after_point && value > UINT64_MAX - digit * share)
			return NULL;
		value = after_point ? value + digit * share : value * 10 + digit * scale;
	}
	*ret_value = value;
	return any ? text : NULL;
}

const char *weft__parse_duration(const char *text, uint64_t *ret_ns)
{
	uint64_t value;
	while (*text == ' ')
		text++;
	const char *unit = parse_decimal(text, 1, &value);
	if (!unit)
		return "write a time like 12ms, 1.5s, 300us or 40ns";
	while (*unit == ' ')
		unit++;
	if (!*unit)
		return "a unit is missing: ns, us, ms or s";
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(unit, units[i].name) == 0)
			return parse_decimal(text, units[i].ns, ret_ns) ? NULL : "that is too long";
	return "the unit is ns, us, ms or s";
}

const char *weft__parse_time(const char *text, uint64_t trace_start, uint64_t *ret_time)
{
	uint64_t ns;
	if (text[0] == '@') {
		const char *end = parse_decimal(text + 1, 1, &ns);
		if (!end || *end || strchr(text, '.'))
			return "after @ stands a whole number of nanoseconds";
		*ret_time = ns;
		return NULL;
	}
	const char *problem = weft__parse_duration(text, &ns);
	if (!problem)
		*ret_time = ns > UINT64_MAX - trace_start ? UINT64_MAX : trace_start + ns;
	return problem;
}

void weft__write_duration(uint64_t ns, char text[32])
{
	const struct unit *unit = &units[0];
	for (size_t i = 1; i < sizeof(units) / sizeof(units[0]); i++)
		if (i != 2 && ns >= units[i].ns)
			unit = &units[i];
	uint64_t fraction = ns % unit->ns;
	unsigned digits = 0;
	for (uint64_t scale = unit->ns; scale > 1; scale /= 10)
		digits++;
	if (fraction == 0) {
		snprintf(text, 32, "%" PRIu64 "%s", ns / unit->ns, unit->name);
		return;
	}
	for (; fraction % 10 == 0; digits--)
		fraction /= 10;
	snprintf(
		text, 32, "%" PRIu64 ".%0*" PRIu64 "%s", ns / unit->ns, (int)digits, fraction, unit->name);
}
