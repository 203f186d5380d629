/* SPDX-License-Identifier: ISC
 *
 * The list of traces as JSON, which the page and other programs get. It has no paths.
 */
#include "serve.h"

#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

struct listing {
	struct weft_text *text;
	bool has_any;
};

static void add_string(struct weft_text *text, const char *name, const char *value)
{
	weft_text_add_string(text, ",\"");
	weft_text_add_string(text, name);
	weft_text_add_string(text, "\":");
	weft_text_add_json(text, value, strlen(value));
}

static void add_number(struct weft_text *text, const char *name, uint64_t value)
{
	weft_text_add_string(text, ",\"");
	weft_text_add_string(text, name);
	weft_text_add_string(text, "\":");
	weft_text_add_u64(text, value);
}

/* Adds 16 bytes in hexadecimal, unless all are 0. */
static void add_id(struct weft_text *text, const char *name, const uint8_t id[16])
{
	static const uint8_t unknown[16];
	char digits[2 * sizeof(unknown) + 1];
	if (memcmp(id, unknown, sizeof(unknown)) == 0)
		return;
	for (size_t i = 0; i < sizeof(unknown); i++)
		snprintf(digits + 2 * i, 3, "%02x", id[i]);
	add_string(text, name, digits);
}

static void add_ring(struct weft_text *text, const struct serve_trace *trace)
{
	add_number(text, "pid", (uint64_t)trace->pid);
	add_string(text, "state", trace->state);
	add_number(text, "recorded", trace->recorded);
	if (trace->run[0])
		add_string(text, "run", trace->run);
}

static bool add_trace(void *context, const struct serve_trace *trace)
{
	struct listing *listing = context;
	struct weft_text *text = listing->text;
	weft_text_add_string(text, listing->has_any ? ",\n{\"id\":\"" : "\n{\"id\":\"");
	listing->has_any = true;
	weft_text_add_string(text, trace->id);
	weft_text_add_string(text, "\"");
	add_string(text, "name", trace->name);
	add_number(text, "bytes", trace->size_bytes);
	add_number(text, "modified", trace->modified_ns);
	add_id(text, "boot", trace->boot_id);
	add_id(text, "uuid", trace->uuid);
	if (serve_traces_part_bytes(trace))
		add_number(text, "part_bytes", serve_traces_part_bytes(trace));
	if (cli_trace_hz())
		add_number(text, "cpu_hz", cli_trace_hz());
	if (!cli_trace_aligns())
		weft_text_add_string(text, ",\"no_align\":true");
	if (trace->state)
		add_ring(text, trace);
	else if (trace->is_growing)
		add_string(text, "state", "running");
	weft_text_add_string(text, "}");
	return !text->error;
}

bool serve_list(struct weft_text *text)
{
	struct listing listing = {.text = text};
	weft_text_add_string(text, "[");
	serve_traces_each(add_trace, &listing);
	weft_text_add_string(text, "]\n");
	return !text->error;
}
