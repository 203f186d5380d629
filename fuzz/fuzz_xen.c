/* SPDX-License-Identifier: ISC
 *
 * The input is all that a hostile guest of Xen controls: lines KEY=VALUE of its part of XenStore,
 * an empty line, and the content of its pages. The last bytes say which words of them a second
 * thread flips while the buffer is followed, copied into a stream, and controlled.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include <weft/follow.h>
#include <weft/guest.h>
#include <weft/stream.h>

#include "fake_xen.h"
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum {
	PAGES = 18,
	EDITS = 8,
	LOOKS = 3,
	PIECE = 65536,
};

#define PREFIX "/local/domain/3/data/"

/* ---- XenStore ---- */

/* Stores the lines' keys. Returns the number of bytes before the pages. */
static size_t write_keys(struct fake_xen *xen, const char *text, size_t size)
{
	char path[128], value[4097];
	size_t at = 0;
	while (at < size && text[at] != '\n') {
		const char *line = text + at, *end = memchr(line, '\n', size - at);
		size_t length = end ? (size_t)(end - line) : size - at;
		const char *equals = memchr(line, '=', length);
		size_t name = equals ? (size_t)(equals - line) : length;
		size_t rest = equals ? length - name - 1 : 0;
		if (name < sizeof(path) - sizeof(PREFIX) && rest < sizeof(value)) {
			snprintf(path, sizeof(path), PREFIX "%.*s", (int)name, line);
			snprintf(value, sizeof(value), "%.*s", (int)rest, equals ? equals + 1 : "");
			fake_write(xen, path, value);
		}
		at += length + 1;
	}
	return at < size ? at + 1 : size;
}

/* ---- Pages that change ---- */

struct writer {
	uint32_t *words;
	uint32_t edits[EDITS];
	atomic_bool stops;
};

static void *flip_words(void *context)
{
	struct writer *w = context;
	const uint32_t count = PAGES * WEFT__XEN_PAGE_BYTES / sizeof(uint32_t);
	while (!atomic_load(&w->stops))
		for (int i = 0; i < EDITS; i++) {
			/* Every second one is in the header, which has the sizes and offsets. */
			uint32_t word = (w->edits[i] >> 1) % (w->edits[i] & 1 ? 1024 : count);
			__atomic_fetch_xor(&w->words[word], w->edits[i], __ATOMIC_RELAXED);
		}
	return NULL;
}

/* ---- Reading ---- */

static void follow(struct fake_xen *xen, struct weft_guest *guest)
{
	struct weft_follow *reader;
	struct weft_event event;
	uint64_t last_ns = 0;
	if (weft_follow_open_guest(guest, &reader) != 0)
		return;
	for (int look = 0; look < LOOKS; look++) {
		int status;
		for (int i = 0; i < 2000 && (status = weft_follow_next(reader, &event)) == WEFT_OK; i++) {
			check_event(&event, last_ns, PAGES * WEFT__XEN_PAGE_BYTES);
			last_ns = event.time_ns;
		}
		xen->now_ns += 1000;
	}
	weft_follow_close(reader);
}

/* A guest that changes all the time can give its reader no more than a few pieces at a time. */
static void stream(struct weft_guest *guest)
{
	struct weft_stream *reader;
	const void *bytes;
	size_t size;
	int status = WEFT_OK;
	if (weft_stream_open_guest(guest, PIECE, &reader) != 0)
		return;
	for (int i = 0; i < 100 && status == WEFT_OK; i++)
		if ((status = weft_stream_next(reader, &bytes, &size)) == WEFT_OK)
			touch((struct weft_slice){bytes, size});
	weft_stream_stop(reader);
	for (int i = 0; i < 100 && (status = weft_stream_next(reader, &bytes, &size)) == WEFT_OK; i++)
		touch((struct weft_slice){bytes, size});
	require(memchr(weft_stream_describe(reader)->program, 0, 65) != NULL);
	weft_stream_close(reader);
}

static void control(struct weft_guest *guest)
{
	struct weft_control *controlled;
	struct weft_buffer_summary summary;
	if (weft_control_open_guest(guest, &controlled) != 0)
		return;
	if (weft_control_summarize(controlled, &summary) == 0)
		require(memchr(summary.program, 0, sizeof(summary.program)) != NULL);
	const struct weft_trace_description *description = weft_control_describe(controlled);
	for (uint32_t i = 0; i < description->category_count; i++)
		require(strlen(description->categories[i].name) < PAGES * WEFT__XEN_PAGE_BYTES);
	(void)weft_control_set_level(controlled, "n*", WEFT_LEVEL_DEBUG, NULL);
	(void)weft_control_set_level(controlled, "*", WEFT_LEVEL_COUNT, NULL);
	weft_control_close(controlled);
}

static void read_guest(struct fake_xen *xen, struct weft_guest *guest, const uint8_t *edits)
{
	struct writer writer = {.words = (void *)xen->bytes};
	pthread_t thread;
	const void *bytes;
	size_t size;
	weft_guest_bytes(guest, &bytes, &size);
	require(size <= (size_t)xen->pages * WEFT__XEN_PAGE_BYTES);
	follow(xen, guest);
	stream(guest);
	memcpy(writer.edits, edits, sizeof(writer.edits));
	require(pthread_create(&thread, NULL, flip_words, &writer) == 0);
	follow(xen, guest);
	stream(guest);
	control(guest);
	atomic_store(&writer.stops, true);
	pthread_join(thread, NULL);
	xen->domain = WEFT__XEN_CRASHED;
	(void)weft_guest_look(guest);
	stream(guest);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct fake_xen xen;
	struct weft_guest *guest;
	char reason[WEFT_GUEST_REASON_BYTES];
	uint8_t edits[EDITS * sizeof(uint32_t)] = {0};
	if (size > sizeof(edits))
		memcpy(edits, bytes + size - sizeof(edits), sizeof(edits));
	struct weft_host *host = fake_open(&xen, PAGES);
	require(host != NULL);
	xen.writable = fake_reference(&xen, 0);
	fake_write(&xen, "/local/domain/3/name", "web");
	size_t at = write_keys(&xen, (const char *)bytes, size);
	size_t room = PAGES * WEFT__XEN_PAGE_BYTES;
	memcpy(xen.bytes, bytes + at, size - at < room ? size - at : room);
	if (weft_guest_open_only(host, "web", &guest, reason) == 0) {
		read_guest(&xen, guest, edits);
		weft_guest_close(guest);
	} else {
		require(strlen(reason) > 10);
	}
	require(xen.mapped == 0);
	fake_finish(&xen, host);
	return 0;
}
