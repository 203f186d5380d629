/* SPDX-License-Identifier: ISC
 *
 * The language of rules about metrics:
 *
 *     rule     = function "(" selector [ "," selector ] [ "by" word ] [ "over" time ] ")"
 *                compare limit [ "for" time ] [ "until" limit ] [ "set" word "=" level ]
 *     function = "value" | "rate" | "ratio" | "p" digits [ "." digits ]
 *     selector = word [ "{" word "=" word { "," word "=" word } "}" ]
 *     limit    = [ "-" ] number [ "%" | "K" | "M" | "G" | unit ] [ "/s" ]
 *
 * Words, times and units are those of rule.c.
 */
#include "trigger/metric_rule.h"

#include <stdlib.h>
#include <string.h>

#include "trigger/words.h"

/* Growth is that in this time, unless the rule says otherwise. */
#define OVER_NS     UINT64_C(10000000000)
#define OVER_MAX_NS UINT64_C(3600000000000)

struct metric_parser {
	struct weft__parser in;
	struct weft__metric_rule *rule;
};

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.';
}

bool weft__trigger_is_metric_rule(const char *text, size_t size)
{
	size_t at = 0, first;
	while (at < size && (text[at] == ' ' || text[at] == '\t'))
		at++;
	first = at;
	while (at < size && is_letter(text[at]))
		at++;
	return at > first && at < size && text[at] == '(';
}

/* Takes a word if it is next. */
static bool take_keyword(struct metric_parser *p, const char *keyword)
{
	struct weft__parser *in = &p->in;
	const size_t size = strlen(keyword);
	weft__trigger_skip_space(in);
	if (in->size - in->at < size || memcmp(in->text + in->at, keyword, size) != 0 ||
		(in->size - in->at > size && weft__trigger_is_bare(in, in->text[in->at + size])))
		return false;
	in->at += size;
	return true;
}

static bool expect_sign(struct metric_parser *p, char sign, const char *expected)
{
	return weft__trigger_take_sign(&p->in, sign) || weft__trigger_fail(&p->in, p->in.at, expected);
}

static bool take_real(struct metric_parser *p, double *ret_number)
{
	int64_t whole;
	double fraction;
	weft__trigger_skip_space(&p->in);
	bool is_negative = p->in.at < p->in.size && p->in.text[p->in.at] == '-';
	p->in.at += is_negative;
	if (!weft__trigger_take_number(&p->in, &whole) ||
		!weft__trigger_take_fraction(&p->in, &fraction))
		return false;
	*ret_number = ((double)whole + fraction) * (is_negative ? -1 : 1);
	return true;
}

/* ---- Functions ---- */

static bool parse_quantile(struct metric_parser *p, struct weft_slice name)
{
	double percent = 0, unit = 1;
	bool is_fraction = false, has_digits = false;
	for (size_t i = 1; i < name.size; i++) {
		if (name.bytes[i] == '.' && !is_fraction) {
			is_fraction = true;
			continue;
		}
		if (name.bytes[i] < '0' || name.bytes[i] > '9')
			return false;
		has_digits = true;
		unit /= is_fraction ? 10 : 1;
		percent = is_fraction ? percent + unit * (name.bytes[i] - '0')
							  : 10 * percent + (name.bytes[i] - '0');
	}
	p->rule->function = WEFT__METRIC_QUANTILE;
	p->rule->part = percent / 100;
	return has_digits && percent > 0 && percent < 100;
}

static bool parse_function(struct metric_parser *p)
{
	static const char expected[] = "value, rate, ratio, or p and a number below 100 is expected";
	struct weft_slice name;
	weft__trigger_skip_space(&p->in);
	size_t start = p->in.at;
	if (!weft__trigger_take_word(&p->in, expected, &name))
		return false;
	if (weft__trigger_is_word(name, "value"))
		p->rule->function = WEFT__METRIC_VALUE;
	else if (weft__trigger_is_word(name, "rate"))
		p->rule->function = WEFT__METRIC_RATE;
	else if (weft__trigger_is_word(name, "ratio"))
		p->rule->function = WEFT__METRIC_RATIO;
	else if (name.bytes[0] != 'p' || !parse_quantile(p, name))
		return weft__trigger_fail(&p->in, start, expected);
	return expect_sign(p, '(', "( is expected");
}

