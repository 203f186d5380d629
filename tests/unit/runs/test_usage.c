/* SPDX-License-Identifier: ISC
 *
 * The use of domains, as counters, in a Xen of our own.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "fake_xen.h"
#include "runs/guests/usage.h"

struct world {
	struct fake_xen xen;
	struct weft_host *host;
};

static int begin(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	assert_non_null(w);
	w->host = fake_open(&w->xen, 1);
	assert_non_null(w->host);
	w->xen.usage = (struct weft__xen_usage){5000, 4096, 8192, 4};
	w->xen.vcpus[0] = (struct weft__xen_vcpu){100, WEFT__XEN_VCPU_RUNNING};
	w->xen.vcpus[1] = (struct weft__xen_vcpu){20, WEFT__XEN_VCPU_BLOCKED};
	w->xen.vcpus[3] = (struct weft__xen_vcpu){3, WEFT__XEN_VCPU_BLOCKED}; /* there is no vCPU 2 */
	*state = w;
	return 0;
}

static int end(void **state)
{
	struct world *w = *state;
	fake_finish(&w->xen, w->host);
	free(w);
	return 0;
}

/* "name 5" or "name{key=value} 5", each with a newline. */
static void format(const struct weft__runs_counters *counters, char text[1024])
{
	size_t used = 0;
	text[0] = '\0';
	for (size_t i = 0; i < counters->count; i++) {
		const struct weft__runs_counter *c = &counters->list[i];
		char label[64] = "";
		assert_true(c->label_count <= 1);
		if (c->label_count)
			snprintf(label, sizeof(label), "{%s=%s}", c->labels->key, c->labels->value);
		used += (size_t)snprintf(
			text + used, 1024 - used, "%s%s %lld\n", c->name, label, (long long)c->integer);
		assert_true(used < 1024 && c->real == (double)c->integer && !c->is_real);
		assert_int_equal(c->type,
			strcmp(c->name, "xen_cpu_seconds") == 0 ? WEFT__RUNS_COUNTER : WEFT__RUNS_GAUGE);
		assert_int_equal(c->scale, strcmp(c->name, "xen_cpu_seconds") == 0 ? -9 : 0);
	}
}

static void a_domain_has_counters(void **state)
{
	struct world *w = *state;
	struct weft__runs_counters counters;
	char text[1024];
	assert_int_equal(weft__runs_usage_read_one(w->host, 3, &counters), 0);
	format(&counters, text);
	assert_string_equal(text,
		"xen_cpu_seconds{vcpu=0} 100\n"
		"xen_cpu_seconds{vcpu=1} 20\n"
		"xen_cpu_seconds{vcpu=3} 3\n"
		"xen_cpu_seconds 123\n" /* the sum of these, not what Xen said before */
		"xen_vcpus 3\n"
		"xen_vcpus{state=running} 1\n"
		"xen_vcpus{state=runnable} 0\n"
		"xen_vcpus{state=blocked} 2\n"
		"xen_vcpus{state=offline} 0\n"
		"xen_memory_bytes 4096\n"
		"xen_memory_limit_bytes 8192\n");
	weft__runs_counters_finish(&counters);
	w->xen.domain = WEFT__XEN_GONE;
	assert_int_equal(weft__runs_usage_read_one(w->host, 3, &counters), ENOENT);
}

/* Then only Xen's own sum is known. */
static void a_domain_may_have_no_vcpu_or_too_many(void **state)
{
	static const uint32_t ends[] = {0, 513, UINT32_MAX};
	struct world *w = *state;
	struct weft__runs_counters counters;
	char text[1024];
	w->xen.usage.memory_max_bytes = 0;
	for (size_t i = 0; i < 3; i++) {
		w->xen.usage.vcpu_end = ends[i];
		assert_int_equal(weft__runs_usage_read_one(w->host, 3, &counters), 0);
		format(&counters, text);
		assert_string_equal(text, "xen_cpu_seconds 5000\nxen_memory_bytes 4096\n");
		weft__runs_counters_finish(&counters);
	}
	w->xen.usage.vcpu_end = 512;
	assert_int_equal(weft__runs_usage_read_one(w->host, 3, &counters), 0);
	assert_int_equal(counters.count, 3 + 1 + 5 + 1);
	weft__runs_counters_finish(&counters);
}

static void each_domain_is_listed(void **state)
{
	struct world *w = *state;
	struct weft__runs_usage_list list;
	struct weft__runs_linked linked;
	fake_write(&w->xen, "/local/domain/0/name", "Domain-0");
	fake_write(&w->xen, "/local/domain/7/name", "a b");
	fake_write(&w->xen, "/local/domain/7x/name", "none");
	fake_write(&w->xen, "/local/domain/8/data/x", "without a name");
	weft__runs_usage_read(w->host, &list);
	assert_int_equal(list.count, 3);
	assert_string_equal(list.list[0].program, "xen:Domain-0");
	assert_string_equal(list.list[1].program, "xen:7");
	assert_string_equal(list.list[2].program, "xen:8");
	assert_int_equal(list.list[1].domain, 7);
	assert_int_equal(list.list[1].counters.count, 11);
	weft__runs_usage_link(&list.list[1], &linked);
	assert_int_equal(linked.pid, 7);
	assert_string_equal(linked.program, "xen:7");
	weft__runs_usage_finish(&list);
	w->xen.domain = WEFT__XEN_GONE; /* all have ended meanwhile */
	weft__runs_usage_read(w->host, &list);
	assert_int_equal(list.count, 0);
	weft__runs_usage_finish(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_domain_has_counters, begin, end),
		cmocka_unit_test_setup_teardown(a_domain_may_have_no_vcpu_or_too_many, begin, end),
		cmocka_unit_test_setup_teardown(each_domain_is_listed, begin, end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
