/* SPDX-License-Identifier: ISC
 *
 * A cursor for each pCPU, which follows its windows, and a binary heap of cursors by the cycles of
 * their next record.
 */
#include "format/xentrace/records.h"

#include <stdlib.h>

#include <weft/error.h>

#include "base/little_endian.h"

#define HAS_CYCLES UINT32_C(0x80000000)
#define ID_MASK    UINT32_C(0x0fffffff)

/* A step this long may be a damaged count: the next record tells. 1.4 s at 3 GHz. */
#define LONG_STEP (UINT64_C(1) << 32)

struct weft__xentrace_cursor {
	struct weft__xentrace_record record; /* its number: of the one before, until it is given */
	uint64_t at, end;                    /* the rest of the window */
	uint32_t window;                     /* the next one, or UINT32_MAX */
	uint64_t own_cycles;                 /* of a record LOST whose loss has begun: when it ends */
};

static void report_damage(struct weft__xentrace_records *r, uint64_t offset, const char *message)
{
	if (r->diagnostics)
		weft_diagnostics_add(r->diagnostics, offset, message);
}

static size_t bytes_of(uint32_t header)
{
	return 4 + (header & HAS_CYCLES ? 8 : 0) + 4 * (header >> 28 & 7);
}

/* The cycles of the next record after `at` in the window that has any; false if there is none. */
static bool peek_cycles(
	const struct weft__xentrace_records *r, uint64_t at, uint64_t end, uint64_t *ret_cycles)
{
	while (end - at >= 4) {
		uint32_t header = weft__load_u32(r->bytes + at);
		if (bytes_of(header) > end - at)
			return false;
		if (header & HAS_CYCLES) {
			*ret_cycles = weft__load_u64(r->bytes + at + 4);
			return true;
		}
		at += bytes_of(header);
	}
	return false;
}

/* The TSC of a pCPU does not go back, and the records of a pCPU are in order: other cycles are
 * damage. Of a long step and a step back behind it, the first is the wrong one. */
static uint64_t check_cycles(struct weft__xentrace_records *r,
	const struct weft__xentrace_cursor *c, uint64_t cycles, uint64_t at)
{
	uint64_t last = c->record.cycles, next;
	if (!last)
		return cycles; /* the first ones */
	if (cycles < last) {
		report_damage(
			r, c->record.offset, "a time before that of the record before; it is limited");
		return last;
	}
	if (cycles - last > LONG_STEP && peek_cycles(r, at, c->end, &next) && next < cycles &&
		next >= last) {
		report_damage(
			r, c->record.offset, "a time far after that of the next record; it is limited");
		return last;
	}
	return cycles;
}

/* Opens the pCPU's next window; false after the last one. */
static bool next_window(struct weft__xentrace_records *r, struct weft__xentrace_cursor *c)
{
	if (c->window == UINT32_MAX)
		return false;
	const struct weft__xentrace_window *window = &r->windows->list[c->window];
	c->at = window->offset;
	c->end = window->offset + window->size;
	c->window = window->next;
	return true;
}

/* Reads the record at the cursor, which has `header`, except for its cycles. */
static void read_record(struct weft__xentrace_records *r, struct weft__xentrace_cursor *c,
	uint32_t header, const uint8_t *bytes)
{
	struct weft__xentrace_record *record = &c->record;
	uint32_t count = header >> 28 & 7;
	record->offset = c->at;
	record->id = header & ID_MASK;
	record->count = (uint8_t)count;
	record->has_cycles = header & HAS_CYCLES;
	c->at += bytes_of(header);
	bytes += 4;
	if (header & HAS_CYCLES) {
		record->cycles = check_cycles(r, c, weft__load_u64(bytes), c->at);
		bytes += 8;
	}
	for (uint32_t i = 0; i < count; i++)
		record->words[i] = weft__load_u32(bytes + 4 * i);
	for (uint32_t i = count; i < WEFT__XENTRACE_WORDS_MAX; i++)
		record->words[i] = 0;
}

/* A loss is placed where it begins, if its record says so. */
static void begin_loss(struct weft__xentrace_cursor *c, uint64_t last_cycles)
{
	struct weft__xentrace_record *record = &c->record;
	uint64_t begin = record->words[2] | (uint64_t)record->words[3] << 32;
	c->own_cycles = record->cycles;
	if (begin < last_cycles || begin > record->cycles)
		begin = begin < last_cycles ? last_cycles : record->cycles;
	record->cycles = begin;
	record->is_loss_begin = true;
}

