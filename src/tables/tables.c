/* SPDX-License-Identifier: ISC
 *
 * The tables of tables.def. A cell is an expression there, and the functions here make it a value.
 *
 * Rows that belong to tasks, counters or notes stand one after the other for each owner. Which
 * owner a row has is written down when its table is opened: four bytes a row.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <weft/tables.h>
#include <weft/unseen.h>

#include "base/export.h"
#include "base/search.h"

#define JOIN(a, b)  JOIN_(a, b)
#define JOIN_(a, b) a##b

enum {
#define TABLE(id, ...) TABLE_##id,
#define COLUMN(...)
#include "tables/tables.def"
#undef TABLE
#undef COLUMN
	TABLES
};

/* The columns of all tables, and where those of each table begin. */
enum {
#define TABLE(id, ...) FIRST_##id, BEFORE_##id = FIRST_##id - 1,
#define COLUMN(...)    JOIN(CELL_, __LINE__),
#include "tables/tables.def"
#undef TABLE
#undef COLUMN
	CELLS
};

enum owner {
	NONE,
	SELF,
	TASKS,
	COUNTERS,
	NOTES,
	HISTOGRAMS,
};

struct weft_model_tables {
	const struct weft_model *model;
	uint32_t attribute_count; /* of all notes */
	/* The owner of each row, or the message that an edge received; of tables that are open. */
	uint32_t *owners[TABLES];
};

/* ---- The list ---- */

static const struct weft_table list[] = {
#define TABLE(id, name, rows, owner, sentence) {name, sentence},
#define COLUMN(...)
#include "tables/tables.def"
#undef TABLE
#undef COLUMN
};

static const enum owner owner_of_table[] = {
#define TABLE(id, name, rows, owner, sentence) owner,
#define COLUMN(...)
#include "tables/tables.def"
#undef TABLE
#undef COLUMN
};

static const unsigned first_column[] = {
#define TABLE(id, ...) FIRST_##id,
#define COLUMN(...)
#include "tables/tables.def"
#undef TABLE
#undef COLUMN
	CELLS};

