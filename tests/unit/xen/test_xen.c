/* SPDX-License-Identifier: ISC
 *
 * Buffers of guests, in a Xen of our own: what a guest may announce, and how its record ends.
 */
#include "record_trace.h"

#include <sys/utsname.h>
#include <time.h>

#include <weft/follow.h>
#include <weft/guest.h>
#include <weft/stream.h>

#include "abi/buffer_abi.h"
#include "fake_xen.h"
#include "format/weft/guest_facts.h"
#include "moved_clock.h"
#include "xen/announced.h"
#include "xen/comparisons.h"
#include "xen/host.h"
#include "xen/hypervisor.h"
#include "xen/references.h"

#define SIZE ((size_t)64 << 10)

enum {
	PAGES = SIZE / WEFT__XEN_PAGE_BYTES,
	LIFE = PAGES, /* the page that says if the process lives */
	DIRECTORY = PAGES + 1,
};

/* ---- Lists of references ---- */

/* NULL or the problem of a list with room for `capacity`. */
static const char *read_list(const char *text, uint64_t capacity)
{
	struct weft__xen_references list;
	const char *problem = weft__xen_references_init(&list, capacity);
	if (!problem)
		problem = weft__xen_references_add(&list, text, strlen(text));
	if (!problem)
		problem = weft__xen_references_check(&list);
	if (!problem)
		assert_int_equal(list.count, capacity);
	weft__xen_references_finish(&list);
	return problem;
}

static void test_lists(void **state)
{
	(void)state;
	struct weft__xen_references list;
	assert_null(weft__xen_references_init(&list, 4));
	assert_null(weft__xen_references_add(&list, "8,4294967295", 12));
	assert_null(weft__xen_references_add(&list, "0,1", 3));
	assert_null(weft__xen_references_check(&list));
	assert_int_equal(list.list[0], 8);
	assert_int_equal(list.list[1], UINT32_MAX);
	assert_int_equal(list.list[3], 1);
	weft__xen_references_finish(&list);
	static const struct {
		const char *text;
		uint64_t capacity;
	} bad[] = {{"", 1}, {"1,", 2}, {",1", 2}, {"1 2", 2}, {"-1", 1}, {"+1", 1}, {"1,,2", 3},
		{"x", 1}, {"0x10", 1}, {"4294967296", 1}, {"99999999999999999999999999", 1}, {"1,2", 1},
		{"1", 2}, {"7,7", 2}, {"1,2,1", 3}, {"1", 0}, {"1", 65537}, {"1", UINT64_MAX}};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_non_null(read_list(bad[i].text, bad[i].capacity));
	assert_null(read_list("1,2", 2));
}

/* ---- A guest ---- */

static uint64_t now_ticks;

static const struct weft_platform by_hand = {.ticks_at = &now_ticks, .ticks_hz = 1000000000};

struct guest {
	struct fake_xen xen;
	struct weft_host *host;
	char reason[WEFT_GUEST_REASON_BYTES];
};

/* The domain "web" with the number 3, which publishes a buffer in two lists. */
static void announce(struct fake_xen *xen)
{
	fake_write(xen, "/local/domain/0/name", "Domain-0");
	fake_write(xen, "/local/domain/3/name", "web");
	fake_write(xen, "/local/domain/3/data/weft/0/format", "1");
	fake_write(xen, "/local/domain/3/data/weft/0/pages", "16");
	fake_write_list(xen, "/local/domain/3/data/weft/0/ring-ref-0", 0, 10);
	fake_write_list(xen, "/local/domain/3/data/weft/0/ring-ref-1", 10, 6);
	fake_write(xen, "/local/domain/3/data/weft/0/state", "open");
}

static int begin(void **state)
{
	struct guest *g = calloc(1, sizeof(*g));
	assert_non_null(g);
	g->host = fake_open(&g->xen, PAGES + 2);
	assert_non_null(g->host);
	now_ticks = 1000;
	assert_int_equal(weft_start(g->xen.bytes, SIZE, &by_hand), 0);
	announce(&g->xen);
	*state = g;
	return 0;
}

static int end(void **state)
{
	struct guest *g = *state;
	assert_int_equal(g->xen.mapped, 0);
	weft_stop();
	fake_finish(&g->xen, g->host);
	free(g);
	return 0;
}

static struct weft_guest *open_guest(struct guest *g)
{
	struct weft_guest *guest;
	if (weft_guest_open_only(g->host, "web", &guest, g->reason) != 0)
		fail_msg("%s", g->reason);
	return guest;
}

static void refuses(struct guest *g, const char *domain, const char *reason)
{
	struct weft_guest *guest;
	assert_int_not_equal(weft_guest_open_only(g->host, domain, &guest, g->reason), 0);
	if (!strstr(g->reason, reason))
		fail_msg("\"%s\" instead of \"%s\"", g->reason, reason);
	assert_int_equal(g->xen.mapped, 0);
}

static void test_mapping(void **state)
{
	struct guest *g = *state;
	const void *bytes;
	size_t size;
	for (int i = 0; i < PAGES; i++)
		g->xen.bytes[i * WEFT__XEN_PAGE_BYTES + 4000] = (char)(i + 1);
	struct weft_guest *guest = open_guest(g);
	assert_false(weft_guest_bytes(guest, &bytes, &size));
	assert_int_equal(size, SIZE);
	for (int i = 0; i < PAGES; i++)
		assert_int_equal(((const char *)bytes)[i * WEFT__XEN_PAGE_BYTES + 4000], i + 1);
	assert_int_equal(weft_guest_describe(guest)->domain, 3);
	assert_string_equal(weft_guest_describe(guest)->domain_name, "web");
	weft_guest_close(guest);
	assert_int_equal(weft_guest_open_only(g->host, "3", &guest, g->reason), 0);
	weft_guest_close(guest);
	assert_int_equal(weft_guest_open_only(g->host, "web/0", &guest, g->reason), 0);
	weft_guest_close(guest);
}

