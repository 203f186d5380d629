/* SPDX-License-Identifier: ISC
 *
 * weft stats --by vcpu, domain or pcpu: what Xen's scheduler did with them, from the records of
 * Xen's own trace. No model is built.
 */
#include "xen.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/input.h>

#define ID_WITHOUT_FLAGS (~0x500u) /* addresses of 64 bits, nested guests */
#define ID_VMMCALL       0x82012u
#define CLASS_EXIT       0x81u
#define CLASS_PV         0x201u
#define CLASS_SUBCALL    0x202u

bool stats_xen_parse(const char *name, enum weft_xentrace_whose *ret_whose)
{
	static const char *const names[] = {[WEFT_XENTRACE_OF_VCPU] = "vcpu",
		[WEFT_XENTRACE_OF_DOMAIN] = "domain",
		[WEFT_XENTRACE_OF_PCPU] = "pcpu"};
	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(name, names[i]) == 0) {
			*ret_whose = (enum weft_xentrace_whose)i;
			return true;
		}
	return false;
}

/* Makes room for one more element. False without memory. */
static bool reserve(void *list, size_t size, size_t count, size_t *capacity)
{
	void **elements = list;
	if (count < *capacity)
		return true;
	const size_t more = *capacity ? 2 * *capacity : 64;
	void *made = realloc(*elements, more * size);
	if (!made)
		return false;
	*elements = made;
	*capacity = more;
	return true;
}

/* ---- Stays ---- */

/* Keeps the part of a stay that lies in the range. One that goes on at the end of the trace is
 * complete in a range that ends earlier. */
static int take_stay(void *context, const struct weft_xentrace_stay *stay)
{
	struct xen_stats *x = context;
	const struct stats_xen_request *request = x->request;
	struct weft_xentrace_stay part = *stay;
	if (part.start_ns < request->start_ns)
		part.start_ns = request->start_ns;
	if (part.end_ns > request->end_ns) {
		part.end_ns = request->end_ns;
		part.is_open = false;
	}
	if (part.end_ns > x->end_ns)
		x->end_ns = part.end_ns;
	if (stay->whose != request->whose || part.start_ns >= part.end_ns)
		return 0;
	if (!reserve(&x->stays, sizeof(*x->stays), x->stay_count, &x->stay_capacity))
		return WEFT_ERROR_MEMORY;
	x->stays[x->stay_count++] = part;
	return 0;
}

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static uint64_t length_of(const struct weft_xentrace_stay *stay)
{
	return stay->end_ns - stay->start_ns;
}

/* By vCPU, domain or pCPU, then by state, the shortest first. */
static int compare_stays(const void *a, const void *b)
{
	const struct weft_xentrace_stay *l = a, *r = b;
	int order = compare_u64(l->domain, r->domain);
	if (!order)
		order = compare_u64(l->number, r->number);
	if (!order)
		order = compare_u64(l->state, r->state);
	return order ? order : compare_u64(length_of(l), length_of(r));
}

/* The length that stays have in which `percent` of the time has passed when all are in the order of
 * their lengths: a mean of many short and a few long ones says little. */
static uint64_t percentile(
	const struct weft_xentrace_stay *stays, size_t count, uint64_t sum, unsigned percent)
{
	const uint64_t wanted = (uint64_t)((double)sum * percent / 100);
	uint64_t passed = 0;
	size_t i = 0, last = 0;
	for (; i < count; i++) {
		if (stays[i].is_open)
			continue;
		last = i;
		passed += length_of(&stays[i]);
		if (passed >= wanted)
			break;
	}
	return length_of(&stays[i < count ? i : last]);
}

/* Adds up the stays of one row in one state. */
static void measure(struct xen_row *row, const struct weft_xentrace_stay *stays, size_t count)
{
	struct xen_times *times = &row->times[stays->state];
	for (size_t i = 0; i < count; i++) {
		if (stays[i].is_open) {
			row->open = weft_xentrace_state_name(stays[i].state);
			row->open_ns = length_of(&stays[i]);
			continue;
		}
		times->count++;
		times->ns += length_of(&stays[i]);
	}
	if (!times->count)
		return;
	times->p5_ns = percentile(stays, count, times->ns, 5);
	times->p50_ns = percentile(stays, count, times->ns, 50);
	times->p95_ns = percentile(stays, count, times->ns, 95);
}

static int compare_pcpus(const void *a, const void *b)
{
	return compare_u64(((const struct xen_pcpu *)a)->number, ((const struct xen_pcpu *)b)->number);
}

