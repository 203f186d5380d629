/* SPDX-License-Identifier: ISC
 *
 * Short forms of C++'s names, and of Rust's until 2025: "_ZN6server6acceptEi" is "server::accept".
 * Parameters, arguments of templates and anonymous namespaces are left out, for the names are
 * labels. The library's own demangler allocates.
 *
 * This is not left to readers: a label is bounded, and the names of libraries are longer than that
 * more often than their short forms are. C++'s (libstdc++, LLVM, protobuf, node): 2 to 18 %, and at
 * most 0.6 %; Rust's (cargo, rustc): 24 to 60 %, and at most 13 %.
 *
 * The format is that of the Itanium C++ ABI, section 5.1
 * (itanium-cxx-abi.github.io/cxx-abi/abi.html).
 */
#include <ctype.h>
#include <string.h>

#include "hooks/hooks.h"

/* A component of a nested name: its length in decimal, and as many letters. */
struct component {
	const char *name;
	size_t size;
};

static bool take_component(const char **at, struct component *ret)
{
	size_t size = 0;
	const char *it = *at;
	while (isdigit((unsigned char)*it) && size < SIZE_MAX / 16)
		size = size * 10 + (size_t)(*it++ - '0');
	if (size == 0 || strnlen(it, size) < size)
		return false;
	*ret = (struct component){it, size};
	*at = it + size;
	return true;
}

static bool begins_with(const struct component *it, const char *text)
{
	size_t size = strlen(text);
	return it->size >= size && memcmp(it->name, text, size) == 0;
}

/* Components that readers of the code never wrote: an anonymous namespace, versions of a library's
 * namespace, and the hash of a Rust name. */
static bool is_noise(const struct component *it)
{
	return begins_with(it, "_GLOBAL__N_") || begins_with(it, "__cxx11") || begins_with(it, "__1") ||
		   (it->size == 17 && it->name[0] == 'h');
}

static void append_component(
	struct weft__hooks_text *text, size_t begin, const struct component *it)
{
	if (is_noise(it))
		return;
	if (text->size > begin)
		weft__hooks_append(text, "::");
	weft__hooks_append_bytes(text, it->name, it->size);
}

/* The components from `at` on, up to the first thing that is none. */
static void append_components(struct weft__hooks_text *text, const char *at)
{
	size_t begin = text->size;
	bool is_nested = *at == 'N';
	struct component it, last = {"", 0};
	while (*at == 'N' || *at == 'K' || *at == 'V' || *at == 'L')
		at++;
	if (strncmp(at, "St", 2) == 0) {
		weft__hooks_append(text, "std");
		at += 2;
	}
	while (take_component(&at, &it)) {
		append_component(text, begin, &it);
		last = it;
		while (*at == 'L')
			at++;
		if (!is_nested)
			return;
	}
	if (*at == 'C')
		append_component(text, begin, &last);
	if (*at == 'D' && last.size)
		weft__hooks_append(text, "::~");
}

/* The thread of a std::thread that runs a lambda has the function in which that was written. */
static const char *find_lambda(const char *mangled)
{
	bool is_thread = strstr(mangled, "_State_impl") && strstr(mangled, "_M_run");
	const char *local = is_thread ? strstr(mangled, "JZ") : NULL;
	return local ? local + 1 : NULL;
}

void weft__hooks_append_demangled(struct weft__hooks_text *text, const char *name)
{
	if (weft__hooks_append_demangled_rust(text, name))
		return;
	size_t begin = text->size;
	const char *at = strncmp(name, "_Z", 2) == 0 ? name + 2 : NULL;
	const char *lambda = at ? find_lambda(at) : NULL;
	if (lambda)
		at = lambda;
	while (at && *at == 'Z')
		at++;
	if (at)
		append_components(text, at);
	if (lambda && text->size > begin)
		weft__hooks_append(text, "::{lambda}");
	if (text->size == begin)
		weft__hooks_append(text, name);
}
