/* SPDX-License-Identifier: ISC
 *
 * The series that Prometheus reads, from a database that the test writes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/database.h"
#include "agent/rollup.h"
#include "metrics/exposition.h"

static void run(sqlite3 *database, const char *sql)
{
	assert_int_equal(sqlite3_exec(database, sql, NULL, NULL, NULL), SQLITE_OK);
}

/* A database with the tables alone. */
static sqlite3 *make(void)
{
	char path[] = "/tmp/weft-test-rollup-XXXXXX";
	struct weft__agent_database made;
	sqlite3 *database;
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(weft__agent_database_open(path, &made), SQLITE_OK);
	assert_int_equal(sqlite3_open(":memory:", &database), SQLITE_OK);
	sqlite3_backup *backup = sqlite3_backup_init(database, "main", made.it, "main");
	assert_int_equal(sqlite3_backup_step(backup, -1), SQLITE_DONE);
	sqlite3_backup_finish(backup);
	weft__agent_database_close(&made);
	assert_int_equal(unlink(path), 0);
	return database;
}

static void add(sqlite3 *database, const char *program, const char *labels, int total)
{
	static int id;
	id++;
	char *sql = sqlite3_mprintf("INSERT INTO series VALUES (%d, 7, %Q, 'hits', %Q, 'value', NULL,"
								" 'counter', '', 0, '', 0); INSERT INTO ledger VALUES (%d, %d)",
		id, program, labels, id, total);
	run(database, sql);
	sqlite3_free(sql);
}

static void expect(sqlite3 *database, const char *const *only, size_t count, const char *expected)
{
	const struct weft__metrics_exposition exposition = {.depth = SIZE_MAX};
	struct weft__agent_rollup rollup;
	struct weft_text text = {0};
	assert_int_equal(weft__agent_rollup_read(database, only, count, &rollup), SQLITE_OK);
	weft__metrics_expose(&exposition, rollup.samples, rollup.count, &text);
	weft__agent_rollup_finish(&rollup);
	weft_text_add(&text, "", 1);
	assert_int_equal(text.error, 0);
	const char *values = strstr(text.bytes, "counter\n");
	assert_string_equal(values ? values + 8 : text.bytes, expected);
	weft_text_finish(&text);
}

#define LINE(labels, value) "hits_total{program=\"web\",uid=\"7\"" labels "} " value "\n"

static void levels_are_found_whatever_the_order_of_their_keys(void **state)
{
	(void)state;
	sqlite3 *database = make();
	add(database, "web", "{}", 20);
	add(database, "web", "{\"pool\":\"eu\"}", 17);
	add(database, "web", "{\"customer\":\"acme\",\"pool\":\"eu\"}", 12);
	add(database, "web", "{\"a\":\"1\",\"customer\":\"acme\",\"pool\":\"eu\"}", 5);
	add(database, "web", "{\"customer\":\"bolt\",\"pool\":\"eu\"}", 4);
	expect(database, NULL, 0,
		LINE("", "3") LINE(",a=\"1\",customer=\"acme\",pool=\"eu\"", "5")
			LINE(",customer=\"acme\",pool=\"eu\"", "7") LINE(",customer=\"bolt\",pool=\"eu\"", "4")
				LINE(",pool=\"eu\"", "1"));
	sqlite3_close(database);
}

static void what_may_be_below_two_levels_stays_in_them(void **state)
{
	(void)state;
	sqlite3 *database = make();
	add(database, "web", "{}", 20);
	add(database, "web", "{\"pool\":\"eu\"}", 12);
	add(database, "web", "{\"customer\":\"acme\"}", 8);
	add(database, "web", "{\"customer\":\"acme\",\"pool\":\"eu\"}", 6);
	add(database, "web", "{\"a\":\"1\",\"customer\":\"acme\",\"pool\":\"eu\"}", 5);
	expect(database, NULL, 0, LINE(",customer=\"acme\"", "8") LINE(",pool=\"eu\"", "12"));
	sqlite3_close(database);
}

static void only_what_has_the_labels_is_read(void **state)
{
	(void)state;
	static const char *const
		customer[] = {"customer=acme"},
		*const both[] = {"customer=acme", "pool=us"}, *const program[] = {"program=web", "uid=7"},
		*const none[] = {"customer"}, *const user[] = {"uid=8"}, *const part[] = {"customer=acm"};
	sqlite3 *database = make();
	add(database, "web", "{}", 20);
	add(database, "web", "{\"pool\":\"eu\"}", 17);
	add(database, "web", "{\"customer\":\"acme\",\"pool\":\"eu\"}", 12);
	add(database, "web", "{\"customer\":\"acme\",\"pool\":\"eu\",\"vm\":\"1\"}", 5);
	add(database, "web", "{\"customer\":\"bolt\",\"pool\":\"eu\"}", 4);
	add(database, "db", "{}", 9);
	expect(database, customer, 1,
		LINE(",customer=\"acme\",pool=\"eu\"", "7")
			LINE(",customer=\"acme\",pool=\"eu\",vm=\"1\"", "5"));
	expect(database, both, 2, "");
	expect(database, none, 1, "");
	expect(database, user, 1, "");
	expect(database, part, 1, "");
	expect(database, program, 2,
		LINE("", "3") LINE(",customer=\"acme\",pool=\"eu\"", "7")
			LINE(",customer=\"acme\",pool=\"eu\",vm=\"1\"", "5")
				LINE(",customer=\"bolt\",pool=\"eu\"", "4") LINE(",pool=\"eu\"", "1"));
	sqlite3_close(database);
}

static void damaged_labels_are_left_out(void **state)
{
	(void)state;
	static const char *const damaged[] = {"", "{", "{\"a\"", "{\"a\":\"b\"", "[]", "{\"a\":1}", "x",
		("{\"a\":\"1\",\"b\":\"1\",\"c\":\"1\",\"d\":\"1\",\"e\":\"1\",\"f\":\"1\",\"g\":\"1\",\"h\":\"1\","
		 "\"i\":\"1\",\"j\":\"1\",\"k\":\"1\",\"l\":\"1\",\"m\":\"1\",\"n\":\"1\",\"o\":\"1\",\"p\":\"1\",\"q\":\"1\"}")};
	sqlite3 *database = make();
	add(database, "web", "{}", 20);
	for (size_t i = 0; i < sizeof(damaged) / sizeof(*damaged); i++)
		add(database, "web", damaged[i], 1);
	expect(database, NULL, 0, LINE("", "20"));
	sqlite3_close(database);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(levels_are_found_whatever_the_order_of_their_keys),
		cmocka_unit_test(what_may_be_below_two_levels_stays_in_them),
		cmocka_unit_test(only_what_has_the_labels_is_read),
		cmocka_unit_test(damaged_labels_are_left_out),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