static void test_directory(void **state)
{
	struct guest *g = *state;
	char *directory = g->xen.bytes + DIRECTORY * WEFT__XEN_PAGE_BYTES;
	for (uint32_t i = 0; i < PAGES; i++) {
		uint32_t reference = fake_reference(&g->xen, i);
		memcpy(directory + i * sizeof(reference), &reference, sizeof(reference));
	}
	fake_write(&g->xen, "/local/domain/3/data/weft/0/ring-ref-0", NULL);
	fake_write(&g->xen, "/local/domain/3/data/weft/0/ring-ref-1", NULL);
	fake_write_list(&g->xen, "/local/domain/3/data/weft/0/directory-ref", DIRECTORY, 1);
	struct weft_guest *guest = open_guest(g);
	const void *bytes;
	size_t size;
	weft_guest_bytes(guest, &bytes, &size);
	assert_memory_equal(bytes, g->xen.bytes, SIZE);
	weft_guest_close(guest);
	memcpy(directory, directory + 4, 4);
	refuses(g, "web", "it lists a grant reference twice");
	fake_write(&g->xen, "/local/domain/3/data/weft/0/pages", "1025");
	refuses(g, "web", "fewer grant references than it has pages");
}

static void test_refusals(void **state)
{
	struct guest *g = *state;
	static const struct {
		const char *key, *value, *reason;
	} cases[] = {
		{"format", "2", "in another format"},
		{"format", NULL, "in another format"},
		{"state", "maybe", "neither open nor closed"},
		{"state", "closed", "is not open"},
		{"state", NULL, "is not open"},
		{"pages", NULL, "number of pages is missing"},
		{"pages", "16x", "number of pages is missing"},
		{"pages", "0", "it has no pages"},
		{"pages", "65537", "more than 65536 pages"},
		{"pages", "4294967296", "number of pages is missing"},
		{"pages", "15", "more grant references"},
		{"pages", "17", "fewer grant references"},
		{"ring-ref-0", "501,501", "fewer grant references"},
		{"ring-ref-0", "1,2,3,4,5,6,7,8,9,505", "twice"},
		{"ring-ref-0", "1,2,3,4,5,6,7,8,9,99999", "cannot be mapped"},
		{"ring-ref-1", "1;2", "not one of numbers"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char path[128];
		snprintf(path, sizeof(path), "/local/domain/3/data/weft/0/%s", cases[i].key);
		fake_write(&g->xen, path, cases[i].value);
		refuses(g, "web", cases[i].reason);
		announce(&g->xen);
	}
	refuses(g, "mail", "there is no domain 'mail'");
	refuses(g, "9", "there is no domain '9'");
	refuses(g, "Domain-0",
		"domain 'Domain-0' (id 0) publishes no trace: its part of XenStore has no "
		"data/weft and no data/mprof");
	refuses(g, "web/1",
		"domain 'web' (id 3) publishes no trace: its part of XenStore has no data/weft/1 and");
	fake_write(&g->xen, "/local/domain/3/data/weft/../state", "open");
	weft_guest_close(open_guest(g));
}

static void test_several(void **state)
{
	struct guest *g = *state;
	struct weft_guest_name *list;
	size_t count;
	fake_write(&g->xen, "/local/domain/3/data/weft/77/format", "1");
	fake_write(&g->xen, "/local/domain/3/data/weft/77/pages", "1");
	fake_write_list(&g->xen, "/local/domain/3/data/weft/77/ring-ref-0", 3, 1);
	weft_guest_close(open_guest(g)); /* the other one is not complete */
	fake_write(&g->xen, "/local/domain/3/data/weft/77/state", "open");
	refuses(g, "web", "several traces (0, 77); name one, as in xen:web/0");
	assert_int_equal(weft_host_find(g->host, "all", &list, &count, g->reason), 0);
	assert_int_equal(count, 2);
	assert_string_equal(list[1].buffer, "77");
	assert_int_not_equal(list[1].mark, 0);
	free(list);
}

/* A process of Linux has ended: its references may be those of other pages by now. */
static void test_stale(void **state)
{
	struct guest *g = *state;
	char *life = g->xen.bytes + LIFE * WEFT__XEN_PAGE_BYTES;
	fake_write_list(&g->xen, "/local/domain/3/data/weft/0/alive-ref", LIFE, 1);
	refuses(g, "web", "a process that has ended");
	*life = 1;
	struct weft_guest *guest = open_guest(g);
	assert_int_equal(weft_guest_look(guest), WEFT_GUEST_OPEN);
	*life = 0;
	move_clock(FAKE_LOOK_NS);
	assert_int_equal(weft_guest_look(guest), WEFT_GUEST_CLOSED);
	weft_guest_close(guest);
}

static void test_mirage(void **state)
{
	struct guest *g = *state;
	const void *bytes;
	size_t size;
	struct weft_follow *follow;
	fake_write(&g->xen, "/local/domain/3/data/weft/0/state", NULL);
	struct weft__xen_announced announced;
	const char *reason;
	assert_int_equal(weft__xen_announced_read(&g->host->access, 3, "mprof", &announced, &reason),
		WEFT__XEN_ABSENT);
	fake_write_list(&g->xen, "/local/domain/3/data/mprof/ring-ref", 2, 2);
	struct weft_guest *guest = open_guest(g);
	assert_true(weft_guest_bytes(guest, &bytes, &size));
	assert_int_equal(size, 2 * WEFT__XEN_PAGE_BYTES);
	assert_memory_equal(bytes, g->xen.bytes + 2 * WEFT__XEN_PAGE_BYTES, size);
	assert_int_equal(weft_follow_open_guest(guest, &follow), WEFT_ERROR_FORMAT);
	struct weft_control *control;
	assert_int_equal(weft_control_open_guest(guest, &control), WEFT_ERROR_FORMAT);
	weft_guest_close(guest);
}

/* ---- Control ---- */

/* Tries to turn the category off. The error. */
static int turn_off(struct weft_guest *guest)
{
	struct weft_control *control;
	unsigned matched = 0;
	assert_int_equal(weft_control_open_guest(guest, &control), 0);
	assert_int_equal(weft_control_matches(control, "prog*"), 1);
	int error = weft_control_set_level(control, "prog*", WEFT_LEVEL_OFF, &matched);
	assert_int_equal(matched, error ? 0 : 1);
	weft_control_close(control);
	return error;
}

static void test_levels(void **state)
{
	struct guest *g = *state;
	struct weft_abi_buffer *header = (struct weft_abi_buffer *)g->xen.bytes;
	const uint8_t before = header->levels[WEFT_ABI_CATEGORY_PROGRAM];
	struct weft_guest *guest = open_guest(g);
	/* The guest is older, and grants all its pages for reading only. */
	assert_int_equal(turn_off(guest), WEFT_ERROR_SYSTEM);
	assert_int_equal(errno, EACCES);
	assert_int_equal(header->levels[WEFT_ABI_CATEGORY_PROGRAM], before);
	assert_int_equal(header->changes_count, 0);
	g->xen.writable = fake_reference(&g->xen, 1); /* not the header */
	assert_int_equal(turn_off(guest), WEFT_ERROR_SYSTEM);

	g->xen.writable = fake_reference(&g->xen, 0);
	g->xen.now_ns = 5000;
	header->clock = WEFT_ABI_CLOCK_XEN;
	unsigned mapped = g->xen.mapped;
	assert_true(weft_enabled(WEFT_LEVEL_ERROR));
	assert_int_equal(turn_off(guest), 0);
	assert_false(weft_enabled(WEFT_LEVEL_ERROR));
	assert_int_equal(header->changes_count, 1);
	assert_int_equal(header->changes[0].ticks, 5000);
	assert_int_equal(turn_off(guest), 0); /* once more */
	assert_int_equal(g->xen.mapped, mapped + 1);
	weft_guest_close(guest);
}

/* The domain, or the process in it, has ended: its pages may be those of others. */
static void test_levels_at_the_end(void **state)
{
	struct guest *g = *state;
	const struct weft_abi_buffer *header = (const struct weft_abi_buffer *)g->xen.bytes;
	char *life = g->xen.bytes + LIFE * WEFT__XEN_PAGE_BYTES;
	struct weft_control *control;
	g->xen.writable = fake_reference(&g->xen, 0);
	fake_write_list(&g->xen, "/local/domain/3/data/weft/0/alive-ref", LIFE, 1);
	*life = 1;
	struct weft_guest *guest = open_guest(g);
	*life = 0;
	assert_int_equal(turn_off(guest), WEFT_ERROR_STATE);
	weft_guest_close(guest);

	*life = 1;
	guest = open_guest(g);
	assert_int_equal(weft_control_open_guest(guest, &control), 0);
	assert_true(weft_control_is_live(control));
	g->xen.domain = WEFT__XEN_CRASHED;
	move_clock(FAKE_LOOK_NS);
	assert_false(weft_control_is_live(control));
	assert_int_equal(weft_control_set_level(control, "*", WEFT_LEVEL_OFF, NULL), WEFT_ERROR_STATE);
	assert_int_equal(header->changes_count, 0);
	weft_control_close(control);
	weft_guest_close(guest);
}

/* A guest may write anything into its header, also while it is controlled. */
static void test_levels_of_a_hostile_guest(void **state)
{
	struct guest *g = *state;
	struct weft_abi_buffer *header = (struct weft_abi_buffer *)g->xen.bytes;
	struct weft_buffer_summary summary;
	struct weft_control *control;
	g->xen.writable = fake_reference(&g->xen, 0);
	struct weft_guest *guest = open_guest(g);
	assert_int_equal(weft_control_open_guest(guest, &control), 0);
	memset(g->xen.bytes, 0xff, SIZE);
	header->stopped = 0;
	(void)weft_control_summarize(control, &summary);
	(void)weft_control_describe(control);
	assert_int_equal(weft_control_set_level(control, "*", WEFT_LEVEL_DEBUG, NULL), 0);
	assert_int_equal(header->levels[WEFT_ABI_LEVELS - 1], WEFT_LEVEL_DEBUG);
	for (size_t i = sizeof(*header); i < SIZE; i++) /* no other page was written to */
		assert_int_equal((uint8_t)g->xen.bytes[i], 0xff);
	weft_control_close(control);
	assert_int_not_equal(weft_control_open_guest(guest, &control), 0);
	weft_guest_close(guest);
}

/* ---- The end ---- */

static void test_ends(void **state)
{
	struct guest *g = *state;
	static const struct {
		enum weft__xen_domain domain;
		enum weft_guest_state state;
	} cases[] = {
		{WEFT__XEN_UNKNOWN, WEFT_GUEST_OPEN},
		{WEFT__XEN_RUNS, WEFT_GUEST_OPEN},
		{WEFT__XEN_CRASHED, WEFT_GUEST_CRASHED},
		{WEFT__XEN_SHUT, WEFT_GUEST_SHUT},
		{WEFT__XEN_GONE, WEFT_GUEST_GONE},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct weft_guest *guest = open_guest(g);
		g->xen.domain = cases[i].domain;
		assert_int_equal(weft_guest_look(guest), cases[i].state);
		g->xen.domain = WEFT__XEN_RUNS;
		move_clock(cases[i].state == WEFT_GUEST_OPEN ? FAKE_LOOK_NS : 0);
		assert_int_equal(weft_guest_look(guest), cases[i].state); /* it stays the same */
		weft_guest_close(guest);
	}
}

/* The process in a domain ends with the domain: the domain's end is the one that is told. */
static void test_ends_of_both(void **state)
{
	static const enum weft__xen_domain domains[] = {
		WEFT__XEN_CRASHED, WEFT__XEN_SHUT, WEFT__XEN_GONE};
	static const enum weft_guest_state states[] = {
		WEFT_GUEST_CRASHED, WEFT_GUEST_SHUT, WEFT_GUEST_GONE};
	struct guest *g = *state;
	char *life = g->xen.bytes + LIFE * WEFT__XEN_PAGE_BYTES;
	fake_write_list(&g->xen, "/local/domain/3/data/weft/0/alive-ref", LIFE, 1);
	for (size_t i = 0; i < 3; i++) {
		*life = 1;
		g->xen.domain = WEFT__XEN_RUNS;
		struct weft_guest *guest = open_guest(g);
		assert_int_equal(weft_guest_look(guest), WEFT_GUEST_OPEN);
		*life = 0;
		g->xen.domain = domains[i];
		move_clock(FAKE_LOOK_NS);
		assert_int_equal(weft_guest_look(guest), states[i]);
		weft_guest_close(guest);
	}
}

/* Xen is asked every 0.1 s, XenStore every second. */
static void test_questions(void **state)
{
	struct guest *g = *state;
	struct weft_guest *guest = open_guest(g);
	assert_int_equal(weft_guest_look(guest), WEFT_GUEST_OPEN);
	unsigned reads = g->xen.reads;
	weft_guest_look(guest);
	g->xen.domain = WEFT__XEN_UNKNOWN; /* XenStore alone can tell */
	move_clock(FAKE_LOOK_NS);
	weft_guest_look(guest);
	unsigned each = g->xen.reads - reads;
	assert_true(each > 0);
	g->xen.domain = WEFT__XEN_RUNS;
	reads = g->xen.reads;
	for (int i = 0; i < 4; i++) {
		move_clock(FAKE_LOOK_NS);
		assert_int_equal(weft_guest_look(guest), WEFT_GUEST_OPEN);
	}
	assert_true(g->xen.reads - reads <= each);
	weft_guest_close(guest);
}

/* The guest announces another buffer under the same name, or none. */
static void test_published_anew(void **state)
{
	struct guest *g = *state;
	static const char *const values[] = {"closed", NULL};
	for (int i = 0; i < 3; i++) {
		struct weft_guest *guest = open_guest(g);
		if (i < 2)
			fake_write(&g->xen, "/local/domain/3/data/weft/0/state", values[i]);
		else
			fake_write(&g->xen, "/local/domain/3/data/weft/0/ring-ref-0", "9");
		assert_int_equal(weft_guest_look(guest), WEFT_GUEST_CLOSED);
		weft_guest_close(guest);
		announce(&g->xen);
	}
	/* A domain that is destroyed loses its keys first. */
	struct weft_guest *guest = open_guest(g);
	fake_write(&g->xen, "/local/domain/3/data/weft/0/state", NULL);
	fake_write(&g->xen, "/local/domain/3/name", NULL);
	assert_int_equal(weft_guest_look(guest), WEFT_GUEST_GONE);
	weft_guest_close(guest);
}

static uint64_t mark_of(const struct guest *g, const char *id)
{
	return weft__xen_announced_mark(&g->host->access, 3, id);
}

/* A mark is 0 without an open buffer. It changes with each key that a guest writes anew. */
static void test_marks(void **state)
{
	static const char *const keys[] = {"pages", "directory-ref", "ring-ref-0"};
	static const char *const others[] = {"closed", "ope", "open ", NULL};
	struct guest *g = *state;
	char path[80];
	uint64_t mark = mark_of(g, "0"), seen[3];
	assert_int_not_equal(mark, 0);
	for (size_t i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "/local/domain/3/data/weft/0/%s", keys[i]);
		fake_write(&g->xen, path, "123");
		seen[i] = mark_of(g, "0");
		assert_true(seen[i] != 0 && seen[i] != mark);
		fake_write(&g->xen, path, NULL);
		assert_int_not_equal(mark_of(g, "0"), seen[i]);
		mark = mark_of(g, "0");
	}
	fake_write(&g->xen, "/local/domain/3/data/weft/0/name", "other");
	assert_int_equal(mark_of(g, "0"), mark);
	for (size_t i = 0; i < 4; i++) {
		fake_write(&g->xen, "/local/domain/3/data/weft/0/state", others[i]);
		assert_int_equal(mark_of(g, "0"), 0);
	}
	assert_int_equal(mark_of(g, "1"), 0);
}

