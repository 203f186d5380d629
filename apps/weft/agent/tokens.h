/* SPDX-License-Identifier: ISC
 *
 * Tokens that are bound to labels: they give access to the series that have these labels, and to
 * nothing else. A line of their file is a token and its labels:
 *
 *     8d0e55a1c2f94b7d customer=acme pool=eu
 */
#ifndef WEFT_APPS_AGENT_TOKENS_H
#define WEFT_APPS_AGENT_TOKENS_H

#include "serve/serve.h"

struct agent_token {
	struct serve_guard guard; /* its token alone */
	char *line;               /* has the labels */
	const char **labels;      /* "KEY=VALUE", at least one */
	size_t label_count;
};

struct agent_tokens {
	struct agent_token *list;
	size_t count;
};

/* False after a message. The caller calls finish in any case. */
bool agent_tokens_read(const char *file, struct agent_tokens *ret);
void agent_tokens_finish(struct agent_tokens *tokens);

/* The token in an Authorization header, or NULL. */
const struct agent_token *agent_tokens_find(
	const struct agent_tokens *tokens, const char *authorization);

#endif
