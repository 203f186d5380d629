/* SPDX-License-Identifier: ISC
 *
 * The input is a trace in any format, which is drawn. The targets of single formats only read
 * theirs, which is a hundred times as fast.
 */
#include "drawn.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	draw_trace(bytes, size);
	return 0;
}
