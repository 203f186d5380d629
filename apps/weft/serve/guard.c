/* SPDX-License-Identifier: ISC
 *
 * Evaluates request headers without system calls and without memory of its own. Each function
 * evaluates one header, as it was received.
 */
#include "serve.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Compares every byte, so that the time does not depend on how many leading bytes are right. */
static bool is_token(const struct serve_guard *guard, const char *token, size_t size)
{
	volatile unsigned char difference = 0;
	if (size == 0 || size != strlen(guard->token))
		return false;
	for (size_t i = 0; i < size; i++)
		difference |= (unsigned char)(token[i] ^ guard->token[i]);
	return difference == 0;
}

bool serve_guard_is_token(const struct serve_guard *guard, const char *token)
{
	return token && is_token(guard, token, strlen(token));
}

bool serve_guard_has_bearer(const struct serve_guard *guard, const char *authorization)
{
	static const char scheme[] = "Bearer ";
	const size_t size = sizeof(scheme) - 1;
	return authorization && strncasecmp(authorization, scheme, size) == 0 &&
		   serve_guard_is_token(guard, authorization + size);
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

/* True if it is the name and the port, which may be left out if it is HTTP's default. */
static bool is_host(const struct serve_guard *guard, const char *host, const char *name)
{
	char port[8];
	const size_t length = strlen(name);
	snprintf(port, sizeof(port), ":%u", guard->port);
	return length && strncasecmp(host, name, length) == 0 &&
		   (strcmp(host + length, port) == 0 || (guard->port == 80 && !host[length]));
}

bool serve_guard_is_host(const struct serve_guard *guard, const char *host)
{
	if (!guard->is_loopback)
		return true;
	return host && (is_host(guard, host, "localhost") || is_host(guard, host, "127.0.0.1") ||
					   is_host(guard, host, "[::1]") || is_host(guard, host, guard->host));
}

bool serve_guard_is_origin(const char *origin, const char *host)
{
	static const char scheme[] = "http://", safe_scheme[] = "https://"; /* of a proxy before us */
	if (!origin)
		return true;
	if (strncasecmp(origin, scheme, sizeof(scheme) - 1) == 0)
		origin += sizeof(scheme) - 1;
	else if (strncasecmp(origin, safe_scheme, sizeof(safe_scheme) - 1) == 0)
		origin += sizeof(safe_scheme) - 1;
	else
		return false; /* "null", or a page that is not from the network */
	return host && strcasecmp(origin, host) == 0;
}

/* Parses at least one digit; false also if the number is too large. */
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
		return SERVE_RANGE_ALL; /* ignore invalid and multiple ranges */
	if (!has_first) {           /* a suffix of the content */
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
