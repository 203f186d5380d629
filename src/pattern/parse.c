/* SPDX-License-Identifier: ISC
 *
 * Parses an expression into a tree of nodes. The parser recurses once for each group, and groups
 * are nested at most DEPTH_MAX deep.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/utf8.h"
#include "pattern/tree.h"

#define DEPTH_MAX   100
#define REPEATS_MAX 500
#define NODES_MAX   8192
#define RANGES_MAX  2048
#define CHARACTERS  0x110000

struct parser {
	struct weft_slice text;
	size_t at;
	bool ignore_case;
	unsigned depth;
	struct weft__pattern_tree tree;
	struct weft__pattern_error problem;
	int error;
};

static void report_error(struct parser *p, size_t offset, const char *message)
{
	if (p->error)
		return;
	p->error = WEFT_ERROR_ARGUMENT;
	p->problem =
		(struct weft__pattern_error){message, offset < p->text.size ? offset : p->text.size};
}

static uint32_t add_node(struct parser *p, struct weft__pattern_node node)
{
	struct weft__pattern_tree *tree = &p->tree;
	const struct weft__column column = {&tree->nodes, sizeof(*tree->nodes)};
	if (tree->node_count >= NODES_MAX)
		report_error(p, p->at, "the expression is too long");
	if (!p->error)
		p->error =
			weft__columns_reserve(&column, 1, &tree->node_capacity, tree->node_count + (size_t)1);
	if (p->error)
		return 0;
	tree->nodes[tree->node_count] = node;
	return tree->node_count++;
}

static void add_range(struct parser *p, uint32_t first, uint32_t last)
{
	struct weft__pattern_tree *tree = &p->tree;
	const struct weft__column column = {&tree->ranges, sizeof(*tree->ranges)};
	if (tree->range_count >= RANGES_MAX)
		report_error(p, p->at, "too many ranges");
	if (!p->error)
		p->error =
			weft__columns_reserve(&column, 1, &tree->range_capacity, tree->range_count + (size_t)1);
	if (!p->error)
		tree->ranges[tree->range_count++] = (struct weft__pattern_range){first, last};
}

/* Adds the letters of first … last that are in from … to, in the other case. */
static void add_other_case(struct parser *p, uint32_t first, uint32_t last, char from, char to)
{
	uint32_t low = (uint32_t)from, high = low + 25;
	if (first > low)
		low = first;
	if (last < high)
		high = last;
	if (low <= high)
		add_range(p, low - (uint32_t)from + (uint32_t)to, high - (uint32_t)from + (uint32_t)to);
}

static void add_characters(struct parser *p, uint32_t first, uint32_t last)
{
	add_range(p, first, last);
	if (!p->ignore_case)
		return;
	add_other_case(p, first, last, 'a', 'A');
	add_other_case(p, first, last, 'A', 'a');
}

static int by_first(const void *left, const void *right)
{
	const struct weft__pattern_range *l = left, *r = right;
	return l->first < r->first ? -1 : l->first > r->first;
}

/* Sorts the ranges from `first` on, and joins those that touch. */
static void merge_ranges(struct parser *p, uint32_t first)
{
	struct weft__pattern_tree *tree = &p->tree;
	uint32_t count = tree->range_count - first, kept = 0;
	if (p->error || !count)
		return;
	struct weft__pattern_range *ranges = tree->ranges + first;
	qsort(ranges, count, sizeof(*ranges), by_first);
	for (uint32_t i = 1; i < count; i++) {
		if (ranges[i].first > ranges[kept].last + 1)
			ranges[++kept] = ranges[i];
		else if (ranges[i].last > ranges[kept].last)
			ranges[kept].last = ranges[i].last;
	}
	tree->range_count = first + kept + 1;
}

