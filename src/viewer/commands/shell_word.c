/* SPDX-License-Identifier: ISC
 *
 * Quotes words of a copied shell command. A word may come from a trace, a link or the name of a
 * file, and a terminal takes control characters that are pasted as keys: ^C and Enter would run
 * what follows. So such characters are written as escapes, in $'…', which bash, ksh and zsh read.
 */
#include <string.h>

#include "base/utf8.h"
#include "viewer/commands/commands.h"

static size_t take_character(const char *word, size_t size, bool *ret_is_shown)
{
	uint32_t character;
	bool is_valid;
	size_t length = weft__utf8_decode(word, size, &character, &is_valid);
	*ret_is_shown = is_valid && !weft__utf8_is_dangerous(character);
	return length;
}

static bool is_shown(const char *word, size_t size)
{
	bool all = true;
	for (size_t at = 0; all && at < size;)
		at += take_character(word + at, size - at, &all);
	return all;
}

/* Three octal digits for each byte: no digit that follows can join them. */
static void add_octal(struct weft_text *text, const char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		unsigned byte = (unsigned char)bytes[i];
		const char escape[] = {
			'\\', (char)('0' + byte / 64), (char)('0' + byte / 8 % 8), (char)('0' + byte % 8)};
		weft_text_add(text, escape, sizeof(escape));
	}
}

static void add_escaped(struct weft_text *text, const char *word, size_t size)
{
	weft_text_add_string(text, "$'");
	for (size_t at = 0, length; at < size; at += length) {
		bool shown;
		length = take_character(word + at, size - at, &shown);
		if (!shown || word[at] == '\'' || word[at] == '\\')
			add_octal(text, word + at, length);
		else
			weft_text_add(text, word + at, length);
	}
	weft_text_add_string(text, "'");
}

void weft__viewer_add_shell_word(struct weft_text *text, const char *word)
{
	size_t size = strlen(word);
	if (!is_shown(word, size)) {
		add_escaped(text, word, size);
		return;
	}
	weft_text_add_string(text, "'");
	for (size_t i = 0; i < size; i++)
		if (word[i] == '\'')
			weft_text_add_string(text, "'\\''");
		else
			weft_text_add(text, &word[i], 1);
	weft_text_add_string(text, "'");
}
