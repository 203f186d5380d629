/* SPDX-License-Identifier: ISC
 *
 * The buffers of a trace of Xen: Xen's own, and one of each domain.
 */
#include "base/array.h"
#include "format/xentrace/meaning.h"

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

void weft__format_xentrace_end_buffers(struct weft__xentrace_meaning *m, uint64_t cycles)
{
	for (size_t i = 0; i < m->description_count; i++)
		m->descriptions[i].end_ns = weft__format_xentrace_ns(&m->reader->clock, cycles);
}