/* Reads the pCPU's next record that is not padding; false at its end. */
static bool advance(struct weft__xentrace_records *r, struct weft__xentrace_cursor *c)
{
	if (c->record.is_loss_begin) {
		c->record.is_loss_begin = false;
		c->record.cycles = c->own_cycles;
		return true;
	}
	for (;;) {
		if (c->end - c->at < 4 && !next_window(r, c))
			return false;
		const uint8_t *bytes = r->bytes + c->at;
		uint32_t header = weft__load_u32(bytes);
		if (bytes_of(header) > c->end - c->at) {
			report_damage(r, c->at, "a record is longer than the rest of its window");
			c->at = c->end;
			continue;
		}
		uint64_t last_cycles = c->record.cycles;
		if ((header & ID_MASK) == WEFT__XENTRACE_WRAP) {
			c->at += bytes_of(header);
			continue;
		}
		read_record(r, c, header, bytes);
		if (c->record.id == WEFT__XENTRACE_LOST && c->record.count == 4)
			begin_loss(c, last_cycles);
		return true;
	}
}

static bool is_before(const struct weft__xentrace_cursor *a, const struct weft__xentrace_cursor *b)
{
	return a->record.cycles < b->record.cycles ||
		   (a->record.cycles == b->record.cycles && a->record.number > b->record.number);
}

static void sift_down(struct weft__xentrace_records *r, uint32_t at)
{
	uint32_t moving = r->heap[at];
	for (uint32_t child; (child = 2 * at + 1) < r->heap_count; at = child) {
		if (child + 1 < r->heap_count &&
			is_before(&r->cursors[r->heap[child + 1]], &r->cursors[r->heap[child]]))
			child++;
		if (!is_before(&r->cursors[r->heap[child]], &r->cursors[moving]))
			break;
		r->heap[at] = r->heap[child];
	}
	r->heap[at] = moving;
}

/* The cycles of the pCPU's first record that has any, for records before that; 0 if it is the first
 * of all. */
static uint64_t first_cycles(const struct weft__xentrace_records *r, uint32_t window)
{
	if (weft__load_u32(r->bytes + r->windows->list[window].offset) & HAS_CYCLES)
		return 0;
	for (; window != UINT32_MAX; window = r->windows->list[window].next) {
		const struct weft__xentrace_window *w = &r->windows->list[window];
		uint64_t cycles;
		if (peek_cycles(r, w->offset, w->offset + w->size, &cycles))
			return cycles;
	}
	return 0;
}

int weft__format_xentrace_records_init(struct weft__xentrace_records *r, const uint8_t *bytes,
	const struct weft__xentrace_windows *windows, const struct weft__xentrace_before *before,
	struct weft_diagnostics *diagnostics)
{
	uint32_t count = (uint32_t)windows->cpu_count;
	*r = (struct weft__xentrace_records){.bytes = bytes,
		.windows = windows,
		.diagnostics = diagnostics,
		.first_cycles = UINT64_MAX,
		.last_cycles = UINT64_MAX};
	r->cursors = calloc(count + 1, sizeof(*r->cursors));
	r->heap = calloc(count + 1, sizeof(*r->heap));
	if (!r->cursors || !r->heap)
		return WEFT_ERROR_MEMORY;
	for (uint32_t i = 0; i < count; i++) {
		struct weft__xentrace_cursor *c = &r->cursors[i];
		c->window = windows->cpus[i].first;
		c->record = (struct weft__xentrace_record){.cpu = i};
		c->record.number = before ? before[i].number : 0;
		c->record.cycles =
			before && before[i].cycles ? before[i].cycles : first_cycles(r, c->window);
		if (!advance(r, c))
			continue;
		r->heap[r->heap_count++] = i;
		bool is_timed = c->record.has_cycles || c->record.cycles;
		if (is_timed && c->record.cycles < r->first_cycles)
			r->first_cycles = c->record.cycles;
	}
	for (uint32_t i = r->heap_count / 2; i-- > 0;)
		sift_down(r, i);
	return 0;
}

void weft__format_xentrace_records_finish(struct weft__xentrace_records *r)
{
	free(r->cursors);
	free(r->heap);
	*r = (struct weft__xentrace_records){0};
}

struct weft__xentrace_rest weft__format_xentrace_records_rest(
	const struct weft__xentrace_records *r, uint32_t cpu)
{
	const struct weft__xentrace_cursor *c = &r->cursors[cpu];
	bool has_record = false;
	for (uint32_t i = 0; i < r->heap_count; i++)
		has_record |= r->heap[i] == cpu;
	return (struct weft__xentrace_rest){
		.before = {c->record.cycles, c->record.number},
		.offset = has_record ? c->record.offset : c->end,
		.end = c->end,
		.window = c->window,
	};
}

bool weft__format_xentrace_records_next(
	struct weft__xentrace_records *r, const struct weft__xentrace_record **ret_record)
{
	if (r->has_turn) {
		if (!advance(r, &r->cursors[r->heap[0]]))
			r->heap[0] = r->heap[--r->heap_count];
		if (r->heap_count > 1)
			sift_down(r, 0);
	}
	r->has_turn = r->heap_count > 0 && r->cursors[r->heap[0]].record.cycles <= r->last_cycles;
	if (!r->has_turn)
		return false;
	struct weft__xentrace_cursor *c = &r->cursors[r->heap[0]];
	c->record.number = ++r->number;
	r->cycles = c->record.cycles;
	*ret_record = &c->record;
	return true;
}
