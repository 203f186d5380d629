/* SPDX-License-Identifier: ISC
 *
 * xenalyze and xentrace_format read the number of words of a record CPU_CHANGE from its header, use
 * the first two, and skip as many bytes as the second one says. So they skip a note, and it changes
 * neither their time zero nor the vCPU that runs, as a record of another kind would.
 */
#include "format/xentrace/notes.h"

#include "base/export.h"
#include "base/little_endian.h"

#define HEADER UINT32_C(0x7001f003)
#define NAME   UINT32_C(0x666577) /* "wef" */

bool weft__format_xentrace_has_note(const uint8_t *bytes, size_t size)
{
	return size >= WEFT_XENTRACE_NOTE_BYTES && weft__load_u32(bytes) == HEADER &&
		   weft__load_u32(bytes + 8) == 0 && (weft__load_u32(bytes + 12) & 0xffffff) == NAME;
}

struct weft_xentrace_note weft__format_xentrace_read_note(
	const uint8_t bytes[WEFT_XENTRACE_NOTE_BYTES])
{
	return (struct weft_xentrace_note){
		.kind = bytes[15],
		.values = {weft__load_u64(bytes + 16), weft__load_u64(bytes + 24)},
	};
}

WEFT__EXPORT void weft_xentrace_write_note(
	const struct weft_xentrace_note *note, unsigned char bytes[WEFT_XENTRACE_NOTE_BYTES])
{
	const uint32_t words[WEFT_XENTRACE_NOTE_BYTES / 4] = {
		[0] = HEADER,
		[3] = NAME | note->kind << 24,
		[4] = (uint32_t)note->values[0],
		[5] = (uint32_t)(note->values[0] >> 32),
		[6] = (uint32_t)note->values[1],
		[7] = (uint32_t)(note->values[1] >> 32),
	};
	for (unsigned i = 0; i < WEFT_XENTRACE_NOTE_BYTES; i++)
		bytes[i] = (unsigned char)(words[i / 4] >> 8 * (i % 4));
}
