/* SPDX-License-Identifier: ISC
 *
 * The counters of all programs as a tree: "disk/used" of a program lies below "disk", and a level
 * below what it is a part of. Each sample makes a new tree, from paths in the order of their bytes.
 * The tree before has the same order, so that walking through both at once finds what each node
 * was.
 */
#include "top.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Building ---- */

struct making {
	struct top_forest *forest;
	struct top_forest *before;
	struct top_paths paths;
	uint32_t *next; /* of each node: the child of its previous one that is looked at next */
	uint32_t *open; /* the nodes that we are below */
	unsigned depth; /* of these */
	uint32_t capacity;
};

static int compare_nodes(
	const struct making *making, const struct top_node *old, const struct top_node *node)
{
	if (node->kind == TOP_PROGRAM)
		return top_program_compare(
			&making->before->programs[old->program], &making->forest->programs[node->program]);
	int order = (int)old->kind - (int)node->kind;
	order = order ? order
				  : memcmp(old->id, node->id,
						old->id_size < node->id_size ? old->id_size : node->id_size);
	return order ? order : (old->id_size > node->id_size) - (old->id_size < node->id_size);
}

/* The same node in the forest before. */
static uint32_t find_previous(struct making *making, uint32_t parent, const struct top_node *node)
{
	const struct top_forest *before = making->before;
	/* The last one of `next` is for the programs. */
	uint32_t *next = &making->next[parent == TOP_NONE ? making->capacity : parent];
	uint32_t end = before->count;
	if (parent != TOP_NONE) {
		uint32_t old = making->forest->nodes[parent].previous;
		end = old == TOP_NONE ? 0 : before->nodes[old].end;
	}
	while (*next < end) {
		int order = compare_nodes(making, &before->nodes[*next], node);
		if (order > 0)
			break;
		uint32_t found = *next;
		*next = before->nodes[found].end;
		if (order == 0)
			return found;
	}
	return TOP_NONE;
}

static void open_node(
	struct making *making, uint32_t program, enum top_kind kind, const char *id, size_t id_size)
{
	struct top_forest *forest = making->forest;
	uint32_t number = forest->count++;
	struct top_node *node = &forest->nodes[number];
	uint32_t parent = making->depth ? making->open[making->depth - 1] : TOP_NONE;
	*node = (struct top_node){.id = id,
		.id_size = id_size,
		.program = program,
		.parent = parent,
		.depth = making->depth,
		.kind = kind,
		.value = NAN,
		.rate = NAN};
	node->previous = find_previous(making, parent, node);
	making->next[number] = node->previous == TOP_NONE ? 0 : node->previous + 1;
	making->open[making->depth++] = number;
}

/* Closes all nodes that are deeper. */
static void close_nodes(struct making *making, unsigned depth)
{
	while (making->depth > depth)
		making->forest->nodes[making->open[--making->depth]].end = making->forest->count;
}

static void add_path_nodes(struct making *making, const struct top_path *path)
{
	unsigned depth = 1;
	bool is_same = true;
	for (size_t at = 0, size; at < path->size; at += size + 1, depth++) {
		const char *part = path->bytes + at;
		size = strlen(part);
		const struct top_node *open =
			depth < making->depth ? &making->forest->nodes[making->open[depth]] : NULL;
		is_same = is_same && open && (int)open->kind == part[0] - '0' &&
				  open->id_size == size - 1 && memcmp(open->id, part + 1, size - 1) == 0;
		if (is_same)
			continue;
		close_nodes(making, depth);
		open_node(making, path->program, (enum top_kind)(part[0] - '0'), part + 1, size - 1);
	}
	close_nodes(making, depth);
	making->forest->nodes[making->open[depth - 1]].counter = path->counter;
}

static void add_nodes(struct making *making)
{
	struct top_forest *forest = making->forest;
	const struct top_path *path = making->paths.list, *end = path + making->paths.count;
	for (uint32_t program = 0; program < forest->program_count; program++) {
		close_nodes(making, 0);
		open_node(making, program, TOP_PROGRAM, "", 0);
		for (; path < end && path->program == program; path++)
			add_path_nodes(making, path);
	}
	close_nodes(making, 0);
}

/* ---- Values ---- */

static double value_of(const struct weft__runs_counter *counter)
{
	const int scale = weft__metrics_base_unit(counter).scale;
	if (counter->type == WEFT__RUNS_HISTOGRAM)
		return (double)counter->histogram.count;
	return weft__unit_scaled(counter->is_real ? counter->real : (double)counter->integer, scale);
}

/* Changes of integers are exact, however large these are. */
static double change_of(
	const struct weft__runs_counter *before, const struct weft__runs_counter *now)
{
	if (now->type == WEFT__RUNS_HISTOGRAM || now->is_real || before->is_real)
		return value_of(now) - value_of(before);
	return weft__unit_scaled((double)(int64_t)((uint64_t)now->integer - (uint64_t)before->integer),
		weft__metrics_base_unit(now).scale);
}

static struct top_history *make_history(void)
{
	struct top_history *history = malloc(sizeof(*history));
	for (size_t i = 0; history && i < TOP_SAMPLES; i++)
		history->value[i] = history->rate[i] = NAN;
	return history;
}