/* Replaces the ranges from `first` on by all other characters. */
static void invert(struct parser *p, uint32_t first)
{
	struct weft__pattern_tree *tree = &p->tree;
	uint32_t kept = first, next = 0;
	merge_ranges(p, first);
	if (p->error)
		return;
	for (uint32_t i = first; i < tree->range_count; i++) {
		struct weft__pattern_range range = tree->ranges[i];
		if (range.first > next)
			tree->ranges[kept++] = (struct weft__pattern_range){next, range.first - 1};
		next = range.last + 1;
	}
	tree->range_count = kept;
	if (next < CHARACTERS)
		add_range(p, next, CHARACTERS - 1);
}

/* ---- Characters and classes ---- */

static bool is_at_end(const struct parser *p)
{
	return p->at >= p->text.size;
}

static char peek(const struct parser *p)
{
	return is_at_end(p) ? '\0' : p->text.bytes[p->at];
}

static bool take_letter(struct parser *p, char c)
{
	if (is_at_end(p) || p->text.bytes[p->at] != c)
		return false;
	p->at++;
	return true;
}

/* Invalid UTF-8 counts as U+FFFD, in expressions and in texts. */
static uint32_t take_character(struct parser *p)
{
	uint32_t character;
	bool valid;
	p->at += weft__utf8_decode(p->text.bytes + p->at, p->text.size - p->at, &character, &valid);
	return valid ? character : 0xfffd;
}

/* \d, \w, \s; false for another letter. */
static bool add_class(struct parser *p, char letter)
{
	switch (letter) {
	case 'd':
		add_range(p, '0', '9');
		return true;
	case 'w':
		add_range(p, '0', '9');
		add_range(p, 'A', 'Z');
		add_range(p, '_', '_');
		add_range(p, 'a', 'z');
		return true;
	case 's':
		add_range(p, '\t', '\r');
		add_range(p, ' ', ' ');
		return true;
	default:
		return false;
	}
}

/* \d, \w, \s or the complement \D, \W, \S; false for another letter. */
static bool add_class_or_opposite(struct parser *p, char letter)
{
	uint32_t first = p->tree.range_count;
	bool opposite = letter == 'D' || letter == 'W' || letter == 'S';
	if (!add_class(p, opposite ? (char)(letter + 'a' - 'A') : letter))
		return false;
	if (opposite)
		invert(p, first);
	return true;
}

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The character of an escape; the backslash has been read. */
static uint32_t take_escaped(struct parser *p)
{
	static const char letters[] = "tnrfv", meant[] = "\t\n\r\f\v";
	size_t offset = p->at - 1;
	if (is_at_end(p)) {
		report_error(p, offset, "a character is expected after \\");
		return 0;
	}
	char c = peek(p);
	if (c == 'x') {
		int high = p->at + 2 < p->text.size ? digit_of(p->text.bytes[p->at + 1]) : -1;
		int low = p->at + 2 < p->text.size ? digit_of(p->text.bytes[p->at + 2]) : -1;
		if (high < 0 || low < 0) {
			report_error(p, offset, "two hexadecimal digits are expected after \\x");
			return 0;
		}
		p->at += 3;
		return (uint32_t)(high << 4 | low);
	}
	const char *letter = c ? strchr(letters, c) : NULL;
	if (letter) {
		p->at++;
		return (uint8_t)meant[letter - letters];
	}
	if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
		report_error(p, offset, "no such escape; a letter needs no \\");
	return take_character(p);
}

/* Takes one end of a range. False after a class such as \d, which cannot be an end. */
static bool take_set_member(struct parser *p, uint32_t *ret_character)
{
	if (!take_letter(p, '\\')) {
		*ret_character = take_character(p);
		return true;
	}
	if (add_class_or_opposite(p, peek(p))) {
		p->at++;
		return false;
	}
	*ret_character = take_escaped(p);
	return true;
}

/* Adds a node for one character of the ranges from `first` on. */
static uint32_t add_ranges_node(struct parser *p, uint32_t first)
{
	merge_ranges(p, first);
	return add_node(p, (struct weft__pattern_node){.type = WEFT__PATTERN_NODE_RANGES,
						   .first = first,
						   .count = p->tree.range_count - first});
}

