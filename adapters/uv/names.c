/* SPDX-License-Identifier: ISC
 *
 * Names of tasks of libuv.
 */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "uv/adapter.h"

/* ---- Errors ---- */

/* uv_strerror allocates for codes that it does not know. */
void weft__uv_append_error(struct weft__hooks_text *text, int status)
{
	switch (status) {
#define NAME(name, message)                               \
	case UV_##name:                                       \
		weft__hooks_append(text, message " (" #name ")"); \
		return;
		UV_ERRNO_MAP(NAME)
#undef NAME
	default:
		weft__hooks_append(text, "error ");
		weft__hooks_append_number(text, status);
	}
}

/* ---- Addresses ---- */

static void append_port(struct weft__hooks_text *text, in_port_t port)
{
	weft__hooks_append(text, ":");
	weft__hooks_append_number(text, ntohs(port));
}

static void append_ip4(struct weft__hooks_text *text, const unsigned char bytes[4])
{
	for (int i = 0; i < 4; i++) {
		weft__hooks_append(text, i ? "." : "");
		weft__hooks_append_number(text, bytes[i]);
	}
}

static void append_group(struct weft__hooks_text *text, unsigned group)
{
	char digit[2] = "";
	int shift = 12;
	while (shift > 0 && !(group >> shift))
		shift -= 4;
	for (; shift >= 0; shift -= 4) {
		digit[0] = "0123456789abcdef"[group >> shift & 15];
		weft__hooks_append(text, digit);
	}
}

/* The first of the longest run of groups that are 0, which is written as "::". */
static int longest_zeros(const unsigned groups[8], int *ret_count)
{
	int first = 0, best = 0;
	for (int i = 0, count = 0; i < 8; i++) {
		count = groups[i] ? 0 : count + 1;
		if (count > best) {
			best = count;
			first = i + 1 - count;
		}
	}
	*ret_count = best > 1 ? best : 0;
	return first;
}

static void append_ip6(struct weft__hooks_text *text, const unsigned char bytes[16])
{
	unsigned groups[8];
	for (int i = 0; i < 8; i++)
		groups[i] = (unsigned)bytes[2 * i] << 8 | bytes[2 * i + 1];
	int zeros, first = longest_zeros(groups, &zeros);
	weft__hooks_append(text, "[");
	for (int i = 0; i < 8; i++) {
		if (zeros && i == first) {
			weft__hooks_append(text, "::");
			i += zeros - 1;
			continue;
		}
		weft__hooks_append(text, i && !(zeros && i == first + zeros) ? ":" : "");
		append_group(text, groups[i]);
	}
	weft__hooks_append(text, "]");
}

/* A path; one in the abstract namespace begins with a NUL, which is written as @. */
static void append_path(
	struct weft__hooks_text *text, const struct sockaddr_un *address, size_t size)
{
	char path[sizeof(address->sun_path) + 1] = "";
	size -= offsetof(struct sockaddr_un, sun_path);
	memcpy(path, address->sun_path, size < sizeof(path) ? size : sizeof(path) - 1);
	if (path[0] == '\0')
		path[0] = '@';
	weft__hooks_append(text, path);
}

/* "127.0.0.1:80", "[::1]:80" or a path. */
static void append_address(
	struct weft__hooks_text *text, const struct sockaddr *address, socklen_t size)
{
	if (address->sa_family == AF_INET) {
		const struct sockaddr_in *ip4 = (const void *)address;
		append_ip4(text, (const unsigned char *)&ip4->sin_addr);
		append_port(text, ip4->sin_port);
	} else if (address->sa_family == AF_INET6) {
		const struct sockaddr_in6 *ip6 = (const void *)address;
		append_ip6(text, ip6->sin6_addr.s6_addr);
		append_port(text, ip6->sin6_port);
	} else if (address->sa_family == AF_UNIX && size > offsetof(struct sockaddr_un, sun_path)) {
		append_path(text, (const void *)address, size);
	}
}

/* The caller of a function that takes an address says nothing about its size: the family does.
 * libuv reads the family, and leaves the rest to the kernel. */
void weft__uv_append_destination(struct weft__hooks_text *text, const struct sockaddr *address)
{
	union {
		struct sockaddr any;
		struct sockaddr_in ip4;
		struct sockaddr_in6 ip6;
	} copy;
	if (!weft__hooks_copy(&copy.ip4, address, sizeof(copy.ip4)) || copy.any.sa_family == AF_UNIX)
		return;
	if (copy.any.sa_family != AF_INET6 || weft__hooks_copy(&copy.ip6, address, sizeof(copy.ip6)))
		append_address(text, &copy.any, sizeof(copy));
}

/* ---- Handles ---- */

const char *weft__uv_type_name(const uv_handle_t *handle)
{
	switch ((int)handle->type) {
#define NAME(upper, lower) \
	case UV_##upper:       \
		return #lower;
		UV_HANDLE_TYPE_MAP(NAME)
#undef NAME
	default:
		return "handle";
	}
}

void weft__uv_append_socket(struct weft__hooks_text *text, const char *word, int fd, bool is_own)
{
	struct sockaddr_storage storage;
	struct sockaddr *address = (struct sockaddr *)&storage;
	socklen_t size = sizeof(storage);
	weft__hooks_append(text, word);
	if (fd < 0 || (is_own ? getsockname : getpeername)(fd, address, &size) != 0)
		return;
	if (size <= sizeof(sa_family_t) || size > sizeof(storage)) /* no name, as pipes have */
		return;
	weft__hooks_append(text, " ");
	append_address(text, address, size);
}