/* ---- Following ---- */

static void record(uint64_t task)
{
	now_ticks += 1000;
	weft_switch(task);
}

static void test_follow_until_crash(void **state)
{
	struct guest *g = *state;
	struct weft_guest *guest = open_guest(g);
	struct weft_follow *follow;
	struct weft_event event;
	record(5);
	assert_int_equal(weft_follow_open_guest(guest, &follow), 0);
	record(6);
	record(7);
	assert_string_equal(weft_follow_describe(follow)->buffers[0].process, "web/test_xen");
	assert_int_equal(weft_follow_next(follow, &event), WEFT_OK);
	while (event.task != 6)
		assert_int_equal(weft_follow_next(follow, &event), WEFT_OK);
	while (weft_follow_next(follow, &event) == WEFT_OK)
		continue;
	record(8);
	g->xen.domain = WEFT__XEN_CRASHED;
	move_clock(FAKE_LOOK_NS);
	assert_int_equal(weft_follow_next(follow, &event), WEFT_OK);
	assert_int_equal(event.task, 8);
	assert_int_equal(weft_follow_next(follow, &event), WEFT_END);
	assert_int_equal(weft_follow_describe(follow)->buffers[0].ending, WEFT_ENDING_CRASHED);
	weft_follow_close(follow);
	weft_guest_close(guest);
}

