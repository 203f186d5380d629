/* SPDX-License-Identifier: ISC
 *
 * The fields of a line, as the files in /proc have them: separated by spaces or tabs. The line ends
 * at a newline or NUL.
 */
#ifndef WEFT_BASE_FIELD_H
#define WEFT_BASE_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <weft/parse.h>

/* The start of a field, counted from 0, and the number of its bytes: 0 if the line has fewer
 * fields. */
static inline const char *weft__field(const char *line, unsigned index, size_t *ret_size)
{
	line += strspn(line, " \t");
	for (; index; index--) {
		line += strcspn(line, " \t\n");
		line += strspn(line, " \t");
	}
	*ret_size = strcspn(line, " \t\n");
	return line;
}

/* True if the field is a decimal number of at most `most`. */
static inline bool weft__field_number(
	const char *line, unsigned index, uint64_t most, uint64_t *ret_number)
{
	size_t size;
	uint64_t number;
	const char *field = weft__field(line, index, &size);
	if (weft_parse_number(field, size, &number) != WEFT_PARSE_OK || number > most)
		return false;
	*ret_number = number;
	return true;
}

#endif
