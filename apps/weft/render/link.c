/* SPDX-License-Identifier: ISC
 *
 * Checks a link of `weft render --view` as far as that is possible without the trace: a page shows
 * everything for one that it does not understand, and says nothing.
 */
#include "link.h"

#include <stdbool.h>
#include <string.h>

#include <weft/parse.h>

static bool is_escape(const char *at)
{
	uint64_t byte;
	return strnlen(at, 3) == 3 && weft_parse_hexadecimal(at + 1, 2, &byte) == WEFT_PARSE_OK;
}

/* The byte that the page sees there, and how long it is in the link. */
static char byte_at(const char *at, size_t *ret_size)
{
	uint64_t byte;
	*ret_size = *at == '%' ? 3 : 1;
	if (*at != '%')
		return *at == '&' ? ' ' : *at;
	weft_parse_hexadecimal(at + 1, 2, &byte);
	return byte == '&' ? ' ' : (char)byte;
}

/* Copies the next part, cut if it is long, and returns where it ends. */
static const char *take_part(const char *at, char ret_part[16], bool *ret_has_value)
{
	size_t used = 0, size;
	*ret_has_value = false;
	for (char byte; *at && (byte = byte_at(at, &size)) != ' '; at += size) {
		*ret_has_value |= byte == '=' && used > 0;
		if (used < 15)
			ret_part[used++] = byte;
	}
	ret_part[used] = '\0';
	return at;
}

const char *render_link_mistake(const char *link, size_t *ret_at)
{
	const char *hash = strchr(link, '#'), *at = hash ? hash + 1 : link;
	char part[16];
	bool has_value;
	size_t size;
	for (const char *percent = at; (percent = strchr(percent, '%')); percent += 3)
		if (!is_escape(percent)) {
			*ret_at = (size_t)(percent - link);
			return "two hexadecimal digits are expected behind %";
		}
	*ret_at = (size_t)(at - link);
	at = take_part(at, part, &has_value);
	/* A server's link begins with the trace, which the page has. */
	if (strncmp(part, "trace=", 6) == 0 && *at) {
		byte_at(at, &size);
		at = take_part(at + size, part, &has_value);
	}
	if (strcmp(part, "view") != 0 && strcmp(part, "fit") != 0)
		return "view is expected, as in '#view&start=12ms&duration=3ms'";
	while (*at) {
		byte_at(at, &size);
		at += size;
		*ret_at = (size_t)(at - link);
		at = take_part(at, part, &has_value);
		if (part[0] && !has_value)
			return "a part such as start=12ms is expected";
	}
	return NULL;
}
