/* SPDX-License-Identifier: ISC
 *
 * Real numbers as text, see number.h. libc does the conversion, so the digits are right; the
 * locale's separator is then replaced by a point, or a point by that separator before libc reads
 * it.
 */
#include "base/number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The characters that printf may write for a number, not counting the separator: "-1e+06", "inf",
 * "nan". */
static const char other_letters[] = "+-0123456789einfa";

/* Replaces the locale's separator, which may be several bytes long. */
static void put_point(char *text)
{
	size_t start = strspn(text, other_letters), end = start;
	while (text[end] && !strchr(other_letters, text[end]))
		end++;
	if (start == end)
		return;
	text[start] = '.';
	memmove(text + start + 1, text + end, strlen(text + end) + 1);
}

const char *weft__number_fixed(double number, int decimals, char text[WEFT__NUMBER_BYTES])
{
	snprintf(text, WEFT__NUMBER_BYTES, "%.*f", decimals, number);
	put_point(text);
	return text;
}

const char *weft__number_general(double number, int digits, char text[WEFT__NUMBER_BYTES])
{
	snprintf(text, WEFT__NUMBER_BYTES, "%.*g", digits, number);
	put_point(text);
	return text;
}

double weft__number_parse(const char *text, const char **ret_end)
{
	/* As printf writes it here: "0", the separator, "5". */
	char half[16], copy[WEFT__NUMBER_BYTES];
	size_t length = strspn(text, "+-0123456789eE.");
	size_t before = strcspn(text, "."), separator;
	snprintf(half, sizeof(half), "%.1f", 0.5);
	separator = strlen(half) - 2;
	if (length >= sizeof(copy) - sizeof(half))
		length = sizeof(copy) - sizeof(half) - 1;
	if (before < length)
		snprintf(copy, sizeof(copy), "%.*s%.*s%.*s", (int)before, text, (int)separator, half + 1,
			(int)(length - before - 1), text + before + 1);
	else
		snprintf(copy, sizeof(copy), "%.*s", (int)length, text);
	char *end;
	double number = strtod(copy, &end);
	size_t used = (size_t)(end - copy);
	*ret_end = text + (used > before ? used - separator + 1 : used);
	return number;
}
