/* SPDX-License-Identifier: ISC
 *
 * The agent at given times: roll-ups of 30 days, a clock that is set back, entries of each hour,
 * and days that begin when the clock is set. The program that counts is a file which the test
 * writes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/kept.h"
#include "agent/labels.h"
#include "agent/sha256.h"
#include "agent/window.h"

#define START INT64_C(1700000003)
#define NAME  "00000000000000000000000000000001"

struct world {
	char folder[64], data[80];
	struct weft__agent agent;
	struct weft_abi_counters *counters;
	int fd; /* open for writing, as that of a program which lives */
};

/* Writes the value of the only counter. */
static void set(struct world *world, uint64_t value)
{
	world->counters->cells.shard[3].cell[0] = value;
	assert_int_equal(pwrite(world->fd, world->counters, sizeof(*world->counters), 0),
		(ssize_t)sizeof(*world->counters));
}

static void make_program(struct world *world)
{
	char path[128];
	snprintf(path, sizeof(path), "%s/" NAME WEFT_ABI_AGENT_SUFFIX, world->folder);
	world->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_true(world->fd >= 0);
	struct weft_abi_counters *it = calloc(1, sizeof(*it));
	assert_non_null(it);
	memcpy(it->magic, WEFT_ABI_COUNTERS_MAGIC, sizeof(it->magic));
	it->version = WEFT_ABI_COUNTERS_VERSION;
	it->region[15] = 1;
	it->born_unix_ns = (uint64_t)START * 1000000000u;
	strcpy(it->program, "program");
	strcpy(it->text, "requests");
	it->row[0] = (struct weft_abi_counter_row){.size = 8, .is_there = 1};
	it->rows_used = 1;
	world->counters = it;
	set(world, 0);
}

static void open_agent(struct world *world)
{
	const struct weft__agent_options options = {
		.folder = world->folder, .file = world->data, .gap = 100000};
	assert_true(weft__agent_open(&world->agent, &options));
}

static void begin(struct world *world)
{
	strcpy(world->folder, "/dev/shm/weft-agent-XXXXXX");
	assert_non_null(mkdtemp(world->folder));
	snprintf(world->data, sizeof(world->data), "%s/agent.db", world->folder);
	make_program(world);
	open_agent(world);
}

static void end(struct world *world)
{
	static const char *const names[] = {
		"agent.db", "agent.db-wal", "agent.db-shm", "agent.db-lock", NAME WEFT_ABI_AGENT_SUFFIX};
	char path[128];
	weft__agent_close(&world->agent);
	if (world->fd >= 0)
		close(world->fd);
	free(world->counters);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "%s/%s", world->folder, names[i]);
		unlink(path);
	}
	assert_int_equal(rmdir(world->folder), 0);
}

static int64_t ask(struct world *world, const char *sql)
{
	int64_t number = -1;
	assert_int_equal(weft__agent_database_ask(world->agent.ledger.database.it, sql, 0, &number), 0);
	return number;
}

static int64_t growth_since(struct world *world, int64_t from, int64_t *ret_exact_to)
{
	struct weft__agent_window window;
	const struct weft__agent_question question = {"requests", "", from};
	assert_int_equal(
		weft__agent_window_ask(world->agent.ledger.database.it, &question, &window), 0);
	assert_int_equal(window.count, 1);
	int64_t amount = window.groups[0].amount;
	*ret_exact_to = window.exact_to_s;
	weft__agent_window_finish(&window);
	return amount;
}

