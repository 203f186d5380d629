/* SPDX-License-Identifier: ISC
 *
 * The table of a trace's buffers: looking one up, its process's name, a copy for the model.
 */
#include "model/buffers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/duration.h>
#include <weft/error.h>
#include <weft/unseen.h>

#include "base/export.h"

WEFT__EXPORT const struct weft_trace_buffer *weft_trace_buffer_at(
	const struct weft_trace_buffer *buffers, uint32_t count, uint32_t number)
{
	static const struct weft_trace_buffer unknown = {.process = "", .host = "", .file = ""};
	return number < count ? &buffers[number] : &unknown;
}

WEFT__EXPORT struct weft_slice weft_trace_process_name(const struct weft_trace_buffer *buffer)
{
	struct weft_slice title = weft_unseen_title(buffer->unseen);
	return title.size ? title : (struct weft_slice){buffer->process, strlen(buffer->process)};
}

WEFT__EXPORT size_t weft_trace_format_process(const struct weft_trace_buffer *buffers,
	uint32_t count, uint32_t number, char *text, size_t size)
{
	const struct weft_trace_buffer *buffer = weft_trace_buffer_at(buffers, count, number);
	struct weft_slice name = weft_trace_process_name(buffer);
	if (!name.size && buffer->pid)
		name = (struct weft_slice){"process", 7};
	if (buffer->pid)
		return (size_t)snprintf(
			text, size, "%.*s %" PRIu64, (int)name.size, name.bytes, buffer->pid);
	if (name.size)
		return (size_t)snprintf(text, size, "%.*s", (int)name.size, name.bytes);
	return (size_t)snprintf(text, size, "process #%" PRIu32, number);
}

WEFT__EXPORT const char *weft_ending_name(enum weft_ending ending)
{
	static const char *const names[WEFT_ENDINGS] = {
#define ENDING(number, id, name, sentence) [WEFT_ENDING_##id] = name,
#include <weft/endings.def>
#undef ENDING
	};
	return ending < WEFT_ENDINGS ? names[ending] : NULL;
}

WEFT__EXPORT size_t weft_trace_format_ending(
	const struct weft_trace_buffer *buffer, char *text, size_t size)
{
	static const char *const sentences[WEFT_ENDINGS] = {
#define ENDING(number, id, name, sentence) [WEFT_ENDING_##id] = sentence,
#include <weft/endings.def>
#undef ENDING
	};
	unsigned signal = buffer->wait_status & 0x7f, status = buffer->wait_status >> 8 & 0xff;
	bool has_status = buffer->wait_status && buffer->ending != WEFT_ENDING_CUT;
	if (has_status && signal)
		return (size_t)snprintf(text, size, "the program was killed by signal %u", signal);
	if (has_status && buffer->ending != WEFT_ENDING_STOP)
		return (size_t)snprintf(text, size, "the program ended with status %u", status);
	return (size_t)snprintf(text, size, "%s", sentences[buffer->ending]);
}

static bool is_known(const uint8_t id[16])
{
	static const uint8_t zero[16];
	return memcmp(id, zero, sizeof(zero)) != 0;
}

static bool have_one_host(const struct weft_trace_buffer *a, const struct weft_trace_buffer *b)
{
	if (is_known(a->boot_id) && is_known(b->boot_id))
		return memcmp(a->boot_id, b->boot_id, sizeof(a->boot_id)) == 0;
	return strcmp(a->host, b->host) == 0;
}

WEFT__EXPORT uint32_t weft_trace_first_of_host(
	const struct weft_trace_buffer *buffers, uint32_t count, uint32_t number)
{
	const struct weft_trace_buffer *buffer = weft_trace_buffer_at(buffers, count, number);
	for (uint32_t i = 0; i < count && i < number; i++)
		if (have_one_host(&buffers[i], buffer))
			return i;
	return number;
}

