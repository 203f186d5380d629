/* SPDX-License-Identifier: ISC
 *
 * See tokens.h. A line that is not understood is an error: it could give access to more than was
 * meant.
 */
#include "tokens.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "runs/message.h"

static const char blanks[] = " \t\r\n";

static bool add_label(struct serve_token *token, const char *label)
{
	const char **labels = realloc(token->labels, (token->label_count + 1) * sizeof(*labels));
	if (!labels)
		return false;
	labels[token->label_count++] = label;
	token->labels = labels;
	return true;
}

/* Takes a line, which it changes. NULL, or what is wrong. */
static const char *parse(struct serve_token *token, char *line)
{
	char *rest = NULL, *word = strtok_r(line, blanks, &rest);
	const size_t size = strlen(word);
	if (!serve_token_is_valid(word, size))
		return "the token has to be 16 to 128 letters, digits or -._~";
	memcpy(token->guard.token, word, size + 1);
	while ((word = strtok_r(NULL, blanks, &rest))) {
		const char *equals = strchr(word, '=');
		if (!equals || equals == word || !equals[1])
			return "behind the token are labels, such as customer=acme";
		if (!add_label(token, word))
			return "memory is short";
	}
	return token->label_count ? NULL : "the token has no label: it would see everything";
}

static const char *add(struct serve_tokens *tokens, const char *line)
{
	struct serve_token *list = realloc(tokens->list, (tokens->count + 1) * sizeof(*list));
	if (!list)
		return "memory is short";
	tokens->list = list;
	struct serve_token *token = &list[tokens->count];
	*token = (struct serve_token){.line = strdup(line)};
	if (!token->line)
		return "memory is short";
	tokens->count++;
	const char *wrong = parse(token, token->line);
	for (size_t i = 0; !wrong && i + 1 < tokens->count; i++)
		if (serve_guard_is_token(&list[i].guard, token->guard.token))
			wrong = "another line has the same token";
	return wrong;
}

static bool read_lines(FILE *file, const char *path, struct serve_tokens *tokens)
{
	char *line = NULL;
	const char *wrong = NULL;
	size_t capacity = 0;
	unsigned number = 0;
	for (ssize_t size; !wrong && (size = getline(&line, &capacity, file)) >= 0;) {
		const char *start = line + strspn(line, blanks);
		number++;
		if (strlen(line) != (size_t)size)
			wrong = "the line has a byte of value 0";
		else if (*start && *start != '#')
			wrong = add(tokens, start);
	}
	if (wrong)
		cli_error("--tokens: %s:%u: %s", weft__runs_shown(path), number, wrong);
	else if (ferror(file))
		cli_error("--tokens: %s: %s", weft__runs_shown(path), strerror(errno));
	bool good = !wrong && !ferror(file);
	free(line);
	return good;
}

bool serve_tokens_read(const char *path, struct serve_tokens *ret)
{
	*ret = (struct serve_tokens){0};
	FILE *file = fopen(path, "re");
	if (!file) {
		cli_error("--tokens: %s: %s", weft__runs_shown(path), strerror(errno));
		return false;
	}
	bool good =
		serve_token_is_private(fileno(file), "--tokens", path) && read_lines(file, path, ret);
	fclose(file);
	return good;
}

void serve_tokens_finish(struct serve_tokens *tokens)
{
	for (size_t i = 0; i < tokens->count; i++) {
		free(tokens->list[i].line);
		free(tokens->list[i].labels);
	}
	free(tokens->list);
	*tokens = (struct serve_tokens){0};
}

void serve_tokens_name_port(struct serve_tokens *tokens, uint16_t port)
{
	for (size_t i = 0; i < tokens->count; i++)
		tokens->list[i].guard.port = port;
}

/* Looks at all, so that the time does not depend on which it is. */
const struct serve_token *serve_tokens_find(
	const struct serve_tokens *tokens, const char *authorization)
{
	const struct serve_token *found = NULL;
	for (size_t i = 0; i < tokens->count; i++)
		if (serve_guard_has_bearer(&tokens->list[i].guard, authorization))
			found = &tokens->list[i];
	return found;
}