/* Reads the header of the stream of a buffer whose readings are of Xen's clock. */
static struct weft_abi_buffer stream_header(struct weft_guest *guest)
{
	struct weft_abi_buffer header;
	struct weft_stream *stream;
	const void *bytes;
	size_t size;
	assert_int_equal(weft_stream_open_guest(guest, 65536, &stream), 0);
	assert_int_equal(weft_stream_next(stream, &bytes, &size), WEFT_OK);
	assert_true(size >= sizeof(header));
	memcpy(&header, bytes, sizeof(header));
	weft_stream_close(stream);
	return header;
}

/* The id has 16 bytes, which the kernel writes as hexadecimal digits with dashes between some. */
static void assert_boot_id(const uint8_t id[16])
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
	assert_non_null(file);
	for (int i = 0; i < 16; i++) {
		unsigned byte;
		assert_int_equal(fscanf(file, "%2x", &byte), 1);
		assert_int_equal(id[i], byte);
		if (i == 3 || i == 5 || i == 7 || i == 9)
			assert_int_equal(fgetc(file), '-');
	}
	fclose(file);
}

/* The last header that a stream gives when it is stopped. */
static struct weft_abi_buffer last_header(struct weft_guest *guest)
{
	struct weft_abi_buffer header;
	struct weft_stream *stream;
	const void *bytes;
	size_t size;
	assert_int_equal(weft_stream_open_guest(guest, 65536, &stream), 0);
	weft_stream_stop(stream);
	while (weft_stream_next(stream, &bytes, &size) == WEFT_OK)
		memcpy(&header, (const char *)bytes + size - sizeof(header), sizeof(header));
	weft_stream_close(stream);
	return header;
}

