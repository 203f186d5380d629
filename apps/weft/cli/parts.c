/* SPDX-License-Identifier: ISC
 *
 * Parts of what several commands print: numbers, tasks, losses, levels.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

void cli_add_number(struct weft_text *text, const char *before, uint64_t number)
{
	weft_text_add_string(text, before);
	weft_text_add_u64(text, number);
}

void cli_add_json(struct weft_text *text, const char *before, const char *string)
{
	weft_text_add_string(text, before);
	weft_text_add_json(text, string, strlen(string));
}

void cli_add_task(
	struct weft_text *text, const char *before, const struct weft_model *model, uint32_t task)
{
	weft_text_add_string(text, before);
	if (task == WEFT_NONE)
		weft_text_add_string(text, "null");
	else
		weft_text_add_u64(text, model->tasks.id[task]);
}

void cli_add_seconds(struct weft_text *text, int width, uint64_t ns)
{
	char cell[48];
	int length = snprintf(
		cell, sizeof(cell), "%*" PRIu64 ".%09" PRIu64, width, ns / 1000000000, ns % 1000000000);
	weft_text_add(text, cell, (size_t)length);
}

const char *cli_level_name(unsigned level)
{
	const char *name = weft_level_name(level);
	return name ? name : "unknown";
}

void cli_add_losses(
	struct weft_text *text, const char *before, const uint64_t losses[WEFT_LOSS_CAUSES])
{
	const char *separator = "{";
	weft_text_add_string(text, before);
	for (int cause = 0; cause < WEFT_LOSS_CAUSES; cause++) {
		if (!losses[cause])
			continue;
		cli_add_json(text, separator, weft_loss_name((enum weft_loss)cause));
		cli_add_number(text, ":", losses[cause]);
		separator = ",";
	}
	weft_text_add_string(text, *separator == '{' ? "{}" : "}");
}

void cli_add_levels(struct weft_text *text, const struct weft_trace_description *trace)
{
	weft_text_add_string(text, ",\"categories\":[");
	for (uint32_t i = 0; i < trace->category_count; i++) {
		const struct weft_trace_category *category = &trace->categories[i];
		cli_add_json(text, i ? ",{\"name\":" : "{\"name\":", category->name);
		cli_add_json(text, ",\"level\":", cli_level_name(category->level));
		cli_add_json(text, ",\"description\":", category->description);
		if (trace->buffer_count > 1)
			cli_add_number(text, ",\"buffer\":", category->buffer);
		weft_text_add_string(text, "}");
	}
	weft_text_add_string(text, "],\"changes\":[");
	for (uint32_t i = 0; i < trace->change_count; i++) {
		const struct weft_trace_change *change = &trace->changes[i];
		cli_add_number(text, i ? ",{\"time\":" : "{\"time\":", change->time_ns);
		cli_add_json(
			text, ",\"category\":", cli_category_name(trace, change->buffer, change->category));
		cli_add_json(text, ",\"level\":", cli_level_name(change->level));
		if (trace->buffer_count > 1)
			cli_add_number(text, ",\"buffer\":", change->buffer);
		weft_text_add_string(text, "}");
	}
	weft_text_add_string(text, "]");
}
