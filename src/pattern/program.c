/* SPDX-License-Identifier: ISC
 *
 * Compiles a tree to steps, from the end backwards: each node gets the step that follows it, so
 * that only endless repetitions have to be patched. It recurses once for each group and repetition,
 * not for each node of a sequence; the parser bounds the depth of groups.
 */
#include <stdlib.h>

#include "base/array.h"
#include "pattern/program.h"

/* Bounds the work: repetitions of an empty expression cost time but add no steps. */
#define WORK_MAX 100000

struct compiler {
	const struct weft__pattern_tree *tree;
	struct weft__pattern_program program;
	uint32_t work;
	int error;
};

static uint32_t add_step(struct compiler *c, struct weft__pattern_step step)
{
	struct weft__pattern_program *program = &c->program;
	const struct weft__column column = {&program->steps, sizeof(*program->steps)};
	if (!c->error && program->count >= WEFT__PATTERN_STEPS_MAX)
		c->error = WEFT_ERROR_LIMIT;
	if (!c->error)
		c->error =
			weft__columns_reserve(&column, 1, &program->capacity, program->count + (size_t)1);
	if (c->error)
		return 0;
	program->steps[program->count] = step;
	return program->count++;
}

static uint32_t add_split(struct compiler *c, uint32_t next, uint32_t other)
{
	return add_step(
		c, (struct weft__pattern_step){.type = WEFT__PATTERN_SPLIT, .next = next, .other = other});
}

static uint32_t compile(struct compiler *c, uint32_t node, uint32_t next);

/* Compiles a repetition of any number of times, including none. */
static uint32_t compile_endless(struct compiler *c, uint32_t node, uint32_t next)
{
	uint32_t split = add_split(c, next, next);
	uint32_t again = compile(c, node, split);
	if (!c->error)
		c->program.steps[split].next = again;
	return split;
}

static uint32_t compile_repeat(
	struct compiler *c, const struct weft__pattern_node *repeat, uint32_t next)
{
	uint32_t node = repeat->left, least = repeat->first, most = repeat->count, after = next;
	if (most == WEFT__PATTERN_ENDLESS)
		next = compile_endless(c, node, next);
	else
		for (uint32_t i = least; i < most && !c->error; i++)
			next = add_split(c, compile(c, node, next), after);
	for (uint32_t i = 0; i < least && !c->error; i++)
		next = compile(c, node, next);
	return next;
}

static uint32_t compile_either(
	struct compiler *c, const struct weft__pattern_node *node, uint32_t next)
{
	const struct weft__pattern_node *nodes = c->tree->nodes;
	uint32_t first = compile(c, node->right, next);
	while (!c->error && nodes[node->left].type == WEFT__PATTERN_NODE_EITHER) {
		node = &nodes[node->left];
		first = add_split(c, compile(c, node->right, next), first);
	}
	return add_split(c, compile(c, node->left, next), first);
}

static uint32_t compile_leaf(
	struct compiler *c, const struct weft__pattern_node *node, uint32_t next)
{
	struct weft__pattern_step step = {.next = next, .first = node->first, .count = node->count};
	switch (node->type) {
	case WEFT__PATTERN_NODE_RANGES:
		step.type = WEFT__PATTERN_TAKE;
		return add_step(c, step);
	case WEFT__PATTERN_NODE_START:
		step.type = WEFT__PATTERN_AT_START;
		return add_step(c, step);
	case WEFT__PATTERN_NODE_END:
		step.type = WEFT__PATTERN_AT_END;
		return add_step(c, step);
	case WEFT__PATTERN_NODE_EMPTY:
	case WEFT__PATTERN_NODE_SEQUENCE:
	case WEFT__PATTERN_NODE_EITHER:
	case WEFT__PATTERN_NODE_REPEAT:
		break; /* an empty leaf; the others are not leaves */
	}
	return next;
}

static uint32_t compile(struct compiler *c, uint32_t number, uint32_t next)
{
	const struct weft__pattern_node *nodes = c->tree->nodes;
	if (!c->error && c->work++ >= WORK_MAX)
		c->error = WEFT_ERROR_LIMIT;
	while (!c->error && nodes[number].type == WEFT__PATTERN_NODE_SEQUENCE) {
		next = compile(c, nodes[number].right, next);
		number = nodes[number].left;
	}
	if (c->error)
		return 0;
	if (nodes[number].type == WEFT__PATTERN_NODE_REPEAT)
		return compile_repeat(c, &nodes[number], next);
	if (nodes[number].type == WEFT__PATTERN_NODE_EITHER)
		return compile_either(c, &nodes[number], next);
	return compile_leaf(c, &nodes[number], next);
}

int weft__pattern_compile(
	const struct weft__pattern_tree *tree, struct weft__pattern_program *ret_program)
{
	struct compiler c = {.tree = tree};
	uint32_t match = add_step(&c, (struct weft__pattern_step){.type = WEFT__PATTERN_MATCH});
	c.program.start = compile(&c, tree->root, match);
	if (c.error) {
		free(c.program.steps);
		return c.error;
	}
	*ret_program = c.program;
	return 0;
}
