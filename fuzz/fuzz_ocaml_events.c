/* SPDX-License-Identifier: ISC
 *
 * The input is a file of OCaml 5's runtime events.
 */
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	check_format(&weft__format_ocaml_events, bytes, size);
	check_model(bytes, size);
	return 0;
}
