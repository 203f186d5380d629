/* SPDX-License-Identifier: ISC
 *
 * Which guests `weft collect` follows, in a Xen of our own: domains come, reboot and go, and
 * publish their buffers anew.
 */
#include "run_directory.h"

#include <signal.h>
#include <sys/resource.h>

#include <weft/weft.h>

#include "fake_xen.h"
#include "moved_clock.h"
#include "nothing_left.h"
#include "runs/guests/guests.h"
#include "runs/stream/streaming.h"

enum {
	PAGES = 16,
	SHOWN = 16,
};

#define SIZE ((size_t)PAGES * WEFT__XEN_PAGE_BYTES)

struct world {
	struct fake_xen xen;
	struct weft__runs_guests *guests;
	struct weft_guest *added[SHOWN];
	char names[SHOWN][NAME_MAX + 1];
	size_t count; /* of all that were added */
	bool refuses;
};

static bool add(void *context, const struct weft__runs_ring *ring, struct weft_guest *guest)
{
	struct world *w = context;
	assert_true(w->count < SHOWN && ring->is_guest);
	if (w->refuses)
		return false;
	strcpy(w->names[w->count], ring->name);
	w->added[w->count++] = guest;
	return true;
}

/* A domain with one buffer. */
static void announce(struct world *w, unsigned domain, const char *name, const char *buffer)
{
	static const char *const keys[] = {"format", "pages", "state"}, *const values[] = {
																		"1", "16", "open"};
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

static void remove_domain(struct world *w, unsigned domain)
{
	char prefix[64];
	snprintf(prefix, sizeof(prefix), "/local/domain/%u/", domain);
	for (size_t i = w->xen.count; i-- > 0;)
		if (strncmp(w->xen.keys[i].path, prefix, strlen(prefix)) == 0)
			w->xen.keys[i] = w->xen.keys[--w->xen.count];
	w->xen.has_changed = true;
}

/* `operand` is what `weft collect` gets. */
static void begin(struct world *w, const char *operand, bool once, bool waits)
{
	struct weft_host *host = fake_open(&w->xen, PAGES);
	assert_non_null(host);
	w->count = 0;
	w->refuses = false;
	fake_write(&w->xen, "/local/domain/0/name", "Domain-0");
	announce(w, 3, "web", "0");
	const struct weft__runs_guests_options options = {operand, once, waits, host};
	w->guests = weft__runs_guests_create(&options);
	assert_non_null(w->guests);
}

static void end(struct world *w)
{
	weft__runs_guests_destroy(w->guests);
	assert_int_equal(w->xen.mapped, 0);
	munmap(w->xen.bytes, SIZE);
	close(w->xen.memory);
}

/* Looks after the shortest time between two looks. */
static void look(struct world *w)
{
	move_clock(FAKE_LOOK_NS);
	weft__runs_guests_look(w->guests, add, w);
}

static void release(struct world *w, size_t number)
{
	weft__runs_guests_release(w->guests, w->added[number]);
}

static void each_buffer_is_taken_once(void **state)
{
	struct world w;
	(void)state;
	begin(&w, "xen:web", false, false);
	announce(&w, 5, "mail", "0");
	look(&w);
	assert_int_equal(w.count, 1);
	assert_string_equal(w.names[0], "web-3.weft");
	w.xen.has_changed = true;
	look(&w);
	release(&w, 0);
	w.xen.has_changed = true;
	look(&w);
	assert_int_equal(w.count, 1);
	/* The guest publishes another buffer under the same id, and one more. */
	fake_write(&w.xen, "/local/domain/3/data/weft/0/ring-ref-0", "500,501");
	fake_write(&w.xen, "/local/domain/3/data/weft/0/pages", "2");
	announce(&w, 3, "web", "4711");
	look(&w);
	assert_int_equal(w.count, 3);
	assert_string_equal(w.names[2], "web-3-4711.weft");
	end(&w);
}

static void the_next_domain_of_that_name_is_taken(void **state)
{
	struct world w;
	(void)state;
	begin(&w, "xen:web", false, false);
	look(&w);
	release(&w, 0);
	remove_domain(&w, 3);
	look(&w);
	assert_true(weft__runs_guests_go_on(w.guests));
	announce(&w, 4, "web", "0");
	look(&w);
	assert_int_equal(w.count, 2);
	assert_string_equal(w.names[1], "web-4.weft");
	end(&w);
}

/* A domain that reboots again and again leaves nothing behind. */
static void domains_that_have_ended_are_forgotten(void **state)
{
	static const char *const operands[] = {"xen:all", "xen:web"};
	struct world w;
	(void)state;
	for (int i = 0; i < 2; i++) {
		begin(&w, operands[i], false, false);
		w.xen.domain = WEFT__XEN_UNKNOWN; /* XenStore says which domains there are */
		look(&w);
		remove_domain(&w, 3);
		announce(&w, 4, "web", "0");
		look(&w);
		assert_int_equal(weft__runs_guests_count(w.guests), 2); /* one is still mapped */
		release(&w, 0);
		w.xen.has_changed = true;
		look(&w);
		assert_int_equal(weft__runs_guests_count(w.guests), 1);
		release(&w, 1);
		w.xen.has_changed = true;
		look(&w);
		assert_int_equal(
			weft__runs_guests_count(w.guests), 1); /* it runs, and is not taken again */
		remove_domain(&w, 4);
		look(&w);
		assert_int_equal(weft__runs_guests_count(w.guests), 0);
		assert_int_equal(w.count, 2);
		end(&w);
	}
}

static void one_domain_ends(void **state)
{
	struct world w;
	(void)state;
	for (int i = 0; i < 3; i++) {
		begin(&w, i == 0 ? "xen:3" : i == 1 ? "xen:web" : "xen:3/0", i == 1, false);
		assert_true(weft__runs_guests_go_on(w.guests));
		look(&w);
		assert_true(weft__runs_guests_go_on(w.guests));
		release(&w, 0);
		assert_true(weft__runs_guests_go_on(w.guests)); /* another process may publish a buffer */
		w.xen.domain = WEFT__XEN_SHUT;
		assert_false(weft__runs_guests_go_on(w.guests));
		w.xen.domain = WEFT__XEN_UNKNOWN; /* then XenStore decides */
		assert_true(weft__runs_guests_go_on(w.guests));
		remove_domain(&w, 3);
		assert_false(weft__runs_guests_go_on(w.guests));
		end(&w);
	}
	/* It goes before it has announced anything. */
	begin(&w, "xen:3", false, false);
	remove_domain(&w, 3);
	look(&w);
	assert_false(weft__runs_guests_go_on(w.guests));
	end(&w);
}

static void a_named_buffer_ends(void **state)
{
	struct world w;
	(void)state;
	begin(&w, "xen:web/0", true, false);
	assert_true(weft__runs_guests_go_on(w.guests));
	look(&w);
	assert_true(weft__runs_guests_go_on(w.guests));
	release(&w, 0);
	assert_false(weft__runs_guests_go_on(w.guests)); /* though the domain runs */
	end(&w);
}

static void all_domains_are_taken(void **state)
{
	struct world w;
	(void)state;
	begin(&w, "xen:all", false, false);
	announce(&w, 0, "Domain-0", "0");
	announce(&w, 8, "../x y", "0");
	announce(&w, 9, "", "0");
	look(&w);
	assert_int_equal(w.count, 3);
	assert_string_equal(w.names[1], "_._x_y-8.weft");
	assert_string_equal(w.names[2], "domain-9.weft");
	end(&w);
}

/* The keys come one after the other, and pages may be shared later. */
static void a_buffer_is_tried_again(void **state)
{
	struct world w;
	(void)state;
	begin(&w, "xen:new", false, true);
	w.xen.refuses_maps = true;
	announce(&w, 6, "new", "0");
	fake_write(&w.xen, "/local/domain/6/data/weft/0/state", NULL);
	look(&w);
	fake_write(&w.xen, "/local/domain/6/data/weft/0/state", "open");
	look(&w);
	assert_int_equal(w.count, 0);
	w.xen.refuses_maps = false;
	w.xen.has_changed = true;
	look(&w);
	assert_int_equal(w.count, 1);
	end(&w);
}

static void a_buffer_that_is_not_taken_is_unmapped(void **state)
{
	struct world w;
	(void)state;
	begin(&w, "xen:web", false, false);
	w.refuses = true;
	look(&w);
	assert_int_equal(w.xen.mapped, 0);
	end(&w);
}

/* ---- Pages without a stream ---- */

static void pages_of_mirage_are_saved_at_the_end(void **state)
{
	struct world w;
	struct place place = place_make();
	struct weft__runs_stream stream = {.notify = -1};
	struct weft__ring_stream ring = {.ring = {.is_guest = true}, .has_pages = true};
	char path[PATH_MAX], *saved = malloc(SIZE);
	(void)state;
	begin(&w, "xen:web/mprof", false, false);
	fake_write_list(&w.xen, "/local/domain/3/data/mprof/ring-ref", 1, 2);
	strcpy(w.xen.bytes + WEFT__XEN_PAGE_BYTES, "first");
	look(&w);
	assert_int_equal(w.count, 1);
	snprintf(path, sizeof(path), "%s", in_place(&place, "mirage"));
	stream.guests = w.guests;
	stream.options.output = path;
	ring.guest = w.added[0];
	weft__runs_stream_file_init(&ring.file, &stream.options, strdup(path));
	assert_false(weft__runs_ring_stream_serve(&stream, &ring, false));
	strcpy(w.xen.bytes + 2 * WEFT__XEN_PAGE_BYTES, "second");
	w.xen.domain = WEFT__XEN_CRASHED;
	move_clock(FAKE_LOOK_NS);
	assert_true(weft__runs_ring_stream_serve(&stream, &ring, false));
	assert_true(ring.is_done && !ring.has_failed && !ring.guest);
	assert_int_equal(w.xen.mapped, 0);
	FILE *file = fopen(path, "r");
	assert_int_equal(fread(saved, 1, SIZE, file), 2 * WEFT__XEN_PAGE_BYTES);
	assert_string_equal(saved, "first");
	assert_string_equal(saved + WEFT__XEN_PAGE_BYTES, "second");
	fclose(file);
	free(saved);
	weft__runs_stream_file_finish(&ring.file);
	place_remove(&place);
	end(&w);
}

static void pages_that_cannot_be_saved_are_a_failure(void **state)
{
	struct world w;
	struct place place = place_make();
	struct weft__runs_stream stream = {.notify = -1};
	struct weft__ring_stream ring = {.ring = {.is_guest = true}, .has_pages = true};
	struct rlimit room;
	char path[PATH_MAX];
	(void)state;
	begin(&w, "xen:web/mprof", false, false);
	fake_write_list(&w.xen, "/local/domain/3/data/mprof/ring-ref", 1, 2);
	look(&w);
	snprintf(path, sizeof(path), "%s", in_place(&place, "mirage"));
	stream.guests = w.guests;
	stream.options.output = path;
	ring.guest = w.added[0];
	weft__runs_stream_file_init(&ring.file, &stream.options, strdup(path));
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &room), 0);
	room.rlim_cur = 100; /* as a full disk */
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &room), 0);
	assert_true(weft__runs_ring_stream_serve(&stream, &ring, true));
	room.rlim_cur = room.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &room), 0);
	assert_true(ring.is_done && ring.has_failed && !ring.guest);
	assert_non_null(strstr(reported, strerror(EFBIG)));
	weft__runs_stream_file_finish(&ring.file);
	place_remove(&place);
	end(&w);
}

