/* SPDX-License-Identifier: ISC
 *
 * Writes a random trace in weft's own format to standard output, for benchmarks that are not in C.
 *
 *     bench_trace EVENTS >FILE
 */
#include <stdio.h>
#include <stdlib.h>

#include "random_trace.h"

int main(int argc, char **argv)
{
	uint64_t events = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
	if (events == 0) {
		fprintf(stderr, "usage: bench_trace EVENTS >FILE\n");
		return 2;
	}
	struct bytes bytes = random_weft(events);
	return fwrite(bytes.data, 1, bytes.size, stdout) == bytes.size ? 0 : 1;
}
