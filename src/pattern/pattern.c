/* SPDX-License-Identifier: ISC
 *
 * Runs the automaton over a text. A set of steps is one state of a lazily built DFA; its
 * transitions for each class of characters (characters that no step distinguishes) are computed
 * once and cached. All memory is allocated at the start: when it is full, the cache is cleared.
 */
#include "pattern/pattern.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/search.h"
#include "base/sort.h"
#include "base/utf8.h"
#include "pattern/program.h"

#define STATES_MAX  1024
#define TARGETS_MAX (1u << 20) /* states times classes */
#define MEMBERS_MAX (1u << 18)
#define SLOTS       (2 * STATES_MAX)
#define ASCII       128

/* Values instead of a state. */
#define UNKNOWN UINT32_MAX
#define MATCHED (UINT32_MAX - 1)

struct state {
	uint32_t first, count; /* members: steps in ascending order */
	bool matches_at_end;
};

struct weft__pattern {
	struct weft__pattern_tree tree;
	struct weft__pattern_program program;
	uint64_t *bounds; /* class n has the characters below bounds[n], down to the class before */
	uint32_t class_count;
	uint16_t ascii[ASCII]; /* classes */
	struct state states[STATES_MAX];
	uint32_t state_count, state_limit;
	uint32_t slots[SLOTS]; /* hash table of states by their members; UNKNOWN: free */
	uint16_t *members;
	uint32_t member_count;
	uint32_t *targets; /* the target of state s and class c is at s * class_count + c */
	/* While a state is made: */
	uint32_t *seen, generation; /* a step was seen if its entry equals `generation` */
	uint16_t *stack, *fresh, *kept;
	uint32_t fresh_count;
	bool fresh_matches;
	bool matches_always; /* every text matches, even an empty one */
};

/* ---- Classes ---- */

static int make_classes(struct weft__pattern *p)
{
	uint32_t ranges = p->tree.range_count;
	uint64_t *scratch;
	size_t count = 0;
	p->bounds = malloc((2 * (size_t)ranges + 1) * 2 * sizeof(*p->bounds));
	if (!p->bounds)
		return WEFT_ERROR_MEMORY;
	scratch = p->bounds + 2 * (size_t)ranges + 1;
	for (uint32_t i = 0; i < ranges; i++) {
		p->bounds[count++] = p->tree.ranges[i].first;
		p->bounds[count++] = p->tree.ranges[i].last + (uint64_t)1;
	}
	p->bounds[count++] = UINT32_MAX;
	weft__sort_u64(p->bounds, scratch, count);
	p->class_count = (uint32_t)weft__unique_u64(p->bounds, count);
	return 0;
}

static uint32_t find_class(const struct weft__pattern *p, uint32_t character)
{
	return weft__lower_bound_u64(p->bounds, p->class_count, character + (uint64_t)1);
}

/* A character of a class; any other character if the class is empty. */
static uint32_t character_of(const struct weft__pattern *p, uint32_t class)
{
	return p->bounds[class] ? (uint32_t)(p->bounds[class] - 1) : 0;
}

/* ---- States ---- */

static bool is_in_ranges(
	const struct weft__pattern *p, const struct weft__pattern_step *step, uint32_t character)
{
	const struct weft__pattern_range *ranges = p->tree.ranges + step->first;
	for (uint32_t i = 0; i < step->count; i++)
		if (ranges[i].first <= character && character <= ranges[i].last)
			return true;
	return false;
}

static void begin_fresh(struct weft__pattern *p)
{
	p->generation++;
	p->fresh_count = 0;
	p->fresh_matches = false;
}

/* The stack has room for all steps, because each is pushed at most once. */
static void push(struct weft__pattern *p, uint32_t *depth, uint32_t step)
{
	if (p->seen[step] == p->generation)
		return;
	p->seen[step] = p->generation;
	p->stack[(*depth)++] = (uint16_t)step;
}