/* Counts one each second, and looks each two minutes: the total of a time is known. */
static void thirty_days_are_kept_in_few_rows(void **state)
{
	(void)state;
	struct world world;
	int64_t exact_to, days = 30 * 86400;
	begin(&world);
	for (int64_t at = 120; at <= days; at += 120) {
		set(&world, (uint64_t)at);
		assert_true(weft__agent_look(&world.agent, START + at));
		if (at == 20 * 86400) {
			weft__agent_close(&world.agent);
			open_agent(&world);
		}
	}
	assert_int_equal(ask(&world, "SELECT total FROM totals"), days);
	assert_in_range(growth_since(&world, START + days - 300, &exact_to), 300, 420);
	assert_int_equal(exact_to, 120);
	assert_in_range(growth_since(&world, START + days - 7200, &exact_to), 7200, 7320);
	assert_int_equal(exact_to, 120);
	assert_in_range(
		growth_since(&world, START + days - 86400 * 9, &exact_to), 86400 * 9, 86400 * 9 + 180);
	assert_int_equal(exact_to, 120);
	assert_in_range(growth_since(&world, START, &exact_to), days - 120, days);
	/* 30 of an hour, 720 of a day, one each two minutes of 30 days, and one an hour. */
	assert_in_range(ask(&world, "SELECT count(*) FROM history"), 22000, 24000);
	assert_int_equal(ask(&world, "SELECT count(*) FROM history AS h WHERE resolution = 3600 AND"
								 " value > time - 1700000003 OR value < time - 1700000003 - 120"),
		0);
	end(&world);
}

static void set_real(struct world *world, double value)
{
	memcpy(&world->counters->cells.real[0], &value, sizeof(value));
	set(world, 0);
}

/* The coarse rows that end in the window are also of the time before it. */
static void the_extremes_of_a_gauge_are_those_of_the_window(void **state)
{
	(void)state;
	struct world world;
	struct weft__agent_window window;
	const int64_t hour = START / 3600 * 3600 + 3600;
	begin(&world);
	set_real(&world, 900.5);
	assert_true(weft__agent_look(&world.agent, hour + 600));
	set_real(&world, 4.5);
	assert_true(weft__agent_look(&world.agent, hour + 1000));
	set_real(&world, 6.5);
	assert_true(weft__agent_look(&world.agent, hour + 3500));
	assert_true(weft__agent_look(&world.agent, hour + 3602));
	const struct weft__agent_question question = {"requests", "", hour + 3302};
	assert_int_equal(weft__agent_window_ask(world.agent.ledger.database.it, &question, &window), 0);
	assert_int_equal(window.count, 1);
	assert_int_equal(window.groups[0].kind, WEFT__AGENT_GROUP_GAUGE);
	assert_true(window.groups[0].low == 4.5 && window.groups[0].high == 6.5);
	weft__agent_window_finish(&window);
	end(&world);
}

/* Compared with a list of the values: the one at the window's begin counts, and those in it. */
static void gauges_have_the_extremes_of_a_list(void **state)
{
	static double value_at[3000]; /* by the second */
	struct world world;
	(void)state;
	begin(&world);
	uint64_t seed = 7;
	double value = 2.5;
	const int64_t first = START / 3600 * 3600 + 3600;
	for (int64_t second = 0; second < 3000; second++) {
		seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		if (second == 0 || (seed >> 33) % 40 == 0) {
			value = (double)((seed >> 40) % 1000) + 0.5;
			set_real(&world, value);
			assert_true(weft__agent_look(&world.agent, first + second));
		}
		value_at[second] = value;
	}
	assert_true(weft__agent_look(&world.agent, first + 2999));
	for (int64_t from = 13; from < 2999; from += 83) {
		struct weft__agent_window window;
		const struct weft__agent_question question = {"requests", "", first + from};
		double low = value_at[from], high = low;
		for (int64_t second = from; second < 3000; second++) {
			low = value_at[second] < low ? value_at[second] : low;
			high = value_at[second] > high ? value_at[second] : high;
		}
		assert_int_equal(
			weft__agent_window_ask(world.agent.ledger.database.it, &question, &window), 0);
		assert_int_equal(window.count, 1);
		assert_true(window.groups[0].is_known && window.groups[0].value == value);
		assert_true(window.groups[0].low == low && window.groups[0].high == high);
		weft__agent_window_finish(&window);
	}
	end(&world);
}

