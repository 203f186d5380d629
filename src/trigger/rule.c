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
 * metric_rule.c has that of rules about metrics.
 */
#include "trigger/rule.h"

#include <stdlib.h>
#include <string.h>

#include "trigger/metric_rule.h"
#include "trigger/words.h"

struct parser {
	struct weft__parser in;
	struct rule *rule;
};

/* Takes the limit of a counter, as a real number and as the limit of an integer counter. The latter
 * is always exclusive: for "> 2.5" it is 2, and for ">= 5" it is 4. */
static bool take_limit(struct parser *p, bool above, bool or_equal)
{
	struct rule *rule = p->rule;
	double fraction;
	weft__trigger_skip_space(&p->in);
	bool negative = p->in.at < p->in.size && p->in.text[p->in.at] == '-';
	p->in.at += negative;
	if (!weft__trigger_take_number(&p->in, &rule->limit) ||
		!weft__trigger_take_fraction(&p->in, &fraction))
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
		return weft__trigger_fail(&p->in, p->in.at, "a smaller number is expected");
	return true;
}

static bool parse_counter(struct parser *p)
{
	struct rule *rule = p->rule;
	weft__trigger_skip_space(&p->in);
	size_t start = p->in.at;
	if (!weft__trigger_take_word(&p->in, "the counter's name is expected", &rule->name))
		return false;
	/* The name of a rule is compared as a whole, so one that is meant as a pattern never fits. */
	if (weft__trigger_is_bare(&p->in, p->in.text[start]) &&
		memchr(rule->name.bytes, '*', rule->name.size))
		return weft__trigger_fail(&p->in, start,
			"the whole name of one counter is expected, without *; a name with a * needs quotes");
	weft__trigger_skip_space(&p->in);
	bool above = weft__trigger_take_sign(&p->in, '>');
	if (!above && !weft__trigger_take_sign(&p->in, '<'))
		return weft__trigger_fail(&p->in, p->in.at, "> or < is expected");
	bool or_equal = p->in.at < p->in.size && p->in.text[p->in.at] == '=';
	p->in.at += or_equal;
	rule->type = above ? RULE_ABOVE : RULE_BELOW;
	return take_limit(p, above, or_equal);
}

static bool parse_tag(struct parser *p)
{
	p->rule->type = weft__trigger_take_sign(&p->in, '=') ? RULE_TAG_IS : RULE_TAG;
	return weft__trigger_take_word(&p->in, "the tag's text is expected", &p->rule->name);
}

static bool find_kind(struct parser *p, size_t at, struct weft_slice name)
{
	uint32_t number = 0;
	p->rule->kind_name = (struct weft_slice){NULL, 0};
	for (uint32_t kind = 0; kind <= UINT16_MAX; kind++) {
		const char *known = weft_kind_name(kind);
		if (known && weft__trigger_is_word(name, known)) {
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
			return weft__trigger_fail(&p->in, at,
				"a kind is expected: task, bind, promise, ..., a name of your own, or a number");
		number = 10 * number + (uint32_t)(name.bytes[i] - '0');
		if (number > UINT16_MAX)
			return weft__trigger_fail(&p->in, at, "a kind is a number below 65536");
	}
	p->rule->kind = number;
	return true;
}

static bool parse_filter(struct parser *p)
{
	struct weft_slice key, value;
	weft__trigger_skip_space(&p->in);
	size_t start = p->in.at;
	static const char expected[] = "kind or label is expected, or the end";
	if (!weft__trigger_take_word(&p->in, expected, &key))
		return false;
	bool is_kind = weft__trigger_is_word(key, "kind");
	if (!is_kind && !weft__trigger_is_word(key, "label"))
		return weft__trigger_fail(&p->in, start, expected);
	if (!weft__trigger_take_sign(&p->in, '='))
		return weft__trigger_fail(&p->in, p->in.at, "= is expected");
	weft__trigger_skip_space(&p->in);
	start = p->in.at;
	if (!weft__trigger_take_word(
			&p->in, is_kind ? "a kind is expected" : "part of a label is expected", &value))
		return false;
	if (!is_kind)
		p->rule->label = value;
	p->rule->has_kind |= is_kind;
	return !is_kind || find_kind(p, start, value);
}

static bool parse_time(struct parser *p, enum rule_type type)
{
	p->rule->type = type;
	if (!weft__trigger_take_sign(&p->in, '>'))
		return weft__trigger_fail(&p->in, p->in.at, "> is expected");
	uint64_t ns;
	if (!weft__trigger_take_duration(&p->in, &ns))
		return false;
	p->rule->limit = (int64_t)ns;
	while (!weft__trigger_at_end(&p->in))
		if (!parse_filter(p))
			return false;
	return true;
}

static bool parse(struct parser *p)
{
	static const char expected[] = "counter, tag, runs or waits is expected, or for weft record "
								   "--trigger value(, rate(, ratio( or p99(";
	struct weft_slice word;
	weft__trigger_skip_space(&p->in);
	size_t start = p->in.at;
	bool good;
	if (weft__trigger_is_metric_rule(p->in.text, p->in.size))
		return weft__trigger_fail(&p->in, start,
			"only weft agent and weft record --trigger, both built with SQLite, test rules about values "
			"of metrics; here counter, tag, runs or waits is expected");
	if (!weft__trigger_take_word(&p->in, expected, &word))
		return false;
	if (weft__trigger_is_word(word, "counter"))
		good = parse_counter(p);
	else if (weft__trigger_is_word(word, "tag"))
		good = parse_tag(p);
	else if (weft__trigger_is_word(word, "runs"))
		good = parse_time(p, RULE_RUNS);
	else if (weft__trigger_is_word(word, "waits"))
		good = parse_time(p, RULE_WAITS);
	else
		return weft__trigger_fail(&p->in, start, expected);
	return good && (weft__trigger_at_end(&p->in) ||
					   weft__trigger_fail(&p->in, p->in.at, "the end is expected"));
}

int weft__trigger_rule_parse(
	struct rule *rule, const char *text, size_t size, struct weft_trigger_error *ret_error)
{
	*rule = (struct rule){.size = size};
	struct parser p = {.in = {.text = text, .size = size, .ends = ""}, .rule = rule};
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
	p.in.words = rule->words;
	if (size)
		memcpy(rule->text, text, size);
	if (parse(&p))
		return 0;
	*ret_error = p.in.error;
	weft__trigger_rule_finish(rule);
	return WEFT_ERROR_ARGUMENT;
}

void weft__trigger_rule_finish(struct rule *rule)
{
	free(rule->text);
	free(rule->words);
	*rule = (struct rule){0};
}