/* [a-z_]; the bracket is past. */
static uint32_t parse_set(struct parser *p)
{
	size_t offset = p->at - 1;
	uint32_t first_range = p->tree.range_count, first, last;
	bool opposite = take_letter(p, '^');
	for (bool begin = true; !p->error; begin = false) {
		if (is_at_end(p)) {
			report_error(p, offset, "] is missing");
			break;
		}
		if (!begin && take_letter(p, ']'))
			break;
		size_t start = p->at;
		if (!take_set_member(p, &first))
			continue;
		last = first;
		if (peek(p) == '-' && p->at + 1 < p->text.size && p->text.bytes[p->at + 1] != ']') {
			p->at++;
			if (!take_set_member(p, &last) || last < first)
				report_error(p, start, "the range ends before it begins");
		}
		if (!p->error)
			add_characters(p, first, last);
	}
	if (opposite)
		invert(p, first_range);
	return add_ranges_node(p, first_range);
}

/* ---- Atoms, repetition, sequences, alternatives ---- */

static uint32_t parse_alternatives(struct parser *p);

static uint32_t add_leaf(struct parser *p, enum weft__pattern_node_type type)
{
	return add_node(p, (struct weft__pattern_node){.type = type});
}

static uint32_t parse_group(struct parser *p)
{
	size_t offset = p->at - 1;
	if (p->depth == DEPTH_MAX) {
		report_error(p, offset, "groups are nested too deep");
		return 0;
	}
	if (take_letter(p, '?') && !take_letter(p, ':'))
		report_error(p, offset, "no such group: only ( ) and (?: ) are known");
	p->depth++;
	uint32_t node = parse_alternatives(p);
	p->depth--;
	if (!take_letter(p, ')'))
		report_error(p, offset, ") is missing");
	return node;
}

static uint32_t parse_character(struct parser *p)
{
	uint32_t first = p->tree.range_count, character;
	if (take_set_member(p, &character))
		add_characters(p, character, character);
	return add_ranges_node(p, first);
}

static uint32_t parse_any(struct parser *p)
{
	uint32_t first = p->tree.range_count;
	add_range(p, 0, CHARACTERS - 1);
	return add_ranges_node(p, first);
}

static uint32_t parse_atom(struct parser *p)
{
	if (strchr("*+?", peek(p)) && peek(p))
		report_error(p, p->at, "nothing to repeat");
	if (take_letter(p, '('))
		return parse_group(p);
	if (take_letter(p, '['))
		return parse_set(p);
	if (take_letter(p, '.'))
		return parse_any(p);
	if (take_letter(p, '^'))
		return add_leaf(p, WEFT__PATTERN_NODE_START);
	if (take_letter(p, '$'))
		return add_leaf(p, WEFT__PATTERN_NODE_END);
	return parse_character(p);
}

static bool take_number(struct parser *p, uint32_t *ret_number)
{
	uint32_t number = 0;
	size_t start = p->at;
	for (; !is_at_end(p) && peek(p) >= '0' && peek(p) <= '9'; p->at++)
		if (number <= REPEATS_MAX)
			number = number * 10 + (uint32_t)(peek(p) - '0');
	*ret_number = number;
	return p->at > start;
}

/* Takes {2}, {2,}, {,5} or {2,5}. Otherwise the brace is an ordinary character, and nothing is
 * read. */