/* No value is another one than 0. */
static void a_gauge_of_a_dead_program_has_no_value(void **state)
{
	(void)state;
	for (int is_zero = 0; is_zero < 2; is_zero++) {
		struct world world;
		begin(&world);
		set_real(&world, 0.5);
		assert_true(weft__agent_look(&world.agent, START + 10));
		world.counters->cells.shard[1].cell[0] = is_zero ? 4 : 0;
		set_real(&world, -4);
		assert_true(weft__agent_look(&world.agent, START + 20));
		assert_int_equal(ask(&world, "SELECT count(*) FROM history WHERE value IS NULL"), 0);
		close(world.fd);
		world.fd = -1;
		assert_true(weft__agent_look(&world.agent, START + 30));
		assert_int_equal(ask(&world, "SELECT count(*) FROM history WHERE value IS NULL"), 1);
		end(&world);
	}
}

/* The change is before the window, but the 10 s in which it lies end inside. */
static void a_window_of_an_hour_is_known_to_a_second(void **state)
{
	(void)state;
	struct world world;
	int64_t exact_to;
	const int64_t at = START / 10 * 10 + 1; /* the first second of ten */
	begin(&world);
	/* Old values go each minute, and so at the end. */
	for (int64_t now = at - 56; now <= at + 3604; now++) {
		if (now == at)
			set(&world, 7);
		assert_true(weft__agent_look(&world.agent, now));
	}
	assert_int_equal(growth_since(&world, at + 4, &exact_to), 0);
	assert_int_equal(exact_to, 1);
	end(&world);
}

/* A change between two looks may be before the window's begin or after it. */
static void a_window_is_not_known_better_than_the_agent_looked(void **state)
{
	(void)state;
	struct world world;
	int64_t exact_to;
	begin(&world);
	for (int64_t at = 60; at <= 600; at += 60)
		assert_true(weft__agent_look(&world.agent, START + at));
	assert_int_equal(growth_since(&world, START + 130, &exact_to), 0);
	assert_int_equal(exact_to, 60);
	end(&world);
}

static void the_last_look_is_known_while_nothing_changes(void **state)
{
	(void)state;
	struct world world;
	begin(&world);
	for (int64_t at = 0; at <= 30; at++)
		assert_true(weft__agent_look(&world.agent, START + at));
	assert_in_range(ask(&world, "SELECT max(stop) FROM watched"), START + 26, START + 30);
	end(&world);
}

/* A look that cannot be written leaves nothing behind. */
static void a_first_look_that_failed_is_not_known(void **state)
{
	(void)state;
	struct world world;
	begin(&world);
	sqlite3 *database = world.agent.ledger.database.it;
	assert_int_equal(
		sqlite3_exec(database,
			"CREATE TRIGGER f AFTER INSERT ON watched BEGIN SELECT RAISE(ABORT, 'x'); END", NULL,
			NULL, NULL),
		0);
	assert_false(weft__agent_look(&world.agent, START + 1));
	assert_int_equal(sqlite3_exec(database, "DROP TRIGGER f", NULL, NULL, NULL), 0);
	assert_true(weft__agent_look(&world.agent, START + 2));
	assert_int_equal(ask(&world, "SELECT start FROM watched"), START + 2);
	end(&world);
}

static void a_clock_that_is_set_back_leaves_the_ledger(void **state)
{
	(void)state;
	struct world world;
	int64_t exact_to;
	begin(&world);
	set(&world, 10);
	assert_true(weft__agent_look(&world.agent, START + 1000));
	set(&world, 30);
	assert_true(weft__agent_look(&world.agent, START + 5000));
	set(&world, 60);
	assert_true(weft__agent_look(&world.agent, START + 2000));
	assert_int_equal(ask(&world, "SELECT total FROM totals"), 60);
	assert_int_equal(ask(&world, "SELECT max(time) FROM history"), START + 2000);
	assert_int_equal(growth_since(&world, START + 1500, &exact_to), 50);
	assert_int_equal(ask(&world, "SELECT count(*) FROM incidents"), 1);
	end(&world);
}

