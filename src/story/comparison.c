/* SPDX-License-Identifier: ISC
 *
 * Compares attributes with a value that a person wrote. Numbers are compared as numbers, whatever
 * their types are; integers exactly. Texts are equal or not.
 */
#include "story/comparison.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <weft/parse.h>

#include "base/number.h"

/* ---- Reading ---- */

static struct weft_slice trim(struct weft_slice text)
{
	while (text.size && text.bytes[0] == ' ')
		text = (struct weft_slice){text.bytes + 1, text.size - 1};
	while (text.size && text.bytes[text.size - 1] == ' ')
		text.size--;
	return text;
}

static size_t read_relation(struct weft_slice sign, enum weft__relation *ret_relation)
{
	static const struct {
		char text[3];
		enum weft__relation relation;
	} relations[] = {
		{"==", WEFT__EQUAL},
		{"!=", WEFT__UNEQUAL},
		{"<=", WEFT__NOT_MORE},
		{">=", WEFT__NOT_LESS},
		{"=", WEFT__EQUAL},
		{"<", WEFT__LESS},
		{">", WEFT__MORE},
	};
	for (size_t i = 0; i < sizeof(relations) / sizeof(relations[0]); i++) {
		size_t size = strlen(relations[i].text);
		if (size > sign.size || memcmp(sign.bytes, relations[i].text, size) != 0)
			continue;
		*ret_relation = relations[i].relation;
		return size;
	}
	return 0;
}

static struct weft_field unsigned_field(uint64_t value)
{
	return (struct weft_field){.type = WEFT_FIELD_U64, .value.u64 = value};
}

/* Reads "-7": an integer that fits, else false. */
static bool read_negative(struct weft_slice text, int64_t *ret_number)
{
	uint64_t size;
	if (text.size < 2 || text.bytes[0] != '-' ||
		weft_parse_number(text.bytes + 1, text.size - 1, &size) != WEFT_PARSE_OK ||
		size > (uint64_t)INT64_MAX + 1)
		return false;
	*ret_number = (int64_t)(0 - size);
	return true;
}

static bool read_real(struct weft_slice text, double *ret_number)
{
	char copy[64];
	const char *end;
	bool has_digit = text.size && strchr("+-.0123456789", text.bytes[0]);
	if (!has_digit || text.size >= sizeof(copy) || memchr(text.bytes, 'x', text.size))
		return false;
	memcpy(copy, text.bytes, text.size);
	copy[text.size] = '\0';
	*ret_number = weft__number_parse(copy, &end);
	return end == copy + text.size && end != copy && isfinite(*ret_number);
}

/* Reads 4096, -7, 0.5, 64K (bytes), 5ms (ns), true or false; other words are texts. */
static struct weft_field read_number(struct weft_slice text)
{
	struct weft_field field = {.type = WEFT_FIELD_F64};
	uint64_t number;
	if (weft_parse_number(text.bytes, text.size, &number) == WEFT_PARSE_OK ||
		weft_parse_size(text.bytes, text.size, &number) == WEFT_PARSE_OK ||
		weft_parse_duration(text.bytes, text.size, &number) == WEFT_PARSE_OK)
		return unsigned_field(number);
	if (read_negative(text, &field.value.i64))
		field.type = WEFT_FIELD_I64;
	else if (!read_real(text, &field.value.f64))
		field.type = WEFT_FIELD_TEXT;
	return field;
}

bool weft__story_comparison_parse(
	struct weft_slice word, size_t sign, struct weft__comparison *ret_comparison)
{
	struct weft__comparison c;
	size_t size =
		read_relation((struct weft_slice){word.bytes + sign, word.size - sign}, &c.relation);
	c.key = trim((struct weft_slice){word.bytes, sign});
	c.text = trim((struct weft_slice){word.bytes + sign + size, word.size - sign - size});
	if (!size || !c.key.size || !c.text.size)
		return false;
	c.number = read_number(c.text);
	*ret_comparison = c;
	return true;
}

/* ---- Comparing ---- */

enum order {
	BELOW,
	SAME,
	ABOVE,
	DIFFERENT, /* neither is below the other */
};

static enum order order_of(bool is_below, bool is_above, bool is_same)
{
	return is_below ? BELOW : is_above ? ABOVE : is_same ? SAME : DIFFERENT;
}

static bool is_negative(const struct weft_field *number)
{
	return number->type == WEFT_FIELD_I64 && number->value.i64 < 0;
}

static double real_of(const struct weft_field *number)
{
	if (number->type == WEFT_FIELD_F64)
		return number->value.f64;
	return is_negative(number) ? (double)number->value.i64 : (double)number->value.u64;
}

