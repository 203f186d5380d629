/* SPDX-License-Identifier: ISC
 *
 * Snapshots of a run: at most one a second of a process, a limited number, and a count of the
 * requests that were not answered. The clock stands still until the test moves it.
 */
#include "run_ring.h"

#include <sys/mman.h>
#include <time.h>

#include <weft/weft.h>

#include "runs/saving/snapshots.h"

#define SIZE      ((size_t)64 << 10)
#define SECOND_NS ((uint64_t)1000000000)

static uint64_t now_ns;

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_now)
{
	(void)clock;
	*ret_now = (struct timespec){(time_t)(now_ns / SECOND_NS), (long)(now_ns % SECOND_NS)};
	return 0;
}

static const struct weft_platform by_hand = {.ticks_at = &now_ns, .ticks_hz = SECOND_NS};

/* A run with one process: this one. */
struct run {
	struct place place, output;
	struct weft__runs_snapshot_options options;
	struct weft__runs_snapshots *snapshots;
	char trace[PATH_MAX];
	void *ring;
};

/* `run` must not move. */
static void begin(struct run *run, unsigned limit, const char *const *rules, unsigned rule_count)
{
	char name[64];
	now_ns = 100 * SECOND_NS;
	run->place = place_make();
	run->output = place_make();
	snprintf(name, sizeof(name), "test-%d.weft", (int)getpid());
	snprintf(run->trace, sizeof(run->trace), "%strace.weft", run->output.path);
	run->ring = map_ring(in_place(&run->place, name), SIZE);
	assert_int_equal(weft_start(run->ring, SIZE, &by_hand), 0);
	run->options = (struct weft__runs_snapshot_options){.directory = run->place.path,
		.output = run->trace,
		.program = getpid(),
		.limit = limit,
		.rules = rules,
		.rule_count = rule_count};
	run->snapshots = weft__runs_snapshots_create(&run->options);
	assert_non_null(run->snapshots);
	weft__runs_snapshots_look(run->snapshots);
}

static void end(struct run *run)
{
	weft__runs_snapshots_destroy(run->snapshots);
	weft_stop();
	munmap(run->ring, SIZE);
	place_remove(&run->place);
	place_remove(&run->output);
}

static void request_at(struct run *run, uint64_t time_ns, const char *reason)
{
	now_ns = time_ns;
	weft_snapshot_request(reason);
	weft__runs_snapshots_look(run->snapshots);
}

/* Snapshots 1 to `count` exist. */
static void expect_count(const struct run *run, unsigned count)
{
	char name[64];
	for (unsigned i = 1; i <= count + 1; i++) {
		snprintf(name, sizeof(name), "trace.snapshot-%u.weft", i);
		assert_int_equal(place_has(&run->output, name), i <= count);
	}
}

static void a_process_gets_one_snapshot_a_second(void **state)
{
	struct run run;
	(void)state;
	begin(&run, 10, NULL, 0);
	const uint64_t start = now_ns;
	expect_count(&run, 0);
	request_at(&run, start, "first");
	expect_count(&run, 1);
	assert_non_null(strstr(reported, "trace.snapshot-1.weft: \"first\""));
	request_at(&run, start + SECOND_NS - 1, "too early");
	expect_count(&run, 1);
	request_at(&run, start + SECOND_NS, "second");
	expect_count(&run, 2);
	now_ns += SECOND_NS; /* without a request there is none */
	weft__runs_snapshots_look(run.snapshots);
	expect_count(&run, 2);
	end(&run);
	assert_non_null(strstr(reported, "1 more request"));
}

static void a_run_gets_no_more_than_its_limit(void **state)
{
	struct run run;
	(void)state;
	begin(&run, 2, NULL, 0);
	const uint64_t start = now_ns;
	for (unsigned i = 0; i < 4; i++)
		request_at(&run, start + i * SECOND_NS, "again");
	expect_count(&run, 2);
	end(&run);
	assert_non_null(strstr(reported, "2 more request"));
}

static void requests_until_the_copy_are_one_snapshot(void **state)
{
	struct run run;
	(void)state;
	begin(&run, 10, NULL, 0);
	weft_snapshot_request("one");
	weft_snapshot_request("two");
	weft_snapshot_request("three");
	weft__runs_snapshots_look(run.snapshots);
	expect_count(&run, 1);
	end(&run);
	assert_non_null(strstr(reported, "2 more request"));
}

static void an_existing_snapshot_stays(void **state)
{
	struct run run;
	(void)state;
	begin(&run, 10, NULL, 0);
	place_put(&run.output, "trace.snapshot-1.weft", "");
	request_at(&run, now_ns, "one");
	expect_count(&run, 2);
	struct stat status;
	assert_int_equal(stat(in_place(&run.output, "trace.snapshot-1.weft"), &status), 0);
	assert_int_equal(status.st_size, 0);
	end(&run);
}

