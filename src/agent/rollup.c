/* SPDX-License-Identifier: ISC
 *
 * See rollup.h. The database has labels in the order of their keys, which is not that of levels:
 * below
 * {"pool"} may be {"customer","pool"}. The level right above another one lacks one of its labels.
 * If there are several such levels, a series is left out with all that is below it: like what is
 * too deep, it is in the values above.
 */
#include "agent/rollup.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/exemplars.h"
#include "agent/history.h"
#include "agent/labels.h"
#include "metrics/value.h"

/* Cells for values from 2^-64 to 2^64; others are in the first one, and in the last one. */
#define EXPONENT_MAX 64
#define CELLS        (2 * EXPONENT_MAX * 8 + 2)

#define LABELS_MAX 16 /* programs have fewer */
#define NONE       SIZE_MAX

struct weft__agent_rollup_row {
	char *program, *metric, *labels, *unit, *help;
	char user[24];
	struct weft__runs_counter counter;
	struct weft__runs_label *label; /* in the end, that of the widest level first */
	char *texts;                    /* of the labels */
	uint64_t *cells;                /* of a histogram: CELLS */
	bool is_ordered, is_left_out;
};

/* ---- Labels ---- */

/* False if they are damaged. */
static bool parse_labels(struct weft__agent_rollup_row *row)
{
	struct weft__runs_label label[LABELS_MAX];
	const char *at = row->labels;
	char key[256], value[256];
	char *text = row->texts = malloc(strlen(row->labels) + 1);
	size_t count = 0;
	while (text && count < LABELS_MAX && weft__agent_labels_next(&at, key, value)) {
		/* Without quotes, both are shorter than in the object. */
		label[count].key = memcpy(text, key, strlen(key) + 1);
		text += strlen(key) + 1;
		label[count++].value = memcpy(text, value, strlen(value) + 1);
		text += strlen(value) + 1;
	}
	row->label = calloc(count + 1, sizeof(*label));
	if (row->label && count)
		memcpy(row->label, label, count * sizeof(*label));
	row->counter.labels = row->label;
	row->counter.label_count = count;
	return text && row->label && (strcmp(at, "}") == 0 || strcmp(row->labels, "{}") == 0);
}

static struct weft__metrics_sample sample_of(const struct weft__agent_rollup_row *row)
{
	return (struct weft__metrics_sample){
		.program = row->program, .counter = &row->counter, .user = row->user};
}

/* ---- Values ---- */

static void add_part(struct weft__agent_rollup_row *row, sqlite3_stmt *it)
{
	const bool is_cell = sqlite3_column_type(it, 5) != SQLITE_NULL;
	const double eighths = 8 * log2(sqlite3_column_double(it, 5)) + EXPONENT_MAX * 8;
	const int64_t value = sqlite3_column_int64(it, 10);
	if (!row->cells) {
		row->counter.integer += value;
		row->counter.real = (double)row->counter.integer;
	} else if (!is_cell) {
		row->counter.histogram.sum = (uint64_t)value;
	} else {
		size_t cell = eighths > CELLS - 2 ? CELLS - 1 : eighths > 0 ? (size_t)lround(eighths) : 0;
		row->cells[cell] += (uint64_t)value;
		row->counter.histogram.count += (uint64_t)value;
	}
}

/* The last value of a gauge; of the finest resolution that has one. False: no process has one. */
static int read_last(
	sqlite3_stmt *last, int64_t series, struct weft__agent_rollup_row *row, bool *ret_is_there)
{
	int step = SQLITE_DONE;
	*ret_is_there = false;
	for (unsigned i = 0; i < WEFT__AGENT_RESOLUTIONS && step == SQLITE_DONE; i++) {
		sqlite3_bind_int64(last, 1, weft__agent_resolutions[i].seconds);
		sqlite3_bind_int64(last, 2, series);
		step = sqlite3_step(last);
		if (step == SQLITE_ROW) {
			*ret_is_there = sqlite3_column_type(last, 0) != SQLITE_NULL;
			row->counter.is_real = sqlite3_column_type(last, 0) == SQLITE_FLOAT;
			row->counter.integer = sqlite3_column_int64(last, 0);
			row->counter.real = sqlite3_column_double(last, 0);
		}
		sqlite3_reset(last);
	}
	return step == SQLITE_ROW || step == SQLITE_DONE ? SQLITE_OK : step;
}