/* Follows the steps that take no character. */
static void reach(struct weft__pattern *p, uint32_t from, bool at_start, bool at_end)
{
	uint32_t depth = 0;
	push(p, &depth, from);
	while (depth > 0) {
		uint32_t number = p->stack[--depth];
		const struct weft__pattern_step *step = &p->program.steps[number];
		if (step->type == WEFT__PATTERN_SPLIT) {
			push(p, &depth, step->next);
			push(p, &depth, step->other);
		} else if (step->type == WEFT__PATTERN_MATCH) {
			p->fresh_matches = true;
		} else if (step->type == WEFT__PATTERN_AT_START) {
			if (at_start)
				push(p, &depth, step->next);
		} else {
			p->fresh[p->fresh_count++] = (uint16_t)number;
			if (step->type == WEFT__PATTERN_AT_END && at_end)
				push(p, &depth, step->next);
		}
	}
}

static int by_number(const void *left, const void *right)
{
	const uint16_t *l = left, *r = right;
	return *l < *r ? -1 : *l > *r;
}

/* True if a text that ends at these steps matches. */
static bool matches_at_end(struct weft__pattern *p, const struct state *state, bool at_start)
{
	begin_fresh(p);
	for (uint32_t i = 0; i < state->count; i++) {
		const struct weft__pattern_step *step = &p->program.steps[p->members[state->first + i]];
		if (step->type == WEFT__PATTERN_AT_END)
			reach(p, step->next, at_start, true);
	}
	return p->fresh_matches;
}

/* Adds a state of the fresh steps, which are sorted. The caller has made sure that there is
 * room. */
static uint32_t add_state(struct weft__pattern *p, bool at_start)
{
	uint32_t number = p->state_count++;
	struct state *state = &p->states[number];
	*state = (struct state){p->member_count, p->fresh_count, false};
	memcpy(p->members + p->member_count, p->fresh, p->fresh_count * sizeof(*p->members));
	p->member_count += p->fresh_count;
	for (uint32_t class = 0; class < p->class_count; class ++)
		p->targets[(size_t)number * p->class_count + class] = UNKNOWN;
	state->matches_at_end = matches_at_end(p, state, at_start);
	return number;
}

static uint32_t hash_fresh(const struct weft__pattern *p)
{
	uint64_t hash = p->fresh_count;
	for (uint32_t i = 0; i < p->fresh_count; i++)
		hash = weft__mix(hash ^ p->fresh[i]);
	return (uint32_t)hash % SLOTS;
}

static bool is_fresh(const struct weft__pattern *p, const struct state *state)
{
	return state->count == p->fresh_count &&
		   memcmp(p->members + state->first, p->fresh, p->fresh_count * sizeof(*p->fresh)) == 0;
}

static bool is_full(const struct weft__pattern *p)
{
	return p->state_count == p->state_limit || p->member_count + p->fresh_count > MEMBERS_MAX;
}

/* Every text begins in state 0. It is not in the hash table, because ^ matches only there and no
 * other state may be merged with it. */
static void begin_states(struct weft__pattern *p)
{
	p->state_count = p->member_count = 0;
	for (uint32_t i = 0; i < SLOTS; i++)
		p->slots[i] = UNKNOWN;
	begin_fresh(p);
	reach(p, p->program.start, true, false);
	qsort(p->fresh, p->fresh_count, sizeof(*p->fresh), by_number);
	p->matches_always = p->fresh_matches;
	(void)add_state(p, true);
}

static void forget(struct weft__pattern *p)
{
	uint32_t count = p->fresh_count;
	memcpy(p->kept, p->fresh, count * sizeof(*p->kept));
	begin_states(p);
	memcpy(p->fresh, p->kept, count * sizeof(*p->kept));
	p->fresh_count = count;
}

static uint32_t find_slot(const struct weft__pattern *p)
{
	uint32_t slot = hash_fresh(p);
	while (p->slots[slot] != UNKNOWN && !is_fresh(p, &p->states[p->slots[slot]]))
		slot = (slot + 1) % SLOTS;
	return slot;
}

/* Finds or adds the state of the fresh steps. *ret_forgot: the cache was cleared, so earlier
 * numbers of states are invalid. */
