/* SPDX-License-Identifier: ISC
 *
 * Events of Eio: what a put or get is depends on the object, and what ends depends on the fiber.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <weft/error.h>
#include <weft/kinds.h>

#include "format/ocaml/eio.h"

struct eio {
	struct weft__eio it;
	uint64_t fiber;
};

/* Gives an event with an id, and perhaps a type behind it. */
static struct weft_event take(struct eio *eio, const char *name, uint64_t id, uint8_t type)
{
	uint8_t bytes[9] = {0};
	struct weft_event event = {.type = 0};
	const char *wrong;
	for (unsigned i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(id >> 8 * i);
	bytes[8] = type;
	const struct weft__ocaml_item item = {
		.bytes = {(const char *)bytes, sizeof(bytes)}, .type = WEFT__OCAML_SPAN_BEGIN};
	unsigned number = weft__format_eio_find((struct weft_slice){name, strlen(name)});
	assert_true(number > 0);
	assert_int_equal(
		weft__format_eio_read(&eio->it, number, &item, &eio->fiber, &event, &wrong), WEFT_OK);
	return event;
}

static void begin(struct eio *eio)
{
	*eio = (struct eio){.fiber = 1};
	assert_int_equal(weft__format_eio_init(&eio->it), 0);
}

static void objects_are_used_as_what_they_are(void **state)
{
	static const struct {
		uint8_t type;
		unsigned kind, get, put;
	} cases[] = {
		{15, WEFT_KIND_PROMISE, WEFT_EVENT_READ, WEFT_EVENT_RESOLVE},
		{16, WEFT_KIND_SEMAPHORE, WEFT_EVENT_ACQUIRE, WEFT_EVENT_RELEASE},
		{18, WEFT_KIND_CHANNEL, WEFT_EVENT_READ, WEFT_EVENT_SIGNAL},
		{19, WEFT_KIND_LOCK, WEFT_EVENT_ACQUIRE, WEFT_EVENT_RELEASE},
	};
	struct eio eio;
	(void)state;
	begin(&eio);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct weft_event created = take(&eio, "eio.create_obj", 10 + i, cases[i].type);
		assert_int_equal(created.type, WEFT_EVENT_CREATE);
		assert_int_equal(created.kind, cases[i].kind);
		take(&eio, "eio.create_obj", 10 + i, 15); /* an id is given once */
		const struct weft_event get = take(&eio, "eio.get", 10 + i, 0);
		const struct weft_event put = take(&eio, "eio.put", 10 + i, 0);
		/* A channel wakes the fiber that it lets go on. */
		const bool is_woken = cases[i].put == WEFT_EVENT_SIGNAL;
		assert_int_equal(get.type, cases[i].get);
		assert_int_equal(put.type, cases[i].put);
		assert_true(get.task == 1 && get.other == 10 + i);
		assert_int_equal(put.task, is_woken ? 10 + i : 1);
		assert_int_equal(put.other, is_woken ? 1 : 10 + i);
	}
	weft__format_eio_finish(&eio.it);
}

/* The others say which fiber does it, and to which task. */
static void each_event_has_its_two_tasks(void **state)
{
	static const struct {
		const char *name;
		unsigned type;
		uint64_t task, other;
	} cases[] = {
		{"eio.create_cc", WEFT_EVENT_CREATE, 1, 30},
		{"eio.create_fiber", WEFT_EVENT_CREATE, 1, 30},
		{"eio.create_obj", WEFT_EVENT_CREATE, 1, 30},
		{"eio.try_get", WEFT_EVENT_TRY_READ, 1, 30},
		{"eio.error", WEFT_EVENT_FAIL, 1, 30},
		{"eio.exit_cc", WEFT_EVENT_RESOLVE, 1, 30},
		{"eio.exit_fiber", WEFT_EVENT_RESOLVE, 30, 30},
		{"eio.name", WEFT_EVENT_LABEL, 30, WEFT_TASK_NONE},
		{"eio.log", WEFT_EVENT_NOTE, 1, WEFT_TASK_NONE},
		{"eio.enter_span", WEFT_EVENT_BEGIN, 1, WEFT_TASK_NONE},
		{"eio.exit_span", WEFT_EVENT_END, 1, WEFT_TASK_NONE},
		{"eio.suspend_fiber", WEFT_EVENT_TAG, 1, WEFT_TASK_NONE},
		{"eio.fiber", WEFT_EVENT_SWITCH, 30, WEFT_TASK_NONE},
	};
	struct eio eio;
	(void)state;
	begin(&eio);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct weft_event event = take(&eio, cases[i].name, 30, 0);
		assert_int_equal(event.type, cases[i].type);
		assert_int_equal(event.task, cases[i].task);
		assert_int_equal(event.other, cases[i].other);
	}
	assert_int_equal(eio.fiber, 30);
	weft__format_eio_finish(&eio.it);
}

/* Contexts of two fibers, one inside the other, and one for a second time. */
static void the_innermost_context_ends_first(void **state)
{
	static const uint64_t order[] = {22, 23, 20};
	struct eio eio;
	(void)state;
	begin(&eio);
	take(&eio, "eio.create_cc", 20, 0);
	take(&eio, "eio.fiber", 2, 0);
	take(&eio, "eio.create_cc", 21, 0);
	take(&eio, "eio.fiber", 1, 0);
	take(&eio, "eio.create_cc", 22, 0);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(take(&eio, "eio.exit_cc", 0, 0).other, order[i]);
		if (i == 0)
			take(&eio, "eio.create_cc", 23, 0);
	}
	take(&eio, "eio.fiber", 2, 0);
	assert_int_equal(take(&eio, "eio.exit_cc", 0, 0).other, 21);
	weft__format_eio_finish(&eio.it);
}

static void a_context_ends_in_its_fiber(void **state)
{
	struct eio eio;
	(void)state;
	begin(&eio);
	take(&eio, "eio.create_cc", 20, 0);
	take(&eio, "eio.fiber", 2, 0);
	take(&eio, "eio.create_cc", 21, 0);
	take(&eio, "eio.fiber", 1, 0);
	assert_int_equal(take(&eio, "eio.exit_cc", 0, 0).other, 20);
	take(&eio, "eio.fiber", 2, 0);
	assert_int_equal(take(&eio, "eio.exit_cc", 0, 0).other, 21);
	weft__format_eio_finish(&eio.it);
}

static void a_domain_that_waits_is_idle(void **state)
{
	struct eio eio;
	(void)state;
	begin(&eio);
	struct weft_event idle = take(&eio, "eio.suspend_domain", 0, 0);
	assert_int_equal(idle.type, WEFT_EVENT_BAND);
	assert_int_equal(idle.band, WEFT_BAND_IDLE);
	assert_true(idle.flag);
	weft__format_eio_finish(&eio.it);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects_are_used_as_what_they_are),
		cmocka_unit_test(each_event_has_its_two_tasks),
		cmocka_unit_test(the_innermost_context_ends_first),
		cmocka_unit_test(a_context_ends_in_its_fiber),
		cmocka_unit_test(a_domain_that_waits_is_idle),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
