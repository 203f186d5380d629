/* SPDX-License-Identifier: ISC
 *
 * Reads the ring of a program that has ended, to know whether it is worth a trace of its own.
 */
#include "runs/saving/left_out.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/ends.h>
#include <weft/input.h>

#include "runs/saving/name.h"
#include "runs/saving/values.h"

enum {
	EVENTS_MAX = 4096, /* more is no help, and not read in vain */
};
static const uint64_t SHORT_NS = 100000000;
static const uint64_t SHORT_OF_LEAD_NS = 1000000000;

static bool is_of_an_adapter(const char *name, size_t size)
{
	static const char *const adapters[] = {"thread", "io", "uv", "glib", "xen"};
	for (size_t i = 0; i < sizeof(adapters) / sizeof(*adapters); i++)
		if (strlen(adapters[i]) == size && memcmp(adapters[i], name, size) == 0)
			return true;
	return false;
}

/* False if the program has made the event itself, or may have: adapters name the categories of
 * their tasks, and change no counter. */
static bool is_recorded_by_adapters(const struct weft_event *event)
{
	switch (event->type) {
	case WEFT_EVENT_CREATE:
		return is_of_an_adapter(event->category.bytes, event->category.size);
	case WEFT_EVENT_COUNTER:
	case WEFT_EVENT_MARK:
		return false;
	default:
		return true;
	}
}

static bool has_metrics(const char *path, const struct weft__runs_ring *ring)
{
	struct weft__runs_values values = weft__runs_values_open(path, ring);
	const bool has_some = values.metrics >= 0;
	weft__runs_values_close(&values);
	return has_some;
}

/* The categories of libweft, and that of the adapters' stacks at waits. */
static bool is_of_every_program(const char *name)
{
	return strcmp(name, "program") == 0 || strcmp(name, "cpu") == 0 || strcmp(name, "stack") == 0;
}

/* Adapters are in the program, and it has no categories of its own. */
static bool has_only_adapters(const struct weft_trace_description *description)
{
	bool has_adapter = false;
	for (uint32_t i = 0; i < description->category_count; i++) {
		const char *name = description->categories[i].name;
		if (is_of_an_adapter(name, strlen(name)))
			has_adapter = true;
		else if (!is_of_every_program(name))
			return false;
	}
	return has_adapter;
}

/* True after an event if the program has said that it ends, or executes another one. If that fails,
 * its task runs again. */
static bool announces_its_end(const struct weft_event *event, bool before)
{
	if (event->type == WEFT_EVENT_SEND)
		return before || event->key >> 56 == WEFT_KEY_EXECS || event->key >> 56 == WEFT_KEY_EXITS;
	return before && !(event->type == WEFT_EVENT_SWITCH && event->task != WEFT_TASK_NONE);
}

/* The status is only known of the process that was started. Other ones that a signal has killed
 * have not stored their end, and not said it; a process that watched them may have stored it since.
 */
static bool was_killed(const struct weft_trace_buffer *buffer, bool has_announced_end)
{
	if (buffer->wait_status & WEFT_WAIT_KNOWN)
		return buffer->wait_status & 0x7f;
	bool has_stored_end =
		buffer->ending != WEFT_ENDING_UNKNOWN && buffer->ending != WEFT_ENDING_GONE;
	return !has_stored_end && !has_announced_end;
}

static bool has_losses(const struct weft_trace_description *description)
{
	for (unsigned cause = 0; cause < WEFT_LOSS_CAUSES; cause++)
		if (description->losses[cause])
			return true;
	return false;
}

static bool is_help(struct weft_decoder *decoder, uint64_t short_ns)
{
	const struct weft_trace_description *description = weft_decoder_describe(decoder);
	struct weft_event event;
	uint64_t first = 0, last = 0;
	uint32_t count = 0;
	bool has_announced_end = false;
	int error;
	while ((error = weft_decoder_next(decoder, &event)) == WEFT_OK) {
		if (++count > EVENTS_MAX || event.thread > 0 || !is_recorded_by_adapters(&event))
			return false;
		first = count == 1 ? event.time_ns : first;
		last = event.time_ns;
		has_announced_end = announces_its_end(&event, has_announced_end);
	}
	const struct weft_trace_buffer *buffer =
		weft_trace_buffer_at(description->buffers, description->buffer_count, 0);
	if (buffer->end_ns > last && !has_announced_end)
		last = buffer->end_ns;
	return error == WEFT_END && count && last - first < short_ns &&
		   description->thread_count <= 1 && has_only_adapters(description) &&
		   !was_killed(buffer, has_announced_end) && !(buffer->unseen && *buffer->unseen) &&
		   !has_losses(description);
}

bool weft__runs_is_helper(const char *path, const struct weft__runs_ring *ring, bool is_lead)
{
	struct weft_ring_check check;
	struct weft_source *source;
	struct weft_input *input;
	if (!ring->is_ours || ring->is_running || ring->is_link || ring->is_failure || ring->is_guest)
		return false;
	if (has_metrics(path, ring))
		return false;
	int fd = weft_source_open_ring(path, ring->pid, WEFT_RING_READ, &check);
	if (fd < 0)
		return false;
	int error = weft_source_open_descriptor(fd, 0, &source);
	close(fd);
	if (error || weft_input_open_source_with(source, NULL, &input))
		return false;
	bool is_helper = is_help(weft_input_decoder(input), is_lead ? SHORT_OF_LEAD_NS : SHORT_NS);
	weft_input_close(input);
	return is_helper;
}

bool weft__runs_is_helper_beside(
	const char *directory, const struct weft__runs_ring *ring, const struct weft__runs_ring *lead)
{
	char *path = ring == lead ? NULL : weft__runs_name_in(directory, ring->name);
	bool is_helper = path && weft__runs_is_helper(path, ring, ring->pid == lead->pid);
	free(path);
	return is_helper;
}
