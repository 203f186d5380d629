/* SPDX-License-Identifier: ISC
 *
 * The input is a mirage-profile CTF trace.
 */
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	check_format(&weft__format_mirage_ctf, bytes, size);
	check_model(bytes, size);
	return 0;
}