/* ---- Reading ---- */

static const char rows_sql[] =
	"SELECT user, program, metric, labels, part, bound, type, unit, scale, help, total, id"
	" FROM series LEFT JOIN ledger ON ledger.series = id"
	" ORDER BY metric, user, program, labels, type, unit, scale";

static const char last_sql[] = "SELECT value FROM history WHERE resolution = ? AND series = ?"
							   " ORDER BY time DESC LIMIT 1";

/* The largest of the latest minute that has one. */
static const char exemplar_sql[] =
	"SELECT " WEFT__AGENT_EXEMPLAR_COLUMNS " FROM extremes WHERE resolution = 60 AND series = ?"
	" ORDER BY time DESC LIMIT 1";

struct statements {
	sqlite3_stmt *row, *last, *exemplar;
};

static const char *column(sqlite3_stmt *it, int number)
{
	const unsigned char *text = sqlite3_column_text(it, number);
	return text ? (const char *)text : "";
}

/* Real values are shown as gauges. */
static enum weft__runs_type type_of(const char *name)
{
	for (enum weft__runs_type type = WEFT__RUNS_UNKNOWN; type < WEFT__RUNS_TYPES; type++)
		if (strcmp(name, weft__metrics_type_name(type)) == 0)
			return type;
	return WEFT__RUNS_GAUGE;
}

static void finish_row(struct weft__agent_rollup_row *row)
{
	free(row->program);
	free(row->metric);
	free(row->labels);
	free(row->unit);
	free(row->help);
	free(row->label);
	free(row->texts);
	free(row->cells);
}

/* SQLITE_OK or SQLITE_NOMEM. */
static int make_row(sqlite3_stmt *it, struct weft__agent_rollup_row *row)
{
	*row = (struct weft__agent_rollup_row){.program = strdup(column(it, 1)),
		.metric = strdup(column(it, 2)),
		.labels = strdup(column(it, 3)),
		.unit = strdup(column(it, 7)),
		.help = strdup(column(it, 9))};
	snprintf(row->user, sizeof(row->user), "%s", column(it, 0));
	row->counter = (struct weft__runs_counter){.name = row->metric,
		.help = row->help,
		.unit = row->unit,
		.scale = sqlite3_column_int(it, 8),
		.type = type_of(column(it, 6))};
	const bool is_histogram = row->counter.type == WEFT__RUNS_HISTOGRAM;
	if (is_histogram)
		row->cells = calloc(CELLS, sizeof(*row->cells));
	return row->program && row->metric && row->labels && row->unit && row->help &&
				   (row->cells || !is_histogram)
			   ? SQLITE_OK
			   : SQLITE_NOMEM;
}

/* Parts of one histogram come one after the other. */
static bool is_same(const struct weft__agent_rollup_row *row, sqlite3_stmt *it)
{
	return row->cells && type_of(column(it, 6)) == WEFT__RUNS_HISTOGRAM &&
		   strcmp(row->labels, column(it, 3)) == 0 && strcmp(row->program, column(it, 1)) == 0 &&
		   strcmp(row->user, column(it, 0)) == 0 && strcmp(row->metric, column(it, 2)) == 0;
}

/* The next row, which is empty; NULL without memory. */
static struct weft__agent_rollup_row *room_for(struct weft__agent_rollup *rollup)
{
	const size_t count = rollup->row_count;
	if ((count & (count - 1)) == 0) {
		struct weft__agent_rollup_row *rows =
			realloc(rollup->rows, (count ? 2 * count : 1) * sizeof(*rows));
		if (!rows)
			return NULL;
		rollup->rows = rows;
	}
	return &rollup->rows[count];
}