/* Where a vCPU ran: the stays of a row, in the order of time. */
static bool add_pcpus(
	struct xen_stats *x, struct xen_row *row, const struct weft_xentrace_stay *stays, size_t count)
{
	uint32_t before = WEFT_XENTRACE_UNKNOWN;
	row->first_pcpu = (uint32_t)x->pcpu_count;
	for (size_t i = 0; i < count; i++) {
		size_t at = row->first_pcpu;
		if (stays[i].cpu == WEFT_XENTRACE_UNKNOWN)
			continue;
		row->moves += before != WEFT_XENTRACE_UNKNOWN && before != stays[i].cpu;
		before = stays[i].cpu;
		while (at < x->pcpu_count && x->pcpus[at].number != before)
			at++;
		if (!reserve(&x->pcpus, sizeof(*x->pcpus), x->pcpu_count, &x->pcpu_capacity))
			return false;
		if (at == x->pcpu_count)
			x->pcpus[x->pcpu_count++] = (struct xen_pcpu){.number = before};
		x->pcpus[at].ns += length_of(&stays[i]);
	}
	row->pcpu_count = (uint32_t)x->pcpu_count - row->first_pcpu;
	if (row->pcpu_count)
		qsort(x->pcpus + row->first_pcpu, row->pcpu_count, sizeof(*x->pcpus), compare_pcpus);
	return true;
}

size_t xen_row_end(const struct xen_stats *x, size_t first)
{
	size_t next = first + 1;
	while (next < x->stay_count && x->stays[next].domain == x->stays[first].domain &&
		   x->stays[next].number == x->stays[first].number)
		next++;
	return next;
}

/* Makes the rows of the sorted stays. False without memory. */
static bool make_rows(struct xen_stats *x)
{
	for (size_t i = 0; i < x->stay_count;) {
		const size_t end = xen_row_end(x, i);
		if (!reserve(&x->rows, sizeof(*x->rows), x->row_count, &x->row_capacity))
			return false;
		struct xen_row *row = &x->rows[x->row_count++];
		*row = (struct xen_row){.domain = x->stays[i].domain, .number = x->stays[i].number};
		for (size_t next; i < end; i = next) {
			for (next = i + 1; next < end && x->stays[next].state == x->stays[i].state; next++)
				;
			measure(row, &x->stays[i], next - i);
		}
	}
	return true;
}

/* By vCPU, domain or pCPU, then by time. */
static int compare_in_time(const void *a, const void *b)
{
	const struct weft_xentrace_stay *l = a, *r = b;
	int order = compare_u64(l->domain, r->domain);
	if (!order)
		order = compare_u64(l->number, r->number);
	return order ? order : compare_u64(l->start_ns, r->start_ns);
}

/* Finds where each vCPU ran; the rows stay in the order of the stays. False without memory. */
static bool find_pcpus(struct xen_stats *x)
{
	struct xen_row *row = x->rows;
	if (x->stay_count)
		qsort(x->stays, x->stay_count, sizeof(*x->stays), compare_in_time);
	for (size_t i = 0, next; i < x->stay_count; i = next, row++) {
		next = xen_row_end(x, i);
		if (!add_pcpus(x, row, &x->stays[i], next - i))
			return false;
	}
	return true;
}

/* ---- Calls ---- */

static struct xen_call call_of(const struct weft_xentrace_record *record)
{
	const uint32_t class = record->id >> 12, id = record->id & ID_WITHOUT_FLAGS;
	const bool is_hypercall = strcmp(record->name, "hypercall") == 0 || id == ID_VMMCALL;
	const char *name = record->detail ? record->detail : record->name;
	if (class == CLASS_EXIT && record->arg_count)
		return (struct xen_call){"exit", name, 1};
	if (is_hypercall)
		return (struct xen_call){"hypercall", name, 1};
	if (class == CLASS_SUBCALL)
		return (struct xen_call){"subcall", name, 1};
	if (class == CLASS_PV)
		return (struct xen_call){"fault", name, 1};
	return (struct xen_call){0};
}

static int compare_called(const void *a, const void *b)
{
	const struct xen_called *l = a, *r = b;
	int order = compare_u64(l->domain, r->domain);
	if (!order)
		order = compare_u64(l->vcpu, r->vcpu);
	if (!order)
		order = strcmp(l->call.kind, r->call.kind);
	return order ? order : strcmp(l->call.name, r->call.name);
}

