/* SPDX-License-Identifier: ISC
 *
 * Any bytes as the first viewer's sexp.
 */
#include "drawn.h"
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	check_format(&weft__format_sexp, bytes, size);
	draw_trace(bytes, size);
	return 0;
}
