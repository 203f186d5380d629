/* SPDX-License-Identifier: ISC
 *
 * Buffers of guests, in a Xen of our own: what a guest may announce, and how its record ends.
 */
#include "record_trace.h"

#include <weft/follow.h>
#include <weft/guest.h>
#include <weft/stream.h>

#include "abi/buffer_abi.h"
#include "fake_xen.h"
#include "xen/announced.h"
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

static uint64_t read_ticks(void *context)
{
	(void)context;
	return now_ticks;
}

static const struct weft_platform by_hand = {.ticks = read_ticks, .ticks_hz = 1000000000};

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
	refuses(g, "Domain-0", "domain 'Domain-0' (id 0) publishes no trace");
	refuses(g, "web/1", "domain 'web' (id 3) publishes no trace");
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
	usleep(110000);
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
	fake_write_list(&g->xen, "/local/domain/3/data/mprof/ring-ref", 2, 2);
	struct weft_guest *guest = open_guest(g);
	assert_true(weft_guest_bytes(guest, &bytes, &size));
	assert_int_equal(size, 2 * WEFT__XEN_PAGE_BYTES);
	assert_memory_equal(bytes, g->xen.bytes + 2 * WEFT__XEN_PAGE_BYTES, size);
	assert_int_equal(weft_follow_open_guest(guest, &follow), WEFT_ERROR_FORMAT);
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
		usleep(cases[i].state == WEFT_GUEST_OPEN ? 110000 : 0);
		assert_int_equal(weft_guest_look(guest), cases[i].state); /* it stays the same */
		weft_guest_close(guest);
	}
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
	usleep(110000);
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
	assert_int_not_equal(header.host[0], 'x');
	assert_int_equal(header.time_base, WEFT_ABI_TIME_MONOTONIC);
	int64_t offset;
	assert_true(weft__host_offset(g->host, &offset));
	assert_int_equal(header.time_offset_ns, 12345 + offset);
	memcpy(boot_id, header.boot_id, sizeof(boot_id));
	assert_string_equal(header.program, "web/test_xen");
	weft_guest_close(guest);
	/* Without an offset its times are of no clock of this host. */
	weft_host_close(g->host);
	g->xen.knows_time = false;
	g->host =
		weft__host_create(&(struct weft__xen_access){fake_read, fake_list, fake_map, fake_unmap,
			fake_look, fake_now, fake_watch, fake_unwatch, fake_changed, fake_close, &g->xen});
	guest = open_guest(g);
	header = stream_header(guest);
	for (size_t i = 0; i < 16; i++)
		assert_int_equal(header.boot_id[i], 0);
	assert_int_equal(header.time_offset_ns, 12345);
	assert_int_equal(header.time_base, WEFT_ABI_TIME_XEN);
	/* A guest with a clock of its own may say which boot it is of, but not that it is ours. */
	own->time_base = WEFT_ABI_TIME_MONOTONIC;
	memset(own->boot_id, 7, sizeof(own->boot_id));
	header = stream_header(guest);
	assert_int_equal(header.boot_id[3], 7);
	memcpy(own->boot_id, boot_id, sizeof(boot_id));
	header = stream_header(guest);
	assert_int_equal(header.boot_id[3], 0);
	weft_guest_close(guest);
}

/* ---- The hypervisor ---- */

struct answer {
	uint32_t version, flags;
	uint16_t domain;
	int error;
	unsigned calls;
};

/* A hypervisor that knows one version of the interface. */
static struct answer answer;
static uint32_t *arguments;

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
	errno = arguments[1] == answer.version ? answer.error : EACCES;
	if (errno)
		return -1;
	memcpy(&arguments[4], &domain, sizeof(domain));
	arguments[5] = answer.flags;
	return 0;
}

static void test_hypervisor(void **state)
{
	(void)state;
	static const struct {
		struct answer answer;
		enum weft__xen_domain domain;
	} cases[] = {
		{{0x15, 0, 3, 0, 0}, WEFT__XEN_RUNS},
		{{0x15, 1 << 3, 3, 0, 0}, WEFT__XEN_RUNS}, /* paused */
		{{0x17, 1 << 2 | 3 << 16, 3, 0, 0}, WEFT__XEN_CRASHED},
		{{0x17, 1 << 2, 3, 0, 0}, WEFT__XEN_SHUT},           /* powered off */
		{{0x17, 1 << 2 | 2 << 16, 3, 0, 0}, WEFT__XEN_RUNS}, /* suspended */
		{{0x17, 1, 3, 0, 0}, WEFT__XEN_GONE},                /* dying */
		{{0x15, 0, 4, 0, 0}, WEFT__XEN_GONE},                /* the next domain */
		{{0x16, 0, 0, ESRCH, 0}, WEFT__XEN_GONE},
		{{0x16, 0, 0, EPERM, 0}, WEFT__XEN_UNKNOWN},
		{{0x99, 0, 3, 0, 0}, WEFT__XEN_UNKNOWN},
	};
	arguments = calloc(1, WEFT__XEN_PAGE_BYTES);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint32_t version = 0;
		answer = cases[i].answer;
		assert_int_equal(
			weft__hypervisor_look(call, NULL, arguments, 3, &version), cases[i].domain);
		unsigned calls = answer.calls;
		weft__hypervisor_look(call, NULL, arguments, 3, &version);
		if (answer.version != 0x99) /* the version is known from now on */
			assert_int_equal(answer.calls, calls + 1);
	}
	uint64_t now = 0;
	answer.error = 0;
	assert_true(weft__hypervisor_now(call, NULL, arguments, &now));
	assert_int_equal(now, 77);
	answer.error = ENOSYS;
	assert_false(weft__hypervisor_now(call, NULL, arguments, &now));
	free(arguments);
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
		cmocka_unit_test_setup_teardown(test_ends, begin, end),
		cmocka_unit_test_setup_teardown(test_published_anew, begin, end),
		cmocka_unit_test_setup_teardown(test_follow_until_crash, begin, end),
		cmocka_unit_test_setup_teardown(test_place, begin, end),
		cmocka_unit_test(test_hypervisor),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