/* Finds the count of calls by bisection, or adds it. False without memory. */
static bool count_call(struct xen_stats *x, const struct xen_called *called)
{
	size_t low = 0, high = x->called_count;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if (compare_called(&x->called[middle], called) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < x->called_count && compare_called(&x->called[low], called) == 0) {
		x->called[low].call.count++;
		return true;
	}
	if (!reserve(&x->called, sizeof(*x->called), x->called_count, &x->called_capacity))
		return false;
	memmove(x->called + low + 1, x->called + low, (x->called_count - low) * sizeof(*x->called));
	x->called[low] = *called;
	x->called_count++;
	return true;
}

static int read_calls(struct xen_stats *x, struct weft_decoder *decoder)
{
	const struct stats_xen_request *request = x->request;
	struct weft_xentrace_record record;
	int status;
	while ((status = weft_decoder_next_xentrace(decoder, &record)) == WEFT_OK) {
		struct xen_called called = {record.domain, record.vcpu, call_of(&record)};
		if (request->whose == WEFT_XENTRACE_OF_DOMAIN)
			called.vcpu = 0;
		if (!called.call.kind || record.domain == WEFT_XENTRACE_UNKNOWN ||
			record.domain == WEFT_XENTRACE_IDLE || record.time_ns < request->start_ns ||
			record.time_ns >= request->end_ns)
			continue;
		if (!count_call(x, &called))
			return WEFT_ERROR_MEMORY;
	}
	return status == WEFT_END ? 0 : status;
}

static int compare_with_row(const struct xen_called *called, const struct xen_row *row)
{
	const int order = compare_u64(called->domain, row->domain);
	return order ? order : compare_u64(called->vcpu, row->number);
}

/* Calls and rows are in the same order; a vCPU without stays has calls, but no row. */
static void deal_out_calls(struct xen_stats *x)
{
	size_t next = 0;
	for (uint32_t i = 0; i < x->row_count; i++) {
		struct xen_row *row = &x->rows[i];
		while (next < x->called_count && compare_with_row(&x->called[next], row) < 0)
			next++;
		row->first_call = (uint32_t)next;
		while (next < x->called_count && compare_with_row(&x->called[next], row) == 0)
			next++;
		row->call_count = (uint32_t)next - row->first_call;
	}
}

/* ---- All of it ---- */

void xen_name(const struct xen_stats *x, const struct xen_row *row, char name[32])
{
	if (x->request->whose == WEFT_XENTRACE_OF_PCPU)
		snprintf(name, 32, "pCPU %" PRIu32, row->number);
	else if (x->request->whose == WEFT_XENTRACE_OF_DOMAIN)
		snprintf(name, 32, "d%" PRIu32, row->domain);
	else
		snprintf(name, 32, "d%" PRIu32 "v%" PRIu32, row->domain, row->number);
}

static int gather(struct xen_stats *x, struct weft_decoder *decoder)
{
	int error = weft_decoder_xentrace_stays(decoder, take_stay, x);
	if (error)
		return error;
	if (x->stay_count)
		qsort(x->stays, x->stay_count, sizeof(*x->stays), compare_stays);
	if (!make_rows(x) || !find_pcpus(x))
		return WEFT_ERROR_MEMORY;
	if (x->request->whose != WEFT_XENTRACE_OF_PCPU)
		error = read_calls(x, decoder);
	deal_out_calls(x);
	return error;
}

static void print(const struct xen_stats *x, const char *path)
{
	struct weft_text text = {0};
	if (x->request->interval_ns)
		xen_write_intervals(x, &text);
	else if (x->request->is_json)
		xen_write_json(x, &text);
	else if (x->request->is_csv)
		xen_write_csv(x, &text);
	else
		xen_write_table(x, path, &text);
	cli_write(&text);
	weft_text_finish(&text);
}

int stats_xen(const struct stats_xen_request *request, const char *path)
{
	struct cli_trace trace = {0};
	struct xen_stats x = {.request = request, .end_ns = request->start_ns};
	int status = cli_trace_open(path, &trace);
	if (status)
		return status;
	if (!weft_decoder_has_xentrace(trace.decoder))
		status = cli_usage_error("stats", "--by vcpu, domain and pcpu need a trace of Xen");
	int error = status ? 0 : gather(&x, trace.decoder);
	if (error)
		status = cli_trace_fail(&trace, error);
	else if (!status)
		print(&x, path);
	cli_trace_report(&trace);
	cli_trace_close(&trace);
	free(x.stays);
	free(x.rows);
	free(x.pcpus);
	free(x.called);
	return status;
}
