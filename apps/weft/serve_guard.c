/* SPDX-License-Identifier: ISC
 *
 * What requests say of themselves is taken apart here, without a system and without memory of its
 * own. Each answer is for one header line, as it came.
 */
#include "serve.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

bool serve_guard_init(struct serve_guard *guard, bool has_token)
{
	static const char digits[] = "0123456789abcdef";
	unsigned char random[SERVE_TOKEN_BYTES / 2];
	*guard = (struct serve_guard){.has_token = has_token};
	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return false;
	for (size_t i = 0; i < sizeof(random); i++) {
		guard->token[2 * i] = digits[random[i] >> 4];
		guard->token[2 * i + 1] = digits[random[i] & 15];
	}
	return true;
}

/* Every byte is looked at, whatever those before it were. */
static bool is_token(const struct serve_guard *guard, const char *token, size_t size)
{
	volatile unsigned char difference = 0;
	if (size != SERVE_TOKEN_BYTES)
		return false;
	for (size_t i = 0; i < SERVE_TOKEN_BYTES; i++)
		difference |= (unsigned char)(token[i] ^ guard->token[i]);
	return difference == 0;
}

bool serve_guard_is_token(const struct serve_guard *guard, const char *token)
{
	return token && is_token(guard, token, strlen(token));
}

bool serve_guard_has_cookie(const struct serve_guard *guard, const char *cookies)
{
	char name[32];
	int size = snprintf(name, sizeof(name), "weft-%u=", guard->port);
	while (cookies && *cookies) {
		cookies += strspn(cookies, "; ");
		size_t length = strcspn(cookies, ";");
		if (strncmp(cookies, name, (size_t)size) == 0 &&
			is_token(guard, cookies + size, length - (size_t)size))
			return true;
		cookies += length;
	}
	return false;
}

bool serve_guard_is_host(const struct serve_guard *guard, const char *host)
{
	static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};
	char port[8];
	if (guard->has_token)
		return true; /* a name of somebody else's has no cookie of ours */
	snprintf(port, sizeof(port), ":%u", guard->port);
	for (size_t i = 0; host && i < sizeof(names) / sizeof(*names); i++) {
		size_t length = strlen(names[i]);
		if (strncasecmp(host, names[i], length) == 0 &&
			(strcmp(host + length, port) == 0 || (guard->port == 80 && !host[length])))
			return true;
	}
	return false;
}

/* Digits, at least one; false also if there are too many for a size. */
static bool take_number(const char **at, uint64_t *ret_number)
{
	uint64_t number = 0;
	const char *start = *at;
	for (; **at >= '0' && **at <= '9'; ++*at)
		if (__builtin_mul_overflow(number, 10, &number) ||
			__builtin_add_overflow(number, (uint64_t)(**at - '0'), &number))
			return false;
	*ret_number = number;
	return *at > start;
}

enum serve_range serve_guard_range(
	const char *header, uint64_t size, uint64_t *ret_first, uint64_t *ret_count)
{
	static const char unit[] = "bytes=";
	uint64_t first = 0, last = UINT64_MAX;
	if (!header || strncasecmp(header, unit, sizeof(unit) - 1) != 0)
		return SERVE_RANGE_ALL;
	const char *at = header + sizeof(unit) - 1;
	bool has_first = take_number(&at, &first);
	if (*at++ != '-')
		return SERVE_RANGE_ALL;
	bool has_last = take_number(&at, &last);
	if (*at || (!has_first && !has_last) || (has_first && has_last && last < first))
		return SERVE_RANGE_ALL; /* also several ranges */
	if (!has_first) {           /* so many at the end */
		if (last == 0)
			return SERVE_RANGE_NONE;
		first = last < size ? size - last : 0;
		has_last = false;
	}
	if (first >= size)
		return SERVE_RANGE_NONE;
	*ret_first = first;
	*ret_count = has_last && last < size - 1 ? last - first + 1 : size - first;
	return SERVE_RANGE_PART;
}