static const struct weft_column columns[] = {
#define TABLE(...)
#define COLUMN(id, name, type, null, unit, cell, sentence) \
	{name, unit, sentence, WEFT_COLUMN_##type, null},
#include "tables/tables.def"
#undef TABLE
#undef COLUMN
};

WEFT__EXPORT const struct weft_table *weft_tables(unsigned *ret_count)
{
	*ret_count = TABLES;
	return list;
}

WEFT__EXPORT const struct weft_column *weft_table_columns(unsigned table, unsigned *ret_count)
{
	*ret_count = first_column[table + 1] - first_column[table];
	return columns + first_column[table];
}

/* ---- Opening ---- */

WEFT__EXPORT int weft_model_tables_create(
	const struct weft_model *model, struct weft_model_tables **ret_tables)
{
	*ret_tables = calloc(1, sizeof(**ret_tables));
	if (!*ret_tables)
		return WEFT_ERROR_MEMORY;
	(*ret_tables)->model = model;
	for (uint32_t note = 0; note < model->notes.count; note++)
		(*ret_tables)->attribute_count += weft_model_attribute_count(model, note);
	return 0;
}

WEFT__EXPORT void weft_model_tables_destroy(struct weft_model_tables *tables)
{
	for (unsigned i = 0; tables && i < TABLES; i++)
		free(tables->owners[i]);
	free(tables);
}

WEFT__EXPORT uint32_t weft_table_rows(const struct weft_model_tables *tables, unsigned table)
{
	const struct weft_model *m = tables->model;
	switch (table) {
#define TABLE(id, name, rows, owner, sentence) \
	case TABLE_##id:                           \
		return rows;
#define COLUMN(...)
#include "tables/tables.def"
#undef TABLE
#undef COLUMN
	default:
		return 0;
	}
}

/* The rows of an owner are [*ret_first, *ret_end). */
static void rows_of(const struct weft_model_tables *t, unsigned table, uint32_t owner,
	uint32_t *ret_first, uint32_t *ret_end)
{
	const struct weft_model *m = t->model;
	const uint32_t *first = NULL, *end = NULL;
	*ret_first = *ret_end = 0;
	if (table == TABLE_ATTRIBUTES) {
		const uint32_t *owners = t->owners[table];
		*ret_first = weft__lower_bound_u32(owners, t->attribute_count, owner);
		*ret_end = *ret_first + weft_model_attribute_count(t->model, owner);
		return;
	}
	if (table == TABLE_SAMPLES) {
		*ret_first = m->counters[owner].first;
		*ret_end = *ret_first + m->counters[owner].count;
		return;
	}
	if (table == TABLE_BUCKETS) {
		*ret_first = m->histograms[owner].first_bucket;
		*ret_end = *ret_first + m->histograms[owner].bucket_count;
		return;
	}
	if (table == TABLE_ACTIVATIONS)
		first = m->tasks.first_activation, end = m->tasks.end_activation;
	if (table == TABLE_NOTES)
		first = m->tasks.first_note, end = m->tasks.end_note;
	if (table == TABLE_SPANS)
		first = m->spans.first, end = m->spans.last;
	if (table == TABLE_OFF_CPU)
		first = m->off_cpu.first, end = m->off_cpu.last;
	if (first) {
		*ret_first = first[owner];
		*ret_end = end[owner];
	}
}

static uint32_t owner_count(const struct weft_model_tables *t, unsigned table)
{
	switch (owner_of_table[table]) {
	case TASKS:
		return t->model->tasks.count;
	case COUNTERS:
		return t->model->counter_count;
	case NOTES:
		return t->model->notes.count;
	case HISTOGRAMS:
		return t->model->histogram_count;
	case NONE:
	case SELF:
		break;
	}
	return weft_table_rows(t, table);
}

static void find_owners(const struct weft_model_tables *t, unsigned table, uint32_t *owners)
{
	for (uint32_t owner = 0; owner < owner_count(t, table); owner++) {
		uint32_t first, end;
		rows_of(t, table, owner, &first, &end);
		for (uint32_t row = first; row < end; row++)
			owners[row] = owner;
	}
}

static void find_notes(const struct weft_model *m, uint32_t *notes)
{
	uint32_t row = 0;
	for (uint32_t note = 0; note < m->notes.count; note++)
		for (uint32_t i = weft_model_attribute_count(m, note); i > 0; i--)
			notes[row++] = note;
}

/* The messages are numbered in the order of the edges that receive them. */
static void find_messages(const struct weft_model *m, uint32_t *messages)
{
	uint32_t count = 0;
	for (uint32_t row = 0; row < m->edges.count; row++)
		messages[row] = m->edges.type[row] == WEFT_EDGE_RECEIVE ? count++ : WEFT_NONE;
}

WEFT__EXPORT int weft_table_open(struct weft_model_tables *tables, unsigned table)
{
	bool has_owners = owner_of_table[table] != NONE && owner_of_table[table] != SELF;
	if (tables->owners[table] || (!has_owners && table != TABLE_EDGES))
		return 0;
	size_t rows = weft_table_rows(tables, table);
	uint32_t *owners = malloc((rows ? rows : 1) * sizeof(*owners));
	if (!owners)
		return WEFT_ERROR_MEMORY;
	if (table == TABLE_ATTRIBUTES)
		find_notes(tables->model, owners);
	else if (has_owners)
		find_owners(tables, table, owners);
	else
		find_messages(tables->model, owners);
	tables->owners[table] = owners;
	return 0;
}

/* ---- Cells ---- */

static struct weft_cell nothing(void)
{
	return (struct weft_cell){.type = WEFT_CELL_NULL};
}

static struct weft_cell integer(int64_t value)
{
	return (struct weft_cell){.type = WEFT_CELL_INTEGER, .is.integer = value};
}

static struct weft_cell natural(uint64_t value)
{
	if (value <= INT64_MAX)
		return integer((int64_t)value);
	return (struct weft_cell){.type = WEFT_CELL_UNSIGNED, .is.is_unsigned = value};
}

/* 0: unknown. */
static struct weft_cell known(uint64_t value)
{
	return value ? natural(value) : nothing();
}

static struct weft_cell row_of(uint32_t row)
{
	return row == WEFT_NONE ? nothing() : integer(row);
}

static struct weft_cell boolean(bool value)
{
	return integer(value);
}

static struct weft_cell real(double value)
{
	return (struct weft_cell){.type = WEFT_CELL_REAL, .is.real = value};
}

static struct weft_cell number(struct weft_number value)
{
	return value.is_real ? real(value.real) : integer(value.integer);
}

static struct weft_cell slice(struct weft_slice text)
{
	return (struct weft_cell){.type = WEFT_CELL_TEXT, .text = text};
}

static struct weft_cell known_slice(struct weft_slice text)
{
	return text.size ? slice(text) : nothing();
}

static struct weft_cell text(const char *value)
{
	return value ? known_slice((struct weft_slice){value, strlen(value)}) : nothing();
}

static struct weft_cell string(const struct weft_model *m, uint32_t value)
{
	return value == WEFT_NONE ? nothing() : slice(weft_model_string(m, value));
}

static struct weft_cell bound(double value)
{
	return isfinite(value) ? real(value) : nothing();
}

static struct weft_cell kind(const struct weft_model *m, uint32_t task)
{
	const char *name = weft_model_kind_name(m, m->tasks.kind[task]);
	return name ? text(name) : integer(m->tasks.kind[task]);
}

static struct weft_cell creation(const struct weft_model *m, uint32_t task)
{
	uint64_t ns;
	return weft_model_creation(m, task, &ns) ? natural(ns) : nothing();
}

static struct weft_cell sent(const struct weft_model *m, uint32_t message)
{
	return message < m->edges.sent_count ? natural(m->edges.sent[message]) : nothing();
}

static const char *note_type(unsigned type)
{
	static const char *const names[] = {[WEFT_NOTE_LABEL] = "label",
		[WEFT_NOTE_TEXT] = "note",
		[WEFT_NOTE_VALUE] = "tag",
		[WEFT_NOTE_MARK] = "mark",
		[WEFT_NOTE_CHANGE] = "change",
		[WEFT_NOTE_SET] = "set",
		[WEFT_NOTE_REAL_CHANGE] = "change",
		[WEFT_NOTE_REAL_SET] = "set"};
	return type < sizeof(names) / sizeof(names[0]) ? names[type] : NULL;
}

static struct weft_cell note_value(const struct weft_model *m, uint32_t note)
{
	double value;
	switch (m->notes.type[note]) {
	case WEFT_NOTE_LABEL:
	case WEFT_NOTE_TEXT:
	case WEFT_NOTE_MARK:
		return nothing();
	case WEFT_NOTE_REAL_CHANGE:
	case WEFT_NOTE_REAL_SET:
		memcpy(&value, &m->notes.value[note], sizeof(value));
		return real(value);
	default:
		return integer(m->notes.value[note]);
	}
}

static uint32_t task_of_note(const struct weft_model *m, uint32_t note)
{
	return weft__search(m->tasks.first_note, 0, m->tasks.count, weft__is_not_more_u32, note) - 1;
}

/* The attributes of a note are at most some 15 rows. */
static struct weft_field attribute(const struct weft_model_tables *t, uint32_t row)
{
	const uint32_t *owners = t->owners[TABLE_ATTRIBUTES];
	uint32_t first = row;
	while (first && owners[first - 1] == owners[row])
		first--;
	return weft_model_attribute(t->model, owners[row], row - first);
}

static const char *attribute_type(enum weft_field_type type)
{
	static const char *const names[] = {[WEFT_FIELD_I64] = "i64",
		[WEFT_FIELD_U64] = "u64",
		[WEFT_FIELD_F64] = "double",
		[WEFT_FIELD_TEXT] = "string",
		[WEFT_FIELD_BOOL] = "bool"};
	return names[type];
}

static struct weft_cell attribute_value(struct weft_field field)
{
	switch (field.type) {
	case WEFT_FIELD_I64:
		return integer(field.value.i64);
	case WEFT_FIELD_U64:
	case WEFT_FIELD_BOOL:
		return natural(field.value.u64);
	case WEFT_FIELD_F64:
		return real(field.value.f64);
	case WEFT_FIELD_TEXT:
		break;
	}
	return slice(field.value.text);
}

static const char *loss_cause(unsigned cause)
{
	return cause < WEFT_LOSS_CAUSES ? weft_loss_name((enum weft_loss)cause) : NULL;
}

WEFT__EXPORT struct weft_cell weft_table_cell(
	const struct weft_model_tables *tables, unsigned table, uint32_t row, unsigned column)
{
	const struct weft_model *m = tables->model;
	const uint32_t *owners = tables->owners[table];
	uint32_t own = owners ? owners[row] : 0;
	switch (first_column[table] + column) {
#define TABLE(...)
#define COLUMN(id, name, type, null, unit, cell, sentence) \
	case JOIN(CELL_, __LINE__):                            \
		return cell;
#include "tables/tables.def"
#undef TABLE
#undef COLUMN
	default:
		return nothing();
	}
}

/* ---- Finding rows ---- */

WEFT__EXPORT bool weft_table_has_index(unsigned table, unsigned column)
{
	return column == 0 && owner_of_table[table] != NONE;
}

WEFT__EXPORT bool weft_table_find(const struct weft_model_tables *tables, unsigned table,
	unsigned column, int64_t value, uint32_t *ret_first, uint32_t *ret_end)
{
	enum owner owner = owner_of_table[table];
	*ret_first = *ret_end = 0;
	if (!weft_table_has_index(table, column))
		return false;
	if (value < 0 || value >= owner_count(tables, table))
		return true;
	if (owner != SELF) {
		rows_of(tables, table, (uint32_t)value, ret_first, ret_end);
		return true;
	}
	*ret_first = (uint32_t)value;
	*ret_end = *ret_first + 1;
	return true;
}
