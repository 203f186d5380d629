/* SPDX-License-Identifier: ISC
 *
 * A program with metrics of each type, for tests: does what each line says, and prints the line.
 *
 *     acked POOL CUSTOMER NUMBER   adds to a counter of bytes; `-` for a label: the level above
 *     open NUMBER                  sets a gauge
 *     latency NUMBER               records nanoseconds in a histogram
 *     look NUMBER                  points out a change of customer acme's counter
 *     stream NUMBER                makes a child of pool eu, customer acme, and adds to it
 *     end                          ends that child
 *     mark                         records an event
 *     fork                         goes on in a child, and prints its process id
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/metrics.h>
#include <weft/weft.h>

WEFT_METRIC_DEFINE(acked, .name = "tcp_acked", .type = WEFT_METRIC_COUNTER, .unit = "bytes",
	.help = "Bytes that the peer\nhas \"acknowledged\"");
WEFT_METRIC_DEFINE(
	open_streams, .name = "open/streams", .type = WEFT_METRIC_GAUGE, .help = "Streams now");
WEFT_METRIC_DEFINE(latency, .name = "latency", .type = WEFT_METRIC_HISTOGRAM, .unit = "seconds",
	.scale = -9, .help = "Time to the answer");

static void add_acked(char *words)
{
	const char *labels[4] = {"pool", NULL, "customer", NULL};
	char *rest = words;
	unsigned pairs = 0;
	for (unsigned i = 0; i < 2; i++) {
		const char *word = strtok_r(NULL, " ", &rest);
		labels[2 * i + 1] = word;
		pairs += word && strcmp(word, "-") != 0;
	}
	weft_metric_add(weft_metric_get(&acked, labels, pairs), strtoull(rest, NULL, 10));
}

static void obey(char *line)
{
	static const char *const acme[] = {"pool", "eu", "customer", "acme"};
	static weft_metric stream;
	char *rest = line;
	const char *word = strtok_r(NULL, " ", &rest);
	if (!word)
		return;
	if (strcmp(word, "acked") == 0)
		add_acked(rest);
	else if (strcmp(word, "open") == 0)
		weft_metric_set(weft_metric_get(&open_streams, NULL, 0), strtoll(rest, NULL, 10));
	else if (strcmp(word, "latency") == 0)
		weft_metric_record(weft_metric_get(&latency, NULL, 0), strtoull(rest, NULL, 10));
	else if (strcmp(word, "look") == 0)
		weft_metric_exemplar(weft_metric_get(&acked, acme, 2), strtoull(rest, NULL, 10));
	else if (strcmp(word, "end") == 0)
		weft_metric_end(stream);
	if (strcmp(word, "mark") == 0)
		weft_mark("here");
	if (strcmp(word, "stream") == 0) {
		stream = weft_metric_child_n(weft_metric_get(&acked, acme, 2), "stream", 4711);
		weft_metric_add(stream, strtoull(rest, NULL, 10));
	}
}

static void go_on_in_child(void)
{
	pid_t child = fork();
	if (child > 0) {
		waitpid(child, NULL, 0);
		_exit(0);
	}
	printf("%d\n", (int)getpid());
}

int main(void)
{
	char line[256], copy[256];
	if (weft_metrics_reserve(64) != 0)
		return 1;
	printf("%d\n", (int)getpid());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		strcpy(copy, line);
		if (strcmp(line, "fork") == 0)
			go_on_in_child();
		obey(copy);
		puts(line);
		fflush(stdout);
	}
	return 0;
}
