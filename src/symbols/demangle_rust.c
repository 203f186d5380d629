/* SPDX-License-Identifier: ISC
 *
 * Short forms of Rust's names since 2025, which begin with "_R": the last two components of the
 * path, such as "Mutex::lock_contended". Arguments of generics are left out.
 *
 * The format is "v0" of doc.rust-lang.org/rustc/symbol-mangling/v0.html. A path is a letter for its
 * form and its parts, and a part that occurred before is the number of the byte where it began. A
 * name that ends too early, or refers to itself, has fewer components; nothing is read behind its
 * end, because no letter is the NUL there.
 */
#include <ctype.h>
#include <string.h>

#include "symbols/demangle.h"

enum {
	DEPTH_MAX = 64,
	OFFSET_MAX = 1 << 20,
	STEPS_MAX = 2000 /* a part that refers to parts which refer to others has many */
};

struct path_part {
	const char *name;
	size_t size;
};

struct parser {
	const char *begin, *at;
	struct path_part outer, last; /* those of the path so far */
	unsigned depth, steps;
	bool is_silent; /* what is read now is not a part of the short form */
};

static bool take_letter(struct parser *p, char letter)
{
	if (*p->at != letter)
		return false;
	p->at++;
	return true;
}

/* Digits and letters up to "_": a number in base 62, less one; "_" alone is 0. */
static size_t take_number(struct parser *p)
{
	size_t value = 0;
	if (take_letter(p, '_'))
		return 0;
	for (; isalnum((unsigned char)*p->at); p->at++) {
		int c = (unsigned char)*p->at;
		int digit = isdigit(c) ? c - '0' : islower(c) ? c - 'a' + 10 : c - 'A' + 36;
		value = value < OFFSET_MAX ? value * 62 + (size_t)digit : OFFSET_MAX;
	}
	take_letter(p, '_');
	return value + 1;
}

/* Tells functions of the same name apart; not for readers. */
static void skip_disambiguator(struct parser *p)
{
	if (take_letter(p, 's'))
		take_number(p);
}

static void take_identifier(struct parser *p, struct path_part *ret)
{
	size_t size = 0;
	*ret = (struct path_part){NULL, 0};
	skip_disambiguator(p);
	take_letter(p, 'u');
	while (isdigit((unsigned char)*p->at) && size < 4096)
		size = size * 10 + (size_t)(*p->at++ - '0');
	take_letter(p, '_');
	if (strnlen(p->at, size) < size)
		size = 0;
	*ret = (struct path_part){p->at, size};
	p->at += size;
}

static void add_component(struct parser *p, struct path_part component)
{
	if (p->is_silent || component.size == 0)
		return;
	p->outer = p->last;
	p->last = component;
}

static void path(struct parser *p);
static void type(struct parser *p);

static void silently(struct parser *p, void (*part)(struct parser *))
{
	bool was_silent = p->is_silent;
	p->is_silent = true;
	part(p);
	p->is_silent = was_silent;
}

static void back_reference(struct parser *p, void (*part)(struct parser *))
{
	const char *here = p->at - 1;
	size_t offset = take_number(p);
	const char *after = p->at;
	if (p->begin + offset >= here)
		return;
	p->at = p->begin + offset;
	part(p);
	p->at = after;
}

static void implementation(struct parser *p)
{
	skip_disambiguator(p);
	silently(p, path);
}

static void nested(struct parser *p)
{
	static const struct path_part closure = {"{closure}", 9};
	struct path_part name;
	char space = *p->at ? *p->at++ : '\0';
	path(p);
	take_identifier(p, &name);
	add_component(p, space == 'C' ? closure : name);
}

static void generic_argument(struct parser *p)
{
	if (take_letter(p, 'L'))
		take_number(p);
	else
		type(p);
}

/* Up to the letter E. A part that cannot be read is not skipped, so the loop has to end then. */
static void list(struct parser *p, void (*part)(struct parser *))
{
	const char *before = NULL;
	while (*p->at && !take_letter(p, 'E') && p->at != before) {
		before = p->at;
		silently(p, part);
	}
}

static void path_of_form(struct parser *p, char form)
{
	struct path_part name;
	switch (form) {
	case 'C':
		take_identifier(p, &name);
		add_component(p, name);
		break;
	case 'M':
		implementation(p);
		type(p);
		break;
	case 'X':
		implementation(p);
		type(p);
		silently(p, path);
		break;
	case 'Y':
		type(p);
		silently(p, path);
		break;
	case 'N':
		nested(p);
		break;
	case 'I':
		path(p);
		list(p, generic_argument);
		break;
	case 'B':
		back_reference(p, path);
		break;
	default:
		p->at--;
	}
}

static void path(struct parser *p)
{
	if (p->depth == DEPTH_MAX || ++p->steps > STEPS_MAX || !isupper((unsigned char)*p->at))
		return;
	p->depth++;
	path_of_form(p, *p->at++);
	p->depth--;
}

/* ---- Types, of which only the paths have names ---- */

static void constant(struct parser *p)
{
	if (take_letter(p, 'B')) {
		take_number(p);
		return;
	}
	p->at += *p->at != '\0';
	while (isxdigit((unsigned char)*p->at) || *p->at == 'n')
		p->at++;
	take_letter(p, '_');
}

static void binder(struct parser *p)
{
	if (take_letter(p, 'G'))
		take_number(p);
}

static void function_type(struct parser *p)
{
	struct path_part convention;
	binder(p);
	take_letter(p, 'U');
	if (take_letter(p, 'K') && !take_letter(p, 'C'))
		take_identifier(p, &convention);
	list(p, type);
	type(p);
}

static void trait(struct parser *p)
{
	struct path_part name;
	path(p);
	while (take_letter(p, 'p')) {
		take_identifier(p, &name);
		type(p);
	}
}

static void type_of_form(struct parser *p, char form)
{
	switch (form) {
	case 'A':
		type(p);
		constant(p);
		break;
	case 'S':
	case 'P':
	case 'O':
		type(p);
		break;
	case 'R':
	case 'Q':
		if (take_letter(p, 'L'))
			take_number(p);
		type(p);
		break;
	case 'T':
		list(p, type);
		break;
	case 'F':
		function_type(p);
		break;
	case 'D':
		binder(p);
		list(p, trait);
		if (take_letter(p, 'L'))
			take_number(p);
		break;
	case 'K':
		constant(p);
		break;
	case 'B':
		back_reference(p, type);
		break;
	default:
		p->at--;
		path(p);
	}
}

static void type(struct parser *p)
{
	if (p->depth == DEPTH_MAX || ++p->steps > STEPS_MAX || !isalpha((unsigned char)*p->at))
		return;
	p->depth++;
	if (islower((unsigned char)*p->at))
		p->at++;
	else
		type_of_form(p, *p->at++);
	p->depth--;
}

bool weft__symbols_demangle_rust(struct weft__symbols_name *name, const char *symbol)
{
	if (strncmp(symbol, "_R", 2) != 0)
		return false;
	struct parser p = {.begin = symbol + 2, .at = symbol + 2};
	path(&p);
	if (p.last.size == 0)
		return false;
	if (p.outer.size) {
		weft__symbols_add(name, p.outer.name, p.outer.size);
		weft__symbols_add(name, "::", 2);
	}
	weft__symbols_add(name, p.last.name, p.last.size);
	return true;
}
