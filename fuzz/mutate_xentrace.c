/* SPDX-License-Identifier: ISC
 *
 * Changes a trace of Xen by its grammar: windows of a pCPU, and their records. The size of a
 * window is mended after its records have grown or shrunk.
 */
#include "mutation.h"

#include "format/xentrace/windows.h"

enum {
	WINDOWS_MAX = 64,
	RECORDS_MAX = 512,
	WINDOW_BYTES = 12, /* of its header: the record's header, the pCPU, the size */
	EXTRAS_MAX = 7,
};

static const uint32_t has_cycles = UINT32_C(1) << 31;

struct window {
	size_t at;   /* of the header */
	size_t size; /* of the records */
};

static size_t find_windows(const struct mutation *m, struct window *windows)
{
	size_t count = 0, at = 0;
	while (count < WINDOWS_MAX && m->size - at >= WINDOW_BYTES) {
		size_t size = get_u32(m, at + 8);
		if (get_u32(m, at) != WEFT__XENTRACE_WINDOW || size > m->size - at - WINDOW_BYTES)
			break;
		windows[count++] = (struct window){at, size};
		at += WINDOW_BYTES + size;
	}
	return count;
}

static size_t record_bytes(uint32_t header)
{
	return 4 + (header & has_cycles ? 8 : 0) + 4 * (header >> 28 & EXTRAS_MAX);
}

/* The place of a record in the input; 0: there is none. */
static size_t pick_record(struct mutation *m, const struct window *w)
{
	size_t records[RECORDS_MAX], count = 0, at = w->at + WINDOW_BYTES, end = at + w->size;
	while (count < RECORDS_MAX && at + 4 <= end && record_bytes(get_u32(m, at)) <= end - at) {
		records[count++] = at;
		at += record_bytes(get_u32(m, at));
	}
	return count ? records[roll(m, (uint32_t)count)] : 0;
}

static bool grow(struct mutation *m, const struct window *w, size_t at, size_t bytes)
{
	if (!insert(m, at, bytes))
		return false;
	set_u32(m, w->at + 8, (uint32_t)(w->size + bytes));
	return true;
}

static void shrink(struct mutation *m, const struct window *w, size_t at, size_t bytes)
{
	cut_out(m, at, bytes);
	set_u32(m, w->at + 8, (uint32_t)(w->size - bytes));
}

/* Gives a record one argument more or less, or cycles if it has none. */
static void resize(struct mutation *m, const struct window *w, size_t at)
{
	uint32_t header = get_u32(m, at), extras = header >> 28 & EXTRAS_MAX;
	if (roll(m, 4) == 0 && !(header & has_cycles)) {
		if (grow(m, w, at + 4, 8))
			set_u32(m, at, header | has_cycles);
	} else if (roll(m, 2) && extras < EXTRAS_MAX) {
		if (grow(m, w, at + record_bytes(header), 4))
			set_u32(m, at, header + (UINT32_C(1) << 28));
	} else if (extras) {
		shrink(m, w, at + record_bytes(header) - 4, 4);
		set_u32(m, at, header - (UINT32_C(1) << 28));
	}
}

/* The same number of arguments, of another event: one near by, or of another class. */
static uint32_t other_event(struct mutation *m, uint32_t header)
{
	static const uint32_t classes[] = {0x1f001, 0x1f002, 0x1f003, 0x1f004, 0x21002, 0x22001,
		0x28001, 0x2f001, 0x41001, 0x42001, 0x81001, 0x82001, 0x101000, 0x201000, 0x40f001,
		0x802001};
	uint32_t event = classes[roll(m, sizeof(classes) / sizeof(*classes))] + roll(m, 24);
	if (roll(m, 2))
		event = (header & 0x0ffffff0) | roll(m, 16);
	return (header & 0xf0000000) | event;
}

static void change_record(struct mutation *m, const struct window *w)
{
	size_t at = pick_record(m, w);
	if (!at)
		return;
	uint32_t header = get_u32(m, at), extras = header >> 28 & EXTRAS_MAX;
	size_t bytes = record_bytes(header);
	switch (roll(m, 6)) {
	case 0:
		set_u32(m, at, other_event(m, header));
		break;
	case 1:
		grow(m, w, at, bytes);
		break;
	case 2:
		shrink(m, w, at, bytes);
		break;
	case 3:
		resize(m, w, at);
		break;
	case 4:
		if (header & has_cycles)
			set_u64(m, at + 4, roll(m, 2) ? special(m) : get_u64(m, at + 4) + special(m));
		break;
	default:
		if (extras)
			set_u32(m, at + bytes - 4 * (1 + roll(m, extras)), (uint32_t)special(m));
	}
}

/* A window comes twice, is missing, or is of another pCPU. */
static void change_window(struct mutation *m, const struct window *w)
{
	size_t bytes = WINDOW_BYTES + w->size;
	switch (roll(m, 3)) {
	case 0:
		insert(m, w->at, bytes);
		break;
	case 1:
		cut_out(m, w->at, bytes);
		break;
	default:
		set_u32(m, w->at + 4, roll(m, 8) ? roll(m, 4) : (uint32_t)special(m));
	}
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t size_max, unsigned seed)
{
	struct mutation m = {bytes, size, size_max, seed};
	struct window windows[WINDOWS_MAX];
	if (roll(&m, 4) == 0)
		return LLVMFuzzerMutate(bytes, size, size_max);
	for (uint32_t changes = 1 + roll(&m, 4); changes; changes--) {
		size_t count = find_windows(&m, windows);
		if (!count)
			return LLVMFuzzerMutate(bytes, m.size, size_max);
		const struct window *one = &windows[roll(&m, (uint32_t)count)];
		if (roll(&m, 8))
			change_record(&m, one);
		else
			change_window(&m, one);
	}
	return m.size;
}