static void each_hour_has_an_entry(void **state)
{
	(void)state;
	struct world world;
	struct weft_text text = {0};
	int64_t broken;
	begin(&world);
	for (int64_t hour = 0; hour <= 3; hour++) {
		set(&world, (uint64_t)(10 * hour + 5));
		assert_true(weft__agent_look(&world.agent, START + 3600 * hour));
	}
	assert_int_equal(ask(&world, "SELECT count(*) FROM entries"), 3);
	assert_int_equal(ask(&world, "SELECT sum(amount) FROM entries"), 35);
	sqlite3 *database = world.agent.ledger.database.it;
	assert_int_equal(weft__agent_entries_print(database, false, &text, &broken), 0);
	assert_int_equal(broken, 0);
	assert_int_equal(
		sqlite3_exec(database, "UPDATE entries SET amount = 9 WHERE number = 2", NULL, NULL, NULL),
		0);
	assert_int_equal(weft__agent_entries_print(database, true, &text, &broken), 0);
	assert_int_equal(broken, 2);
	weft_text_finish(&text);
	end(&world);
}

/* An hour is closed when the clock leaves it, in whichever direction. */
static void entries_go_on_after_a_clock_that_stepped(void **state)
{
	(void)state;
	static const int64_t hours[] = {0, 10, 1, 2};
	struct world world;
	begin(&world);
	for (size_t i = 0; i < sizeof(hours) / sizeof(*hours); i++) {
		set(&world, 10 * i + 10);
		assert_true(weft__agent_look(&world.agent, START + 3600 * hours[i]));
	}
	assert_int_equal(ask(&world, "SELECT count(*) FROM entries"), 3);
	assert_int_equal(ask(&world, "SELECT sum(amount) FROM entries"), 40);
	end(&world);
}

/* There is no room for a series of the program, which has ended; then there is. */
static void a_dead_program_waits_for_room(void **state)
{
	(void)state;
	struct world world;
	begin(&world);
	world.agent.ledger.series.limit = 7; /* an eighth of it for a user */
	set(&world, 10);
	assert_true(weft__agent_look(&world.agent, START + 1));
	close(world.fd);
	world.fd = -1;
	for (int64_t at = 2; at < 5; at++)
		assert_true(weft__agent_look(&world.agent, START + at));
	assert_int_equal(world.agent.ledger.regions.count, 1);
	assert_int_equal(ask(&world, "SELECT count(*) FROM series"), 0);
	assert_int_equal(ask(&world, "SELECT count(*) FROM incidents"), 1);
	world.agent.ledger.series.limit = 8;
	assert_true(weft__agent_look(&world.agent, START + 62));
	assert_int_equal(ask(&world, "SELECT total FROM totals"), 10);
	assert_int_equal(world.agent.ledger.regions.count, 0);
	end(&world);
}

/* It is removed after seven days, and not written again meanwhile. */
static void a_damaged_file_stays_for_days(void **state)
{
	(void)state;
	const int64_t days = 7 * 86400;
	struct world world;
	begin(&world);
	set(&world, 10);
	assert_true(weft__agent_look(&world.agent, START + days));
	world.counters->version++;
	set(&world, 11);
	close(world.fd);
	world.fd = -1;
	assert_true(weft__agent_look(&world.agent, START + days + 1));
	assert_true(weft__agent_look(&world.agent, START + days + 2));
	assert_false(world.agent.ledger.database.is_durable);
	assert_true(weft__agent_look(&world.agent, START + 2 * days));
	assert_int_equal(world.agent.ledger.regions.count, 1);
	assert_true(weft__agent_look(&world.agent, START + 2 * days + 1));
	assert_int_equal(world.agent.ledger.regions.count, 0);
	assert_int_equal(ask(&world, "SELECT total FROM totals"), 10);
	end(&world);
}