/* A cell has none. */
static int read_exemplar(const struct statements *s, struct weft__agent_rollup_row *row)
{
	int64_t pid;
	if (sqlite3_column_type(s->row, 5) != SQLITE_NULL)
		return SQLITE_OK;
	sqlite3_bind_int64(s->exemplar, 1, sqlite3_column_int64(s->row, 11));
	const int step = sqlite3_step(s->exemplar);
	if (step == SQLITE_ROW)
		row->counter.exemplar = weft__agent_exemplars_read(s->exemplar, &pid);
	sqlite3_reset(s->exemplar);
	return step == SQLITE_ROW || step == SQLITE_DONE ? SQLITE_OK : step;
}

static int add_row(struct weft__agent_rollup *rollup, const struct statements *s)
{
	sqlite3_stmt *it = s->row;
	bool is_there = true;
	if (rollup->row_count && is_same(&rollup->rows[rollup->row_count - 1], it)) {
		add_part(&rollup->rows[rollup->row_count - 1], it);
		return read_exemplar(s, &rollup->rows[rollup->row_count - 1]);
	}
	struct weft__agent_rollup_row *row = room_for(rollup);
	int result = row ? make_row(it, row) : SQLITE_NOMEM;
	if (!row)
		return result;
	if (!result && row->counter.type == WEFT__RUNS_GAUGE)
		result = read_last(s->last, sqlite3_column_int64(it, 11), row, &is_there);
	else if (!result)
		add_part(row, it);
	if (!result)
		result = read_exemplar(s, row);
	if (result || !is_there || !parse_labels(row))
		finish_row(row);
	else
		rollup->row_count++;
	return result;
}

static int read_rows(sqlite3 *database, struct weft__agent_rollup *rollup)
{
	struct statements s = {NULL, NULL, NULL};
	int step = SQLITE_DONE, result = sqlite3_prepare_v2(database, rows_sql, -1, &s.row, NULL);
	if (!result)
		result = sqlite3_prepare_v2(database, last_sql, -1, &s.last, NULL);
	if (!result)
		result = sqlite3_prepare_v2(database, exemplar_sql, -1, &s.exemplar, NULL);
	while (!result && (step = sqlite3_step(s.row)) == SQLITE_ROW)
		result = add_row(rollup, &s);
	sqlite3_finalize(s.row);
	sqlite3_finalize(s.last);
	sqlite3_finalize(s.exemplar);
	return result ? result : step == SQLITE_DONE ? SQLITE_OK : step;
}

/* ---- Levels ---- */

static int compare(const struct weft__agent_rollup_row *row, const char *labels, size_t size,
	const struct weft__agent_rollup_row *like)
{
	int order = strcmp(row->metric, like->metric);
	order = order ? order : strcmp(row->user, like->user);
	order = order ? order : strcmp(row->program, like->program);
	order = order ? order : strncmp(row->labels, labels, size);
	return order ? order : row->labels[size] != '\0';
}

static int by_labels(const void *left, const void *right)
{
	const struct weft__agent_rollup_row *l = left, *r = right;
	return compare(l, r->labels, strlen(r->labels), r);
}

/* The row like another one that has these labels, or NONE. */
static size_t find_row(const struct weft__agent_rollup *rollup, const char *labels, size_t size,
	const struct weft__agent_rollup_row *like)
{
	size_t first = 0, end = rollup->row_count;
	while (first < end) {
		size_t middle = first + (end - first) / 2;
		int order = compare(&rollup->rows[middle], labels, size, like);
		if (order == 0)
			return middle;
		if (order < 0)
			first = middle + 1;
		else
			end = middle;
	}
	return NONE;
}

/* The row without the label whose text begins and ends there. */
static size_t find_without(const struct weft__agent_rollup *rollup,
	const struct weft__agent_rollup_row *row, const char *begin, const char *end)
{
	struct weft_text labels = {0};
	const bool is_first = begin == row->labels;
	weft_text_add(&labels, row->labels, is_first ? 1 : (size_t)(begin - row->labels));
	weft_text_add_string(&labels, is_first && *end == ',' ? end + 1 : end);
	size_t found = labels.error ? NONE : find_row(rollup, labels.bytes, labels.size, row);
	weft_text_finish(&labels);
	return found;
}

