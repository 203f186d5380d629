/* SPDX-License-Identifier: ISC
 *
 * Xen's figure of a domain's time is the sum over its vCPUs. It is added up here, from the figures
 * that are shown: between two questions to Xen the vCPUs go on.
 */
#include "runs/guests/usage.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runs/guests/guest.h"
#include "xen/domains.h"

enum {
	VCPUS_MAX = 512, /* with counters of their own; a domain with more has only the sum */
	FIXED = 4 + WEFT__XEN_VCPU_STATES,
};

static const char *const state_names[WEFT__XEN_VCPU_STATES] = {
	"running", "runnable", "blocked", "offline"};

struct weft_host *weft__runs_usage_open(void)
{
	char reason[WEFT_GUEST_REASON_BYTES];
	struct weft_host *host = NULL;
	if (weft__runs_guest_is_dom0() && weft_host_open(&host, reason) != 0)
		host = NULL;
	return host;
}

/* The memory of a domain's counters, in one block. */
struct block {
	struct weft__runs_label states[WEFT__XEN_VCPU_STATES], vcpus[VCPUS_MAX];
	char numbers[VCPUS_MAX][8];
};

struct making {
	struct weft__runs_counters counters;
	struct block *block;
	uint64_t in_state[WEFT__XEN_VCPU_STATES];
	uint64_t cpu_ns;
	uint32_t vcpus;
};

/* ---- Counters ---- */

static struct weft__runs_counter *add(
	struct making *making, const char *name, const char *unit, uint64_t value)
{
	struct weft__runs_counter *counter = &making->counters.list[making->counters.count++];
	*counter = (struct weft__runs_counter){.name = name,
		.help = "",
		.unit = unit,
		.type = WEFT__RUNS_GAUGE,
		.integer = (int64_t)value,
		.real = (double)value};
	return counter;
}

static struct weft__runs_counter *add_time(struct making *making, uint64_t ns)
{
	struct weft__runs_counter *counter = add(making, "xen_cpu_seconds", "seconds", ns);
	counter->help = "Time for which the domain's vCPUs ran";
	counter->type = WEFT__RUNS_COUNTER;
	counter->scale = -9;
	return counter;
}

static void label(struct weft__runs_counter *counter, struct weft__runs_label *at, const char *key,
	const char *value)
{
	*at = (struct weft__runs_label){key, value};
	counter->labels = at;
	counter->label_count = 1;
}

static void add_vcpu(struct making *making, uint32_t number, const struct weft__xen_vcpu *vcpu)
{
	char *text = making->block->numbers[making->vcpus];
	snprintf(text, sizeof(making->block->numbers[0]), "%u", (unsigned)number);
	label(add_time(making, vcpu->cpu_ns), &making->block->vcpus[making->vcpus++], "vcpu", text);
	making->in_state[vcpu->state]++;
	making->cpu_ns += vcpu->cpu_ns;
}

static void add_states(struct making *making)
{
	static const char name[] = "xen_vcpus", help[] = "vCPUs by their state at the time of reading";
	add(making, name, "", making->vcpus)->help = help;
	for (int i = 0; i < WEFT__XEN_VCPU_STATES; i++) {
		struct weft__runs_counter *counter = add(making, name, "", making->in_state[i]);
		counter->help = help;
		label(counter, &making->block->states[i], "state", state_names[i]);
	}
}

static void add_memory(struct making *making, const struct weft__xen_usage *usage)
{
	add(making, "xen_memory_bytes", "bytes", usage->memory_bytes)->help =
		"Memory that the domain has";
	if (usage->memory_max_bytes)
		add(making, "xen_memory_limit_bytes", "bytes", usage->memory_max_bytes)->help =
			"Memory that the domain may have at most";
}

/* ---- One domain ---- */

static bool make(struct making *making, size_t vcpus)
{
	making->counters.list = calloc(FIXED + vcpus, sizeof(*making->counters.list));
	making->counters.owned[0] = making->block = calloc(1, sizeof(*making->block));
	return making->counters.list && making->block;
}

int weft__runs_usage_read_one(
	struct weft_host *host, uint32_t domain, struct weft__runs_counters *ret_counters)
{
	struct making making = {.vcpus = 0};
	struct weft__xen_usage usage;
	struct weft__xen_vcpu vcpu;
	if (!weft__xen_domains_measure(host, domain, &usage))
		return ENOENT;
	const uint32_t end = usage.vcpu_end <= VCPUS_MAX ? usage.vcpu_end : 0;
	if (!make(&making, end)) {
		weft__runs_counters_finish(&making.counters);
		return ENOMEM;
	}
	for (uint32_t i = 0; i < end; i++)
		if (weft__xen_domains_measure_vcpu(host, domain, i, &vcpu))
			add_vcpu(&making, i, &vcpu);
	add_time(&making, making.vcpus ? making.cpu_ns : usage.cpu_ns);
	if (making.vcpus)
		add_states(&making);
	add_memory(&making, &usage);
	*ret_counters = making.counters;
	return 0;
}

/* ---- All of them ---- */

void weft__runs_usage_find(struct weft_host *host, struct weft__runs_usage_list *ret_list)
{
	struct weft__xen_domain_name *names;
	size_t count = weft__xen_domains_list(host, &names);
	struct weft__runs_usage_list list = {calloc(count + 1, sizeof(*list.list)), 0};
	for (size_t i = 0; list.list && i < count; i++) {
		struct weft__runs_usage *usage = &list.list[list.count++];
		usage->domain = names[i].domain;
		weft__runs_guest_operand(names[i].domain, names[i].name, usage->program);
	}
	free(names);
	*ret_list = list;
}

void weft__runs_usage_read(struct weft_host *host, struct weft__runs_usage_list *ret_list)
{
	size_t kept = 0;
	weft__runs_usage_find(host, ret_list);
	for (size_t i = 0; i < ret_list->count; i++) {
		struct weft__runs_usage usage = ret_list->list[i];
		if (weft__runs_usage_read_one(host, usage.domain, &usage.counters) == 0)
			ret_list->list[kept++] = usage;
	}
	ret_list->count = kept;
}

void weft__runs_usage_link(const struct weft__runs_usage *usage, struct weft__runs_linked *ret)
{
	*ret = (struct weft__runs_linked){.pid = (pid_t)usage->domain};
	snprintf(ret->program, sizeof(ret->program), "%.63s", usage->program);
}

void weft__runs_usage_finish(struct weft__runs_usage_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		weft__runs_counters_finish(&list->list[i].counters);
	free(list->list);
	*list = (struct weft__runs_usage_list){NULL, 0};
}
