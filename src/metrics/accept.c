/* SPDX-License-Identifier: ISC
 *
 * Chooses a format by the Accept header of a request (RFC 9110, section 12.5.1): the most specific
 * range that fits a format says how welcome it is.
 */
#include <string.h>
#include <strings.h>

#include "metrics/exposition.h"

/* How welcome a format is, in thousandths. */
struct welcome {
	unsigned specific; /* how specific the range was: 0 for none */
	unsigned quality;
};

struct range {
	const char *at;
	size_t size;
};

/* Cuts off what lies before the next separator. */
static struct range take_part(struct range *rest, char separator)
{
	const char *end = memchr(rest->at, separator, rest->size);
	struct range part = {rest->at, end ? (size_t)(end - rest->at) : rest->size};
	size_t used = part.size + (end != NULL);
	rest->at += used;
	rest->size -= used;
	for (; part.size && strchr(" \t", *part.at); part.at++)
		part.size--;
	while (part.size && strchr(" \t", part.at[part.size - 1]))
		part.size--;
	return part;
}

static bool is_text(struct range range, const char *text)
{
	return range.size == strlen(text) && strncasecmp(range.at, text, range.size) == 0;
}

static bool has_name(struct range range, const char *name)
{
	size_t size = strlen(name);
	return range.size > size && strncasecmp(range.at, name, size) == 0;
}

/* "0.75": at most three digits behind the point. Others count as 1. */
static unsigned parse_quality(struct range value)
{
	unsigned quality = 0, unit = 1000;
	if (!value.size || (value.at[0] != '0' && value.at[0] != '1'))
		return 1000;
	for (size_t i = 0; i < value.size && unit; i++) {
		if (i == 1 && value.at[i] == '.')
			continue;
		if (value.at[i] < '0' || value.at[i] > '9')
			return 1000;
		quality += unit * (unsigned)(value.at[i] - '0');
		unit /= 10;
	}
	return quality < 1000 ? quality : 1000;
}

/* A format: its type and those versions of it that its text is valid in. */
struct format {
	const char *type, *family;
	const char *versions[2];
};

static void welcome_format(const struct format *format, struct range range, struct welcome *welcome)
{
	struct range type = take_part(&range, ';');
	struct welcome it = {0, 1000};
	it.specific = is_text(type, format->type)     ? 3
				  : is_text(type, format->family) ? 2
				  : is_text(type, "*/*")          ? 1
												  : 0;
	if (!it.specific)
		return;
	while (range.size) {
		struct range parameter = take_part(&range, ';');
		struct range value = parameter;
		(void)take_part(&value, '=');
		if (has_name(parameter, "q="))
			it.quality = parse_quality(value);
		else if (has_name(parameter, "version=") && !is_text(value, format->versions[0]) &&
				 !is_text(value, format->versions[1]))
			return;
	}
	/* Several ranges of one kind: the best one. */
	if (it.specific > welcome->specific ||
		(it.specific == welcome->specific && it.quality > welcome->quality))
		*welcome = it;
}

bool weft__metrics_wants_openmetrics(const char *accept)
{
	static const struct format openmetrics = {
		"application/openmetrics-text", "application/*", {"1.0.0", "0.0.1"}};
	static const struct format text = {"text/plain", "text/*", {"0.0.4", "0.0.4"}};
	struct welcome of_openmetrics = {0, 0}, of_text = {0, 0};
	struct range rest = {accept ? accept : "", accept ? strlen(accept) : 0};
	while (rest.size) {
		struct range range = take_part(&rest, ',');
		welcome_format(&openmetrics, range, &of_openmetrics);
		welcome_format(&text, range, &of_text);
	}
	return of_openmetrics.specific == 3 && of_openmetrics.quality > 0 &&
		   of_openmetrics.quality >= of_text.quality;
}
