/* SPDX-License-Identifier: ISC
 *
 * The input is a buffer in weft's format.
 */
#include "drawn.h"
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	check_format(&weft__format_weft, bytes, size);
	draw_trace(bytes, size);
	return 0;
}
