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
#include "symbols/demangle.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

void weft__symbols_add(struct weft__symbols_name *name, const char *bytes, size_t size)
{
	if (size > name->room - name->size)
		size = name->room - name->size;
	memcpy(name->bytes + name->size, bytes, size);
	name->size += size;
}

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

/* "h" and 16 hexadecimal digits, unlike "handle_connection". */
static bool is_hash(const struct component *it)
{
	size_t digits = 0;
	while (digits + 1 < it->size && isxdigit((unsigned char)it->name[digits + 1]))
		digits++;
	return it->size == 17 && it->name[0] == 'h' && digits == 16;
}

/* Components that readers of the code never wrote: an anonymous namespace, versions of a library's
 * namespace, and the hash of a Rust name. */
static bool is_noise(const struct component *it)
{
	return begins_with(it, "_GLOBAL__N_") || begins_with(it, "__cxx11") || begins_with(it, "__1") ||
		   is_hash(it);
}

/* The text for which the begin of a component of an older symbol of Rust stands, and its length;
 * NULL: it is a letter. */
static const char *find_escape(const char *at, size_t size, size_t *ret_size)
{
	static const char escapes[][2][12] = {{"_$u7b$$u7b$", "{"}, {"$u7d$$u7d$", "}"}, {"_$LT$", "<"},
		{"$LT$", "<"}, {"$GT$", ">"}, {"$RF$", "&"}, {"$BP$", "*"}, {"$LP$", "("}, {"$RP$", ")"},
		{"$C$", ","}, {"$u20$", " "}, {"$u7b$", "{"}, {"$u7d$", "}"}, {"..", "::"}};
	for (size_t i = 0; i < sizeof(escapes) / sizeof(*escapes); i++) {
		*ret_size = strlen(escapes[i][0]);
		if (size >= *ret_size && memcmp(at, escapes[i][0], *ret_size) == 0)
			return escapes[i][1];
	}
	*ret_size = 1;
	return NULL;
}

static void append_component(
	struct weft__symbols_name *name, size_t begin, const struct component *it)
{
	if (is_noise(it))
		return;
	if (name->size > begin)
		weft__symbols_add(name, "::", 2);
	for (size_t at = 0, size; at < it->size; at += size) {
		const char *text = find_escape(it->name + at, it->size - at, &size);
		weft__symbols_add(name, text ? text : it->name + at, text ? strlen(text) : 1);
	}
}

/* The components from `at` on, up to the first thing that is none. */
static void append_components(struct weft__symbols_name *name, const char *at)
{
	size_t begin = name->size;
	bool is_nested = *at == 'N';
	struct component it, last = {"", 0};
	while (*at == 'N' || *at == 'K' || *at == 'V' || *at == 'L')
		at++;
	if (strncmp(at, "St", 2) == 0) {
		weft__symbols_add(name, "std", 3);
		at += 2;
	}
	while (take_component(&at, &it)) {
		append_component(name, begin, &it);
		last = it;
		while (*at == 'L')
			at++;
		if (!is_nested)
			return;
	}
	if (*at == 'C')
		append_component(name, begin, &last);
	if (*at == 'D' && last.size)
		weft__symbols_add(name, "::~", 3);
}

/* The thread of a std::thread that runs a lambda has the function in which that was written. */
static const char *find_lambda(const char *mangled)
{
	bool is_thread = strstr(mangled, "_State_impl") && strstr(mangled, "_M_run");
	const char *local = is_thread ? strstr(mangled, "JZ") : NULL;
	return local ? local + 1 : NULL;
}

void weft__symbols_demangle(struct weft__symbols_name *name, const char *symbol)
{
	if (weft__symbols_demangle_rust(name, symbol))
		return;
	size_t begin = name->size;
	const char *at = strncmp(symbol, "_Z", 2) == 0 ? symbol + 2 : NULL;
	const char *lambda = at ? find_lambda(at) : NULL;
	if (lambda)
		at = lambda;
	while (at && *at == 'Z')
		at++;
	if (at)
		append_components(name, at);
	if (lambda && name->size > begin)
		weft__symbols_add(name, "::{lambda}", 10);
	if (name->size == begin)
		weft__symbols_add(name, symbol, strlen(symbol));
}
