/* SPDX-License-Identifier: ISC
 *
 * Prints the results of the search for expressions: for each line of `i|c|l EXPRESSION TEXT…`, all
 * but the letter in hexadecimal with a dot before it, prints 1 or 0 for each text, `E OFFSET`, or
 * `L` for an expression that is valid but too large. The letters are: ignore case, capitals matter,
 * literal.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pattern/pattern.h"

static int digit(char c)
{
	return c <= '9' ? c - '0' : c - 'a' + 10;
}

/* Turns ".616263" into "abc", where it is. */
static struct weft_slice decode(char *word)
{
	struct weft_slice slice = {word, 0};
	for (char *at = word + 1; at[0] && at[1]; at += 2)
		word[slice.size++] = (char)(digit(at[0]) << 4 | digit(at[1]));
	return slice;
}

static void answer(char *line)
{
	struct weft__pattern_options options = {
		.ignore_case = line[0] == 'i', .literal = line[0] == 'l'};
	struct weft__pattern_error error = {0};
	struct weft__pattern *pattern;
	char *word = strtok(line + 1, " \n");
	int status = weft__pattern_create(decode(word), &options, &error, &pattern);
	if (status) {
		if (strstr(error.message, "too large"))
			puts("L");
		else
			printf("E %zu\n", error.offset);
		return;
	}
	while ((word = strtok(NULL, " \n")))
		putchar(weft__pattern_matches(pattern, decode(word)) ? '1' : '0');
	putchar('\n');
	weft__pattern_destroy(pattern);
}

int main(void)
{
	static char line[1 << 20];
	while (fgets(line, sizeof(line), stdin))
		answer(line);
	return 0;
}
