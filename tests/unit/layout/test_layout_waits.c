/* SPDX-License-Identifier: ISC
 *
 * Which promises have no row, and which have.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <weft/layout.h>

#include "layout/waits.h"
#include "trace_script.h"

/* Task 1 runs, creates promise 5, waits for it, and goes on when task 0 has resolved it. Each case
 * changes a part of that. */
#define BEGIN  "create 0 1 task;create 0 2 task;run 1;+10;create 1 5 promise;"
#define WAIT   "try 1 5;+1;run 0;+50;"
#define END    "resolve 0 5;+5;run 1;read 1 5;+10;resolve 0 1;run 0;+10;resolve 0 2;+10"
#define SECOND "create 1 6 promise;"

static uint8_t form_of(const struct weft_layout *l, uint64_t id)
{
	return l->form[weft_model_find_task(l->model, 0, id)];
}

/* The form of promise 5. In each case, a promise in a wait has its reader's row, and is found
 * there. */
static uint8_t lay_out(const char *script, const struct weft_layout_options *options)
{
	struct weft_model *model = trace_script_model(script, 0);
	struct weft_layout *l;
	assert_int_equal(weft_layout_create(model, options, &l), 0);
	uint8_t form = form_of(l, 5);
	uint32_t task = weft_model_find_task(model, 0, 5), reader = weft_model_find_task(model, 0, 1);
	if (form == WEFT_FORM_WAIT)
		assert_int_equal(l->row[task], l->row[reader]);
	else if (form == WEFT_FORM_LINE)
		assert_int_not_equal(l->row[task], l->row[reader]);
	bool is_found = weft__layout_wait_at(l, reader, l->start[task]) == task;
	assert_int_equal(is_found, form == WEFT_FORM_WAIT);
	assert_int_not_equal(weft__layout_wait_at(l, reader, l->start[task] - 1), task);
	assert_int_not_equal(weft__layout_wait_at(l, reader, model->tasks.end[task] + 1), task);
	weft_layout_destroy(l);
	weft_model_destroy(model);
	return form;
}

static void a_promise_of_one_reader_is_in_its_wait(void **state)
{
	static const char *const scripts[] = {
		BEGIN WAIT END,
		BEGIN WAIT "read 2 0;" END, /* others run meanwhile */
		/* it ends when the task goes on, or as soon as that waits */
		BEGIN WAIT "resolve 0 5;run 1;read 1 5;+10;idle",
		BEGIN "try 1 5;+1;run 0;resolve 0 5;+50;run 1;read 1 5;+10;idle",
		BEGIN WAIT,                                         /* until the end of the trace */
		BEGIN WAIT "cancel 0 5;+5;run 1;read 1 5;+10;idle", /* its end was no error */
		BEGIN "resolve 1 2;" WAIT "resolve 0 5;+5;run 1;resolve 1 2;read 1 5;+10;idle",
	};
	(void)state;
	for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++)
		assert_int_equal(lay_out(scripts[i], NULL), WEFT_FORM_WAIT);
}

static void all_others_have_a_row(void **state)
{
	static const char *const scripts[] = {
		BEGIN "+5;run 0;+5;run 1;+5;" WAIT END, /* the task had gone on before it waited */
		BEGIN "try 2 5;" WAIT END,              /* two tasks wait for it */
		BEGIN WAIT END ";read 2 5;+5",          /* another one reads it later */
		BEGIN WAIT "run 5;+5;run 0;" END,       /* it runs */
		BEGIN WAIT "fail 0 5 bad;+5;run 1;read 1 5;+10;idle", /* its error is to be seen */
		BEGIN "any 1 5;any 1 2;+1;run 0;+50;" END,            /* the task waits for others, too */
		BEGIN "try 1 5;+1;run 0;+50;run 1;+1;try 1 5;+1;run 0;+20;" END, /* it runs in between */
		BEGIN "resolve 1 5;+1;run 0;+50;run 1;read 1 5;+10;idle", /* it has ended before the wait */
		BEGIN SECOND
		"try 1 6;+1;run 0;+50;resolve 0 6;resolve 0 5;+5;run 1;read 1 6;read 1 5;+10;idle",
		"create 0 1 task;run 1;create 1 5 lock;" WAIT END,    /* it is no promise */
		"create 0 1 task;create 0 5 promise;run 1;" WAIT END, /* another one made it */
		"create 0 1 task;create 1 5 promise;" WAIT END,       /* the task has not run before */
		BEGIN WAIT "become 5 7;+5;resolve 0 7;run 1;read 1 5;+10;idle",
	};
	(void)state;
	for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++)
		assert_int_equal(lay_out(scripts[i], NULL), WEFT_FORM_LINE);
}

static void two_promises_of_one_wait_do_not_share_the_row(void **state)
{
	struct weft_model *model =
		trace_script_model(BEGIN SECOND "try 1 5;+1;run 0;+50;resolve 0 6;" END, 0);
	struct weft_layout *l;
	(void)state;
	assert_int_equal(weft_layout_create(model, NULL, &l), 0);
	assert_int_equal(form_of(l, 5), WEFT_FORM_WAIT);
	assert_int_equal(form_of(l, 6), WEFT_FORM_LINE);
	weft_layout_destroy(l);
	weft_model_destroy(model);
}

static void options_give_rows(void **state)
{
	const struct weft_layout_options plain = {.no_simplify = true};
	uint8_t hidden[8] = {0};
	(void)state;
	assert_int_equal(lay_out(BEGIN WAIT END, &plain), WEFT_FORM_LINE);
	struct weft_model *model = trace_script_model(BEGIN WAIT END, 0);
	struct weft_layout *l;
	hidden[weft_model_find_task(model, 0, 1)] = 1;
	assert_int_equal(
		weft_layout_create(model, &(struct weft_layout_options){.hidden = hidden}, &l), 0);
	assert_int_equal(form_of(l, 1), WEFT_FORM_HIDDEN);
	assert_int_equal(form_of(l, 5), WEFT_FORM_LINE); /* its reader is not shown */
	weft_layout_destroy(l);
	weft_model_destroy(model);
}

/* One after the other they are no fold, because they have no row. */
static void many_waits_take_no_row(void **state)
{
	struct weft_model *model = trace_script_model(
		"create 0 1 task;run 1;[n: create 1 10+i promise;try 1 10+i;+1;run 0;+9;resolve 0 10+i;+1;"
		"run 1;read 1 10+i;+1];idle",
		20);
	struct weft_layout *l;
	(void)state;
	assert_int_equal(weft_layout_create(model, &(struct weft_layout_options){.fold = true}, &l), 0);
	assert_int_equal(l->row_count, 2);
	assert_int_equal(l->fold_count, 0);
	weft_layout_destroy(l);
	weft_model_destroy(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_promise_of_one_reader_is_in_its_wait),
		cmocka_unit_test(all_others_have_a_row),
		cmocka_unit_test(two_promises_of_one_wait_do_not_share_the_row),
		cmocka_unit_test(options_give_rows),
		cmocka_unit_test(many_waits_take_no_row),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
