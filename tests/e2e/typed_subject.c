/* SPDX-License-Identifier: ISC
 *
 * The program of the tests of typed metrics: does what each line of its input says, then prints it.
 *
 *     count POOL CUSTOMER N     adds N to the counter "acked" of that customer of the pool
 *     queue POOL N              sets the gauge "queued" of the pool
 *     took POOL N               records N in the histogram "latency" of the pool
 *     reserve N                 makes room for N children
 *     open POOL CUSTOMER NAME   a new child "stream" of the counter; the next `count` is the
 * child's close                     ends it fork                      goes on in a child, and
 * prints its process id
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/metrics.h>

WEFT_METRIC_DEFINE(acked, .name = "acked", .type = WEFT_METRIC_COUNTER, .unit = "bytes",
	.help = "Bytes that the peer has acknowledged", .is_billable = true);
WEFT_METRIC_DEFINE(queued, .name = "queued", .type = WEFT_METRIC_GAUGE, .help = "Waiting requests");
WEFT_METRIC_DEFINE(latency, .name = "latency", .type = WEFT_METRIC_HISTOGRAM, .unit = "seconds",
	.scale = -9, .help = "Time from request to answer");

static weft_metric stream;

static weft_metric level(
	const struct weft_metric_type *type, const char *pool, const char *customer)
{
	const char *const labels[] = {"pool", pool, "customer", customer};
	return weft_metric_get(type, labels, customer ? 2 : 1);
}

static void obey(const char *line)
{
	char verb[16] = "", pool[64] = "", second[64] = "", third[64] = "";
	sscanf(line, "%15s %63s %63s %63s", verb, pool, second, third);
	if (strcmp(verb, "count") == 0)
		weft_metric_add(stream ? stream : level(&acked, pool, second), strtoull(third, NULL, 10));
	else if (strcmp(verb, "queue") == 0)
		weft_metric_set(level(&queued, pool, NULL), strtoll(second, NULL, 10));
	else if (strcmp(verb, "took") == 0)
		weft_metric_record(level(&latency, pool, NULL), strtoull(second, NULL, 10));
	else if (strcmp(verb, "reserve") == 0)
		weft_metrics_reserve((uint32_t)strtoul(pool, NULL, 10));
	else if (strcmp(verb, "open") == 0)
		stream = weft_metric_child(level(&acked, pool, second), "stream", third);
	else if (strcmp(verb, "close") == 0) {
		weft_metric_end(stream);
		stream = 0;
	}
}

int main(void)
{
	char line[256];
	printf("%d\n", (int)getpid());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		pid_t child = strcmp(line, "fork") == 0 ? fork() : -1;
		if (child > 0) {
			waitpid(child, NULL, 0);
			_exit(0);
		}
		if (child == 0)
			printf("%d\n", (int)getpid());
		obey(line);
		puts(line);
		fflush(stdout);
	}
	return 0;
}