static bool take_counts(struct parser *p, uint32_t *ret_least, uint32_t *ret_most)
{
	size_t start = p->at;
	bool has_least, has_most = false, has_comma;
	if (!take_letter(p, '{'))
		return false;
	has_least = take_number(p, ret_least);
	*ret_most = *ret_least;
	has_comma = take_letter(p, ',');
	if (has_comma) {
		has_most = take_number(p, ret_most);
		if (!has_most)
			*ret_most = WEFT__PATTERN_ENDLESS;
	}
	if (!take_letter(p, '}') || (!has_least && !has_most)) {
		p->at = start;
		return false;
	}
	if (*ret_least > REPEATS_MAX || (has_most && *ret_most > REPEATS_MAX))
		report_error(p, start, "repeated too often: 500 times at most");
	else if (*ret_most < *ret_least)
		report_error(p, start, "the maximum is less than the minimum");
	return true;
}

static bool take_repetition(struct parser *p, uint32_t *ret_least, uint32_t *ret_most)
{
	*ret_least = 0;
	*ret_most = WEFT__PATTERN_ENDLESS;
	if (take_letter(p, '*'))
		return true;
	if (take_letter(p, '+')) {
		*ret_least = 1;
		return true;
	}
	if (take_letter(p, '?')) {
		*ret_most = 1;
		return true;
	}
	return take_counts(p, ret_least, ret_most);
}

static uint32_t parse_repeated(struct parser *p)
{
	struct weft__pattern_node node = {.type = WEFT__PATTERN_NODE_REPEAT};
	uint32_t least, most;
	node.left = parse_atom(p);
	if (!take_repetition(p, &node.first, &node.count))
		return node.left;
	(void)take_letter(p, '?'); /* a lazy quantifier has the same matches */
	size_t offset = p->at;
	if (take_repetition(p, &least, &most))
		report_error(p, offset, "repeated twice");
	return add_node(p, node);
}

static uint32_t parse_sequence(struct parser *p)
{
	uint32_t node = add_leaf(p, WEFT__PATTERN_NODE_EMPTY);
	while (!p->error && !is_at_end(p) && peek(p) != '|' && peek(p) != ')') {
		uint32_t right = parse_repeated(p);
		node = add_node(p, (struct weft__pattern_node){
							   .type = WEFT__PATTERN_NODE_SEQUENCE, .left = node, .right = right});
	}
	return node;
}

static uint32_t parse_alternatives(struct parser *p)
{
	uint32_t node = parse_sequence(p);
	while (!p->error && take_letter(p, '|')) {
		uint32_t right = parse_sequence(p);
		node = add_node(p, (struct weft__pattern_node){
							   .type = WEFT__PATTERN_NODE_EITHER, .left = node, .right = right});
	}
	return node;
}

static void parse_all(struct parser *p)
{
	p->tree.root = parse_alternatives(p);
	if (!p->error && !is_at_end(p))
		report_error(p, p->at, ") without (");
}

static void parse_literal(struct parser *p)
{
	uint32_t node = add_leaf(p, WEFT__PATTERN_NODE_EMPTY);
	while (!p->error && !is_at_end(p)) {
		uint32_t first = p->tree.range_count, character = take_character(p);
		add_characters(p, character, character);
		uint32_t right = add_ranges_node(p, first);
		node = add_node(p, (struct weft__pattern_node){
							   .type = WEFT__PATTERN_NODE_SEQUENCE, .left = node, .right = right});
	}
	p->tree.root = node;
}

int weft__pattern_parse(struct weft_slice text, const struct weft__pattern_options *options,
	struct weft__pattern_error *ret_error, struct weft__pattern_tree *ret_tree)
{
	struct parser p = {.text = text, .ignore_case = options->ignore_case};
	if (options->literal)
		parse_literal(&p);
	else
		parse_all(&p);
	if (p.error) {
		weft__pattern_tree_finish(&p.tree);
		if (p.error == WEFT_ERROR_ARGUMENT)
			*ret_error = p.problem;
		return p.error;
	}
	*ret_tree = p.tree;
	return 0;
}

void weft__pattern_tree_finish(struct weft__pattern_tree *tree)
{
	free(tree->nodes);
	free(tree->ranges);
	*tree = (struct weft__pattern_tree){0};
}
