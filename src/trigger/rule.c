/* SPDX-License-Identifier: ISC
 *
 * The language of rules:
 *
 *     rule   = counter | tag | time
 *     counter= "counter" word ( ">" | ">=" | "<" | "<=" ) [ "-" ] digits [ "." digits ]
 *     tag    = "tag" [ "=" ] word
 *     time   = ( "runs" | "waits" ) ">" number unit { "kind" "=" word | "label" "=" word }
 *     number = digits [ "." digits ]
 *     unit   = "ns" | "us" | "ms" | "s" | "min"
 *     word   = bare letters, or anything in ' or " quotes, where \ escapes the next character
 *
 * The parser keeps one position in the text. At an error it reports that position and what is
 * expected there.
 */
#include "trigger/rule.h"

#include <stdlib.h>
#include <string.h>

#include <weft/parse.h>

struct parser {
	const char *text;
	size_t size, at;
	struct rule *rule;
	size_t used; /* used bytes of rule->words */
	struct weft_trigger_error error;
};

static bool fail(struct parser *p, size_t at, const char *message)
{
	if (!p->error.message)
		p->error = (struct weft_trigger_error){at, message};
	return false;
}

static void skip_space(struct parser *p)
{
	while (p->at < p->size && (p->text[p->at] == ' ' || p->text[p->at] == '\t'))
		p->at++;
}

static bool at_end(struct parser *p)
{
	skip_space(p);
	return p->at == p->size;
}

static bool is_bare(char c)
{
	return (unsigned char)c > ' ' && c != '\x7f' && !strchr("<>='\"\\", c);
}

/* Takes a word in quotes, without the quotes and escapes. */
static bool take_quoted(struct parser *p, struct weft_slice *ret_word)
{
	size_t start = p->at;
	char quote = p->text[p->at++], *to = p->rule->words + p->used;
	size_t size = 0;
	while (p->at < p->size && p->text[p->at] != quote) {
		if (p->text[p->at] == '\\' && p->at + 1 < p->size)
			p->at++;
		to[size++] = p->text[p->at++];
	}
	if (p->at == p->size)
		return fail(p, start, "a quote that does not end");
	p->at++;
	p->used += size;
	*ret_word = (struct weft_slice){to, size};
	return true;
}

static bool take_word(struct parser *p, const char *expected, struct weft_slice *ret_word)
{
	skip_space(p);
	size_t start = p->at;
	if (p->at < p->size && (p->text[p->at] == '\'' || p->text[p->at] == '"')) {
		if (!take_quoted(p, ret_word))
			return false;
		return ret_word->size > 0 || fail(p, start, expected);
	}
	char *to = p->rule->words + p->used;
	while (p->at < p->size && is_bare(p->text[p->at]))
		p->at++;
	if (p->at == start)
		return fail(p, start, expected);
	memcpy(to, p->text + start, p->at - start);
	p->used += p->at - start;
	*ret_word = (struct weft_slice){to, p->at - start};
	return true;
}

static bool is_word(struct weft_slice word, const char *text)
{
	return word.size == strlen(text) && memcmp(word.bytes, text, word.size) == 0;
}

static bool take_sign(struct parser *p, char sign)
{
	skip_space(p);
	if (p->at == p->size || p->text[p->at] != sign)
		return false;
	p->at++;
	return true;
}

/* A number of at most 63 bits. */
static bool take_number(struct parser *p, int64_t *ret_number)
{
	int64_t number = 0;
	size_t first = p->at;
	for (; p->at < p->size && p->text[p->at] >= '0' && p->text[p->at] <= '9'; p->at++)
		if (__builtin_mul_overflow(number, 10, &number) ||
			__builtin_add_overflow(number, p->text[p->at] - '0', &number))
			return fail(p, first, "a smaller number is expected");
	if (p->at == first)
		return fail(p, first, "a number is expected");
	*ret_number = number;
	return true;
}

