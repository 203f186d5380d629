/* SPDX-License-Identifier: ISC
 *
 * The guests that `weft ls` lists, in a Xen of our own: what they record, how they end, and what a
 * hostile one can make of the list.
 */
#include "record_trace.h"

#include "abi/buffer_abi.h"
#include "fake_xen.h"
#include "runs/guests/list.h"

enum {
	PAGES = 16,
	ROWS = 80,
};

#define SIZE ((size_t)PAGES * WEFT__XEN_PAGE_BYTES)

static uint64_t now_ticks;

static const struct weft_platform by_hand = {.ticks_at = &now_ticks, .ticks_hz = 1000000000};

struct world {
	struct fake_xen xen;
	struct weft_host *host;
	struct weft__runs_listed_guest rows[ROWS];
	size_t count, mapped_max;
};

static void announce(struct world *w, unsigned domain, const char *name, const char *buffer)
{
	static const char *const keys[] = {"format", "pages", "state"};
	static const char *const values[] = {"1", "16", "open"};
	char path[128];
	snprintf(path, sizeof(path), "/local/domain/%u/name", domain);
	fake_write(&w->xen, path, name);
	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "/local/domain/%u/data/weft/%s/%s", domain, buffer, keys[i]);
		fake_write(&w->xen, path, values[i]);
	}
	snprintf(path, sizeof(path), "/local/domain/%u/data/weft/%s/ring-ref-0", domain, buffer);
	fake_write_list(&w->xen, path, 0, PAGES);
}

static int begin(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	assert_non_null(w);
	w->host = fake_open(&w->xen, PAGES);
	assert_non_null(w->host);
	w->mapped_max = SIZE_MAX;
	now_ticks = 1000;
	assert_int_equal(weft_start(w->xen.bytes, SIZE, &by_hand), 0);
	memcpy(((struct weft_abi_buffer *)w->xen.bytes)->program, "server", 7);
	weft_tag("one event");
	fake_write(&w->xen, "/local/domain/0/name", "Domain-0");
	announce(w, 3, "web", "0");
	*state = w;
	return 0;
}

static int end(void **state)
{
	struct world *w = *state;
	weft_stop();
	fake_finish(&w->xen, w->host);
	free(w);
	return 0;
}

static void add(void *context, const struct weft__runs_listed_guest *row)
{
	struct world *w = context;
	assert_true(w->count < ROWS);
	w->rows[w->count++] = *row;
}

/* Lists the guests; returns the number of rows. */
static size_t list(struct world *w)
{
	w->count = 0;
	weft__runs_guests_list(w->host, w->mapped_max, add, w);
	assert_int_equal(w->xen.mapped, 0);
	return w->count;
}

static void a_guest_is_listed(void **state)
{
	struct world *w = *state;
	const struct weft__runs_listed_guest *row = w->rows;
	assert_int_equal(list(w), 1);
	assert_string_equal(row->operand, "xen:web/0");
	assert_string_equal(row->domain_name, "web");
	assert_int_equal(row->domain, 3);
	assert_string_equal(row->state, "running");
	assert_string_equal(row->reason, "");
	assert_int_equal(row->bytes, SIZE);
	assert_true(row->is_summarized);
	assert_int_equal(row->summary.events, 1);
	assert_string_equal(row->summary.program, "server");
	announce(w, 5, "mail", "4711");
	announce(w, 3, "web", "17");
	assert_int_equal(list(w), 3);
	assert_string_equal(w->rows[1].operand, "xen:web/17");
	assert_string_equal(w->rows[2].operand, "xen:mail/4711");
	fake_write(&w->xen, "/local/domain/3/data/weft/0/state", "closed");
	fake_write(&w->xen, "/local/domain/3/data/weft/17/state", NULL);
	assert_int_equal(list(w), 1);
	assert_string_equal(row->operand, "xen:mail/4711");
}

