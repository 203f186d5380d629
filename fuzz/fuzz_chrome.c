/* SPDX-License-Identifier: ISC
 *
 * The input is a trace in Chrome's format, of JSON.
 */
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	check_format(&weft__format_chrome, bytes, size);
	check_model(bytes, size);
	return 0;
}