/* Digits behind a point, as a number below 1. */
static bool take_fraction(struct parser *p, double *ret_fraction)
{
	size_t first = p->at;
	int64_t digits;
	double unit = 1;
	*ret_fraction = 0;
	if (p->at == p->size || p->text[p->at] != '.')
		return true;
	first = ++p->at;
	if (!take_number(p, &digits))
		return false;
	for (size_t i = first; i < p->at; i++)
		unit *= 10;
	*ret_fraction = (double)digits / unit;
	return true;
}

/* Takes the limit of a counter, as a real number and as the limit of an integer counter. The latter
 * is always exclusive: for "> 2.5" it is 2, and for ">= 5" it is 4. */
static bool take_limit(struct parser *p, bool above, bool or_equal)
{
	struct rule *rule = p->rule;
	double fraction;
	skip_space(p);
	bool negative = p->at < p->size && p->text[p->at] == '-';
	p->at += negative;
	if (!take_number(p, &rule->limit) || !take_fraction(p, &fraction))
		return false;
	rule->real = (double)rule->limit + fraction;
	rule->or_equal = or_equal;
	if (negative) {
		rule->limit = -rule->limit;
		rule->real = -rule->real;
	}
	int further = above ? -1 : 1;
	bool is_beyond = fraction > 0 ? negative == above : or_equal;
	if (is_beyond && __builtin_add_overflow(rule->limit, further, &rule->limit))
		return fail(p, p->at, "a smaller number is expected");
	return true;
}

static const char unit_expected[] = "a unit is expected: ns, us, ms, s or min";

/* Takes a number and a unit, with or without a space between them. */
static bool take_duration(struct parser *p)
{
	char text[64];
	struct weft_slice unit;
	uint64_t ns;
	skip_space(p);
	size_t start = p->at;
	while (p->at < p->size && strchr("0123456789.", p->text[p->at]) && p->text[p->at])
		p->at++;
	size_t digits = p->at - start;
	skip_space(p);
	size_t unit_at = p->at;
	if (!digits)
		return fail(p, start, "a number is expected");
	if (!take_word(p, unit_expected, &unit))
		return false;
	if (digits + unit.size > sizeof(text))
		return fail(p, start, digits > unit.size ? "a shorter time is expected" : unit_expected);
	memcpy(text, p->text + start, digits);
	memcpy(text + digits, unit.bytes, unit.size);
	enum weft_parse problem = weft_parse_duration(text, digits + unit.size, &ns);
	if (problem == WEFT_PARSE_TOO_LARGE || (problem == WEFT_PARSE_OK && ns > INT64_MAX))
		return fail(p, start, "a shorter time is expected");
	if (problem != WEFT_PARSE_OK)
		return fail(p, unit_at, unit_expected);
	p->rule->limit = (int64_t)ns;
	return true;
}

static bool parse_counter(struct parser *p)
{
	struct rule *rule = p->rule;
	skip_space(p);
	size_t start = p->at;
	if (!take_word(p, "the counter's name is expected", &rule->name))
		return false;
	/* The name of a rule is compared as a whole, so one that is meant as a pattern never fits. */
	if (is_bare(p->text[start]) && memchr(rule->name.bytes, '*', rule->name.size))
		return fail(p, start,
			"the whole name of one counter is expected, without *; a name with a * needs quotes");
	skip_space(p);
	bool above = take_sign(p, '>');
	if (!above && !take_sign(p, '<'))
		return fail(p, p->at, "> or < is expected");
	bool or_equal = p->at < p->size && p->text[p->at] == '=';
	p->at += or_equal;
	rule->type = above ? RULE_ABOVE : RULE_BELOW;
	return take_limit(p, above, or_equal);
}

static bool parse_tag(struct parser *p)
{
	p->rule->type = take_sign(p, '=') ? RULE_TAG_IS : RULE_TAG;
	return take_word(p, "the tag's text is expected", &p->rule->name);
}