/* Its two counters go back again and again. */
static void incidents_of_a_hostile_program_are_few(void **state)
{
	(void)state;
	struct world world;
	begin(&world);
	struct weft_abi_counters *it = world.counters;
	memcpy(it->text + 16, "others", 7);
	it->row[1] = (struct weft_abi_counter_row){.text = 16, .size = 6, .is_there = 1};
	it->rows_used = 2;
	set(&world, 0);
	assert_true(weft__agent_look(&world.agent, START));
	for (uint32_t i = 0; i < 2; i++)
		world.agent.ledger.series.list[i].type = WEFT__AGENT_TYPE_COUNTER;
	for (int64_t at = 1; at <= 100; at++) {
		it->cells.shard[3].cell[1] = at % 2 ? 1000 : 2000;
		set(&world, at % 2 ? 2000 : 1000);
		assert_true(weft__agent_look(&world.agent, START + at));
	}
	assert_in_range(ask(&world, "SELECT count(*) FROM incidents"), 16, 16);
	assert_int_equal(sqlite3_exec(world.agent.ledger.database.it,
						 "INSERT INTO incidents VALUES (100002, 1, '', '')", NULL, NULL, NULL),
		0);
	assert_true(weft__agent_look(&world.agent, START + 1000));
	assert_int_equal(ask(&world, "SELECT min(number) FROM incidents"), 3);
	end(&world);
}

/* Also if nothing changes any more, and whatever the seconds of the looks are. */
static void changes_reach_the_disk_after_ten_seconds(void **state)
{
	(void)state;
	struct world world;
	begin(&world);
	assert_true(weft__agent_look(&world.agent, START));
	set(&world, 10);
	assert_true(weft__agent_look(&world.agent, START + 6));
	assert_false(world.agent.ledger.database.is_durable);
	assert_true(weft__agent_look(&world.agent, START + 15));
	assert_int_equal(world.agent.pending_since, START + 6);
	int64_t changes = sqlite3_total_changes(world.agent.ledger.database.it);
	assert_true(weft__agent_look(&world.agent, START + 16));
	assert_true(world.agent.ledger.database.is_durable);
	assert_true(sqlite3_total_changes(world.agent.ledger.database.it) > changes);
	assert_int_equal(world.agent.pending_since, 0);
	end(&world);
}

/* The process has gone: its file is removed, once its values are in the ledger. */
static void a_dead_program_is_folded_once(void **state)
{
	(void)state;
	struct world world;
	begin(&world);
	set(&world, 10);
	assert_true(weft__agent_look(&world.agent, START + 1));
	set(&world, 11);
	close(world.fd);
	world.fd = -1;
	for (int64_t at = 2; at < 5; at++)
		assert_true(weft__agent_look(&world.agent, START + at));
	assert_int_equal(ask(&world, "SELECT total FROM totals"), 11);
	assert_int_equal(ask(&world, "SELECT count(*) FROM seen"), 0);
	end(&world);
}

/* No file can be opened: that says nothing about a process. */
static void a_process_lives_until_it_is_known_to_have_ended(void **state)
{
	(void)state;
	struct rlimit before, none;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	bool lives = !weft__agent_regions_has_ended(getpid(), 1);
	bool has_ended = weft__agent_regions_has_ended(INT32_MAX, 1);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_true(lives);
	assert_true(has_ended);
	assert_true(weft__agent_regions_has_ended(getpid(), 1)); /* another one has its number */
}

