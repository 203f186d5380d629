/* SPDX-License-Identifier: ISC
 *
 * Reads the records of an xentrace file while it grows, in batches of whole windows. Each batch is
 * read as a file of its own, up to the time before which all pCPUs have been written. The rest is
 * made windows again, which begin the next batch.
 *
 * xentrace goes through the pCPUs in the order of their numbers, and writes a window of each that
 * has new records. A number that is not larger than the last one begins a new turn. When it comes,
 * the turn before is complete: each pCPU was read then, after the first one of that turn was, and
 * so after the last record in the turn's first window.
 */
#include <stdlib.h>
#include <string.h>

#include <weft/error.h>

#include "base/array.h"
#include "base/export.h"
#include "base/little_endian.h"
#include "format/xentrace/growing.h"
#include "format/xentrace/notes.h"
#include "format/xentrace/reader.h"

/* Xen's buffers are smaller. A window of more is damage, for which we do not wait. */
#define WINDOW_MAX (UINT32_C(1) << 28)

/* More than this does not wait for the end of a turn, which in a damaged file may never come. */
#define PENDING_MAX ((size_t)512 << 20)

/* A pCPU between two batches. */
struct pcpu {
	struct weft__xentrace_running running;
	struct weft__xentrace_before before;
};

struct weft_xentrace_growing {
	struct weft__xentrace_reader reader; /* of the batch */
	struct weft_trace_description description;
	struct weft_diagnostics own;
	struct weft_diagnostics *diagnostics; /* the caller's, or our own */
	uint8_t *bytes;                       /* the batch and what comes after it */
	size_t size, capacity;
	size_t batch;      /* the bytes of the batch; 0: there is none */
	size_t listed;     /* the bytes of whole windows */
	uint32_t last_cpu; /* of the last one of these */
	uint64_t turn;     /* the cycles of the last record in the first window of this turn */
	uint64_t complete; /* the records up to these cycles have come */
	bool has_new;      /* more records are complete than in the last batch */
	bool is_svm, has_clock;
	struct pcpu *cpus; /* by number */
	uint64_t hz;
	uint64_t batches; /* so far */
	uint64_t number;  /* of the last record of the batch before */
};

WEFT__EXPORT bool weft_xentrace_growing_probe(const void *bytes, size_t size)
{
	return weft__format_xentrace_probe(bytes, size);
}

WEFT__EXPORT int weft_xentrace_growing_create(
	uint64_t hz, struct weft_xentrace_growing **ret_growing)
{
	struct weft_xentrace_growing *g = calloc(1, sizeof(*g));
	struct pcpu *cpus = calloc(WEFT__XENTRACE_CPUS_MAX, sizeof(*cpus));
	if (!g || !cpus) {
		free(g);
		free(cpus);
		return WEFT_ERROR_MEMORY;
	}
	for (size_t i = 0; i < WEFT__XENTRACE_CPUS_MAX; i++)
		cpus[i].running.now.domain = cpus[i].running.before_loss.domain = WEFT_XENTRACE_UNKNOWN;
	g->cpus = cpus;
	g->hz = hz;
	g->diagnostics = &g->own;
	g->last_cpu = UINT32_MAX;
	*ret_growing = g;
	return 0;
}

WEFT__EXPORT void weft_xentrace_growing_destroy(struct weft_xentrace_growing *g)
{
	if (!g)
		return;
	weft__format_xentrace_finish(&g->reader);
	free(g->bytes);
	free(g->cpus);
	free(g);
}

/* The bytes may move, also while the reader of a batch is between two of its records. */
static int reserve(struct weft_xentrace_growing *g, size_t wanted)
{
	const struct weft__column column = {&g->bytes, 1};
	int error = weft__columns_reserve(&column, 1, &g->capacity, wanted);
	if (g->batch)
		g->reader.base.input.bytes = g->reader.records.bytes = g->bytes;
	return error;
}

/* ---- Windows ---- */

/* The cycles of the last record of a window that has any; 0: none has. */
static uint64_t last_cycles(const uint8_t *at, const uint8_t *end)
{
	uint64_t cycles = 0;
	while (end - at >= 4) {
		uint32_t header = weft__load_u32(at);
		size_t size = 4 + (header >> 31 ? 8 : 0) + 4 * (header >> 28 & 7);
		if (size > (size_t)(end - at))
			break;
		if (header >> 31)
			cycles = weft__load_u64(at + 4);
		at += size;
	}
	return cycles;
}

