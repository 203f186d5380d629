/* SPDX-License-Identifier: ISC
 *
 * The agent counts what domains of Xen use, in a Xen of our own: each domain once, however often it
 * or the agent begins again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "agent/agent.h"
#include "agent/rollup.h"
#include "fake_xen.h"

#define START INT64_C(1700000003)

struct world {
	char folder[64], data[80];
	struct fake_xen xen;
	struct weft__agent agent;
	int64_t now;
};

static void open_agent(struct world *w, struct weft_host *host)
{
	const struct weft__agent_options options = {.file = w->data, .gap = 100000, .xen = host};
	assert_true(weft__agent_open(&w->agent, &options));
}

static void set(struct world *w, uint64_t ns)
{
	w->xen.vcpus[0] = (struct weft__xen_vcpu){ns, WEFT__XEN_VCPU_RUNNING};
}

static int begin(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	assert_non_null(w);
	strcpy(w->folder, "/tmp/weft-agent-XXXXXX");
	assert_non_null(mkdtemp(w->folder));
	snprintf(w->data, sizeof(w->data), "%s/agent.db", w->folder);
	w->now = START;
	struct weft_host *host = fake_open(&w->xen, 1);
	assert_non_null(host);
	w->xen.usage = (struct weft__xen_usage){.memory_bytes = 4096, .vcpu_end = 1};
	fake_write(&w->xen, "/local/domain/0/name", "Domain-0");
	fake_write(&w->xen, "/local/domain/3/name", "web");
	set(w, 1000);
	open_agent(w, host);
	*state = w;
	return 0;
}

static int end(void **state)
{
	static const char *const names[] = {
		"agent.db", "agent.db-wal", "agent.db-shm", "agent.db-lock"};
	struct world *w = *state;
	char path[128];
	weft__agent_close(&w->agent);
	fake_finish(&w->xen, NULL); /* the agent has closed it */
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "%s/%s", w->folder, names[i]);
		unlink(path);
	}
	assert_int_equal(rmdir(w->folder), 0);
	free(w);
	return 0;
}

/* Looks a second later. */
static void look(struct world *w)
{
	assert_true(weft__agent_look(&w->agent, ++w->now));
}

/* The total of a domain's time in ns; -1: there is none. */
static int64_t total_of(struct world *w, const char *program)
{
	char sql[256];
	int64_t total = -1;
	snprintf(sql, sizeof(sql),
		"SELECT coalesce((SELECT total FROM totals WHERE program = '%s' AND metric = "
		"'xen_cpu_seconds' AND labels = '{}'), -1)",
		program);
	assert_int_equal(
		weft__agent_database_ask(w->agent.ledger.database.it, sql, 0, &total), SQLITE_OK);
	return total;
}

/* The series of a gauge that are there now. */
static size_t count_gauges(struct world *w)
{
	struct weft__agent_rollup rollup;
	size_t count = 0;
	assert_int_equal(
		weft__agent_rollup_read(w->agent.ledger.database.it, NULL, 0, &rollup), SQLITE_OK);
	for (size_t i = 0; i < rollup.count; i++)
		count += strcmp(rollup.samples[i].counter->name, "xen_memory_bytes") == 0;
	weft__agent_rollup_finish(&rollup);
	return count;
}

static void each_domain_is_counted_once(void **state)
{
	struct world *w = *state;
	look(w);
	assert_int_equal(total_of(w, "xen:web"), 1000);
	assert_int_equal(total_of(w, "xen:Domain-0"), 1000);
	assert_int_equal(count_gauges(w), 2);
	set(w, 1500);
	look(w);
	look(w);
	assert_int_equal(total_of(w, "xen:web"), 1500);
	/* The agent starts again, in the same boot. */
	weft__agent_close(&w->agent);
	set(w, 1600);
	open_agent(w, fake_connect(&w->xen));
	look(w);
	assert_int_equal(total_of(w, "xen:web"), 1600);
}

/* The next domain of that name begins at 0, and its total goes on. */
static void a_domain_that_reboots_goes_on(void **state)
{
	struct world *w = *state;
	look(w);
	fake_write(&w->xen, "/local/domain/3/name", NULL);
	look(w);
	look(w);
	assert_int_equal(total_of(w, "xen:web"), 1000);
	assert_int_equal(count_gauges(w), 1);
	set(w, 70);
	fake_write(&w->xen, "/local/domain/4/name", "web");
	look(w);
	assert_int_equal(total_of(w, "xen:web"), 1070);
	set(w, 80);
	look(w);
	assert_int_equal(total_of(w, "xen:web"), 1080);
}

static void a_domain_with_another_name_is_another_program(void **state)
{
	struct world *w = *state;
	look(w);
	fake_write(&w->xen, "/local/domain/3/name", "mail");
	set(w, 1300);
	look(w);
	look(w);
	assert_int_equal(total_of(w, "xen:web"), 1000);
	assert_int_equal(total_of(w, "xen:mail"), 1300);
	assert_int_equal(count_gauges(w), 2);
	/* And back: nothing counts twice. */
	set(w, 1400);
	fake_write(&w->xen, "/local/domain/3/name", "web");
	look(w);
	assert_int_equal(total_of(w, "xen:mail"), 1300);
	assert_int_equal(total_of(w, "xen:web"), 1400);
	assert_int_equal(count_gauges(w), 2);
}

/* Nothing is forgotten because Xen cannot be asked for a while. */
static void a_xenstore_that_does_not_answer_changes_nothing(void **state)
{
	struct world *w = *state;
	look(w);
	const size_t count = w->xen.count;
	w->xen.count = 0;
	set(w, 1100);
	look(w);
	weft__agent_close(&w->agent);
	open_agent(w, fake_connect(&w->xen));
	look(w);
	weft__agent_close(&w->agent);
	open_agent(w, NULL); /* nor if the agent may not ask at all */
	look(w);
	weft__agent_close(&w->agent);
	w->xen.count = count;
	open_agent(w, fake_connect(&w->xen));
	set(w, 1200);
	look(w);
	assert_int_equal(total_of(w, "xen:web"), 1200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_domain_is_counted_once, begin, end),
		cmocka_unit_test_setup_teardown(a_domain_that_reboots_goes_on, begin, end),
		cmocka_unit_test_setup_teardown(a_domain_with_another_name_is_another_program, begin, end),
		cmocka_unit_test_setup_teardown(
			a_xenstore_that_does_not_answer_changes_nothing, begin, end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