/* Its part that is in the ledger already is known again, once the file can be opened. */
static void a_file_that_cannot_be_opened_is_not_counted_twice(void **state)
{
	(void)state;
	struct world world;
	begin(&world);
	set(&world, 10);
	assert_true(weft__agent_look(&world.agent, START + 1));
	weft__agent_close(&world.agent);
	open_agent(&world);
	strcpy(world.agent.ledger.boot, "another");
	world.agent.ledger.regions.limit = 0;
	assert_true(weft__agent_look(&world.agent, START + 2));
	world.agent.ledger.regions.limit = 1;
	set(&world, 11);
	assert_true(weft__agent_look(&world.agent, START + 3));
	assert_int_equal(ask(&world, "SELECT total FROM totals"), 11);
	end(&world);
}

/* Only those of other users go, and only from the folder that is made for them. */
static void entries_in_which_nobody_counts_are_removed(void **state)
{
	static const struct {
		const char *name;
		mode_t type;
		bool is_others;
	} entries[] = {{"f1-foreign", S_IFREG, true}, {"f2-folder", S_IFDIR, true},
		{"00000000000000000000000000000002" WEFT_ABI_AGENT_SUFFIX, S_IFREG, true},
		{"00000000000000000000000000000003" WEFT_ABI_AGENT_SUFFIX, S_IFIFO, true},
		{"00000000000000000000000000000004" WEFT_ABI_AGENT_KEPT_SUFFIX, S_IFREG, true},
		{"00000000000000000000000000000005" WEFT_ABI_AGENT_KEPT_SUFFIX, S_IFIFO, true},
		{"f3-own", S_IFREG, false}};
	(void)state;
	struct world world;
	char path[128];
	if (geteuid() != 0)
		skip();
	begin(&world);
	for (size_t i = 0; i < sizeof(entries) / sizeof(*entries); i++) {
		snprintf(path, sizeof(path), "%s/%s", world.folder, entries[i].name);
		assert_int_equal(
			entries[i].type == S_IFDIR ? mkdir(path, 0700) : mknod(path, entries[i].type | 0600, 0),
			0);
		if (entries[i].is_others)
			assert_int_equal(chown(path, 65534, 65534), 0);
	}
	assert_true(weft__agent_look(&world.agent, START + 1));
	for (size_t i = 0; i < sizeof(entries) / sizeof(*entries); i++) {
		snprintf(path, sizeof(path), "%s/%s", world.folder, entries[i].name);
		assert_int_equal(access(path, F_OK), 0);
	}
	weft__agent_close(&world.agent);
	open_agent(&world);
	world.agent.ledger.regions.cleans = true;
	assert_true(weft__agent_look(&world.agent, START + 2));
	for (size_t i = 0; i < sizeof(entries) / sizeof(*entries); i++) {
		snprintf(path, sizeof(path), "%s/%s", world.folder, entries[i].name);
		assert_int_equal(access(path, F_OK), entries[i].is_others ? -1 : 0);
	}
	unlink(path);
	end(&world);
}

