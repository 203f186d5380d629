/* SPDX-License-Identifier: ISC
 *
 * Lists the windows of an xentrace file. A window's end is where the next header must be. Where it
 * is not, the next header is searched for: a run of bytes that is one, whose own window also ends
 * at a header or with the file. So a wrong size or a damaged header costs the records of a window,
 * not the trace. Each byte is searched at most twice.
 */
#include "format/xentrace/windows.h"

#include <stdlib.h>
#include <string.h>

#include <weft/error.h>

#include "base/array.h"
#include "base/little_endian.h"

#include "format/xentrace/notes.h"

#define HEADER_BYTES WEFT__XENTRACE_WINDOW_BYTES

struct file {
	const uint8_t *bytes;
	size_t size;
};

struct window_header {
	uint32_t cpu, size, bytes; /* `bytes`: of the header itself */
};

static bool read_header(const struct file *f, uint64_t at, struct window_header *ret_header)
{
	if (at > f->size || f->size - at < HEADER_BYTES)
		return false;
	const uint8_t *bytes = f->bytes + at;
	bool is_note = weft__format_xentrace_has_note(bytes, f->size - at);
	struct window_header header = {weft__load_u32(bytes + 4), weft__load_u32(bytes + 8),
		is_note ? WEFT_XENTRACE_NOTE_BYTES : HEADER_BYTES};
	*ret_header = header;
	return is_note || (weft__load_u32(bytes) == WEFT__XENTRACE_WINDOW &&
						  header.cpu < WEFT__XENTRACE_CPUS_MAX && header.size % 4 == 0);
}

/* True if `at` may be the end of a window: a header follows, or less than one. */
static bool is_end(const struct file *f, uint64_t at)
{
	struct window_header header;
	return read_header(f, at, &header) || (at <= f->size && f->size - at < HEADER_BYTES);
}

static uint64_t end_of(uint64_t at, const struct window_header *header)
{
	return at + header->bytes + header->size;
}

bool weft__format_xentrace_probe(const uint8_t *bytes, size_t size)
{
	const struct file f = {bytes, size};
	struct window_header header;
	return read_header(&f, 0, &header);
}

/* The first window at or after `at` that ends where a window may end; the file's size if there is
 * none. */
static uint64_t search(const struct file *f, uint64_t at)
{
	struct window_header header;
	for (; at <= f->size && f->size - at >= HEADER_BYTES; at += 4)
		if (read_header(f, at, &header) && is_end(f, end_of(at, &header)))
			return at;
	return f->size;
}

static uint32_t *find_cpu(struct weft__xentrace_windows *w, uint16_t *known, uint32_t number)
{
	if (known[number])
		return &w->cpus[known[number] - 1].last;
	if (w->cpu_count == w->cpu_capacity) {
		size_t capacity = weft__array_next_capacity(w->cpu_capacity, w->cpu_count + 1);
		if (weft__array_resize(&w->cpus, capacity, sizeof(*w->cpus)))
			return NULL;
		w->cpu_capacity = capacity;
	}
	w->cpus[w->cpu_count] = (struct weft__xentrace_cpu){number, UINT32_MAX, UINT32_MAX};
	known[number] = (uint16_t)++w->cpu_count;
	return &w->cpus[w->cpu_count - 1].last;
}

static int add_window(struct weft__xentrace_windows *w, uint16_t *known, uint32_t number,
	struct weft__xentrace_window window)
{
	if (window.size < 4)
		return 0;
	if (w->count >= UINT32_MAX - 1)
		return WEFT_ERROR_LIMIT;
	if (w->count == w->capacity) {
		size_t capacity = weft__array_next_capacity(w->capacity, w->count + 1);
		int error = weft__array_resize(&w->list, capacity, sizeof(*w->list));
		if (error)
			return error;
		w->capacity = capacity;
	}
	uint32_t *last = find_cpu(w, known, number);
	if (!last)
		return WEFT_ERROR_MEMORY;
	uint32_t index = (uint32_t)w->count++;
	window.next = UINT32_MAX;
	w->list[index] = window;
	if (*last == UINT32_MAX)
		w->cpus[known[number] - 1].first = index;
	else
		w->list[*last].next = index;
	*last = index;
	return 0;
}

