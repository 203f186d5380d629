/* SPDX-License-Identifier: ISC
 *
 * Whether another thread of a test's program sleeps. A thread that only waits for some milliseconds
 * may go on before the other one has begun to wait, if other programs have the processors.
 */
#ifndef WEFT_TEST_ASLEEP_H
#define WEFT_TEST_ASLEEP_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* True if the system says so, and for a thread that has ended. The format is that of proc(5). */
static inline bool is_asleep(pid_t process, pid_t thread)
{
	char path[64], text[512] = "";
	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)process, (int)thread);
	int file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return true;
	ssize_t size = read(file, text, sizeof(text) - 1);
	close(file);
	const char *name_end = strrchr(text, ')');
	return size <= 0 || (name_end && name_end[1] && name_end[2] == 'S');
}

/* Returns when the thread has slept for 20 ms, so that its wait is long enough to be recorded. */
static inline void await_sleep_of(pid_t process, pid_t thread)
{
	const struct timespec pause = {0, 1000000}, length = {0, 20000000};
	while (!is_asleep(process, thread))
		nanosleep(&pause, NULL);
	nanosleep(&length, NULL);
}

/* The same for a thread of this process. */
static inline void await_sleep(int thread)
{
	await_sleep_of(getpid(), thread);
}

#endif