static bool has(const struct world *world, const char *name)
{
	return faccessat(world->agent.ledger.regions.folder, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* The name for a trace outlives the other one, a week long. */
static void second_names_stay_for_a_week(void **state)
{
	static const char first[] = NAME WEFT_ABI_AGENT_SUFFIX, second[] = NAME ".kept";
	(void)state;
	const time_t now = time(NULL), day = 86400;
	struct weft__agent_kept kept = {0};
	struct world world;
	begin(&world);
	const int folder = world.agent.ledger.regions.folder;
	assert_int_equal(linkat(folder, first, folder, second, 0), 0);
	assert_false(weft__agent_kept_look(&kept, folder, first, true, 1, now));
	assert_true(weft__agent_kept_look(&kept, folder, second, true, 1, now + 8 * day));
	assert_true(has(&world, second));
	assert_int_equal(unlinkat(folder, first, 0), 0);
	assert_true(weft__agent_kept_look(&kept, folder, second, true, 1, now + 6 * day));
	assert_true(has(&world, second));
	assert_true(weft__agent_kept_look(&kept, folder, second, true, 1, now + 8 * day));
	assert_false(has(&world, second));
	weft__agent_kept_finish(&kept);
	end(&world);
}

/* Those of the agent's own user have no limit. */
static void a_user_has_so_many_second_names(void **state)
{
	(void)state;
	struct weft__agent_kept kept = {0};
	struct world world;
	char name[64];
	if (geteuid() != 0)
		skip();
	begin(&world);
	const int folder = world.agent.ledger.regions.folder;
	for (unsigned i = 1; i <= 4; i++) {
		snprintf(name, sizeof(name), "%032u" WEFT_ABI_AGENT_KEPT_SUFFIX, i);
		int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		assert_int_equal(write(fd, "x", 1), 1);
		assert_int_equal(fchown(fd, i <= 3 ? 65534 : 65533, 65534), 0);
		close(fd);
		assert_true(weft__agent_kept_look(&kept, folder, name, true, 2, time(NULL)));
		assert_int_equal(has(&world, name), i != 3);
		if (i != 3)
			unlinkat(folder, name, 0);
	}
	weft__agent_kept_finish(&kept);
	end(&world);
}

static int64_t midnight_in(const char *zone, int64_t now)
{
	setenv("TZ", zone, 1);
	tzset();
	return weft__agent_window_midnight(now);
}

/* Rules in the form of POSIX need no files of zones. */
static void days_begin_where_the_date_changes(void **state)
{
	(void)state;
	const int64_t day = 86400, noon = 19675 * day + day / 2; /* 2023-11-14, in UTC */
	assert_int_equal(midnight_in("UTC0", noon), 19675 * day);
	assert_int_equal(midnight_in("NPT-5:45", noon), 19675 * day - 5 * 3600 - 45 * 60);
	/* 2023-03-26 in Berlin has 23 hours, 2023-10-29 has 25. */
	const char *berlin = "CET-1CEST,M3.5.0,M10.5.0/3";
	assert_int_equal(midnight_in(berlin, 1679832000), 1679785200);
	assert_int_equal(midnight_in(berlin, 1679832000 + day) - 1679785200, 23 * 3600);
	assert_int_equal(midnight_in(berlin, 1698580800), 1698530400);
	assert_int_equal(midnight_in(berlin, 1698580800 + day) - 1698530400, 25 * 3600);
	/* The clock goes from 24:00 to 1:00: there is no midnight on 2023-03-26. */
	assert_int_equal(midnight_in("AAA1BBB,M3.5.0/0,M10.5.0/1", 1679832000), 1679792400);
	setenv("TZ", "UTC0", 1);
	tzset();
}

static int64_t clock_in(const char *zone, int64_t now, int hour, int minute)
{
	setenv("TZ", zone, 1);
	tzset();
	return weft__agent_window_clock(now, hour, minute);
}

static void hours_are_those_that_the_clock_showed(void **state)
{
	(void)state;
	const char *berlin = "CET-1CEST,M3.5.0,M10.5.0/3";
	assert_int_equal(clock_in("UTC0", 1679832007, 12, 0), 1679832000);
	assert_int_equal(clock_in("UTC0", 1679832007, 12, 1), 1679832000 - 86340);
	/* On 2023-03-26, 2:30 is left out: the day before had it. */
	assert_int_equal(clock_in(berlin, 1679832000, 2, 30), 1679707800);
	assert_int_equal(clock_in(berlin, 1679832000, 1, 30), 1679790600);
	/* On 2023-10-29, 2:30 comes twice: first at 0:30 UTC, then at 1:30. */
	assert_int_equal(clock_in(berlin, 1698541200 - 1, 2, 30), 1698539400);
	assert_int_equal(clock_in(berlin, 1698580800, 2, 30), 1698543000);
	setenv("TZ", "UTC0", 1);
	tzset();
}

static void hashes_are_those_of_the_standard(void **state)
{
	(void)state;
	char hash[65];
	weft__agent_sha256("abc", 3, hash);
	assert_string_equal(hash, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	weft__agent_sha256("", 0, hash);
	assert_string_equal(hash, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

/* The database may have been changed by others. */
static void labels_are_read_as_they_were_written(void **state)
{
	(void)state;
	static const char *const broken[] = {"", "{", "{}", "[", "{\"a", "{\"a\"",
		"{\"a\":", "{\"a\":1}", "{\"a\":\"b", "{\"a\":\"b\\", "{\"a\":\"b\\u", "{\"a\":\"b\\u00"};
	const char *at = "{\"a\":\"b\",\"c \\\"\":\"\\u0007\\n\"}";
	char key[256], value[256], longest[700];
	assert_true(weft__agent_labels_next(&at, key, value));
	assert_string_equal(key, "a");
	assert_string_equal(value, "b");
	assert_true(weft__agent_labels_next(&at, key, value));
	assert_string_equal(key, "c \"");
	assert_string_equal(value, "\a\n");
	assert_false(weft__agent_labels_next(&at, key, value));
	for (size_t i = 0; i < sizeof(broken) / sizeof(*broken); i++) {
		char *copy = strdup(broken[i]); /* a byte beyond its end would be noticed */
		at = copy;
		assert_false(weft__agent_labels_next(&at, key, value));
		assert_true(at <= copy + strlen(copy));
		free(copy);
	}
	at = "{\"k\\u00e4se\":\"\\u20ac \\ud83e\\uddc0 \\ud83ex \\udd00 \\ud83e\\u0041 \\u0000\\/\"}";
	assert_true(weft__agent_labels_next(&at, key, value));
	assert_string_equal(key, "k\xc3\xa4se");
	assert_string_equal(value,
		"\xe2\x82\xac \xf0\x9f\xa7\x80 \xef\xbf\xbdx \xef\xbf\xbd \xef\xbf\xbd \xef\xbf\xbd/");
	snprintf(longest, sizeof(longest), "{\"%0300d\":\"%0300d\"}", 1, 2);
	at = longest;
	assert_true(weft__agent_labels_next(&at, key, value));
	assert_int_equal(strlen(key), 255);
	assert_int_equal(strlen(value), 255);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(thirty_days_are_kept_in_few_rows),
		cmocka_unit_test(the_extremes_of_a_gauge_are_those_of_the_window),
		cmocka_unit_test(gauges_have_the_extremes_of_a_list),
		cmocka_unit_test(a_gauge_of_a_dead_program_has_no_value),
		cmocka_unit_test(a_window_of_an_hour_is_known_to_a_second),
		cmocka_unit_test(a_window_is_not_known_better_than_the_agent_looked),
		cmocka_unit_test(the_last_look_is_known_while_nothing_changes),
		cmocka_unit_test(a_first_look_that_failed_is_not_known),
		cmocka_unit_test(a_clock_that_is_set_back_leaves_the_ledger),
		cmocka_unit_test(each_hour_has_an_entry),
		cmocka_unit_test(entries_go_on_after_a_clock_that_stepped),
		cmocka_unit_test(incidents_of_a_hostile_program_are_few),
		cmocka_unit_test(a_dead_program_waits_for_room),
		cmocka_unit_test(a_damaged_file_stays_for_days),
		cmocka_unit_test(changes_reach_the_disk_after_ten_seconds),
		cmocka_unit_test(a_dead_program_is_folded_once),
		cmocka_unit_test(a_process_lives_until_it_is_known_to_have_ended),
		cmocka_unit_test(a_file_that_cannot_be_opened_is_not_counted_twice),
		cmocka_unit_test(entries_in_which_nobody_counts_are_removed),
		cmocka_unit_test(second_names_stay_for_a_week),
		cmocka_unit_test(a_user_has_so_many_second_names),
		cmocka_unit_test(days_begin_where_the_date_changes),
		cmocka_unit_test(hours_are_those_that_the_clock_showed),
		cmocka_unit_test(hashes_are_those_of_the_standard),
		cmocka_unit_test(labels_are_read_as_they_were_written),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