/* The clocks are compared when a reader connects and when it ends. The hypervisor's time stands
 * still here. */
static void test_comparisons(void **state)
{
	struct guest *g = *state;
	struct weft_abi_buffer *own = (void *)g->xen.bytes, header;
	own->time_base = WEFT_ABI_TIME_XEN;
	memset(own->comparisons, 1, sizeof(own->comparisons));
	own->comparison_count = 7;
	g->xen.now_ns = 5000000000;
	struct weft_guest *guest = open_guest(g);
	for (unsigned i = 0; i < 3; i++) {
		header = last_header(guest);
		assert_int_equal(header.comparison_count, 2);
		assert_int_equal(header.comparisons[1].xen_ns, 5000000000 + i);
		assert_true(header.comparisons[1].monotonic_ns >= header.comparisons[0].monotonic_ns);
		assert_int_equal(header.comparisons[2].xen_ns, 0);
		g->xen.now_ns++;
	}
	assert_true(header.comparisons[1].error_ns < 1000000000);
	g->host->comparisons.due_ns = 0;
	assert_int_equal(last_header(guest).comparison_count, 3);
	assert_int_equal(last_header(guest).comparison_count, 3);
	/* The list is thinned out, and has the first and the last one. */
	for (unsigned i = 0; i < 100; i++) {
		g->host->comparisons.due_ns = 0;
		g->xen.now_ns++;
		(void)last_header(guest);
		assert_in_range(g->host->comparisons.count, 3, WEFT_ABI_COMPARISONS);
		assert_int_equal(g->host->comparisons.list[0].xen_ns, 5000000000);
		assert_int_equal(
			g->host->comparisons.list[g->host->comparisons.count - 1].xen_ns, g->xen.now_ns);
	}
	assert_true(g->host->comparisons.interval_ns >= 4000000000);
	weft_guest_close(guest);
}

static uint64_t monotonic_ns(void)
{
	struct timespec now;
	assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &now), 0);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* A reading of both clocks is of the time at which it was made. */
static void test_comparison(void **state)
{
	struct guest *g = *state;
	struct weft_abi_comparison made = {0};
	g->xen.now_ns = 5000000000;
	uint64_t before = monotonic_ns();
	assert_true(weft__xen_comparison_make(&g->host->access, &made));
	uint64_t after = monotonic_ns();
	assert_int_equal(made.xen_ns, 5000000000);
	assert_in_range(made.monotonic_ns, before - 1, after);
	assert_true(made.error_ns <= (after - before) / 2);
	g->xen.knows_time = false;
	assert_false(weft__xen_comparison_make(&g->host->access, &made));
}

/* The guest does not decide which host it is on. */
static void test_place(void **state)
{
	struct guest *g = *state;
	struct weft_abi_buffer *own = (void *)g->xen.bytes, header;
	uint8_t boot_id[16];
	memset(own->host, 'x', sizeof(own->host));
	own->time_base = WEFT_ABI_TIME_XEN;
	own->time_offset_ns = 12345;
	g->xen.now_ns = 5000000000;
	struct weft_guest *guest = open_guest(g);
	header = stream_header(guest);
	struct utsname system;
	assert_int_equal(uname(&system), 0);
	assert_string_equal(header.host, system.nodename);
	assert_int_equal(header.time_base, WEFT_ABI_TIME_MONOTONIC);
	const struct weft_abi_comparison first = header.comparisons[0];
	assert_int_equal(header.comparison_count, 1);
	assert_int_equal(first.xen_ns, 5000000000);
	assert_int_equal(header.time_offset_ns, 12345 + (int64_t)(first.monotonic_ns - first.xen_ns));
	assert_int_equal(header.guest, 1 + weft_guest_describe(guest)->domain);
	memcpy(boot_id, header.boot_id, sizeof(boot_id));
	assert_string_equal(header.program, "web/test_xen");
	weft_guest_close(guest);
	assert_boot_id(boot_id);
	/* Without an offset its times are of no clock of this host. */
	weft_host_close(g->host);
	g->xen.knows_time = false;
	g->host = fake_connect(&g->xen);
	guest = open_guest(g);
	header = stream_header(guest);
	for (size_t i = 0; i < 16; i++)
		assert_int_equal(header.boot_id[i], 0);
	assert_int_equal(header.time_offset_ns, 12345);
	assert_int_equal(header.time_base, WEFT_ABI_TIME_XEN);
	/* A guest with a clock of its own may say which boot it is of, but not that it is ours. */
	own->time_base = WEFT_ABI_TIME_MONOTONIC;
	own->pid = 0;
	assert_int_equal(stream_header(guest).pid, 3); /* the domain's number */
	memset(own->boot_id, 7, sizeof(own->boot_id));
	header = stream_header(guest);
	assert_int_equal(header.boot_id[3], 7);
	memcpy(own->boot_id, boot_id, sizeof(boot_id));
	header = stream_header(guest);
	assert_int_equal(header.boot_id[3], 0);
	weft_guest_close(guest);
}