/* ---- What is watched ---- */

static bool parse_filters(struct metric_parser *p, struct weft__metric_selector *selector)
{
	do {
		if (selector->filter_count == WEFT__METRIC_FILTERS)
			return weft__trigger_fail(&p->in, p->in.at, "four labels are the most");
		unsigned i = selector->filter_count++;
		if (!weft__trigger_take_word(&p->in, "a label is expected", &selector->filters[i].key) ||
			!expect_sign(p, '=', "= is expected") ||
			!weft__trigger_take_word(
				&p->in, "the label's value is expected", &selector->filters[i].value))
			return false;
	} while (weft__trigger_take_sign(&p->in, ','));
	return expect_sign(p, '}', ", or } is expected");
}

static bool parse_selector(struct metric_parser *p, struct weft__metric_selector *selector)
{
	weft__trigger_skip_space(&p->in);
	size_t start = p->in.at;
	if (!weft__trigger_take_word(&p->in, "the name of a counter is expected", &selector->name))
		return false;
	if (p->in.text[start] != '\'' && p->in.text[start] != '"' &&
		memchr(selector->name.bytes, '*', selector->name.size))
		return weft__trigger_fail(&p->in, start,
			"the whole name of one counter is expected, without *; a name with a * needs quotes");
	return !weft__trigger_take_sign(&p->in, '{') || parse_filters(p, selector);
}

static bool parse_arguments(struct metric_parser *p)
{
	struct weft__metric_rule *rule = p->rule;
	if (!parse_selector(p, &rule->of[0]))
		return false;
	if (rule->function == WEFT__METRIC_RATIO &&
		(!expect_sign(p, ',', ", and a second counter are expected") ||
			!parse_selector(p, &rule->of[1])))
		return false;
	if (take_keyword(p, "by") &&
		!weft__trigger_take_word(&p->in, "a label, program or user is expected", &rule->by))
		return false;
	if (take_keyword(p, "over")) {
		size_t start = p->in.at;
		if (rule->function == WEFT__METRIC_VALUE)
			return weft__trigger_fail(&p->in, start - 4, "a value has no time: ) is expected");
		if (!weft__trigger_take_duration(&p->in, &rule->over_ns))
			return false;
		if (rule->over_ns < OVER_NS / 10 || rule->over_ns > OVER_MAX_NS)
			return weft__trigger_fail(&p->in, start, "a time from 1s to 60min is expected");
	}
	return expect_sign(p, ')', "by, over or ) is expected");
}

/* ---- The limit ---- */