static uint32_t find_state(struct weft__pattern *p, bool *ret_forgot)
{
	qsort(p->fresh, p->fresh_count, sizeof(*p->fresh), by_number);
	uint32_t slot = find_slot(p);
	*ret_forgot = false;
	if (p->slots[slot] != UNKNOWN)
		return p->slots[slot];
	if (is_full(p)) {
		forget(p);
		*ret_forgot = true;
		slot = find_slot(p);
	}
	uint32_t state = add_state(p, false);
	p->slots[slot] = state;
	return state;
}

/* Computes the transition of a state for `class`. */
static uint32_t learn(struct weft__pattern *p, uint32_t from, uint32_t class)
{
	uint32_t character = character_of(p, class);
	const struct state *state = &p->states[from];
	begin_fresh(p);
	reach(p, p->program.start, false, false); /* a match may begin anywhere */
	for (uint32_t i = 0; i < state->count; i++) {
		const struct weft__pattern_step *step = &p->program.steps[p->members[state->first + i]];
		if (step->type == WEFT__PATTERN_TAKE && is_in_ranges(p, step, character))
			reach(p, step->next, false, false);
	}
	uint32_t *target = &p->targets[(size_t)from * p->class_count + class];
	if (p->fresh_matches)
		return *target = MATCHED;
	bool forgot;
	uint32_t next = find_state(p, &forgot);
	if (!forgot)
		*target = next;
	return next;
}

bool weft__pattern_matches(struct weft__pattern *p, struct weft_slice text)
{
	uint32_t state = p->matches_always ? MATCHED : 0;
	for (size_t at = 0; at < text.size && state != MATCHED;) {
		uint32_t character = (uint8_t)text.bytes[at], class;
		if (character < ASCII) {
			class = p->ascii[character];
			at++;
		} else {
			bool valid;
			at += weft__utf8_decode(text.bytes + at, text.size - at, &character, &valid);
			class = find_class(p, valid ? character : 0xfffd);
		}
		uint32_t next = p->targets[(size_t)state * p->class_count + class];
		state = next == UNKNOWN ? learn(p, state, class) : next;
	}
	return state == MATCHED || p->states[state].matches_at_end;
}

/* ---- Making and ending ---- */

static int allocate(struct weft__pattern *p)
{
	size_t steps = p->program.count;
	int error = make_classes(p);
	if (error)
		return error;
	p->state_limit = TARGETS_MAX / p->class_count;
	if (p->state_limit > STATES_MAX)
		p->state_limit = STATES_MAX;
	for (uint32_t c = 0; c < ASCII; c++)
		p->ascii[c] = (uint16_t)find_class(p, c);
	p->members = malloc(MEMBERS_MAX * sizeof(*p->members));
	p->targets = malloc((size_t)p->state_limit * p->class_count * sizeof(*p->targets));
	p->seen = calloc(steps, sizeof(*p->seen));
	p->stack = malloc(steps * sizeof(*p->stack));
	p->fresh = malloc(steps * sizeof(*p->fresh));
	p->kept = malloc(steps * sizeof(*p->kept));
	bool good = p->members && p->targets && p->seen && p->stack && p->fresh && p->kept;
	return good ? 0 : WEFT_ERROR_MEMORY;
}

int weft__pattern_create(struct weft_slice text, const struct weft__pattern_options *options,
	struct weft__pattern_error *ret_error, struct weft__pattern **ret_pattern)
{
	struct weft__pattern *p = calloc(1, sizeof(*p));
	if (!p)
		return WEFT_ERROR_MEMORY;
	int error = weft__pattern_parse(text, options, ret_error, &p->tree);
	if (!error) {
		error = weft__pattern_compile(&p->tree, &p->program);
		if (error == WEFT_ERROR_LIMIT) {
			*ret_error = (struct weft__pattern_error){"the expression repeats too much", 0};
			error = WEFT_ERROR_ARGUMENT;
		}
	}
	if (!error)
		error = allocate(p);
	if (error) {
		weft__pattern_destroy(p);
		return error;
	}
	begin_states(p);
	*ret_pattern = p;
	return 0;
}

void weft__pattern_destroy(struct weft__pattern *p)
{
	if (!p)
		return;
	weft__pattern_tree_finish(&p->tree);
	void *parts[] = {
		p->program.steps, p->bounds, p->members, p->targets, p->seen, p->stack, p->fresh, p->kept};
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		free(parts[i]);
	free(p);
}
