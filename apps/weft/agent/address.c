/* SPDX-License-Identifier: ISC */
#include "http.h"

#include <stdio.h>
#include <string.h>

#include <weft/parse.h>

#include "cli/cli.h"

bool agent_split_address(const char *text, char ret_host[64], char ret_port[8])
{
	const char *colon = strrchr(text, ':');
	uint64_t number;
	if (!colon || weft_parse_number(colon + 1, strlen(colon + 1), &number) != WEFT_PARSE_OK ||
		number > UINT16_MAX)
		return false;
	const bool has_brackets = text[0] == '[' && colon > text && colon[-1] == ']';
	const int skipped = has_brackets ? 1 : 0;
	const int length = (int)(colon - text) - 2 * skipped;
	if (length >= 64 || (!has_brackets && memchr(text, ':', (size_t)(colon - text))))
		return false;
	snprintf(ret_host, 64, "%.*s", length, text + skipped);
	if (!length || strcmp(ret_host, "localhost") == 0)
		snprintf(ret_host, 64, "127.0.0.1");
	snprintf(ret_port, 8, "%u", (unsigned)number);
	return cli_is_address(ret_host);
}
