/* SPDX-License-Identifier: ISC
 *
 * A program with metrics, for the tests of weft agent. For each line it changes one, and prints the
 * line:
 *
 *     CUSTOMER VM NUMBER     counts bytes of the customer's machine
 *     alone VM NUMBER        the same of a machine that has no customer
 *     took CUSTOMER NUMBER   a time in nanoseconds
 *     level NUMBER           sets a gauge
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/metrics.h>

WEFT_METRIC_DEFINE(bytes, .name = "bytes", .type = WEFT_METRIC_COUNTER, .unit = "bytes",
	.is_billable = true, .help = "What customers sent");
WEFT_METRIC_DEFINE(latency, .name = "latency", .type = WEFT_METRIC_HISTOGRAM, .unit = "seconds",
	.scale = -9, .help = "How long it took");
WEFT_METRIC_DEFINE(level, .name = "level", .type = WEFT_METRIC_GAUGE, .help = "How full it is");

static void change(const char *first, const char *second, const char *third)
{
	if (strcmp(first, "level") == 0)
		weft_metric_set(weft_metric_get(&level, NULL, 0), strtoll(second, NULL, 10));
	else if (strcmp(first, "alone") == 0)
		weft_metric_add(weft_metric_get(&bytes, (const char *const[]){"vm", second}, 1),
			strtoull(third, NULL, 10));
	else if (strcmp(first, "took") == 0)
		weft_metric_record(weft_metric_get(&latency, (const char *const[]){"customer", second}, 1),
			strtoull(third, NULL, 10));
	else
		weft_metric_add(
			weft_metric_get(&bytes, (const char *const[]){"customer", first, "vm", second}, 2),
			strtoull(third, NULL, 10));
}

int main(void)
{
	char line[256], words[3][64];
	printf("%d\n", (int)getpid());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		words[1][0] = words[2][0] = '\0';
		if (sscanf(line, "%63s %63s %63s", words[0], words[1], words[2]) >= 2)
			change(words[0], words[1], words[2]);
		fputs(line, stdout);
		fflush(stdout);
	}
	return 0;
}
