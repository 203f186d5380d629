/* SPDX-License-Identifier: ISC
 *
 * The windows of a file that Xen's tool xentrace wrote: runs of records of one pCPU each.
 *
 *     window   u32 0x2001f003, the header of a record CPU_CHANGE: the tool wrote it, not Xen
 *              i32 pCPU
 *              u32 size in bytes of what follows
 *              records of that pCPU, up to the size
 *
 * A window without records may have a longer header, with a note of weft: weft/xentrace.h.
 *
 * The windows are listed once, by their headers. The list has 16 bytes for each window that is not
 * empty; xentrace's windows have some 10,000 bytes.
 */
#ifndef WEFT_FORMAT_XENTRACE_WINDOWS_H
#define WEFT_FORMAT_XENTRACE_WINDOWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/diagnostic.h>
#include <weft/xentrace.h>

/* The only signature of the format. */
#define WEFT__XENTRACE_WINDOW       UINT32_C(0x2001f003)
#define WEFT__XENTRACE_WINDOW_BYTES 12

/* Xen's own limit is below this. A header with a larger number is damage. */
#define WEFT__XENTRACE_CPUS_MAX 16384u

struct weft__xentrace_window {
	uint64_t offset; /* of its first record */
	uint32_t size;   /* within the file */
	uint32_t next;   /* the pCPU's next window, or UINT32_MAX */
};

struct weft__xentrace_cpu {
	uint32_t number;
	uint32_t first, last; /* windows */
};

struct weft__xentrace_windows {
	struct weft__xentrace_window *list;
	size_t count, capacity;
	struct weft__xentrace_cpu *cpus; /* by number */
	size_t cpu_count, cpu_capacity;
	struct weft_xentrace_note *notes;
	size_t note_count, note_capacity;
};

/* True if the bytes begin with a window of the size that its header says, or one that ends with the
 * bytes. */
bool weft__format_xentrace_probe(const uint8_t *bytes, size_t size);

/* Lists the windows. Damage is counted: bytes that are in no window, a window whose size is wrong,
 * a file that ends within a window. 0, WEFT_ERROR_MEMORY or _LIMIT; `*ret_windows` is to be
 * finished in each case. */
int weft__format_xentrace_windows_find(const uint8_t *bytes, size_t size,
	struct weft_diagnostics *diagnostics, struct weft__xentrace_windows *ret_windows);

/* True if a note says that records were left out. */
bool weft__format_xentrace_is_filtered(const struct weft__xentrace_windows *windows);

void weft__format_xentrace_windows_finish(struct weft__xentrace_windows *windows);

#endif
