/* SPDX-License-Identifier: ISC
 *
 * Runs the automaton over a text. A set of steps is one state of a lazily built DFA; its
 * transitions for each class of characters (characters that no step distinguishes) are computed
 * once and cached. All memory is allocated at the start: when it is full, the cache is cleared. An
 * expression such as a(a|b){100}c leads to new sets at each character of some texts, so the number
 * of steps is limited.
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
#define SLOTS       (2 * STATES_MAX)
#define ASCII       128
#define WORDS       (WEFT__PATTERN_STEPS_MAX / 64)

/* A new set of steps costs at most as much as so many characters whose transition is known. */
#define LEARNING_WORK 256

/* Values instead of a state. */
#define UNKNOWN UINT32_MAX
#define MATCHED (UINT32_MAX - 1)

/* A set of steps: a bit for each. */
struct steps {
	uint64_t words[WORDS];
};

struct state {
	struct steps members;
	bool matches_at_end;
};

struct weft__pattern {
	struct weft__pattern_tree tree;
	struct weft__pattern_program program;
	uint64_t *bounds; /* class n has the characters below bounds[n], down to the class before */
	uint32_t class_count;
	uint16_t ascii[ASCII]; /* classes */
	struct steps *takes;   /* for each class, the steps that take its characters */
	struct steps at_end;   /* the steps that are $ */
	struct state states[STATES_MAX];
	uint32_t state_count, state_limit;
	uint32_t slots[SLOTS]; /* hash table of states by their members; UNKNOWN: free */
	uint32_t *targets;     /* the target of state s and class c is at s * class_count + c */
	/* While a state is made: */
	uint32_t *seen, generation; /* a step was seen if its entry equals `generation` */
	uint16_t *stack;
	struct steps fresh; /* the steps that take a character, and those that are $ */
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

/* ---- Sets of steps ---- */

static void add_to(struct steps *set, uint32_t step)
{
	set->words[step / 64] |= UINT64_C(1) << step % 64;
}

/* Takes the lowest step out of a set; false if it is empty. `word` is 0 at first. */
static bool take_lowest(struct steps *set, uint32_t *word, uint32_t *ret_step)
{
	while (*word < WORDS && !set->words[*word])
		++*word;
	if (*word == WORDS)
		return false;
	*ret_step = 64 * *word + (uint32_t)__builtin_ctzll(set->words[*word]);
	set->words[*word] &= set->words[*word] - 1;
	return true;
}

static struct steps in_both(const struct steps *a, const struct steps *b)
{
	struct steps both;
	for (unsigned i = 0; i < WORDS; i++)
		both.words[i] = a->words[i] & b->words[i];
	return both;
}

/* Finds the steps of each class. The ranges of a step are in order. */
static void find_takes(struct weft__pattern *p)
{
	for (uint32_t number = 0; number < p->program.count; number++) {
		const struct weft__pattern_step *step = &p->program.steps[number];
		if (step->type == WEFT__PATTERN_AT_END)
			add_to(&p->at_end, number);
		for (uint32_t i = 0; step->type == WEFT__PATTERN_TAKE && i < step->count; i++) {
			const struct weft__pattern_range *range = &p->tree.ranges[step->first + i];
			uint32_t last = find_class(p, range->last);
			for (uint32_t class = find_class(p, range->first); class <= last; class ++)
				add_to(&p->takes[class], number);
		}
	}
}

/* ---- States ---- */

static void begin_fresh(struct weft__pattern *p)
{
	p->generation++;
	p->fresh = (struct steps){{0}};
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
	if (p->program.steps[from].type == WEFT__PATTERN_TAKE) {
		add_to(&p->fresh, from);
		return;
	}
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
			add_to(&p->fresh, number);
			if (step->type == WEFT__PATTERN_AT_END && at_end)
				push(p, &depth, step->next);
		}
	}
}

/* True if a text that ends at these steps matches. */
static bool matches_at_end(struct weft__pattern *p, const struct state *state, bool at_start)
{
	struct steps ends = in_both(&state->members, &p->at_end);
	uint32_t word = 0, step;
	begin_fresh(p);
	while (take_lowest(&ends, &word, &step))
		reach(p, p->program.steps[step].next, at_start, true);
	return p->fresh_matches;
}

/* Adds a state of the fresh steps. The caller has made sure that there is room. */
static uint32_t add_state(struct weft__pattern *p, bool at_start)
{
	uint32_t number = p->state_count++;
	struct state *state = &p->states[number];
	*state = (struct state){p->fresh, false};
	for (uint32_t class = 0; class < p->class_count; class ++)
		p->targets[(size_t)number * p->class_count + class] = UNKNOWN;
	state->matches_at_end = matches_at_end(p, state, at_start);
	return number;
}

/* Every text begins in state 0. It is not in the hash table, because ^ matches only there and no
 * other state may be merged with it. */
