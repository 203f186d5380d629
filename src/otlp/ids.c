/* SPDX-License-Identifier: ISC */
#include "otlp/ids.h"

#include <string.h>

#include "base/hash.h"

/* Any odd numbers: they keep the ids of different things apart. */
enum {
	SALT_TRACE = 0x7ace1d,
	SALT_INNER = 0x5ba115,
	SALT_PENDING = 0x9e4d15,
	SALT_AGAIN = 0xa6a145,
};

static uint64_t add_word(uint64_t sum, uint64_t word)
{
	return weft__mix(sum * 31 + weft__mix(word + 1));
}

static uint64_t add_bytes(uint64_t sum, const void *bytes, size_t size)
{
	for (size_t i = 0; i < size; i += sizeof(sum)) {
		uint64_t word = 0;
		memcpy(&word, (const char *)bytes + i, size - i < sizeof(word) ? size - i : sizeof(word));
		sum = add_word(sum, word);
	}
	return add_word(sum, size);
}

static uint64_t add_string(uint64_t sum, const char *string)
{
	return string ? add_bytes(sum, string, strlen(string)) : sum;
}

/* An id of zeros is invalid. */
static uint64_t valid(uint64_t id)
{
	return id ? id : 1;
}

bool weft__otlp_is_random(const struct weft_trace_buffer *buffer)
{
	static const uint8_t none[sizeof(buffer->uuid)];
	return memcmp(buffer->uuid, none, sizeof(none)) != 0;
}

uint64_t weft__otlp_seed(const struct weft_trace_buffer *buffer, uint32_t number)
{
	uint64_t sum = add_bytes(0, buffer->uuid, sizeof(buffer->uuid));
	if (weft__otlp_is_random(buffer))
		return sum;
	sum = add_string(add_string(add_string(sum, buffer->process), buffer->host), buffer->file);
	sum = add_bytes(sum, buffer->boot_id, sizeof(buffer->boot_id));
	return add_word(add_word(sum, buffer->pid), number);
}

uint64_t weft__otlp_plain_id(weft_task_id id, uint64_t seed)
{
	return valid(weft__mix(id ^ seed));
}

/* An id that is used again belongs to the last task that has it. */
uint64_t weft__otlp_task_id(const struct weft_model *model, uint32_t task, uint64_t seed)
{
	const struct weft_tasks *tasks = &model->tasks;
	const uint64_t id = weft__mix(tasks->id[task] ^ seed);
	if (weft_model_find_task(model, tasks->buffer[task], tasks->id[task]) != task)
		return valid(weft__mix(add_word(id + SALT_AGAIN, tasks->start[task])));
	return valid(id);
}

uint64_t weft__otlp_inner_id(
	uint64_t task_id, const struct weft_span *span, uint32_t twin, uint64_t seed)
{
	uint64_t sum = add_word(seed + SALT_INNER, task_id);
	sum = add_word(sum, span->start);
	return valid(add_word(sum, (uint64_t)twin << 8 | span->depth));
}

uint64_t weft__otlp_pending_id(uint64_t span_id)
{
	return valid(weft__mix(span_id + SALT_PENDING));
}

struct weft__otlp_trace_id weft__otlp_trace_of(uint64_t root_id, uint64_t seed)
{
	const uint64_t high = weft__mix(root_id + seed + SALT_TRACE);
	return (struct weft__otlp_trace_id){{high, valid(weft__mix(high ^ root_id))}};
}
