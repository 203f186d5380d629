/* SPDX-License-Identifier: ISC
 *
 * A program with rings in its own memory. It answers when they are there, then waits for the end of
 * standard input, or for its own end:
 *
 *     memory-subject one | two | abort | spin
 *
 * spin: two threads count, each in its tags, until the program is killed.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/weft.h>

static _Alignas(4096) char ring[1 << 18], other[1 << 17], large[1 << 22];

static void *count(void *name)
{
	for (int64_t i = 0;; i++)
		weft_tag_value((const char *)name, i);
	return NULL;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	char one[] = "one", two[] = "two";
	bool spins = strcmp(what, "spin") == 0;
	pthread_t thread;
	weft_start(spins ? large : ring, spins ? sizeof(large) : sizeof(ring), NULL);
	weft_note("first ring");
	if (strcmp(what, "two") == 0) {
		weft_stop();
		weft_start(other, sizeof(other), NULL);
		weft_note("second ring");
	}
	if (spins && pthread_create(&thread, NULL, count, one) != 0)
		return 1;
	puts("ready");
	fflush(stdout);
	if (strcmp(what, "abort") == 0)
		abort();
	if (spins)
		count(two);
	while (getchar() != EOF)
		continue;
	return 0;
}