static void a_name_without_a_suffix_is_extended(void **state)
{
	static const char *const names[] = {"trace", ".trace"};
	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct run run;
		char name[64];
		begin(&run, 10, NULL, 0);
		snprintf(run.trace, sizeof(run.trace), "%s%s", run.output.path, names[i]);
		request_at(&run, now_ns, "one");
		snprintf(name, sizeof(name), "%s.snapshot-1", names[i]);
		assert_true(place_has(&run.output, name));
		end(&run);
	}
}

static void a_request_before_the_end_is_answered(void **state)
{
	struct run run;
	(void)state;
	begin(&run, 10, NULL, 0);
	weft_snapshot_request("last words");
	weft__runs_snapshots_destroy(run.snapshots);
	expect_count(&run, 1);
	assert_null(strstr(reported, "more request"));
	run.snapshots = NULL;
	end(&run);
}

static void a_rule_that_fires_takes_one(void **state)
{
	static const char *const rules[] = {"counter queue > 5"};
	struct run run;
	(void)state;
	begin(&run, 10, rules, 1);
	weft_counter_set("queue", 5);
	weft__runs_snapshots_look(run.snapshots);
	expect_count(&run, 0);
	weft_counter_set("queue", 6);
	weft__runs_snapshots_look(run.snapshots);
	expect_count(&run, 1);
	assert_non_null(strstr(reported, "counter queue > 5"));
	weft_counter_set("queue", 0);
	weft_counter_set("queue", 7); /* within the second */
	weft__runs_snapshots_look(run.snapshots);
	expect_count(&run, 1);
	end(&run);
	assert_non_null(strstr(reported, "1 more request"));
}

static void a_rule_sees_all_events_since_the_last_look(void **state)
{
	static const char *const rules[] = {"counter queue > 5"};
	struct run run;
	(void)state;
	begin(&run, 10, rules, 1);
	for (int64_t length = 0; length < 7; length++)
		weft_counter_set("queue", length);
	weft__runs_snapshots_look(run.snapshots);
	expect_count(&run, 1);
	end(&run);
}

/* So that a program that records without end does not keep the recorder from its other work. */
static void a_look_takes_a_limited_number_of_events(void **state)
{
	struct weft_follow *follow;
	struct weft_triggers *triggers;
	struct weft_trigger_error wrong;
	struct weft_slice rule;
	struct run run;
	(void)state;
	weft_counter_set("queue", 0); /* its total is the first event */
	begin(&run, 10, NULL, 0);
	struct place place = run.place;
	char name[64];
	snprintf(name, sizeof(name), "test-%d.weft", (int)getpid());
	int fd = open(in_place(&place, name), O_RDWR | O_CLOEXEC);
	assert_int_equal(weft_follow_open_descriptor(fd, &follow), 0);
	close(fd);
	assert_int_equal(weft_triggers_create(&triggers), 0);
	assert_int_equal(weft_triggers_add(triggers, "counter queue > 5", 17, &wrong), 0);
	for (int64_t length = 0; length < 8; length++)
		weft_counter_set("queue", length);
	now_ns += SECOND_NS;
	assert_int_equal(weft__runs_follow_rules(triggers, follow, 1 + 6), WEFT_OK);
	assert_int_equal(weft_triggers_fired(triggers, &rule), 0);
	assert_int_equal(weft__runs_follow_rules(triggers, follow, 1), WEFT_OK);
	assert_int_equal(weft_triggers_fired(triggers, &rule), 1);
	assert_int_equal(weft__runs_follow_rules(triggers, follow, 10), WEFT_AGAIN);
	weft_triggers_destroy(triggers);
	weft_follow_close(follow);
	end(&run);
}

/* The same process has executed it. */
static void a_program_that_starts_later_gets_snapshots(void **state)
{
	struct run run;
	(void)state;
	begin(&run, 10, NULL, 0);
	weft_stop();
	char name[64];
	snprintf(name, sizeof(name), "test-%d.2.weft", (int)getpid());
	void *later = map_ring(in_place(&run.place, name), SIZE);
	assert_int_equal(weft_start(later, SIZE, &by_hand), 0);
	request_at(&run, now_ns + SECOND_NS, "second program");
	expect_count(&run, 1);
	assert_non_null(strstr(reported, "second program"));
	end(&run);
	munmap(later, SIZE);
}

static void a_limit_of_none_takes_no_snapshots(void **state)
{
	struct run run;
	(void)state;
	begin(&run, 0, NULL, 0);
	request_at(&run, now_ns, "never answered");
	expect_count(&run, 0);
	end(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_gets_one_snapshot_a_second),
		cmocka_unit_test(a_run_gets_no_more_than_its_limit),
		cmocka_unit_test(requests_until_the_copy_are_one_snapshot),
		cmocka_unit_test(an_existing_snapshot_stays),
		cmocka_unit_test(a_name_without_a_suffix_is_extended),
		cmocka_unit_test(a_request_before_the_end_is_answered),
		cmocka_unit_test(a_rule_that_fires_takes_one),
		cmocka_unit_test(a_rule_sees_all_events_since_the_last_look),
		cmocka_unit_test(a_look_takes_a_limited_number_of_events),
		cmocka_unit_test(a_program_that_starts_later_gets_snapshots),
		cmocka_unit_test(a_limit_of_none_takes_no_snapshots),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
