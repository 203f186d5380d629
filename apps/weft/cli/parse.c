/* SPDX-License-Identifier: ISC
 *
 * Parses times, sizes, numbers and themes of the command line. Messages say what would be valid.
 */
#include "cli.h"

#include <getopt.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>

#include <weft/parse.h>

bool cli_read_uuid(const char *name, uint8_t ret_uuid[16])
{
	char path[64], text[40];
	snprintf(path, sizeof(path), "/proc/sys/kernel/random/%s", name);
	FILE *file = fopen(path, "re");
	size_t size = file ? fread(text, 1, sizeof(text), file) : 0;
	if (file)
		fclose(file);
	return weft_parse_uuid(text, size, ret_uuid);
}

static const char *describe_problem(enum weft_parse problem)
{
	switch (problem) {
	case WEFT_PARSE_NO_UNIT:
		return "has no unit";
	case WEFT_PARSE_TOO_LARGE:
		return "is too long";
	case WEFT_PARSE_OK:
	case WEFT_PARSE_NO_NUMBER:
	case WEFT_PARSE_UNIT:
		break;
	}
	return "is not a time";
}

bool cli_parse_time(
	const char *command, const char *option, const char *text, struct cli_time *ret_time)
{
	struct cli_time time = {.is_absolute = text[0] == '@'};
	enum weft_parse problem = time.is_absolute
								  ? weft_parse_number(text + 1, strlen(text + 1), &time.ns)
								  : weft_parse_duration(text, strlen(text), &time.ns);
	if (problem == WEFT_PARSE_OK)
		*ret_time = time;
	else
		cli_usage_error(command,
			"%s: \"%s\" %s; write 12ms, 1.5s, 300us or 40ns from the trace's start,"
			" or @N for N ns on the trace's clock",
			option, text, describe_problem(problem));
	return problem == WEFT_PARSE_OK;
}

bool cli_parse_duration(const char *command, const char *option, const char *text, uint64_t *ret_ns)
{
	enum weft_parse problem = weft_parse_duration(text, strlen(text), ret_ns);
	if (problem != WEFT_PARSE_OK)
		cli_usage_error(command, "%s: \"%s\" %s; write 12ms, 1.5s, 300us or 40ns", option, text,
			describe_problem(problem));
	return problem == WEFT_PARSE_OK;
}

bool cli_parse_size(const char *command, const char *option, const char *text, uint64_t *ret_bytes)
{
	enum weft_parse problem = weft_parse_size(text, strlen(text), ret_bytes);
	if (problem == WEFT_PARSE_TOO_LARGE)
		cli_usage_error(command, "%s: \"%s\" is more than 2^64 bytes", option, text);
	else if (problem != WEFT_PARSE_OK)
		cli_usage_error(command,
			"%s: \"%s\" is not a size; write bytes, or K, M, G for powers of 1024", option, text);
	return problem == WEFT_PARSE_OK;
}

bool cli_parse_whole(const char *command, uint64_t *ret_bytes)
{
	const uint64_t least = (uint64_t)1 << 20;
	if (!cli_parse_size(command, "--whole", optarg, ret_bytes))
		return false;
	if (*ret_bytes < least)
		cli_usage_error(command, "--whole must be 1M at least");
	return *ret_bytes >= least;
}

bool cli_parse_number(const char *command, const char *option, const char *text, uint64_t least,
	uint64_t most, uint64_t *ret_number)
{
	uint64_t value;
	bool good = weft_parse_number(text, strlen(text), &value) == WEFT_PARSE_OK && value >= least &&
				value <= most;
	if (good)
		*ret_number = value;
	else
		cli_usage_error(command, "%s: \"%s\" is not a whole number from %llu to %llu", option, text,
			(unsigned long long)least, (unsigned long long)most);
	return good;
}

bool cli_is_address(const char *text)
{
	const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST};
	struct addrinfo *found;
	if (getaddrinfo(text, NULL, &hints, &found) != 0)
		return false;
	freeaddrinfo(found);
	return true;
}

#define HZ_MIN 1000000
#define HZ_MAX 1000000000000

