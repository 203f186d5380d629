/* SPDX-License-Identifier: ISC
 *
 * Tokens that are bound to labels: they give access to the series that have these labels, and to
 * nothing else. A line of their file is a token and its labels:
 *
 *     8d0e55a1c2f94b7d customer=acme pool=eu
 */
#ifndef WEFT_APPS_SERVE_TOKENS_H
#define WEFT_APPS_SERVE_TOKENS_H

#include "serve.h"

struct serve_token {
	struct serve_guard guard; /* its token alone */
	char *line;               /* has the labels */
	const char **labels;      /* "KEY=VALUE", at least one */
	size_t label_count;
};

struct serve_tokens {
	struct serve_token *list;
	size_t count;
};

/* False after a message. The caller calls finish in any case. */
bool serve_tokens_read(const char *file, struct serve_tokens *ret);
void serve_tokens_finish(struct serve_tokens *tokens);

/* Says in which cookies the tokens are: one of this port. */
void serve_tokens_name_port(struct serve_tokens *tokens, uint16_t port);

/* The token in an Authorization header, or NULL. */
const struct serve_token *serve_tokens_find(
	const struct serve_tokens *tokens, const char *authorization);

#endif
