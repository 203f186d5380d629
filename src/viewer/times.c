/* SPDX-License-Identifier: ISC
 *
 * Times as on the command line: "12.5ms" from the trace's start, "@123" on its clock. They are
 * exact integers, so that a link restores the exact view.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <weft/parse.h>

#include "viewer/state.h"

/* The units of written times. */
static const struct unit {
	const char *name;
	uint64_t ns;
} units[] = {
	{"ns", 1},
	{"us", 1000},
	{"ms", 1000000},
	{"s", 1000000000},
};

static const char *explain(enum weft_parse problem)
{
	switch (problem) {
	case WEFT_PARSE_OK:
		return NULL;
	case WEFT_PARSE_NO_UNIT:
		return "a unit is missing: ns, us, ms, s or min";
	case WEFT_PARSE_UNIT:
		return "the unit is ns, us, ms, s or min";
	case WEFT_PARSE_TOO_LARGE:
		return "that is too long";
	case WEFT_PARSE_NO_NUMBER:
		break;
	}
	return "write a time like 12ms, 1.5s, 300us or 40ns";
}

const char *weft__viewer_parse_duration(const char *text, uint64_t *ret_ns)
{
	while (*text == ' ')
		text++;
	return explain(weft_parse_duration(text, strlen(text), ret_ns));
}

const char *weft__viewer_parse_time(const char *text, uint64_t trace_start, uint64_t *ret_time)
{
	uint64_t ns;
	if (text[0] == '@') {
		if (weft_parse_number(text + 1, strlen(text + 1), &ns) != WEFT_PARSE_OK)
			return "write a whole number of nanoseconds after @";
		*ret_time = ns;
		return NULL;
	}
	const char *problem = weft__viewer_parse_duration(text, &ns);
	if (!problem)
		*ret_time = ns > UINT64_MAX - trace_start ? UINT64_MAX : trace_start + ns;
	return problem;
}

void weft__viewer_write_duration(uint64_t ns, char text[32])
{
	const struct unit *unit = &units[0];
	for (size_t i = 1; i < sizeof(units) / sizeof(units[0]); i++)
		if (ns >= units[i].ns)
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