/* A Linux guest reads the counter with its clock. That helps only if it is the host's. */
static void test_counter(void **state)
{
	struct guest *g = *state;
	struct weft_abi_buffer *own = (void *)g->xen.bytes, header;
	const struct weft_abi_clock_reading start = {1000, 77, 0};
	own->time_base = WEFT_ABI_TIME_COUNTER;
	own->time_offset_ns = 12345;
	g->xen.now_ns = 5000000000;
	own->clock = WEFT_ABI_CLOCK_MONOTONIC;
	memset(own->boot_id, 7, sizeof(own->boot_id));
	struct weft_guest *guest = open_guest(g);
	for (unsigned i = 0; i < 4; i++) {
		g->xen.has_counter = i > 0;
		own->start = i == 2 ? (struct weft_abi_clock_reading){0} : start;
		own->clock = i == 3 ? WEFT_ABI_CLOCK_TSC : WEFT_ABI_CLOCK_MONOTONIC;
		header = stream_header(guest);
		bool is_placed = i == 1;
		assert_int_equal(header.time_base, WEFT_ABI_TIME_COUNTER);
		assert_int_equal(header.time_offset_ns, 0);
		assert_int_equal(header.comparison_count != 0, is_placed);
		assert_int_equal(header.comparisons[0].xen_ns, is_placed ? 5000000000 : 0);
		assert_int_equal(memcmp(header.boot_id, own->boot_id, 16) != 0, is_placed);
	}
	weft_guest_close(guest);
}