/* Takes what a node had before: the value for its rate, the history, whether it was open. */
static void carry(struct making *making, struct top_node *node)
{
	const struct top_forest *forest = making->forest;
	struct top_node *old =
		node->previous == TOP_NONE ? NULL : &making->before->nodes[node->previous];
	const double seconds = forest->time_s - making->before->time_s;
	const bool has_ended = forest->programs[node->program].ended > 0;
	node->is_open = old ? old->is_open : !node->counter;
	node->was_opened = old && old->was_opened;
	if (!node->counter)
		return;
	node->value = value_of(node->counter);
	if (old && old->counter && old->counter->type == node->counter->type && seconds > 0 &&
		!has_ended)
		node->rate = change_of(old->counter, node->counter) / seconds;
	node->history = old && old->history ? old->history : make_history();
	if (old)
		old->history = NULL;
	if (!node->history)
		return;
	node->history->value[forest->sample % TOP_SAMPLES] = has_ended ? NAN : (float)node->value;
	node->history->rate[forest->sample % TOP_SAMPLES] = (float)node->rate;
}

/* The texts move while they grow: offsets at first. */
static void add_texts(struct top_forest *forest)
{
	for (uint32_t i = 0; i < forest->count; i++) {
		struct top_node *node = &forest->nodes[i];
		const struct weft__runs_linked *program = &forest->programs[node->program].linked;
		node->text_offset = forest->texts.size;
		if (node->kind == TOP_PROGRAM) {
			weft_text_add_shown(&forest->texts, program->program, strlen(program->program));
			weft_text_add_string(&forest->texts, " ");
			weft_text_add_u64(&forest->texts, (uint64_t)program->pid);
		} else {
			weft_text_add_shown(&forest->texts, node->id, node->id_size);
		}
		weft_text_add(&forest->texts, "", 1);
	}
	for (uint32_t i = 0; !forest->texts.error && i < forest->count; i++)
		forest->nodes[i].text = forest->texts.bytes + forest->nodes[i].text_offset;
}

/* ---- All ---- */

static bool read_programs(struct top_forest *forest, struct top_forest *before,
	const struct weft__runs_linked_list *linked)
{
	const size_t given = before->given ? before->given->count : 0;
	struct weft__runs_usage_list domains = {NULL, 0};
	if (forest->xen)
		weft__runs_usage_read(forest->xen, &domains);
	forest->programs = calloc(given + linked->count + domains.count + before->program_count + 1,
		sizeof(*forest->programs));
	if (forest->programs) {
		if (before->given)
			top_programs_take(forest, before->given);
		top_programs_take_domains(forest, &domains);
		top_programs_read(forest, linked);
	}
	weft__runs_usage_finish(&domains);
	if (!forest->programs)
		return false;
	top_programs_keep_ended(forest, before);
	qsort(forest->programs, forest->program_count, sizeof(*forest->programs), top_program_compare);
	return true;
}

static bool build(struct making *making)
{
	struct top_forest *forest = making->forest;
	if (!top_paths_init(&making->paths, forest))
		return false;
	size_t capacity = making->paths.part_count + forest->program_count;
	making->capacity = (uint32_t)capacity;
	forest->nodes = calloc(capacity + 1, sizeof(*forest->nodes));
	making->next = calloc(capacity + 1, sizeof(*making->next));
	making->open = calloc(capacity + 1, sizeof(*making->open));
	if (capacity >= TOP_NONE || !forest->nodes || !making->next || !making->open)
		return false;
	add_nodes(making);
	for (uint32_t i = 0; i < forest->count; i++)
		carry(making, &forest->nodes[i]);
	forest->counter_count = (uint32_t)making->paths.count;
	forest->ids = making->paths.bytes;
	making->paths.bytes = (struct weft_text){0};
	add_texts(forest);
	return !forest->texts.error;
}

bool top_forest_update(
	struct top_forest *forest, const struct weft__runs_linked_list *linked, double time_s)
{
	struct top_forest now = {.has_children = forest->has_children,
		.xen = forest->xen,
		.sample = forest->sample + 1,
		.time_s = time_s};
	struct making making = {.forest = &now, .before = forest};
	bool good = read_programs(&now, forest, linked) && build(&making);
	top_paths_finish(&making.paths);
	free(making.next);
	free(making.open);
	top_forest_finish(forest);
	*forest = now;
	if (!good)
		top_forest_finish(forest);
	return good;
}

void top_forest_finish(struct top_forest *forest)
{
	for (uint32_t i = 0; i < forest->count; i++)
		free(forest->nodes[i].history);
	for (uint32_t i = 0; i < forest->program_count; i++) {
		weft__runs_counters_finish(&forest->programs[i].counters);
		weft__runs_counters_finish(&forest->programs[i].children);
	}
	free(forest->programs);
	free(forest->nodes);
	weft_text_finish(&forest->ids);
	weft_text_finish(&forest->texts);
	*forest = (struct top_forest){
		.has_children = forest->has_children, .xen = forest->xen, .sample = forest->sample};
}

bool top_forest_has_below(const struct top_forest *forest, uint32_t node)
{
	return forest->nodes[node].end > node + 1;
}
