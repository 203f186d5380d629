/* SPDX-License-Identifier: ISC
 *
 * The input is the memory in which a process has its counters. Only its beginning is from the
 * input: what is missing is zero. It is also the packed metrics of a trace, as long as it is.
 */
#include <stdlib.h>
#include <string.h>

#include "reader.h"
#include "runs/attach/counters.h"
#include "runs/attach/metrics.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void read_packed(const uint8_t *bytes, size_t size)
{
	struct weft__runs_counters counters;
	uint8_t *copy = malloc(size ? size : 1);
	require(copy != NULL);
	memcpy(copy, bytes, size);
	if (weft__runs_metrics_parse_packed(copy, size, &counters) == 0) {
		for (size_t i = 0; i < counters.count; i++)
			require(counters.list[i].name[0] && counters.list[i].label_count <= 8);
		weft__runs_counters_finish(&counters);
	}
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	read_packed(bytes, size);
	struct weft_abi_counters *memory = calloc(1, sizeof(*memory));
	struct weft__runs_counters counters;
	require(memory != NULL);
	memcpy(memory, bytes, size < sizeof(*memory) ? size : sizeof(*memory));
	if (weft__runs_counters_parse(memory, &counters) == 0) {
		require(counters.count <= WEFT_ABI_COUNTERS);
		for (size_t i = 0; i < counters.count; i++) {
			size_t length = strnlen(counters.list[i].name, WEFT_ABI_NAME_MAX_BYTES + 1);
			require(length > 0 && length <= WEFT_ABI_NAME_MAX_BYTES);
			require(counters.list[i].real - counters.list[i].real == 0);
		}
		weft__runs_counters_finish(&counters);
	}
	free(memory);
	return 0;
}