/* A program's name stands behind that of its domain, unless they are equal. */
static void test_names_of_programs(void **state)
{
	(void)state;
	static const struct {
		const char *domain, *program, *name;
	} cases[] = {
		{"web", "server", "web/server"},
		{"web", "", "web"},
		{"web", "web", "web"},
		{"web", "webs", "web/webs"},
		{"webs", "web", "webs/web"},
		{"0123456789", "PROGRAM", "0123456789/PROGRAM"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct weft_abi_buffer header = {.pid = 5};
		struct weft__guest_facts guest_facts = {.pid = 7, .host = "dom0"};
		strcpy(header.program, cases[i].program);
		strcpy(guest_facts.process, cases[i].domain);
		weft__format_guest_facts_store(&guest_facts, &header);
		assert_string_equal(header.program, cases[i].name);
		assert_string_equal(header.host, "dom0");
		assert_int_equal(header.pid, 5);
	}
	/* As much of the program's name as there is room for: 1, 0 and -1 bytes of it. */
	for (size_t room = 0; room < 3; room++) {
		struct weft_abi_buffer header = {.program = "program"};
		struct weft__guest_facts guest_facts = {.pid = 7};
		char expected[sizeof(header.program)] = {0};
		size_t used = sizeof(header.program) - room;
		memset(guest_facts.process, 'd', used);
		memset(expected, 'd', used);
		if (room == 2)
			memcpy(expected + used, "/p", 2);
		weft__format_guest_facts_store(&guest_facts, &header);
		assert_memory_equal(header.program, expected, sizeof(expected));
		assert_int_equal(header.pid, 7);
	}
}

/* ---- The hypervisor ---- */

struct answer {
	uint32_t version, flags;
	uint16_t domain;
	int error;
	unsigned calls;
	uint64_t pages, pages_max;
	uint32_t vcpu_last;
};

/* A hypervisor that knows one version of the interface. */
static struct answer answer;
static uint32_t *arguments;

/* A call that succeeds leaves errno as it is. */
static bool fails(int error)
{
	errno = error ? error : errno;
	return error != 0;
}

static int call(void *context, unsigned operation, uint64_t first, uint64_t second)
{
	(void)context;
	uint16_t domain = answer.domain;
	if (operation == 34) {
		uint64_t now = 77;
		assert_int_equal(first, 10);
		memcpy((void *)(uintptr_t)second, &now, sizeof(now));
		return answer.error ? -1 : 0;
	}
	assert_int_equal(operation, 36);
	assert_int_equal(arguments[0], 5);
	answer.calls++;
	if (fails(arguments[1] == answer.version ? answer.error : EACCES))
		return -1;
	memcpy(&arguments[4], &domain, sizeof(domain));
	arguments[5] = answer.flags;
	return 0;
}

/* Knows the machine, in one version of that interface. */
static int call_about_machine(void *context, unsigned operation, uint64_t first, uint64_t second)
{
	(void)context, (void)first, (void)second;
	assert_int_equal(operation, 35);
	answer.calls++;
	if (fails(arguments[1] == answer.version ? answer.error : EACCES))
		return -1;
	if (arguments[0] == 3)
		arguments[2 + 6] = answer.flags;
	else if (arguments[0] == 2 && arguments[2] == 3)
		return fails(arguments[2 + 10] == 32 ? EBUSY : EINVAL) ? -1 : 0; /* 32 pages since boot */
	else
		assert_true(arguments[0] == 2 && arguments[2] == 5);
	return 0;
}

static void test_machine(void **state)
{
	uint32_t version = 0;
	uint64_t hz = 0;
	(void)state;
	arguments = calloc(1, WEFT__XEN_PAGE_BYTES);
	answer = (struct answer){.version = 0x15, .flags = 2596150};
	assert_true(weft__xen_hypervisor_rate(call_about_machine, NULL, arguments, &version, &hz));
	assert_int_equal(hz, 2596150000);
	unsigned calls = answer.calls;
	assert_true(weft__xen_hypervisor_end_trace(call_about_machine, NULL, arguments, &version));
	assert_int_equal(answer.calls, calls + 1); /* the version is known */
	assert_true(weft__xen_hypervisor_size_trace(call_about_machine, NULL, arguments, &version, 32));
	assert_false(
		weft__xen_hypervisor_size_trace(call_about_machine, NULL, arguments, &version, 64));
	assert_int_equal(errno, EINVAL);
	answer.error = EPERM;
	assert_false(weft__xen_hypervisor_rate(call_about_machine, NULL, arguments, &version, &hz));
	assert_false(weft__xen_hypervisor_end_trace(call_about_machine, NULL, arguments, &version));
	answer = (struct answer){.version = 0x99};
	version = 0;
	assert_false(weft__xen_hypervisor_rate(call_about_machine, NULL, arguments, &version, &hz));
	assert_int_equal(version, 0);
	free(arguments);
}

/* A domain with figures, one vCPU of which was taken away. */
static int call_about_usage(void *context, unsigned operation, uint64_t first, uint64_t second)
{
	static const struct {
		uint8_t online, blocked, running;
		uint64_t ns;
	} vcpus[] = {{1, 0, 1, 100}, {1, 1, 0, 200}, {1, 0, 0, 300}, {0, 1, 0, 400}};
	uint64_t words[7] = {512, 1024, 9, 9, 9, 9, 1000};
	(void)context, (void)first, (void)second;
	assert_int_equal(operation, 36);
	if (fails(arguments[1] == answer.version ? answer.error : EACCES))
		return -1;
	if (arguments[0] == 5) {
		arguments[4] = arguments[2];
		arguments[5] = answer.flags;
		words[0] = answer.pages;
		words[1] = answer.pages_max;
		memcpy(&arguments[6], words, sizeof(words));
		arguments[20] = 4;
		arguments[21] = answer.vcpu_last;
		return 0;
	}
	assert_int_equal(arguments[0], 14);
	const uint32_t vcpu = arguments[4];
	if (fails(vcpu < 4 ? 0 : ESRCH))
		return -1;
	const uint8_t flags[4] = {vcpus[vcpu].online, vcpus[vcpu].blocked, vcpus[vcpu].running};
	memcpy(&arguments[5], flags, sizeof(flags));
	memcpy(&arguments[6], &vcpus[vcpu].ns, sizeof(vcpus[vcpu].ns));
	return 0;
}

static void test_usage(void **state)
{
	static const enum weft__xen_vcpu_state states[] = {WEFT__XEN_VCPU_RUNNING,
		WEFT__XEN_VCPU_BLOCKED, WEFT__XEN_VCPU_RUNNABLE, WEFT__XEN_VCPU_OFFLINE};
	struct weft__xen_usage usage = {0};
	struct weft__xen_vcpu vcpu = {0};
	uint32_t version = 0;
	(void)state;
	arguments = calloc(1, WEFT__XEN_PAGE_BYTES);
	answer = (struct answer){.version = 0x15, .pages = 512, .pages_max = 1024, .vcpu_last = 3};
	assert_false(weft__xen_hypervisor_measure_vcpu(
		call_about_usage, NULL, arguments, 3, 0, &version, &vcpu)); /* the version is not known */
	assert_true(
		weft__xen_hypervisor_measure(call_about_usage, NULL, arguments, 3, &version, &usage));
	assert_int_equal(version, 0x15);
	assert_int_equal(usage.cpu_ns, 1000);
	assert_int_equal(usage.memory_bytes, 512 * 4096);
	assert_int_equal(usage.memory_max_bytes, 1024 * 4096);
	assert_int_equal(usage.vcpu_end, 4);
	for (uint32_t i = 0; i < 4; i++) {
		assert_true(weft__xen_hypervisor_measure_vcpu(
			call_about_usage, NULL, arguments, 3, i, &version, &vcpu));
		assert_int_equal(vcpu.cpu_ns, 100 * (i + 1));
		assert_int_equal(vcpu.state, states[i]);
	}
	assert_false(weft__xen_hypervisor_measure_vcpu(
		call_about_usage, NULL, arguments, 3, 4, &version, &vcpu));
	answer.pages_max = UINT64_MAX; /* dom0 has no limit */
	answer.vcpu_last = UINT32_MAX; /* nor is there a vCPU */
	answer.flags = 1 << 2;         /* it has shut down, and is preserved */
	assert_true(
		weft__xen_hypervisor_measure(call_about_usage, NULL, arguments, 3, &version, &usage));
	assert_int_equal(usage.memory_max_bytes, 0);
	assert_int_equal(usage.vcpu_end, 0);
	answer.pages = UINT64_C(1) << 40;
	assert_false(
		weft__xen_hypervisor_measure(call_about_usage, NULL, arguments, 3, &version, &usage));
	answer.pages = 1;
	answer.flags = 1; /* it is dying */
	assert_false(
		weft__xen_hypervisor_measure(call_about_usage, NULL, arguments, 3, &version, &usage));
	answer.flags = 0;
	answer.error = EPERM;
	assert_false(
		weft__xen_hypervisor_measure(call_about_usage, NULL, arguments, 3, &version, &usage));
	free(arguments);
}

static void test_clocks(void **state)
{
	struct guest *g = *state;
	struct weft_host_clocks clocks = {0};
#if defined(__x86_64__) || defined(__i386__)
	assert_int_equal(weft_host_read_clocks(g->host, &clocks), 0);
	assert_int_equal(clocks.hz, 2000000000);
	assert_true(clocks.cycles > 0);
#endif
	assert_true(weft_host_end_trace(g->host));
	assert_true(weft_host_size_trace(g->host, 64));
	g->xen.knows_time = false;
	assert_int_equal(weft_host_read_clocks(g->host, &clocks), WEFT_ERROR_STATE);
	assert_false(weft_host_end_trace(g->host));
}

static void test_hypervisor(void **state)
{
	(void)state;
	static const struct {
		struct answer answer;
		enum weft__xen_domain domain;
	} cases[] = {
		{{.version = 0x15, .domain = 3}, WEFT__XEN_RUNS},
		{{.version = 0x15, .flags = 1 << 3, .domain = 3}, WEFT__XEN_RUNS}, /* paused */
		{{.version = 0x17, .flags = 1 << 2 | 3 << 16, .domain = 3}, WEFT__XEN_CRASHED},
		{{.version = 0x17, .flags = 1 << 2, .domain = 3}, WEFT__XEN_SHUT}, /* powered off */
		{{.version = 0x17, .flags = 1 << 2 | 2 << 16, .domain = 3}, WEFT__XEN_RUNS}, /* suspended */
		{{.version = 0x17, .flags = 1, .domain = 3}, WEFT__XEN_GONE},                /* dying */
		{{.version = 0x15, .domain = 4}, WEFT__XEN_GONE}, /* the next domain */
		{{.version = 0x16, .error = ESRCH}, WEFT__XEN_GONE},
		{{.version = 0x16, .error = EPERM}, WEFT__XEN_UNKNOWN},
		{{.version = 0x0c, .domain = 3},
			WEFT__XEN_RUNS}, /* the first and the last version that are tried */
		{{.version = 0x30, .domain = 3}, WEFT__XEN_RUNS},
		{{.version = 0x99, .domain = 3}, WEFT__XEN_UNKNOWN},
	};
	arguments = calloc(1, WEFT__XEN_PAGE_BYTES);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint32_t version = 0;
		answer = cases[i].answer;
		assert_int_equal(
			weft__xen_hypervisor_look(call, NULL, arguments, 3, &version), cases[i].domain);
		unsigned calls = answer.calls;
		weft__xen_hypervisor_look(call, NULL, arguments, 3, &version);
		if (answer.version != 0x99) /* the version is known from now on */
			assert_int_equal(answer.calls, calls + 1);
	}
	uint64_t now = 0;
	answer.error = 0;
	assert_true(weft__xen_hypervisor_now(call, NULL, arguments, &now));
	assert_int_equal(now, 77);
	answer.error = ENOSYS;
	assert_false(weft__xen_hypervisor_now(call, NULL, arguments, &now));
	free(arguments);
}