static bool find_kind(struct parser *p, size_t at, struct weft_slice name)
{
	uint32_t number = 0;
	p->rule->kind_name = (struct weft_slice){NULL, 0};
	for (uint32_t kind = 0; kind <= UINT16_MAX; kind++) {
		const char *known = weft_kind_name(kind);
		if (known && is_word(name, known)) {
			p->rule->kind = kind;
			return true;
		}
	}
	if (name.size && !strchr("-0123456789", name.bytes[0])) {
		p->rule->kind_name = name;
		return true;
	}
	for (size_t i = 0; i < name.size; i++) {
		if (name.bytes[i] < '0' || name.bytes[i] > '9')
			return fail(p, at,
				"a kind is expected: task, bind, promise, ..., a name of your own, or a number");
		number = 10 * number + (uint32_t)(name.bytes[i] - '0');
		if (number > UINT16_MAX)
			return fail(p, at, "a kind is a number below 65536");
	}
	p->rule->kind = number;
	return true;
}

static bool parse_filter(struct parser *p)
{
	struct weft_slice key, value;
	skip_space(p);
	size_t start = p->at;
	static const char expected[] = "kind or label is expected, or the end";
	if (!take_word(p, expected, &key))
		return false;
	bool is_kind = is_word(key, "kind");
	if (!is_kind && !is_word(key, "label"))
		return fail(p, start, expected);
	if (!take_sign(p, '='))
		return fail(p, p->at, "= is expected");
	skip_space(p);
	start = p->at;
	if (!take_word(p, is_kind ? "a kind is expected" : "part of a label is expected", &value))
		return false;
	if (!is_kind)
		p->rule->label = value;
	p->rule->has_kind |= is_kind;
	return !is_kind || find_kind(p, start, value);
}

static bool parse_time(struct parser *p, enum rule_type type)
{
	p->rule->type = type;
	if (!take_sign(p, '>'))
		return fail(p, p->at, "> is expected");
	if (!take_duration(p))
		return false;
	while (!at_end(p))
		if (!parse_filter(p))
			return false;
	return true;
}

static bool parse(struct parser *p)
{
	static const char expected[] = "counter, tag, runs or waits is expected";
	struct weft_slice word;
	skip_space(p);
	size_t start = p->at;
	bool good;
	if (!take_word(p, expected, &word))
		return false;
	if (is_word(word, "counter"))
		good = parse_counter(p);
	else if (is_word(word, "tag"))
		good = parse_tag(p);
	else if (is_word(word, "runs"))
		good = parse_time(p, RULE_RUNS);
	else if (is_word(word, "waits"))
		good = parse_time(p, RULE_WAITS);
	else
		return fail(p, start, expected);
	return good && (at_end(p) || fail(p, p->at, "the end is expected"));
}

int weft__trigger_rule_parse(
	struct rule *rule, const char *text, size_t size, struct weft_trigger_error *ret_error)
{
	*rule = (struct rule){.size = size};
	struct parser p = {.text = text, .size = size, .rule = rule};
	if (size > WEFT_TRIGGER_RULE_MAX_BYTES) {
		*ret_error = (struct weft_trigger_error){
			WEFT_TRIGGER_RULE_MAX_BYTES, "a rule has 1024 bytes at most"};
		return WEFT_ERROR_ARGUMENT;
	}
	rule->text = malloc(size + 1);
	rule->words = malloc(size + 1);
	if (!rule->text || !rule->words) {
		weft__trigger_rule_finish(rule);
		return WEFT_ERROR_MEMORY;
	}
	if (size)
		memcpy(rule->text, text, size);
	if (parse(&p))
		return 0;
	*ret_error = p.error;
	weft__trigger_rule_finish(rule);
	return WEFT_ERROR_ARGUMENT;
}

void weft__trigger_rule_finish(struct rule *rule)
{
	free(rule->text);
	free(rule->words);
	*rule = (struct rule){0};
}
