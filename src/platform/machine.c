/* SPDX-License-Identifier: ISC
 *
 * The machine, for a buffer's table `machine`: traces of one program differ with the number of its
 * processors.
 *
 * It may run in a signal handler, so it uses plain system calls.
 */
#include "platform/linux.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>

#include "kernel/call.h"
#include "kernel/filter.h"
#include "record/side_tables.h"

/* Linux has at most 8,192 processors. */
#define PROCESSORS_MAX 8192

/* Reads a number and moves behind it. */
static uint32_t read_number(const char **at)
{
	uint32_t number = 0;
	for (; **at >= '0' && **at <= '9'; ++*at)
		number = number < PROCESSORS_MAX ? number * 10 + (uint32_t)(**at - '0') : number;
	return number;
}

uint32_t weft__platform_count_processors(const char *list)
{
	uint32_t count = 0;
	while (*list >= '0' && *list <= '9') {
		uint32_t first = read_number(&list), last = first;
		if (*list == '-') {
			list++;
			last = read_number(&list);
		}
		count += last >= first ? last - first + 1 : 0;
		if (*list == ',')
			list++;
	}
	return count;
}

static uint32_t count_online(void)
{
	char list[256] = "";
	int fd = weft__kernel_open("/sys/devices/system/cpu/online", O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return 0;
	long size = weft__kernel_read(fd, list, sizeof(list) - 1);
	weft__kernel_close(fd);
	list[size > 0 ? size : 0] = '\0';
	return weft__platform_count_processors(list);
}

static uint32_t count_allowed(void)
{
	uint64_t mask[PROCESSORS_MAX / 64];
	uint32_t count = 0;
	long bytes = weft__kernel_call(SYS_sched_getaffinity, 0, sizeof(mask), (long)mask, 0, 0, 0);
	for (long i = 0; i < bytes / (long)sizeof(*mask); i++)
		count += (uint32_t)__builtin_popcountll(mask[i]);
	return count;
}

static uint64_t find_memory(void)
{
	struct sysinfo info;
	if (weft__kernel_call(SYS_sysinfo, (long)&info, 0, 0, 0, 0, 0) < 0)
		return 0;
	return (uint64_t)info.totalram * info.mem_unit;
}

void weft__platform_linux_describe_machine(const struct weft__region *region)
{
	struct weft_abi_machine_row row = {.processors = count_online()};
	if (!weft__kernel_is_filtered()) { /* programs rarely make these calls */
		row.allowed = count_allowed();
		row.memory_bytes = find_memory();
	}
	weft__record_side_table_add(region, WEFT_ABI_TABLE_machine, &row);
}
