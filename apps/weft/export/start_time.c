/* SPDX-License-Identifier: ISC */
#include "start_time.h"

#include <ctype.h>
#include <string.h>
#include <time.h>

#define NS_PER_S UINT64_C(1000000000)

/* Reads so many digits; NULL if there are fewer. */
static const char *digits(const char *text, int count, int *ret_number)
{
	*ret_number = 0;
	for (; count > 0; count--, text++) {
		if (!isdigit((unsigned char)*text))
			return NULL;
		*ret_number = 10 * *ret_number + (*text - '0');
	}
	return text;
}

/* Reads numbers as a pattern has them: "4-2" is four digits, a hyphen, two digits. */
static const char *numbers(const char *text, const char *pattern, int *ret_numbers)
{
	for (; text && *pattern; pattern++) {
		if (isdigit((unsigned char)*pattern))
			text = digits(text, *pattern - '0', ret_numbers++);
		else
			text = *text == *pattern ? text + 1 : NULL;
	}
	return text;
}

static const char *fraction(const char *text, uint64_t *ret_ns)
{
	uint64_t unit = NS_PER_S / 10;
	*ret_ns = 0;
	if (*text != '.')
		return text;
	if (!isdigit((unsigned char)*++text))
		return NULL;
	for (; isdigit((unsigned char)*text); text++, unit /= 10)
		*ret_ns += unit * (uint64_t)(*text - '0');
	return text;
}

/* "Z" or "+01:00": seconds east of Greenwich. */
static const char *zone(const char *text, int *ret_seconds)
{
	int parts[2] = {0, 0};
	const char sign = *text;
	*ret_seconds = 0;
	if (sign == 'Z')
		return text + 1;
	text = sign == '+' || sign == '-' ? numbers(text + 1, "2:2", parts) : NULL;
	*ret_seconds = (sign == '-' ? -60 : 60) * (60 * parts[0] + parts[1]);
	return text;
}

static bool parse(const char *text, uint64_t *ret_ns)
{
	int n[6], east;
	uint64_t ns;
	text = numbers(text, "4-2-2T2:2:2", n);
	text = text ? fraction(text, &ns) : NULL;
	text = text ? zone(text, &east) : NULL;
	if (!text || *text || n[0] < 1970 || n[1] < 1 || n[1] > 12 || n[2] < 1 || n[2] > 31 ||
		n[3] > 23 || n[4] > 59 || n[5] > 60)
		return false;
	struct tm parts = {.tm_year = n[0] - 1900,
		.tm_mon = n[1] - 1,
		.tm_mday = n[2],
		.tm_hour = n[3],
		.tm_min = n[4],
		.tm_sec = n[5]};
	const time_t seconds = timegm(&parts);
	/* A 31st of April has become the 1st of May. The year 2554 is the last one in 64 bits. */
	if (parts.tm_mday != n[2] || seconds < east ||
		(uint64_t)(seconds - east) > UINT64_MAX / NS_PER_S - 1)
		return false;
	*ret_ns = (uint64_t)(seconds - east) * NS_PER_S + ns;
	return true;
}

bool export_parse_start_time(const char *command, const char *text, uint64_t *ret_ns)
{
	if (parse(text, ret_ns))
		return true;
	cli_usage_error(
		command, "--start-time: '%s' is not a time such as 2026-11-29T14:37:40.5Z", text);
	return false;
}

bool export_find_offset(const struct cli_trace *trace, const struct weft_model *model,
	uint64_t start_ns, int64_t *ret_offset_ns)
{
	const bool knows = model->clock.epoch == WEFT_EPOCH_UNIX || model->clock.offset_ns != 0;
	if (knows && start_ns) {
		cli_error(
			"%s has times of day of its own; --start-time is for traces that do not", trace->name);
		return false;
	}
	if (!knows && !start_ns) {
		cli_error("%s does not say at which time of day it was recorded; --start-time "
				  "2026-11-29T14:37:40Z sets when it begins",
			trace->name);
		return false;
	}
	*ret_offset_ns = knows ? model->clock.offset_ns : (int64_t)(start_ns - model->summary.start);
	return true;
}