/* The factor of a unit: "", "k", "M" or "G", each perhaps with "Hz"; 0 for others. */
static uint64_t hz_unit(const char *text)
{
	uint64_t unit = 1;
	if (*text == 'k' || *text == 'K')
		unit = 1000;
	else if (*text == 'M')
		unit = 1000000;
	else if (*text == 'G')
		unit = 1000000000;
	text += unit > 1;
	return *text == '\0' || strcmp(text, "Hz") == 0 ? unit : 0;
}

/* Reads up to 12 digits, and the digits of a fraction as far as they matter. */
static bool read_hz(const char *text, uint64_t *ret_hz)
{
	size_t whole = strspn(text, "0123456789");
	uint64_t number = 0, scale = 1;
	if (whole == 0 || whole > 12)
		return false;
	for (size_t i = 0; i < whole; i++)
		number = 10 * number + (uint64_t)(text[i] - '0');
	text += whole;
	if (*text == '.')
		for (text++; *text >= '0' && *text <= '9'; text++)
			if (scale < 1000000000 && number < UINT64_C(1) << 40) {
				number = 10 * number + (uint64_t)(*text - '0');
				scale *= 10;
			}
	uint64_t unit = hz_unit(text);
	if (!unit || number / scale > HZ_MAX / unit)
		return false;
	*ret_hz = number / scale * unit + number % scale * unit / scale;
	return *ret_hz >= HZ_MIN && *ret_hz <= HZ_MAX;
}

bool cli_parse_hz(const char *command, const char *option, const char *text, uint64_t *ret_hz)
{
	if (read_hz(text, ret_hz))
		return true;
	cli_usage_error(command,
		"%s: \"%s\" is not a rate from 1 MHz to 1 THz; write 2596150000, 2596150k, 2596.15M or"
		" 2.59615G",
		option, text);
	return false;
}

uint64_t cli_time_on_clock(struct cli_time time, uint64_t start_ns)
{
	uint64_t sum;
	if (time.is_absolute)
		return time.ns;
	return __builtin_add_overflow(time.ns, start_ns, &sum) ? UINT64_MAX : sum;
}

bool cli_parse_theme(const char *command, const char *name, enum weft_theme *ret_theme)
{
	const char *names[WEFT_THEMES + 1] = {NULL};
	for (unsigned theme = 0; theme < WEFT_THEMES; theme++)
		names[theme] = weft_theme_name((enum weft_theme)theme);
	int chosen = cli_choose(command, "--theme:", name, names);
	*ret_theme = (enum weft_theme)chosen;
	return chosen >= 0;
}

/* Reads "ID", "BUFFER/ID" or either with "task:" before it. */
static bool read_task(const char *text, uint32_t *ret_buffer, weft_task_id *ret_id)
{
	uint64_t buffer = WEFT_NONE;
	if (strncmp(text, "task:", 5) == 0)
		text += 5;
	const char *slash = strchr(text, '/'), *id = slash ? slash + 1 : text;
	if (slash && (weft_parse_number(text, (size_t)(slash - text), &buffer) != WEFT_PARSE_OK ||
					 buffer >= WEFT_NONE))
		return false;
	*ret_buffer = (uint32_t)buffer;
	return weft_parse_number(id, strlen(id), ret_id) == WEFT_PARSE_OK;
}

bool cli_parse_task(const char *command, const char *option, const char *text, uint32_t *ret_buffer,
	weft_task_id *ret_id)
{
	if (read_task(text, ret_buffer, ret_id))
		return true;
	cli_usage_error(command, "%s: \"%s\" is not a task; write ID or BUFFER/ID", option, text);
	return false;
}

uint32_t cli_find_task(const struct weft_model *model, uint32_t buffer, weft_task_id id)
{
	uint32_t task = weft_model_find_task(model, buffer == WEFT_NONE ? 0 : buffer, id);
	for (uint32_t i = 1; buffer == WEFT_NONE && task == WEFT_NONE && i < model->buffer_count; i++)
		task = weft_model_find_task(model, i, id);
	return task;
}

uint32_t cli_find_task_by_id(const struct weft_model *model, const char *text)
{
	uint32_t buffer;
	weft_task_id id;
	return read_task(text, &buffer, &id) ? cli_find_task(model, buffer, id) : WEFT_NONE;
}
