/* SPDX-License-Identifier: ISC
 *
 * The input is a buffer in weft's format.
 */
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	check_format(&weft__format_weft, bytes, size);
	check_model(bytes, size);
	return 0;
}
