/* SPDX-License-Identifier: ISC
 *
 * What the tests of snapshots run. Each line of standard input is one thing to do, then it says
 * "done":
 *
 *     record N       records N numbered events
 *     request TEXT   asks for a snapshot
 *     signal         the same, in a signal handler
 *     loop N         records and asks for a snapshot, N times
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/weft.h>

static long recorded;

static void record(long events)
{
	for (long i = 0; i < events; i++)
		weft_tag_value("number", recorded++);
}

static void on_signal(int signal)
{
	(void)signal;
	weft_snapshot_request("in a handler");
}

static void act(const char *word, const char *rest)
{
	if (strcmp(word, "record") == 0)
		record(atol(rest));
	else if (strcmp(word, "request") == 0)
		weft_snapshot_request(rest);
	else if (strcmp(word, "signal") == 0)
		raise(SIGUSR1);
	else if (strcmp(word, "loop") == 0)
		for (long i = atol(rest); i > 0; i--) {
			record(1);
			weft_snapshot_request("loop");
		}
}

int main(void)
{
	char line[256];
	const struct sigaction action = {.sa_handler = on_signal};
	sigaction(SIGUSR1, &action, NULL);
	printf("%d\n", (int)getpid());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		char *rest = strchr(line, ' ');
		if (rest)
			*rest++ = '\0';
		act(line, rest ? rest : "");
		puts("done");
		fflush(stdout);
	}
	return 0;
}