WEFT__EXPORT enum weft_alignment weft_trace_alignment(const struct weft_trace_buffer *buffers,
	uint32_t count, uint32_t one, uint32_t other, uint64_t *ret_error_ns)
{
	const struct weft_trace_buffer *a = weft_trace_buffer_at(buffers, count, one);
	const struct weft_trace_buffer *b = weft_trace_buffer_at(buffers, count, other);
	*ret_error_ns = 0;
	if (a->alignment == b->alignment && (one == other || have_one_host(a, b)))
		return WEFT_ALIGNMENT_SAME;
	*ret_error_ns = a->error_ns + b->error_ns;
	return a->alignment > b->alignment ? a->alignment : b->alignment;
}

WEFT__EXPORT size_t weft_trace_format_error(const struct weft_trace_buffer *buffers, uint32_t count,
	uint32_t one, uint32_t other, char *text, size_t size)
{
	uint64_t error_ns;
	char error[32];
	switch (weft_trace_alignment(buffers, count, one, other, &error_ns)) {
	case WEFT_ALIGNMENT_SAME:
		return (size_t)snprintf(text, size, "%s", "");
	case WEFT_ALIGNMENT_BOUNDED:
		weft_format_duration(error_ns, 3, error);
		return (size_t)snprintf(text, size, " \302\261 %s", error);
	case WEFT_ALIGNMENT_ONE_SIDED:
		return (size_t)snprintf(text, size, " by clocks that messages bound from one side only");
	case WEFT_ALIGNMENT_NONE:
		break;
	}
	return (size_t)snprintf(text, size, " by clocks that nothing aligns");
}

WEFT__EXPORT uint32_t weft_trace_first_of_process(
	const struct weft_trace_buffer *buffers, uint32_t count, uint32_t number)
{
	const struct weft_trace_buffer *buffer = weft_trace_buffer_at(buffers, count, number);
	for (uint32_t i = 0; i < count && i < number && buffer->guest; i++)
		if (buffers[i].guest == buffer->guest && buffers[i].pid == buffer->pid)
			return i;
	return number;
}

static size_t bytes_of(const struct weft_trace_buffer *buffer)
{
	return strlen(buffer->process) + strlen(buffer->host) + strlen(buffer->file) +
		   strlen(buffer->code ? buffer->code : "") + strlen(buffer->unseen ? buffer->unseen : "") +
		   5;
}

static size_t alert_bytes(const struct weft_trace_buffer *buffer)
{
	return buffer->alert_count * sizeof(*buffer->alerts);
}

static char *append(char *end, const char *text, const char **ret_copy)
{
	size_t bytes = strlen(text) + 1;
	*ret_copy = memcpy(end, text, bytes);
	return end + bytes;
}

int weft__model_copy_buffers(
	struct weft_model *model, const struct weft_trace_description *description)
{
	const struct weft_trace_buffer *buffers = description->buffers;
	const uint32_t count = description->buffer_count;
	size_t bytes = (count + (size_t)1) * sizeof(*buffers);
	for (uint32_t i = 0; i < count; i++)
		bytes += bytes_of(&buffers[i]) + alert_bytes(&buffers[i]);
	struct weft_trace_buffer *copy = malloc(bytes);
	model->buffers = copy;
	if (!copy)
		return WEFT_ERROR_MEMORY;
	struct weft_trace_alert *alerts = (void *)(copy + count);
	for (uint32_t i = 0; i < count; i++) {
		copy[i] = buffers[i];
		copy[i].tables = NULL; /* the decoder's */
		if (buffers[i].alert_count)
			memcpy(alerts, buffers[i].alerts, alert_bytes(&buffers[i]));
		copy[i].alerts = alerts;
		alerts += buffers[i].alert_count;
	}
	char *end = (char *)alerts;
	for (uint32_t i = 0; i < count; i++) {
		end = append(end, buffers[i].process, &copy[i].process);
		end = append(end, buffers[i].host, &copy[i].host);
		end = append(end, buffers[i].file, &copy[i].file);
		end = append(end, buffers[i].code ? buffers[i].code : "", &copy[i].code);
		end = append(end, buffers[i].unseen ? buffers[i].unseen : "", &copy[i].unseen);
	}
	model->buffer_count = count;
	return 0;
}