static double unit_of(struct weft_slice unit)
{
	static const struct {
		const char *name;
		double factor;
	} units[] = {{"%", 0.01}, {"K", 1024}, {"M", 1048576}, {"G", 1073741824}, {"ns", 1e-9},
		{"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"min", 60}};
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (weft__trigger_is_word(unit, units[i].name))
			return units[i].factor;
	return 0;
}

static bool parse_limit(struct metric_parser *p, double *ret_limit)
{
	struct weft__parser *in = &p->in;
	if (!take_real(p, ret_limit))
		return false;
	size_t start = in->at;
	while (
		in->at < in->size && in->text[in->at] != '/' && weft__trigger_is_bare(in, in->text[in->at]))
		in->at++;
	struct weft_slice unit = {in->text + start, in->at - start};
	double factor = unit.size ? unit_of(unit) : 1;
	if (factor <= 0)
		return weft__trigger_fail(
			in, start, "a unit is expected: %, K, M, G, ns, us, ms, s or min");
	*ret_limit *= factor;
	if (in->at == in->size || in->text[in->at] != '/')
		return true;
	if (p->rule->function != WEFT__METRIC_RATE)
		return weft__trigger_fail(in, in->at, "only a rate is in a second");
	if (in->size - in->at < 2 || in->text[in->at + 1] != 's')
		return weft__trigger_fail(in, in->at, "/s is expected");
	in->at += 2;
	return true;
}

static bool parse_compare(struct metric_parser *p)
{
	struct weft__metric_rule *rule = p->rule;
	rule->is_above = weft__trigger_take_sign(&p->in, '>');
	if (!rule->is_above && !weft__trigger_take_sign(&p->in, '<'))
		return weft__trigger_fail(&p->in, p->in.at, "> or < is expected");
	rule->or_equal = p->in.at < p->in.size && p->in.text[p->in.at] == '=';
	p->in.at += rule->or_equal;
	return parse_limit(p, &rule->limit);
}

static bool parse_until(struct metric_parser *p)
{
	struct weft__metric_rule *rule = p->rule;
	size_t start = p->in.at;
	rule->has_until = true;
	if (!parse_limit(p, &rule->until))
		return false;
	bool is_before = rule->is_above ? rule->until <= rule->limit : rule->until >= rule->limit;
	return is_before || weft__trigger_fail(&p->in, start,
							rule->is_above ? "a number that is not above the limit is expected"
										   : "a number that is not below the limit is expected");
}

static bool parse_set(struct metric_parser *p)
{
	char name[16] = "";
	struct weft_slice level;
	if (!weft__trigger_take_word(&p->in, "a category is expected", &p->rule->category) ||
		!expect_sign(p, '=', "= is expected"))
		return false;
	weft__trigger_skip_space(&p->in);
	size_t start = p->in.at;
	static const char expected[] =
		"a level is expected: off, error, warning, info, debug, trace or count";
	if (!weft__trigger_take_word(&p->in, expected, &level))
		return false;
	if (level.size < sizeof(name))
		memcpy(name, level.bytes, level.size);
	int number = weft_level_parse(name);
	p->rule->level = (unsigned)number;
	return number >= 0 || weft__trigger_fail(&p->in, start, expected);
}

static bool parse(struct metric_parser *p)
{
	if (!parse_function(p) || !parse_arguments(p) || !parse_compare(p))
		return false;
	if (take_keyword(p, "for") && !weft__trigger_take_duration(&p->in, &p->rule->for_ns))
		return false;
	if (take_keyword(p, "until") && !parse_until(p))
		return false;
	if (take_keyword(p, "set") && !parse_set(p))
		return false;
	return weft__trigger_at_end(&p->in) ||
		   weft__trigger_fail(&p->in, p->in.at, "for, until, set or the end is expected");
}

int weft__trigger_metric_rule_parse(struct weft__metric_rule *rule, const char *text, size_t size,
	struct weft_trigger_error *ret_error)
{
	*rule = (struct weft__metric_rule){.size = size, .over_ns = OVER_NS};
	struct metric_parser p = {.in = {.text = text, .size = size, .ends = "(){},"}, .rule = rule};
	if (size > WEFT_TRIGGER_RULE_MAX_BYTES) {
		*ret_error = (struct weft_trigger_error){
			WEFT_TRIGGER_RULE_MAX_BYTES, "a rule has 1024 bytes at most"};
		return WEFT_ERROR_ARGUMENT;
	}
	rule->text = calloc(size + 1, 1);
	rule->words = p.in.words = malloc(size + 1);
	if (!rule->text || !rule->words) {
		weft__trigger_metric_rule_finish(rule);
		return WEFT_ERROR_MEMORY;
	}
	if (size)
		memcpy(rule->text, text, size);
	if (parse(&p))
		return 0;
	*ret_error = p.in.error;
	weft__trigger_metric_rule_finish(rule);
	return WEFT_ERROR_ARGUMENT;
}

void weft__trigger_metric_rule_finish(struct weft__metric_rule *rule)
{
	free(rule->text);
	free(rule->words);
	*rule = (struct weft__metric_rule){0};
}

static bool is_beyond(const struct weft__metric_rule *rule, double value, double limit)
{
	return rule->is_above ? value > limit : value < limit;
}

/* A value that fires does not let the rule end, also if both limits are the same. */
bool weft__trigger_metric_rule_holds(
	const struct weft__metric_rule *rule, double value, bool has_fired)
{
	const bool is_at_limit = !(value < rule->limit) && !(value > rule->limit);
	return is_beyond(rule, value, rule->limit) || (rule->or_equal && is_at_limit) ||
		   (has_fired && rule->has_until && is_beyond(rule, value, rule->until));
}
