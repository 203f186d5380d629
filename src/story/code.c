/* SPDX-License-Identifier: ISC
 *
 * A label that names a function ends with it: "serve_client", "lock in serve_client". Of several
 * functions with one name, the trace says not which it is, so the first one counts.
 */
#include "story/code.h"

#include <string.h>

static bool ends_with(struct weft_slice label, struct weft_slice function)
{
	if (label.size < function.size)
		return false;
	const char *at = label.bytes + label.size - function.size;
	return memcmp(at, function.bytes, function.size) == 0 && (at == label.bytes || at[-1] == ' ');
}

/* Takes a line "NAME\tFILE:LINE\n". False at the end. */
static bool take_line(const char **at, struct weft__code *ret_code)
{
	const char *tab = strchr(*at, '\t'), *end = tab ? strchr(tab, '\n') : NULL;
	if (!end)
		return false;
	ret_code->function = (struct weft_slice){*at, (size_t)(tab - *at)};
	ret_code->location = (struct weft_slice){tab + 1, (size_t)(end - tab - 1)};
	*at = end + 1;
	return true;
}

bool weft__story_code_of(const struct weft_model *model, uint32_t task, struct weft__code *ret_code)
{
	const struct weft_trace_buffer *buffer =
		weft_trace_buffer_at(model->buffers, model->buffer_count, model->tasks.buffer[task]);
	struct weft_slice label = weft_model_string(model, model->tasks.label[task]);
	struct weft__code code;
	size_t longest = 0;
	for (const char *at = buffer->code ? buffer->code : ""; take_line(&at, &code);)
		if (code.function.size > longest && ends_with(label, code.function)) {
			longest = code.function.size;
			*ret_code = code;
		}
	return longest > 0;
}
