/* SPDX-License-Identifier: ISC
 *
 * Guesses which command, option or value a mistyped word was meant to be.
 */
#include "cli.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

/* The distance of longer words is not computed: no option, command or value of weft is so long. */
#define LETTERS_MAX 24

/* The distances of one beginning of a from each beginning of b; [n] is for n letters. */
struct distances {
	unsigned d[LETTERS_MAX + 1];
};

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* The number of letters to insert, remove, replace or swap to turn a into b (optimal string
 * alignment). */
static unsigned distance(const char *a, size_t a_size, const char *b, size_t b_size)
{
	struct distances rows[LETTERS_MAX + 1];
	if (a_size > LETTERS_MAX || b_size > LETTERS_MAX)
		return LETTERS_MAX;
	for (size_t i = 0; i <= a_size; i++) {
		for (size_t j = 0; j <= b_size; j++) {
			unsigned best = (unsigned)(i + j);
			if (i && j)
				best = least(rows[i - 1].d[j - 1] + (a[i - 1] != b[j - 1]),
					least(rows[i - 1].d[j], rows[i].d[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				best = least(best, rows[i - 2].d[j - 2] + 1);
			rows[i].d[j] = best;
		}
	}
	return rows[a_size].d[b_size];
}

/* More changes than that are another word, not a typing mistake. */
static unsigned most_changes(size_t size)
{
	return size < 4 ? (unsigned)size / 2 : 2;
}

struct cli_guess cli_guess_begin(const char *typed, size_t size)
{
	return (struct cli_guess){typed, size, NULL, most_changes(size) + 1};
}

void cli_guess_try(struct cli_guess *guess, const char *name)
{
	size_t length = strlen(name);
	bool is_start =
		guess->size && guess->size < length && memcmp(guess->typed, name, guess->size) == 0;
	unsigned changes = is_start ? 0 : distance(guess->typed, guess->size, name, length);
	if (changes < guess->changes) {
		guess->changes = changes;
		guess->name = name;
	}
}

int cli_unknown_option(const char *command, const char *typed, const struct option *options)
{
	bool is_long = strncmp(typed, "--", 2) == 0;
	const char *word = typed + (is_long ? 2 : 1);
	struct cli_guess guess = cli_guess_begin(word, strcspn(word, "="));
	for (; options && options->name; options++)
		cli_guess_try(&guess, options->name);
	if (guess.name && (is_long || guess.size > 1))
		return cli_usage_error(
			command, "unknown option \"%s\"; did you mean \"--%s\"?", typed, guess.name);
	return cli_usage_error(command, "unknown option \"%s\"", typed);
}

int cli_unknown_value(
	const char *command, const char *what, const char *value, const char *const *names)
{
	struct cli_guess guess = cli_guess_begin(value, strlen(value));
	struct weft_text list = {0};
	for (size_t i = 0; names[i]; i++) {
		cli_guess_try(&guess, names[i]);
		weft_text_add_string(&list, i == 0 ? "" : names[i + 1] ? ", " : " or ");
		weft_text_add_string(&list, names[i]);
	}
	int status = cli_usage_error(command, "%s \"%s\" is unknown; use %.*s%s%s%s", what, value,
		(int)list.size, list.size ? list.bytes : "", guess.name ? " (did you mean " : "",
		guess.name ? guess.name : "", guess.name ? "?)" : "");
	weft_text_finish(&list);
	return status;
}

int cli_choose(const char *command, const char *what, const char *value, const char *const *names)
{
	for (int i = 0; names[i]; i++)
		if (strcmp(value, names[i]) == 0)
			return i;
	cli_unknown_value(command, what, value, names);
	return -1;
}
