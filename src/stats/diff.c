/* SPDX-License-Identifier: ISC
 *
 * Compares two statistics: rows are matched by kind and name, as numbers of strings and kinds
 * differ between traces.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/export.h"
#include "stats/stats.h"

#define NAME_BYTES (64 + WEFT_STATS_NAME_BYTES)

struct named_row {
	const struct weft_stats_row *row;
	uint32_t number; /* rows with one name keep their order */
	char *name;
};

/* Writes the kind's name, a separator that no sensible name begins with, and the row's name. */
static void name_row(
	const struct weft_stats *stats, const struct weft_stats_row *row, char name[NAME_BYTES])
{
	char kind_name[64] = "";
	uint16_t kind;
	if (weft_stats_kind(stats, row, &kind)) {
		const char *known = weft_model_kind_name(stats->story->model, kind);
		if (known)
			snprintf(kind_name, sizeof(kind_name), "%s", known);
		else
			snprintf(kind_name, sizeof(kind_name), "%u", kind);
	}
	int used = snprintf(name, NAME_BYTES, "%s\n", kind_name);
	weft_stats_format_name(stats, row, name + used, NAME_BYTES - (size_t)used);
}

static int compare_names(const void *left, const void *right)
{
	const struct named_row *l = left, *r = right;
	int order = strcmp(l->name, r->name);
	if (order)
		return order;
	return l->number < r->number ? -1 : l->number > r->number;
}

static void free_rows(struct named_row *rows, uint32_t count)
{
	for (uint32_t i = 0; rows && i < count; i++)
		free(rows[i].name);
	free(rows);
}

static struct named_row *sort_by_name(const struct weft_stats *stats)
{
	struct named_row *rows = calloc(stats->row_count + (size_t)1, sizeof(*rows));
	char name[NAME_BYTES];
	for (uint32_t i = 0; rows && i < stats->row_count; i++) {
		name_row(stats, &stats->rows[i], name);
		const size_t size = strlen(name) + 1;
		rows[i] = (struct named_row){&stats->rows[i], i, malloc(size)};
		if (!rows[i].name) {
			free_rows(rows, stats->row_count);
			return NULL;
		}
		memcpy(rows[i].name, name, size);
	}
	if (rows)
		qsort(rows, stats->row_count, sizeof(*rows), compare_names);
	return rows;
}

/* The time that the tasks in b lived longer than at the mean lifetime in a, times its share of all
 * that time: much time of many tasks counts, unless each is only a little slower. */
static double score_lives(const struct weft_stats_pair *pair)
{
	if (!pair->a->ended || !pair->b->ended)
		return 0;
	/* Without rounding if there are as many: equal rows do not differ. */
	double expected = (double)pair->a->lifetime_ns;
	if (pair->a->ended != pair->b->ended)
		expected = expected / pair->a->ended * pair->b->ended;
	double took = (double)pair->b->lifetime_ns, extra = took - expected;
	double most = took > expected ? took : expected;
	if (!(most > 0))
		return 0;
	return extra > 0 ? extra * extra / most : -extra * extra / most;
}

static double score(enum weft_stats_sort sort, const struct weft_stats_pair *pair)
{
	if (!pair->a || !pair->b)
		return 0;
	if (sort == WEFT_STATS_SORT_TOTAL)
		return score_lives(pair);
	return (double)weft__stats_value(pair->b, sort) - (double)weft__stats_value(pair->a, sort);
}

/* 0: in both; 1: only in b; 2: only in a. */
static int side_of(const struct weft_stats_pair *pair)
{
	return pair->a && pair->b ? 0 : pair->b ? 1 : 2;
}

static int compare_pairs(const void *left, const void *right)
{
	const struct weft_stats_pair *l = left, *r = right;
	if (side_of(l) != side_of(r))
		return side_of(l) - side_of(r);
	if (l->score != r->score)
		return l->score > r->score ? -1 : 1;
	const struct weft_stats_row *lrow = l->b ? l->b : l->a, *rrow = r->b ? r->b : r->a;
	return lrow < rrow ? -1 : lrow > rrow;
}

struct matching {
	const struct weft_stats *a, *b;
	struct named_row *a_rows, *b_rows;
};

/* Walks through both lists, which are sorted by name. */
static uint32_t match(const struct matching *m, struct weft_stats_pair *pairs)
{
	uint32_t i = 0, k = 0, count = 0;
	while (i < m->a->row_count || k < m->b->row_count) {
		int order = i == m->a->row_count   ? 1
					: k == m->b->row_count ? -1
										   : strcmp(m->a_rows[i].name, m->b_rows[k].name);
		struct weft_stats_pair *pair = &pairs[count++];
		*pair = (struct weft_stats_pair){.a = order <= 0 ? m->a_rows[i++].row : NULL};
		if (order >= 0)
			pair->b = m->b_rows[k++].row;
	}
	return count;
}

WEFT__EXPORT int weft_stats_diff_create(
	const struct weft_stats *a, const struct weft_stats *b, struct weft_stats_diff **ret_diff)
{
	struct matching m = {a, b, sort_by_name(a), sort_by_name(b)};
	struct weft_stats_diff *diff = calloc(1, sizeof(*diff));
	struct weft_stats_pair *pairs =
		malloc((a->row_count + (size_t)b->row_count + 1) * sizeof(*pairs));
	int error = m.a_rows && m.b_rows && diff && pairs ? 0 : WEFT_ERROR_MEMORY;
	if (!error) {
		*diff = (struct weft_stats_diff){a, b, match(&m, pairs), pairs};
		for (uint32_t i = 0; i < diff->count; i++)
			pairs[i].score = score(b->options.sort, &pairs[i]);
		qsort(pairs, diff->count, sizeof(*pairs), compare_pairs);
		*ret_diff = diff;
	} else {
		free(diff);
		free(pairs);
	}
	free_rows(m.a_rows, a->row_count);
	free_rows(m.b_rows, b->row_count);
	return error;
}

WEFT__EXPORT void weft_stats_diff_destroy(struct weft_stats_diff *diff)
{
	if (!diff)
		return;
	free((void *)(uintptr_t)diff->pairs);
	free(diff);
}