static void begin_states(struct weft__pattern *p)
{
	p->state_count = 0;
	for (uint32_t i = 0; i < SLOTS; i++)
		p->slots[i] = UNKNOWN;
	begin_fresh(p);
	reach(p, p->program.start, true, false);
	p->matches_always = p->fresh_matches;
	(void)add_state(p, true);
}

static uint32_t find_slot(const struct weft__pattern *p)
{
	uint64_t hash = 0;
	for (unsigned i = 0; i < WORDS; i++)
		hash = weft__mix(hash ^ p->fresh.words[i]);
	uint32_t slot = (uint32_t)hash % SLOTS;
	while (p->slots[slot] != UNKNOWN &&
		   memcmp(&p->states[p->slots[slot]].members, &p->fresh, sizeof(p->fresh)) != 0)
		slot = (slot + 1) % SLOTS;
	return slot;
}

/* Finds or adds the state of the fresh steps. *ret_forgot: the cache was cleared, so earlier
 * numbers of states are invalid. */
static uint32_t find_state(struct weft__pattern *p, bool *ret_forgot)
{
	uint32_t slot = find_slot(p);
	*ret_forgot = p->state_count == p->state_limit;
	if (p->slots[slot] != UNKNOWN) {
		*ret_forgot = false;
		return p->slots[slot];
	}
	if (*ret_forgot) {
		struct steps fresh = p->fresh;
		begin_states(p);
		p->fresh = fresh;
		slot = find_slot(p);
	}
	uint32_t state = add_state(p, false);
	p->slots[slot] = state;
	return state;
}

/* Computes the transition of a state for `class`. */
static uint32_t learn(struct weft__pattern *p, uint32_t from, uint32_t class)
{
	struct steps taking = in_both(&p->states[from].members, &p->takes[class]);
	uint32_t word = 0, step;
	begin_fresh(p);
	reach(p, p->program.start, false, false); /* a match may begin anywhere */
	while (take_lowest(&taking, &word, &step))
		reach(p, p->program.steps[step].next, false, false);
	uint32_t *target = &p->targets[(size_t)from * p->class_count + class];
	if (p->fresh_matches)
		return *target = MATCHED;
	bool forgot;
	uint32_t next = find_state(p, &forgot);
	if (!forgot)
		*target = next;
	return next;
}

/* The class of the next character, which is past then. */
static uint32_t take_class(const struct weft__pattern *p, struct weft_slice text, size_t *at)
{
	uint32_t character = (uint8_t)text.bytes[*at];
	bool valid;
	if (character < ASCII) {
		++*at;
		return p->ascii[character];
	}
	*at += weft__utf8_decode(text.bytes + *at, text.size - *at, &character, &valid);
	return find_class(p, valid ? character : 0xfffd);
}

bool weft__pattern_go_on(struct weft__pattern *p, struct weft_slice text,
	struct weft__pattern_run *run, uint64_t *work, bool *ret_matches)
{
	uint32_t state = run->has_begun ? run->state : p->matches_always ? MATCHED : 0;
	size_t at = run->at;
	uint64_t left = *work, learned = 0;
	size_t stop = text.size - at < left ? text.size : at + (size_t)left;
	while (at < stop && state != MATCHED) {
		uint32_t class = take_class(p, text, &at);
		uint32_t next = p->targets[(size_t)state * p->class_count + class];
		if (next == UNKNOWN) {
			next = learn(p, state, class);
			learned += LEARNING_WORK;
			if (learned + (at - run->at) >= left)
				stop = at;
		}
		state = next;
	}
	uint64_t used = learned + (at - run->at);
	*work = used < left ? left - used : 0;
	*run = (struct weft__pattern_run){at, state, true};
	*ret_matches = state == MATCHED || (at == text.size && p->states[state].matches_at_end);
	return state == MATCHED || at == text.size;
}

bool weft__pattern_matches(struct weft__pattern *p, struct weft_slice text)
{
	struct weft__pattern_run run = {0};
	uint64_t work = UINT64_MAX;
	bool matches = false;
	while (!weft__pattern_go_on(p, text, &run, &work, &matches))
		work = UINT64_MAX;
	return matches;
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
	p->takes = calloc(p->class_count, sizeof(*p->takes));
	p->targets = malloc((size_t)p->state_limit * p->class_count * sizeof(*p->targets));
	p->seen = calloc(steps, sizeof(*p->seen));
	p->stack = malloc(steps * sizeof(*p->stack));
	if (!p->takes || !p->targets || !p->seen || !p->stack)
		return WEFT_ERROR_MEMORY;
	find_takes(p);
	return 0;
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
			*ret_error = (struct weft__pattern_error){
				options->literal ? "the text is too long: 500 characters at most"
								 : "the expression is too large: its characters, branches and "
								   "repetitions are more than 500 steps",
				0};
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
	void *parts[] = {p->program.steps, p->bounds, p->takes, p->targets, p->seen, p->stack};
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		free(parts[i]);
	free(p);
}
