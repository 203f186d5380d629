/* SPDX-License-Identifier: ISC
 *
 * A program under `weft record` for live_page.py: each line of standard input is a number of random
 * events, which it records at once; then it prints how many it has recorded.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "random_trace.h"

int main(void)
{
	char line[32];
	uint64_t recorded = 0;
	printf("%d\n", (int)getpid());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		uint64_t events = strtoull(line, NULL, 10);
		random_record(events);
		printf("%" PRIu64 "\n", recorded += events);
		fflush(stdout);
	}
	return 0;
}
