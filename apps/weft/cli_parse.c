/* SPDX-License-Identifier: ISC
 *
 * Times, sizes, numbers and themes of the command line: exact, in integers, with messages that say
 * what would be right.
 */
#include "cli.h"

#include <string.h>

/* A decimal number scaled to an integer; digits finer than 1/scale are dropped. */
static const char *parse_decimal(const char *text, uint64_t scale, bool *ret_fits, uint64_t *ret)
{
	uint64_t value = 0, digit_scale = scale;
	bool fits = true, after_point = false, any = false;
	for (;; text++) {
		if (*text == '.' && !after_point) {
			after_point = true;
			continue;
		}
		if (*text < '0' || *text > '9')
			break;
		any = true;
		uint64_t add = (uint64_t)(*text - '0');
		if (after_point) {
			digit_scale /= 10;
			add *= digit_scale;
		} else {
			add *= scale;
			fits = fits && !__builtin_mul_overflow(value, 10, &value);
		}
		fits = fits && !__builtin_add_overflow(value, add, &value);
	}
	*ret_fits = fits;
	*ret = value;
	return any ? text : NULL;
}

static bool parse_span(const char *text, uint64_t *ret_ns, const char **ret_problem)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{"ns", 1},
		{"us", 1000},
		{"µs", 1000},
		{"ms", 1000000},
		{"s", 1000000000},
	};
	bool fits;
	uint64_t value;
	const char *unit = parse_decimal(text, 1, &fits, &value);
	*ret_problem = "is not a time";
	if (!unit)
		return false;
	if (!*unit)
		*ret_problem = "has no unit";
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(unit, units[i].name) != 0)
			continue;
		parse_decimal(text, units[i].ns, &fits, &value);
		*ret_problem = "is too long";
		*ret_ns = value;
		return fits;
	}
	return false;
}

bool cli_parse_time(
	const char *command, const char *option, const char *text, struct cli_time *ret_time)
{
	struct cli_time time = {.is_absolute = text[0] == '@'};
	const char *problem = "is not a time";
	bool good;
	if (time.is_absolute) {
		const char *end = parse_decimal(text + 1, 1, &good, &time.ns);
		good = good && end && !*end && !strchr(text, '.');
	} else {
		good = parse_span(text, &time.ns, &problem);
	}
	if (good)
		*ret_time = time;
	else
		cli_usage_error(command,
			"%s: \"%s\" %s; write 12ms, 1.5s, 300us or 40ns from the trace's start,"
			" or @N for N ns on the trace's clock",
			option, text, problem);
	return good;
}

bool cli_parse_duration(const char *command, const char *option, const char *text, uint64_t *ret_ns)
{
	const char *problem;
	bool good = parse_span(text, ret_ns, &problem);
	if (!good)
		cli_usage_error(
			command, "%s: \"%s\" %s; write 12ms, 1.5s, 300us or 40ns", option, text, problem);
	return good;
}

bool cli_parse_size(const char *command, const char *option, const char *text, uint64_t *ret_bytes)
{
	static const char suffixes[] = "KMG";
	bool fits;
	uint64_t value;
	const char *suffix = parse_decimal(text, 1, &fits, &value);
	bool good = suffix && fits && !strchr(text, '.');
	if (good && *suffix) {
		const char *found = strchr(suffixes, *suffix);
		unsigned shift = found ? 10 * (unsigned)(found - suffixes + 1) : 0;
		good = found && !suffix[1] && value <= UINT64_MAX >> shift;
		value <<= good ? shift : 0;
	}
	if (good)
		*ret_bytes = value;
	else
		cli_usage_error(command,
			"%s: \"%s\" is not a size; write bytes, or K, M, G for powers of 1024", option, text);
	return good;
}

bool cli_parse_number(const char *command, const char *option, const char *text, uint64_t least,
	uint64_t most, uint64_t *ret_number)
{
	bool fits;
	uint64_t value;
	const char *end = parse_decimal(text, 1, &fits, &value);
	bool good = end && !*end && fits && !strchr(text, '.') && value >= least && value <= most;
	if (good)
		*ret_number = value;
	else
		cli_usage_error(command, "%s: \"%s\" is not a whole number from %llu to %llu", option, text,
			(unsigned long long)least, (unsigned long long)most);
	return good;
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
	for (unsigned theme = 0; theme < WEFT_THEMES; theme++)
		if (strcmp(name, weft_theme_name((enum weft_theme)theme)) == 0) {
			*ret_theme = (enum weft_theme)theme;
			return true;
		}
	cli_usage_error(
		command, "--theme: \"%s\" is no theme; there are light, dark, safe and safe-dark", name);
	return false;
}
