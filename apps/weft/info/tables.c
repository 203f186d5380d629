/* SPDX-License-Identifier: ISC
 *
 * weft info: the side tables of the trace's buffers.
 */
#include "info.h"

#include <string.h>

#include <weft/side_tables.h>

#include "abi/table_abi.h"

static void add_head(struct weft_text *text, const struct weft_side_table *table)
{
	size_t start = text->size;
	weft_text_add_string(text, table->name ? table->name : "table ");
	if (!table->name)
		weft_text_add_u64(text, table->number);
	weft_text_pad(text, start, 12);
}

static void add_field(struct weft_text *text, const char *before, const char *field)
{
	if (!field[0])
		return;
	weft_text_add_string(text, before);
	weft_text_add_quoted(text, field, strlen(field));
}

static void write_alert(const struct info_report *report, uint32_t buffer,
	const struct weft_trace_alert *alert, struct weft_text *text)
{
	const size_t head = text->size;
	weft_text_add_string(text, "alert");
	weft_text_pad(text, head, 12);
	add_field(text, "", alert->name[0] ? alert->name : alert->rule);
	if (alert->name[0])
		add_field(text, ", ", alert->rule);
	weft_text_add_string(text, " fired at ");
	info_add_time(text, report, alert->time_ns);
	if (alert->task != WEFT_TASK_NONE) {
		cli_add_number(text, " because of task ", alert->task);
	}
	add_field(text, ": ", alert->value);
	if (report->trace->buffer_count > 1) {
		cli_add_number(text, ", in buffer ", buffer);
	}
	weft_text_add_string(text, "\n");
}

void info_write_alerts(const struct info_report *report, struct weft_text *text)
{
	const struct weft_model *model = report->model;
	for (uint32_t i = 0; i < model->buffer_count; i++)
		for (uint32_t n = 0; n < model->buffers[i].alert_count; n++)
			write_alert(report, i, &model->buffers[i].alerts[n], text);
}

static bool is_shown_otherwise(const struct weft_side_table *table)
{
	return table->number == WEFT_SIDE_TABLE_METRICS || table->number == WEFT_ABI_TABLE_counted ||
		   (table->name && strcmp(table->name, "alert") == 0);
}

/* Tables of several processes would hide the rest: they are in the JSON. */
void info_write_tables(const struct info_report *report, struct weft_text *text)
{
	const struct weft_trace_buffer *buffer = report->trace->buffers;
	if (report->trace->buffer_count != 1)
		return;
	for (uint32_t i = 0; i < weft_side_table_count(buffer); i++) {
		const struct weft_side_table table = weft_side_table_at(buffer, i);
		if (!table.count || is_shown_otherwise(&table))
			continue;
		add_head(text, &table);
		if (table.name && table.count == 1) {
			weft_side_table_add_row(buffer, i, 0, text);
		} else {
			weft_text_add_u64(text, table.count);
			weft_text_add_string(text, table.count == 1 ? " row" : " rows");
			weft_text_add_string(text, table.name ? "" : ", which this version does not know");
		}
		weft_text_add_string(text, "\n");
	}
}

static void add_rows(
	const struct weft_trace_buffer *buffer, uint32_t index, uint32_t count, struct weft_text *text)
{
	weft_text_add_string(text, ",\"rows\":[");
	for (uint32_t row = 0; row < count; row++) {
		weft_text_add_string(text, row ? "," : "");
		weft_side_table_add_json(buffer, index, row, text);
	}
	weft_text_add_string(text, "]");
}

void info_write_tables_json(const struct info_report *report, struct weft_text *text)
{
	const char *separator = "";
	weft_text_add_string(text, ",\"tables\":[");
	for (uint32_t number = 0; number < report->trace->buffer_count; number++) {
		const struct weft_trace_buffer *buffer = &report->trace->buffers[number];
		for (uint32_t i = 0; i < weft_side_table_count(buffer); i++) {
			const struct weft_side_table table = weft_side_table_at(buffer, i);
			weft_text_add_string(text, separator);
			cli_add_number(text, "{\"buffer\":", number);
			cli_add_number(text, ",\"number\":", table.number);
			cli_add_number(text, ",\"row_bytes\":", table.row_bytes);
			cli_add_number(text, ",\"count\":", table.count);
			if (table.name) {
				cli_add_json(text, ",\"name\":", table.name);
				add_rows(buffer, i, table.count, text);
			}
			weft_text_add_string(text, "}");
			separator = ",";
		}
	}
	weft_text_add_string(text, "]");
}