static void states(void **state)
{
	static const struct {
		enum weft__xen_domain domain;
		const char *state;
	} cases[] = {{WEFT__XEN_RUNS, "running"}, {WEFT__XEN_UNKNOWN, "running"},
		{WEFT__XEN_CRASHED, "crashed"}, {WEFT__XEN_SHUT, "dead"}, {WEFT__XEN_GONE, NULL}};
	struct world *w = *state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		w->xen.domain = cases[i].domain;
		assert_int_equal(list(w), cases[i].state ? 1 : 0);
		if (cases[i].state)
			assert_string_equal(w->rows[0].state, cases[i].state);
	}
	w->xen.domain = WEFT__XEN_RUNS;
	weft_stop();
	assert_int_equal(list(w), 1);
	assert_string_equal(w->rows[0].state, "stopped");
	w->xen.domain = WEFT__XEN_CRASHED; /* after it had stopped */
	assert_int_equal(list(w), 1);
	assert_string_equal(w->rows[0].state, "crashed");
}

/* Names that a command would take for something else. */
static void names(void **state)
{
	static const char *const odd[] = {"", "17", "all", "a/b", "a b", "\x1b[1m", "caf\xc3\xa9"};
	struct world *w = *state;
	for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++) {
		fake_write(&w->xen, "/local/domain/3/name", odd[i]);
		assert_int_equal(list(w), 1);
		assert_string_equal(w->rows[0].operand, "xen:3/0");
	}
	fake_write(&w->xen, "/local/domain/3/name", "7web-2.old_+");
	assert_int_equal(list(w), 1);
	assert_string_equal(w->rows[0].operand, "xen:7web-2.old_+/0");
}

static void a_buffer_that_cannot_be_read_has_a_reason(void **state)
{
	struct world *w = *state;
	const struct weft__runs_listed_guest *row = w->rows;
	fake_write(&w->xen, "/local/domain/3/data/weft/0/pages", "17");
	assert_int_equal(list(w), 1);
	assert_string_equal(row->state, "unread");
	assert_non_null(strstr(row->reason, "fewer grant references"));
	assert_false(row->is_summarized);
	assert_int_equal(row->bytes, 0);

	fake_write(&w->xen, "/local/domain/3/data/weft/0/pages", "16");
	memset(w->xen.bytes + 64, 0xff, SIZE - 64);
	assert_int_equal(list(w), 1);
	assert_string_equal(row->state, "unread");
	assert_true(row->reason[0] != '\0');
	assert_false(row->is_summarized);
	assert_string_equal(row->summary.program, "");

	w->xen.refuses_maps = true; /* its process has ended */
	assert_int_equal(list(w), 0);
}

/* Each domain has as much as the others. */
static void the_memory_of_a_domain_is_bounded(void **state)
{
	struct world *w = *state;
	announce(w, 3, "web", "1");
	announce(w, 3, "web", "2");
	announce(w, 5, "mail", "0");
	static const size_t limits[] = {1, SIZE, SIZE + 1, 2 * SIZE};
	for (int i = 0; i < 4; i++) {
		w->mapped_max = limits[i];
		assert_int_equal(list(w), 4);
		assert_string_equal(w->rows[0].state, "running");
		assert_string_equal(w->rows[1].state, i < 2 ? "unread" : "running");
		assert_string_equal(w->rows[2].state, "unread");
		assert_non_null(strstr(w->rows[2].reason, "too much memory"));
		assert_string_equal(w->rows[3].state, "running");
	}
}

static void the_old_way_has_no_events(void **state)
{
	struct world *w = *state;
	fake_write(&w->xen, "/local/domain/3/data/weft/0/state", NULL);
	fake_write_list(&w->xen, "/local/domain/3/data/mprof/ring-ref", 2, 2);
	assert_int_equal(list(w), 1);
	assert_string_equal(w->rows[0].operand, "xen:web/mprof");
	assert_string_equal(w->rows[0].state, "running");
	assert_int_equal(w->rows[0].bytes, 2 * WEFT__XEN_PAGE_BYTES);
	assert_false(w->rows[0].is_summarized);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_guest_is_listed, begin, end),
		cmocka_unit_test_setup_teardown(states, begin, end),
		cmocka_unit_test_setup_teardown(names, begin, end),
		cmocka_unit_test_setup_teardown(a_buffer_that_cannot_be_read_has_a_reason, begin, end),
		cmocka_unit_test_setup_teardown(the_memory_of_a_domain_is_bounded, begin, end),
		cmocka_unit_test_setup_teardown(the_old_way_has_no_events, begin, end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
