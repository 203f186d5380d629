/* SPDX-License-Identifier: ISC
 *
 * The input is spans of OpenTelemetry or Zipkin, lines of JSON.
 */
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	check_format(&weft__format_spans, bytes, size);
	check_model(bytes, size);
	return 0;
}