static struct {
	uint32_t flags, own_flags, mode, khz;
	uint64_t ns;
	int error;
} counter;

/* Knows a domain and its counter. */
static int call_about_counter(void *context, unsigned operation, uint64_t first, uint64_t second)
{
	(void)context, (void)first, (void)second;
	assert_int_equal(operation, 36);
	if (fails(arguments[1] == 0x15 ? counter.error : EACCES))
		return -1;
	if (arguments[0] == 5) {
		arguments[4] = arguments[2];
		arguments[5] = arguments[2] ? counter.flags : counter.own_flags;
		return 0;
	}
	assert_int_equal(arguments[0], 59);
	arguments[4] = counter.mode;
	arguments[5] = counter.khz;
	memcpy(&arguments[8], &counter.ns, sizeof(counter.ns));
	return 0;
}

#if defined(__x86_64__) || defined(__i386__)
static bool has_counter(uint32_t flags, uint32_t mode, uint64_t ns)
{
	uint32_t version = 0;
	counter.flags = flags;
	counter.mode = mode;
	counter.khz = 2000000;
	counter.ns = ns;
	return weft__xen_hypervisor_has_counter(call_about_counter, NULL, arguments, 3, &version);
}
#endif

static void test_counters_of_domains(void **state)
{
	(void)state;
#if defined(__x86_64__) || defined(__i386__)
	arguments = calloc(1, WEFT__XEN_PAGE_BYTES);
	assert_true(has_counter(0, 2, 0));
	assert_false(has_counter(1 << 1, 2, 0)); /* of a virtual machine: it has an offset */
	assert_false(has_counter(0, 1, 0));      /* emulated */
	assert_false(has_counter(0, 3, 0));
	/* The default mode: the counter must be this one. */
	assert_true(has_counter(0, 0, __builtin_ia32_rdtsc() / 2));
	assert_false(has_counter(0, 0, __builtin_ia32_rdtsc() / 2 + 1000000000));
	assert_false(has_counter(0, 0, 0));
	counter.own_flags = 1 << 1; /* dom0 is a virtual machine */
	assert_false(has_counter(0, 2, 0));
	counter.own_flags = 0;
	counter.error = EPERM;
	assert_false(has_counter(0, 2, 0));
	counter.error = 0;
	free(arguments);
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists),
		cmocka_unit_test_setup_teardown(test_mapping, begin, end),
		cmocka_unit_test_setup_teardown(test_directory, begin, end),
		cmocka_unit_test_setup_teardown(test_refusals, begin, end),
		cmocka_unit_test_setup_teardown(test_several, begin, end),
		cmocka_unit_test_setup_teardown(test_stale, begin, end),
		cmocka_unit_test_setup_teardown(test_mirage, begin, end),
		cmocka_unit_test_setup_teardown(test_levels, begin, end),
		cmocka_unit_test_setup_teardown(test_levels_at_the_end, begin, end),
		cmocka_unit_test_setup_teardown(test_levels_of_a_hostile_guest, begin, end),
		cmocka_unit_test_setup_teardown(test_ends, begin, end),
		cmocka_unit_test_setup_teardown(test_ends_of_both, begin, end),
		cmocka_unit_test_setup_teardown(test_questions, begin, end),
		cmocka_unit_test_setup_teardown(test_published_anew, begin, end),
		cmocka_unit_test_setup_teardown(test_marks, begin, end),
		cmocka_unit_test_setup_teardown(test_follow_until_crash, begin, end),
		cmocka_unit_test_setup_teardown(test_place, begin, end),
		cmocka_unit_test_setup_teardown(test_counter, begin, end),
		cmocka_unit_test(test_counters_of_domains),
		cmocka_unit_test(test_names_of_programs),
		cmocka_unit_test_setup_teardown(test_comparisons, begin, end),
		cmocka_unit_test_setup_teardown(test_comparison, begin, end),
		cmocka_unit_test(test_hypervisor),
		cmocka_unit_test(test_machine),
		cmocka_unit_test(test_usage),
		cmocka_unit_test_setup_teardown(test_clocks, begin, end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