/* The level right above; NONE: there is none, or more than one. `*ret_label` is what it lacks. */
static size_t find_above(const struct weft__agent_rollup *rollup,
	const struct weft__agent_rollup_row *row, size_t *ret_label)
{
	const char *at = row->labels;
	char key[256], value[256];
	size_t above = NONE, count = 0;
	for (size_t i = 0; i < row->counter.label_count; i++) {
		const char *begin = at;
		weft__agent_labels_next(&at, key, value);
		size_t found = find_without(rollup, row, begin, at);
		if (found == NONE)
			continue;
		above = found;
		*ret_label = i;
		count++;
	}
	return count == 1 ? above : NONE;
}

/* Puts the labels in the order of levels. As many calls are nested as a series has labels. */
static void order(struct weft__agent_rollup *rollup, struct weft__agent_rollup_row *row)
{
	size_t last = 0, above = NONE;
	if (row->is_ordered)
		return;
	row->is_ordered = true;
	if (!row->counter.label_count)
		return;
	above = find_above(rollup, row, &last);
	if (above == NONE) {
		row->is_left_out = true;
		return;
	}
	struct weft__agent_rollup_row *level = &rollup->rows[above];
	order(rollup, level);
	row->is_left_out = level->is_left_out;
	const struct weft__runs_label own = row->label[last];
	for (size_t i = 0; i < level->counter.label_count && !row->is_left_out; i++)
		row->label[i] = level->label[i];
	row->label[row->counter.label_count - 1] = own;
}

/* ---- Samples ---- */

/* Histograms of one name need the same cells: the fewest that are enough for all of them that are
 * shown. */
static void choose_cells(struct weft__agent_rollup_row *rows, size_t count)
{
	size_t first = CELLS, last = 0;
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; rows[i].cells && !rows[i].is_left_out && k < CELLS - 1; k++)
			if (rows[i].cells[k]) {
				first = k < first ? k : first;
				last = k > last ? k : last;
			}
	first = first < CELLS ? first / 8 * 8 : 0;
	last = (last + 7) / 8 * 8;
	for (size_t i = 0; i < count; i++) {
		if (!rows[i].cells)
			continue;
		rows[i].cells[last + 1] = rows[i].cells[CELLS - 1];
		rows[i].counter.histogram.cells = rows[i].cells + first;
		rows[i].counter.histogram.cell_count = (uint32_t)(last + 2 - first);
		rows[i].counter.histogram.first_exponent = (int)(first / 8) - EXPONENT_MAX;
	}
}

static void leave_out_others(
	struct weft__agent_rollup_row *row, const char *const *only, size_t only_count)
{
	const struct weft__metrics_sample sample = sample_of(row);
	row->is_left_out |= !weft__metrics_has_labels(&sample, only, only_count);
}

static void prepare_rows(
	struct weft__agent_rollup *rollup, const char *const *only, size_t only_count)
{
	for (size_t i = 0, end; i < rollup->row_count; i = end) {
		for (end = i; end < rollup->row_count &&
					  strcmp(rollup->rows[i].metric, rollup->rows[end].metric) == 0;
			 end++)
			order(rollup, &rollup->rows[end]);
		for (size_t k = i; k < end; k++)
			leave_out_others(&rollup->rows[k], only, only_count);
		choose_cells(&rollup->rows[i], end - i);
	}
}

int weft__agent_rollup_read(
	sqlite3 *database, const char *const *only, size_t only_count, struct weft__agent_rollup *ret)
{
	*ret = (struct weft__agent_rollup){0};
	int result = read_rows(database, ret);
	ret->samples = calloc(ret->row_count + 1, sizeof(*ret->samples));
	if (result || !ret->samples)
		return result ? result : SQLITE_NOMEM;
	if (ret->row_count)
		qsort(ret->rows, ret->row_count, sizeof(*ret->rows), by_labels);
	prepare_rows(ret, only, only_count);
	for (size_t i = 0; i < ret->row_count; i++)
		if (!ret->rows[i].is_left_out)
			ret->samples[ret->count++] = sample_of(&ret->rows[i]);
	return SQLITE_OK;
}

void weft__agent_rollup_finish(struct weft__agent_rollup *rollup)
{
	for (size_t i = 0; i < rollup->row_count; i++)
		finish_row(&rollup->rows[i]);
	free(rollup->rows);
	free(rollup->samples);
	*rollup = (struct weft__agent_rollup){0};
}