static void a_guest_that_is_given_up_is_unmapped(void **state)
{
	struct world w;
	struct weft__runs_stream stream = {.notify = -1};
	struct weft__ring_stream ring = {.ring = {.is_guest = true}, .has_pages = true};
	(void)state;
	begin(&w, "xen:web/mprof", false, false);
	fake_write_list(&w.xen, "/local/domain/3/data/mprof/ring-ref", 1, 2);
	look(&w);
	stream.guests = w.guests;
	ring.guest = w.added[0];
	weft__runs_stream_file_init(&ring.file, &stream.options, strdup("mirage"));
	weft__runs_ring_stream_give_up(&stream, &ring);
	assert_true(ring.is_done && ring.has_failed && !ring.guest);
	assert_int_equal(w.xen.mapped, 0);
	weft__runs_stream_file_finish(&ring.file);
	end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_buffer_is_taken_once),
		cmocka_unit_test(the_next_domain_of_that_name_is_taken),
		cmocka_unit_test(domains_that_have_ended_are_forgotten),
		cmocka_unit_test(one_domain_ends),
		cmocka_unit_test(a_named_buffer_ends),
		cmocka_unit_test(all_domains_are_taken),
		cmocka_unit_test(a_buffer_is_tried_again),
		cmocka_unit_test(a_buffer_that_is_not_taken_is_unmapped),
		cmocka_unit_test(pages_of_mirage_are_saved_at_the_end),
		cmocka_unit_test(pages_that_cannot_be_saved_are_a_failure),
		cmocka_unit_test(a_guest_that_is_given_up_is_unmapped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