static enum order compare_numbers(const struct weft_field *a, const struct weft_field *b)
{
	if (a->type == WEFT_FIELD_F64 || b->type == WEFT_FIELD_F64) {
		double left = real_of(a), right = real_of(b);
		return order_of(left<right, left> right, left >= right && left <= right);
	}
	if (is_negative(a) != is_negative(b))
		return is_negative(a) ? BELOW : ABOVE;
	/* Both are negative or neither is: then their bits have the order of the numbers. */
	uint64_t left = a->value.u64, right = b->value.u64;
	return order_of(left<right, left> right, left == right);
}

static bool is_text(struct weft_slice text, const char *other, size_t size)
{
	return text.size == size && memcmp(text.bytes, other, size) == 0;
}

static enum order compare(const struct weft__comparison *c, const struct weft_field *field)
{
	const char *truth = field->value.u64 ? "true" : "false";
	bool is_same = false;
	if (field->type != WEFT_FIELD_TEXT && c->number.type != WEFT_FIELD_TEXT)
		return compare_numbers(field, &c->number);
	if (field->type == WEFT_FIELD_TEXT)
		is_same = is_text(c->text, field->value.text.bytes, field->value.text.size);
	else if (field->type == WEFT_FIELD_BOOL)
		is_same = is_text(c->text, truth, strlen(truth));
	return is_same ? SAME : DIFFERENT;
}

static bool holds(enum weft__relation relation, enum order order)
{
	switch (relation) {
	case WEFT__EQUAL:
		return order == SAME;
	case WEFT__UNEQUAL:
		return order != SAME;
	case WEFT__LESS:
		return order == BELOW;
	case WEFT__NOT_MORE:
		return order == BELOW || order == SAME;
	case WEFT__MORE:
		return order == ABOVE;
	case WEFT__NOT_LESS:
		break;
	}
	return order == ABOVE || order == SAME;
}

bool weft__story_comparison_holds(const struct weft_model *model,
	const struct weft__comparison *comparison, uint32_t task, bool *has_key)
{
	uint32_t note = model->tasks.first_note[task], end = model->tasks.end_note[task];
	for (; note < end; note++)
		for (uint32_t i = weft_model_attribute_count(model, note); i-- > 0;) {
			const struct weft_field field = weft_model_attribute(model, note, i);
			if (!is_text(comparison->key, field.name.bytes, field.name.size))
				continue;
			*has_key = true;
			if (holds(comparison->relation, compare(comparison, &field)))
				return true;
		}
	return false;
}

/* ---- Columns of tables.def ---- */

/* The number of the table `tasks`. */
static unsigned table_of_tasks(void)
{
	unsigned count, table = 0;
	const struct weft_table *tables = weft_tables(&count);
	while (table < count && strcmp(tables[table].name, "tasks") != 0)
		table++;
	return table;
}

unsigned weft__story_comparison_column(const struct weft__comparison *comparison)
{
	unsigned count;
	const struct weft_column *columns = weft_table_columns(table_of_tasks(), &count);
	for (unsigned i = 0; i < count; i++)
		if (is_text(comparison->key, columns[i].name, strlen(columns[i].name)))
			return i;
	return WEFT_NONE;
}

static struct weft_field field_of(const struct weft_cell *cell, bool is_boolean)
{
	struct weft_field field = {.type = is_boolean ? WEFT_FIELD_BOOL : WEFT_FIELD_I64};
	switch (cell->type) {
	case WEFT_CELL_UNSIGNED:
		return unsigned_field(cell->is.is_unsigned);
	case WEFT_CELL_REAL:
		field.type = WEFT_FIELD_F64;
		field.value.f64 = cell->is.real;
		break;
	case WEFT_CELL_TEXT:
		field.type = WEFT_FIELD_TEXT;
		field.value.text = cell->text;
		break;
	case WEFT_CELL_INTEGER:
	case WEFT_CELL_NULL:
		field.value.i64 = cell->is.integer;
		break;
	}
	return field;
}

bool weft__story_comparison_holds_in(const struct weft_model_tables *tables, unsigned column,
	const struct weft__comparison *comparison, uint32_t task)
{
	unsigned count, table = table_of_tasks();
	const struct weft_column *columns = weft_table_columns(table, &count);
	const struct weft_cell cell = weft_table_cell(tables, table, task, column);
	const struct weft_field field = field_of(&cell, columns[column].type == WEFT_COLUMN_BOOLEAN);
	return cell.type != WEFT_CELL_NULL && holds(comparison->relation, compare(comparison, &field));
}
