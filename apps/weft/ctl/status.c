/* SPDX-License-Identifier: ISC
 *
 * weft ctl status: prints the program and its categories.
 */
#include "ctl.h"

#include <string.h>

#include <weft/lines.h>

static void add_json(struct weft_text *text, const struct weft_buffer_summary *program,
	const struct weft_trace_description *trace, bool is_live)
{
	cli_add_number(text, "{\"pid\":", program->pid);
	cli_add_json(text, ",\"program\":", program->program);
	weft_text_add_string(text, is_live ? ",\"recording\":true" : ",\"recording\":false");
	cli_add_number(text, ",\"events\":", program->events);
	cli_add_levels(text, trace);
	weft_text_add_string(text, "}\n");
}

static void add_text(struct weft_text *text, const struct weft_buffer_summary *program,
	const struct weft_trace_description *trace, bool is_live)
{
	weft_text_add_quoted(text, program->program, strlen(program->program));
	if (program->pid) /* a unikernel has none */
		cli_add_number(text, ", process ", program->pid);
	weft_text_add_string(text, is_live ? ", records" : ", has ended or stopped recording");
	cli_add_number(text, "; the buffer holds ", program->events);
	weft_text_add_string(text, " events\n\nlevel    category\n");
	for (uint32_t i = 0; i < trace->category_count; i++) {
		const struct weft_trace_category *category = &trace->categories[i];
		size_t column = text->size;
		weft_text_add_string(text, cli_level_name(category->level));
		weft_text_pad(text, column, 9);
		weft_text_add_quoted(text, category->name, strlen(category->name));
		if (category->description[0]) {
			weft_text_pad(text, column, 29);
			weft_text_add_quoted(text, category->description, strlen(category->description));
		}
		weft_text_add_string(text, "\n");
	}
}

int ctl_status(struct ctl *ctl, int count, char **arguments)
{
	struct weft_buffer_summary program;
	struct weft_text text = {0};
	(void)count, (void)arguments;
	int error = weft_control_summarize(ctl->control, &program);
	if (error) {
		ctl_fail(ctl, error);
		return CLI_UNREADABLE;
	}
	bool is_live = weft_control_is_live(ctl->control);
	const struct weft_trace_description *trace = weft_control_describe(ctl->control);
	if (ctl->json)
		add_json(&text, &program, trace, is_live);
	else
		add_text(&text, &program, trace, is_live);
	cli_write(&text);
	weft_text_finish(&text);
	return CLI_DONE;
}