static void add_window(
	struct weft_xentrace_growing *g, uint32_t cpu, const uint8_t *at, const uint8_t *end)
{
	bool is_turn = g->last_cpu == UINT32_MAX || cpu <= g->last_cpu;
	if (is_turn && g->turn > g->complete) {
		g->complete = g->turn;
		g->has_new = true;
	}
	if (is_turn)
		g->turn = last_cycles(at, end);
	g->last_cpu = cpu;
}

/* Lists the windows that are whole. What is not a window is left to the reader of the batch. */
static void list_windows(struct weft_xentrace_growing *g)
{
	while (g->size - g->listed >= WEFT__XENTRACE_WINDOW_BYTES) {
		const uint8_t *at = g->bytes + g->listed;
		uint64_t rest = g->size - g->listed;
		if (rest < WEFT_XENTRACE_NOTE_BYTES && weft__load_u32(at) != WEFT__XENTRACE_WINDOW)
			return; /* perhaps a note */
		if (weft__format_xentrace_has_note(at, rest)) {
			g->listed += WEFT_XENTRACE_NOTE_BYTES;
			continue;
		}
		uint32_t cpu = weft__load_u32(at + 4), size = weft__load_u32(at + 8);
		if (!weft__format_xentrace_probe(at, rest) || size > WINDOW_MAX) {
			weft_xentrace_growing_flush(g, true);
			return;
		}
		if (size > rest - WEFT__XENTRACE_WINDOW_BYTES)
			return;
		at += WEFT__XENTRACE_WINDOW_BYTES;
		add_window(g, cpu, at, at + size);
		g->listed += WEFT__XENTRACE_WINDOW_BYTES + size;
	}
}

WEFT__EXPORT int weft_xentrace_growing_feed(
	struct weft_xentrace_growing *g, const void *bytes, size_t size)
{
	int error = reserve(g, g->size + size);
	if (error || !size)
		return error;
	memcpy(g->bytes + g->size, bytes, size);
	g->size += size;
	if (!g->batch)
		list_windows(g);
	if (g->size > PENDING_MAX)
		weft_xentrace_growing_flush(g, false);
	return 0;
}

WEFT__EXPORT void weft_xentrace_growing_flush(struct weft_xentrace_growing *g, bool is_end)
{
	if (g->batch)
		return;
	if (is_end)
		g->listed = g->size;
	g->complete = UINT64_MAX;
	g->has_new = g->listed > 0;
}

/* ---- Batches ---- */

/* The first batch tells the clock, and whose exits these are is known once one of them tells. */
static int take_clock(struct weft_xentrace_growing *g)
{
	struct weft__xentrace_reader *r = &g->reader;
	const struct weft__xentrace_clock clock = r->clock;
	const struct weft_clock described = g->description.clock;
	int error = weft__format_xentrace_look_over(r);
	if (!g->is_svm && !r->has_vendor)
		weft__format_xentrace_find_vendor(r);
	g->is_svm |= r->is_svm;
	r->is_svm = g->is_svm;
	r->has_vendor = true;
	if (g->has_clock) {
		r->clock = clock;
		g->description.clock = described;
	}
	g->has_clock |= r->records.first_cycles != UINT64_MAX;
	if (g->description.clock.rate == WEFT_RATE_GIVEN)
		g->hz = g->description.clock.hz;
	return error;
}

static int start_records(struct weft_xentrace_growing *g)
{
	struct weft__xentrace_reader *r = &g->reader;
	struct weft__xentrace_before *before = calloc(r->windows.cpu_count + 1, sizeof(*before));
	if (!before)
		return WEFT_ERROR_MEMORY;
	for (size_t i = 0; i < r->windows.cpu_count; i++)
		before[i] = g->cpus[r->windows.cpus[i].number].before;
	int error = weft__format_xentrace_records_init(
		&r->records, g->bytes, &r->windows, before, g->diagnostics);
	free(before);
	r->records.last_cycles = g->complete;
	r->records.number = g->number;
	return error;
}

static int start_batch(struct weft_xentrace_growing *g)
{
	struct weft__xentrace_reader *r = &g->reader;
	const struct weft__xentrace_clock clock = r->clock;
	*r = (struct weft__xentrace_reader){.clock = clock};
	r->base.input = (struct weft__input){.bytes = g->bytes,
		.size = g->listed,
		.diagnostics = g->diagnostics,
		.description = &g->description,
		.hz = g->hz};
	g->batch = g->listed;
	g->batches++;
	g->has_new = false;
	int error = weft__format_xentrace_windows_find(g->bytes, g->batch, g->diagnostics, &r->windows);
	if (!error)
		error = start_records(g);
	if (!error)
		error = weft__format_xentrace_describe_cpus(r);
	if (!error)
		error = take_clock(g);
	for (size_t i = 0; i < r->windows.cpu_count && !error; i++)
		r->running[i] = g->cpus[r->windows.cpus[i].number].running;
	return error;
}

