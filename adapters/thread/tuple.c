/* SPDX-License-Identifier: ISC
 *
 * libstdc++ stores the elements of a tuple in reverse order, each at the next multiple of its
 * alignment. So the function comes last, and where that is follows from the types of the arguments:
 *
 *     …St5tupleIJPFvicEicEE…    | table | char | int | function |
 *                                        8      12    16
 *
 * Types are read from the name of the class, so the object itself is not searched: nobody but its
 * allocator knows where it ends. The format is that of the Itanium C++ ABI, section 5.1.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "thread/tuple.h"

enum {
	WORD = sizeof(void *),
	DEPTH_MAX = 16, /* of types in types */
	KNOWN_MAX = 48,
	ELEMENTS_MAX = 16
};

static const char tuple[] = "St5tupleIJ";

struct name {
	const char *at;
	const char *known[KNOWN_MAX]; /* types, or the names with a part, to which "S3_" may refer */
	size_t known_count;
	const char *elements[ELEMENTS_MAX]; /* the types of the tuple */
	size_t element_count;
	int depth;
};

/* ---- Reading types ---- */

static bool read_type(struct name *name);

/* More than the name may refer to are not kept. */
static void know(struct name *name, const char *type)
{
	if (name->known_count < KNOWN_MAX)
		name->known[name->known_count] = type;
	name->known_count++;
}

static bool take_letter(struct name *name, char c)
{
	if (*name->at != c)
		return false;
	name->at++;
	return true;
}

/* Types up to the E that ends the list. */
static bool read_list(struct name *name, bool is_tuple)
{
	while (*name->at != 'E') {
		if (is_tuple && name->element_count < ELEMENTS_MAX)
			name->elements[name->element_count] = name->at;
		name->element_count += is_tuple;
		if (!read_type(name))
			return false;
	}
	return take_letter(name, 'E');
}

/* A name's length in decimal, and as many letters. */
static bool read_letters(struct name *name)
{
	size_t size = 0;
	while (isdigit((unsigned char)*name->at) && size < SIZE_MAX / 16)
		size = size * 10 + (size_t)(*name->at++ - '0');
	if (size == 0 || strnlen(name->at, size) < size)
		return false;
	name->at += size;
	return true;
}

/* "S_" is 0, "S0_" is 1, "SA_" is 11. */
static bool read_index(struct name *name, size_t *ret_index)
{
	size_t index = 0;
	bool is_first = true;
	for (; isdigit((unsigned char)*name->at) || isupper((unsigned char)*name->at); name->at++) {
		char c = *name->at;
		index = index * 36 + (size_t)(isdigit((unsigned char)c) ? c - '0' : c - 'A' + 10);
		is_first = false;
		if (index >= KNOWN_MAX)
			return false;
	}
	*ret_index = is_first ? 0 : index + 1;
	return take_letter(name, '_');
}

/* A component of a name, which one of the standard library's begins with "S". It is known from here
 * on, unless it has a short form already. */
static bool read_component(struct name *name, const char *type)
{
	size_t index;
	if (!take_letter(name, 'S')) {
		if (!read_letters(name))
			return false;
		know(name, type);
	} else if (take_letter(name, 't')) {
		if (!read_letters(name))
			return false;
		know(name, type);
	} else if (*name->at && strchr("absiod", *name->at)) {
		name->at++;
	} else if (!read_index(name, &index)) {
		return false;
	}
	return true;
}

/* Arguments of a template. */
static bool read_arguments(struct name *name, bool is_tuple, const char *type)
{
	if (is_tuple) {
		name->at++; /* the J of the tuple's list */
		if (!read_list(name, true) || !take_letter(name, 'E'))
			return false;
	} else if (!read_list(name, false)) {
		return false;
	}
	know(name, type);
	return true;
}

static bool read_name(struct name *name, const char *type)
{
	bool is_tuple = !name->element_count && strncmp(name->at, tuple, sizeof(tuple) - 1) == 0;
	if (!read_component(name, type))
		return false;
	return !take_letter(name, 'I') || read_arguments(name, is_tuple, type);
}

static bool read_nested(struct name *name, const char *type)
{
	while (*name->at == 'K' || *name->at == 'V')
		name->at++;
	while (*name->at != 'E')
		if (!read_name(name, type))
			return false;
	return take_letter(name, 'E');
}

/* Two types, of which a pointer to a member is made, or one. */
static bool read_types(struct name *name, int count, const char *type)
{
	while (count-- > 0)
		if (!read_type(name))
			return false;
	know(name, type);
	return true;
}

