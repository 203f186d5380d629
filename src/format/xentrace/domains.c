/* SPDX-License-Identifier: ISC
 *
 * The buffers of a trace of Xen: Xen's own, one of each domain, and one of the processes of dom0's
 * Linux.
 */
#include <stdio.h>

#include "base/array.h"
#include "format/xentrace/meaning.h"
#include "format/xentrace/survey.h"

static int add_buffer(struct weft__xentrace_meaning *m, struct weft_trace_buffer buffer)
{
	struct weft_trace_description *description = m->reader->base.input.description;
	const struct weft__column column = {&m->descriptions, sizeof(*m->descriptions)};
	int error =
		weft__columns_reserve(&column, 1, &m->description_capacity, m->description_count + 1);
	if (error)
		return error;
	m->descriptions[m->description_count++] = buffer;
	description->buffers = m->descriptions;
	description->buffer_count = (uint32_t)m->description_count;
	return 0;
}

int weft__format_xentrace_describe_xen(struct weft__xentrace_meaning *m)
{
	return add_buffer(m,
		(struct weft_trace_buffer){.process = "Xen", .host = "", .file = "", .is_hypervisor = 1});
}

int weft__format_xentrace_add_domain(struct weft__xentrace_meaning *m, uint32_t domain)
{
	if (m->buffers[domain])
		return 0;
	int error = add_buffer(m, (struct weft_trace_buffer){.process = domain ? "domain" : "domain 0",
								  .host = "",
								  .file = "",
								  .pid = domain,
								  .guest = domain + 1,
								  .is_hypervisor = 1});
	if (!error)
		m->buffers[domain] = (uint16_t)(m->description_count - 1);
	return error;
}

int weft__format_xentrace_add_buffer_of_processes(struct weft__xentrace_meaning *m)
{
	if (m->processes.buffer)
		return 0;
	int error = add_buffer(m, (struct weft_trace_buffer){.process = "domain 0's processes",
								  .host = "",
								  .file = "",
								  .guest = 1,
								  .is_hypervisor = 1});
	if (!error)
		m->processes.buffer = (uint32_t)(m->description_count - 1);
	return error;
}

static struct weft__xentrace_task build_of(const struct weft__xentrace_meaning *m, uint32_t domain)
{
	return (struct weft__xentrace_task){
		m->buffers[domain], WEFT__XENTRACE_BUILDS + m->builds[domain]};
}

static bool has_vcpus(const struct weft__xentrace_meaning *m, uint32_t domain)
{
	for (uint32_t i = m->vcpus.first[domain]; i != UINT32_MAX; i = m->vcpus.list[i].next)
		if (m->vcpus.list[i].is_known)
			return true;
	return false;
}

void weft__format_xentrace_begin_build(struct weft__xentrace_meaning *m, uint32_t domain)
{
	char name[32];
	if (domain >= WEFT__XENTRACE_DOMAINS || m->builds[domain] || has_vcpus(m, domain))
		return;
	if (!m->error)
		m->error = weft__format_xentrace_add_domain(m, domain);
	m->builds[domain] = ++m->build_count;
	snprintf(name, sizeof(name), "d%u is being built", domain);
	weft__format_xentrace_emit_task(m, build_of(m, domain), "domain", name, true);
}

void weft__format_xentrace_end_build(struct weft__xentrace_meaning *m, uint32_t domain)
{
	if (domain >= WEFT__XENTRACE_DOMAINS || !m->builds[domain])
		return;
	const struct weft__xentrace_task task = build_of(m, domain);
	weft__format_xentrace_emit(
		m, WEFT_EVENT_RESOLVE, (struct weft__xentrace_task){task.buffer, WEFT_TASK_NONE})
		->event.other = task.id;
	m->builds[domain] = 0;
}

void weft__format_xentrace_end_buffers(struct weft__xentrace_meaning *m, uint64_t cycles)
{
	for (size_t i = 0; i < m->description_count; i++)
		m->descriptions[i].end_ns = weft__format_xentrace_ns(&m->reader->clock, cycles);
}
