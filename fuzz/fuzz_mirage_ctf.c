/* SPDX-License-Identifier: ISC
 *
 * The input is a mirage-profile CTF trace.
 */
#include "drawn.h"
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	check_format(&weft__format_mirage_ctf, bytes, size);
	draw_trace(bytes, size);
	return 0;
}