static uint8_t *put_window(uint8_t *at, uint32_t cpu, const uint8_t *bytes, uint64_t size)
{
	const uint32_t head[] = {WEFT__XENTRACE_WINDOW, cpu, (uint32_t)size};
	for (unsigned i = 0; i < sizeof(head); i++)
		at[i] = (uint8_t)(head[i / 4] >> 8 * (i % 4));
	memcpy(at + sizeof(head), bytes, size);
	return at + sizeof(head) + size;
}

/* Writes what is left of the records of a pCPU as windows. */
static uint8_t *put_rest(struct weft_xentrace_growing *g, uint32_t i, uint8_t *at)
{
	const struct weft__xentrace_windows *windows = &g->reader.windows;
	const struct weft__xentrace_rest rest =
		weft__format_xentrace_records_rest(&g->reader.records, i);
	uint32_t number = windows->cpus[i].number, next = rest.window;
	g->cpus[number].before = rest.before;
	g->cpus[number].running = g->reader.running[i];
	if (rest.offset < rest.end)
		at = put_window(at, number, g->bytes + rest.offset, rest.end - rest.offset);
	for (; next != UINT32_MAX; next = windows->list[next].next)
		at =
			put_window(at, number, g->bytes + windows->list[next].offset, windows->list[next].size);
	return at;
}

/* Keeps the rest of the batch, and what has come since. */
static int end_batch(struct weft_xentrace_growing *g)
{
	struct weft__xentrace_reader *r = &g->reader;
	/* Each rest has a header, where a window was or in place of its first record. */
	size_t most = g->size + (r->windows.count + 1) * (size_t)WEFT__XENTRACE_WINDOW_BYTES;
	uint8_t *bytes = malloc(most), *at = bytes;
	if (!bytes)
		return WEFT_ERROR_MEMORY;
	for (uint32_t i = 0; i < r->windows.cpu_count; i++)
		at = put_rest(g, i, at);
	size_t rest = (size_t)(at - bytes), new = g->size - g->batch;
	memcpy(at, g->bytes + g->batch, new);
	free(g->bytes);
	g->bytes = bytes;
	g->capacity = most;
	g->size = rest + new;
	g->listed = rest;
	g->batch = 0;
	if (g->complete == UINT64_MAX) { /* a new beginning */
		g->complete = g->turn = 0;
		g->last_cpu = UINT32_MAX;
	}
	g->number = r->records.number;
	weft__format_xentrace_finish(r);
	r->windows = (struct weft__xentrace_windows){0};
	r->running = NULL;
	r->threads = NULL;
	r->thread_names = NULL;
	list_windows(g);
	return 0;
}

int weft__format_xentrace_growing_take(
	struct weft_xentrace_growing *g, const struct weft__xentrace_record **ret_record)
{
	for (;;) {
		if (!g->batch && !(g->has_new && g->complete && g->listed))
			return WEFT_AGAIN;
		int error = g->batch ? 0 : start_batch(g);
		if (error)
			return error;
		if (weft__format_xentrace_records_next(&g->reader.records, ret_record))
			return WEFT_OK;
		if ((error = end_batch(g)))
			return error;
	}
}

WEFT__EXPORT int weft_xentrace_growing_next(
	struct weft_xentrace_growing *g, struct weft_xentrace_record *ret_record)
{
	const struct weft__xentrace_record *record;
	int status;
	while ((status = weft__format_xentrace_growing_take(g, &record)) == WEFT_OK)
		if (weft__format_xentrace_show(&g->reader, record, ret_record)) {
			ret_record->offset = 0; /* it is one in the batch */
			break;
		}
	return status;
}

/* ---- xentrace/growing.h ---- */

void weft__format_xentrace_growing_report(
	struct weft_xentrace_growing *g, struct weft_diagnostics *diagnostics)
{
	g->diagnostics = diagnostics;
}

const struct weft__xentrace_reader *weft__format_xentrace_growing_batch(
	const struct weft_xentrace_growing *g, uint64_t *ret_number)
{
	*ret_number = g->batches;
	return &g->reader;
}

bool weft__format_xentrace_growing_is_empty(const struct weft_xentrace_growing *g)
{
	return !g->size;
}

WEFT__EXPORT const struct weft_clock *weft_xentrace_growing_clock(
	const struct weft_xentrace_growing *g)
{
	return &g->description.clock;
}

WEFT__EXPORT const struct weft_diagnostics *weft_xentrace_growing_diagnostics(
	const struct weft_xentrace_growing *g)
{
	return g->diagnostics;
}
