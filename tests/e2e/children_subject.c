/* SPDX-License-Identifier: ISC
 *
 * A recorded program with a hostile child, which writes into all that it shares with its parent.
 *
 *     children-subject fork|clone     prints the number of shared writable mappings of a ring that
 *                                     the child found, and the parent's private memory that changed
 */
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/weft.h>

static volatile uint64_t private_memory[64]; /* of the parent */

/* Stores the address of the parent's memory in every word, but for the levels: otherwise the parent
 * would record nothing any more. */
static void spoil(uint64_t *from, const uint64_t *end)
{
	for (uint64_t *at = from; at < end; at++)
		if ((uintptr_t)at % 4096 < 2048 || (uintptr_t)at % 4096 >= 2304)
			*at = (uintptr_t)private_memory;
}

/* All shared mappings that may be written, of files named like rings. */
static int attack(void)
{
	char line[4096], rights[5];
	unsigned long long from, end;
	int count = 0;
	FILE *maps = fopen("/proc/self/maps", "r");
	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%llx-%llx %4s", &from, &end, rights) != 3 || strcmp(rights, "rw-s") != 0)
			continue;
		count += strstr(line, ".weft") != NULL;
		spoil((uint64_t *)(uintptr_t)from, (const uint64_t *)(uintptr_t)end);
	}
	if (maps)
		fclose(maps);
	return count;
}

static void record(void)
{
	for (unsigned i = 0; i < 100000; i++) {
		uint64_t task = weft_create(WEFT_KIND_TASK);
		weft_label_as(task, "a task of the parent");
		weft_counter_set("requests", 0x4141414142424242);
		weft_resolve(task);
	}
}

int main(int count, char **arguments)
{
	int status = 0, changed = 0;
	bool is_fork = count > 1 && strcmp(arguments[1], "fork") == 0;
	record();
	pid_t child = is_fork ? fork() : (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (child == 0)
		_exit(attack());
	if (child < 0 || waitpid(child, &status, 0) != child)
		return 1;
	record();
	for (size_t i = 0; i < sizeof(private_memory) / sizeof(private_memory[0]); i++)
		changed += private_memory[i] != 0;
	printf("%d %d %d\n", WIFEXITED(status), WEXITSTATUS(status), changed);
	return 0;
}