/* The end of the records of the window at `at`, if its header does not lead to another one. */
static uint64_t end_of_damaged(const struct file *f, uint64_t at,
	const struct window_header *header, struct weft_diagnostics *diagnostics)
{
	uint64_t next = search(f, at + HEADER_BYTES), end = end_of(at, header);
	bool is_cut = end > f->size;
	if (next < f->size)
		weft_diagnostics_add(diagnostics, at, "the size of a window is wrong");
	else if (is_cut)
		weft_diagnostics_add(diagnostics, at, "the file ends within a window");
	return !is_cut && end < next ? end : next;
}

static int add_note(struct weft__xentrace_windows *w, const uint8_t *bytes)
{
	const struct weft__column column = {&w->notes, sizeof(*w->notes)};
	int error = weft__columns_reserve(&column, 1, &w->note_capacity, w->note_count + 1);
	if (!error)
		w->notes[w->note_count++] = weft__format_xentrace_read_note(bytes);
	return error;
}

static int list_windows(const struct file *f, uint16_t *known, struct weft_diagnostics *diagnostics,
	struct weft__xentrace_windows *w)
{
	int error = 0;
	for (uint64_t at = 0; at < f->size && !error;) {
		struct window_header header;
		if (!read_header(f, at, &header)) {
			bool is_cut = f->size - at < HEADER_BYTES;
			weft_diagnostics_add(diagnostics, at,
				is_cut ? "the file ends within the header of a window"
					   : "no window begins here; bytes up to the next window are left out");
			at = is_cut ? f->size : search(f, at + 4);
			continue;
		}
		uint64_t end = end_of(at, &header);
		if (!is_end(f, end))
			end = end_of_damaged(f, at, &header, diagnostics);
		uint64_t start = at + header.bytes;
		const struct weft__xentrace_window window = {start, (uint32_t)(end - start), 0};
		if (header.bytes == HEADER_BYTES)
			error = add_window(w, known, header.cpu, window);
		else if (end == start)
			error = add_note(w, f->bytes + at);
		at = end;
	}
	return error;
}

static int compare_cpus(const void *a, const void *b)
{
	uint32_t first = ((const struct weft__xentrace_cpu *)a)->number;
	uint32_t second = ((const struct weft__xentrace_cpu *)b)->number;
	return (first > second) - (first < second);
}

int weft__format_xentrace_windows_find(const uint8_t *bytes, size_t size,
	struct weft_diagnostics *diagnostics, struct weft__xentrace_windows *ret_windows)
{
	const struct file f = {bytes, size};
	*ret_windows = (struct weft__xentrace_windows){0};
	/* 1 + the index of each pCPU. */
	uint16_t *known = calloc(WEFT__XENTRACE_CPUS_MAX, sizeof(*known));
	if (!known)
		return WEFT_ERROR_MEMORY;
	int error = list_windows(&f, known, diagnostics, ret_windows);
	free(known);
	if (ret_windows->cpu_count)
		qsort(ret_windows->cpus, ret_windows->cpu_count, sizeof(*ret_windows->cpus), compare_cpus);
	return error;
}

bool weft__format_xentrace_is_filtered(const struct weft__xentrace_windows *windows)
{
	for (size_t i = 0; i < windows->note_count; i++)
		if (windows->notes[i].kind == WEFT_XENTRACE_NOTE_FILTERED)
			return true;
	return false;
}

void weft__format_xentrace_windows_finish(struct weft__xentrace_windows *windows)
{
	free(windows->list);
	free(windows->cpus);
	free(windows->notes);
	*windows = (struct weft__xentrace_windows){0};
}