static bool read_other(struct name *name, const char *type)
{
	char c = *name->at++;
	switch (c) {
	case 'P':
	case 'R':
	case 'O':
		return read_types(name, 1, type);
	case 'K':
	case 'V':
		while (*name->at == 'K' || *name->at == 'V')
			name->at++;
		return read_types(name, 1, type);
	case 'M':
		return read_types(name, 2, type);
	case 'N':
		return read_nested(name, type);
	case 'J':
		return read_list(name, false);
	case 'F':
		if (!read_list(name, false))
			return false;
		know(name, type);
		return true;
	case 'D':
		if (strncmp(name->at, "oF", 2) == 0) { /* of a noexcept function */
			name->at += 2;
			if (!read_list(name, false))
				return false;
			know(name, type);
			return true;
		}
		return *name->at && strchr("nisuahfdec", *name->at++);
	default:
		return strchr("vwbcahstijlmxynofdegz", c);
	}
}

/* False for literals, expressions and local names, which are not read. */
static bool read_type(struct name *name)
{
	bool is_read = false;
	const char *type = name->at;
	if (!*type || ++name->depth > DEPTH_MAX)
		return false;
	if (isdigit((unsigned char)*type) || *type == 'S')
		is_read = read_name(name, type);
	else
		is_read = read_other(name, type);
	name->depth--;
	return is_read;
}

/* ---- Sizes ---- */

struct layout {
	const char *type; /* how the type's name begins */
	size_t size, alignment;
};

/* Classes are those of libstdc++'s that are often passed. */
static const struct layout layouts[] = {
	{"P", WORD, WORD},
	{"M", WORD, WORD}, /* but of a function: is_function */
	{"Dn", WORD, WORD},
	{"St17reference_wrapperI", WORD, WORD},
	{"St10shared_ptrI", 2 * WORD, WORD},
	{"NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE", 2 * WORD + 16, WORD},
	{"b", 1, 1},
	{"c", 1, 1},
	{"a", 1, 1},
	{"h", 1, 1},
	{"s", 2, 2},
	{"t", 2, 2},
	{"i", 4, 4},
	{"j", 4, 4},
	{"f", 4, 4},
	{"w", 4, 4},
	{"l", sizeof(long), sizeof(long)},
	{"m", sizeof(long), sizeof(long)},
	{"x", 8, _Alignof(long long)},
	{"y", 8, _Alignof(long long)},
	{"d", 8, _Alignof(double)},
};

/* The type to which "S3_" refers; NULL: none. */
static const char *resolve(const struct name *name, const char *type)
{
	struct name reference = {.at = type + 1};
	size_t index;
	if (*type != 'S' ||
		!(type[1] == '_' || isdigit((unsigned char)type[1]) || isupper((unsigned char)type[1])))
		return type;
	if (!read_index(&reference, &index) || index >= name->known_count || index >= KNOWN_MAX)
		return NULL;
	return name->known[index];
}

/* A pointer to a function, or to one that is a member: this has a second word. */
static bool is_function(const struct name *name, const char *type)
{
	struct name rest = {.at = type + 1};
	if (*type == 'M' && !read_type(&rest))
		return false;
	const char *it = resolve(name, rest.at);
	while (it && *it == 'K')
		it++;
	return it && (*it == 'F' || strncmp(it, "DoF", 3) == 0);
}

/* NULL: it is not known here. */
static const struct layout *find_layout(const struct name *name, const char *element)
{
	const char *type = resolve(name, element);
	if (!type || (*type == 'M' && is_function(name, type)))
		return NULL;
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		if (strncmp(type, layouts[i].type, strlen(layouts[i].type)) == 0)
			return &layouts[i];
	return NULL;
}

size_t weft__thread_function_in(const char *class_name)
{
	struct name name = {.at = class_name + (*class_name == '*')};
	size_t offset = WORD;
	if (!read_type(&name) || !name.element_count || name.element_count > ELEMENTS_MAX)
		return 0;
	const char *first = resolve(&name, name.elements[0]);
	if (!first || (*first != 'P' && *first != 'M') || !is_function(&name, first))
		return 0;
	for (size_t i = name.element_count - 1; i > 0; i--) {
		const struct layout *it = find_layout(&name, name.elements[i]);
		if (!it)
			return 0;
		offset = (offset + it->alignment - 1) / it->alignment * it->alignment + it->size;
	}
	return (offset + WORD - 1) / WORD;
}
