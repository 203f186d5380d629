/* SPDX-License-Identifier: ISC
 *
 * Reads the number of filters from /proc: a call that asks for it is one that filters refuse.
 */
#include "kernel/filter.h"

#include <string.h>

#include "kernel/call.h"

/* The number after `name`, which begins a line; 0: there is none. */
static unsigned number_after(const char *text, const char *name)
{
	const char *at = strstr(text, name);
	unsigned number = 0;
	for (at = at ? at + strlen(name) : ""; *at >= '0' && *at <= '9'; at++)
		number = number * 10 + (unsigned)(*at - '0');
	return number;
}

/* Kernels before 5.9 do not count them. */
static unsigned count_filters(const char *path)
{
	static char text[4096]; /* too big for an alternate stack */
	int fd = weft__kernel_open(path, O_RDONLY | O_CLOEXEC, 0);
	long size = fd < 0 ? 0 : weft__kernel_read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		weft__kernel_close(fd);
	text[size > 0 ? size : 0] = '\0';
	if (number_after(text, "\nSeccomp:\t") != 2)
		return 0;
	unsigned count = number_after(text, "\nSeccomp_filters:\t");
	return count ? count : 1;
}

bool weft__kernel_is_filtered(void)
{
	enum {
		UNKNOWN,
		NO,
		YES
	};
	static int known;
	int is = __atomic_load_n(&known, __ATOMIC_RELAXED);
	if (is != UNKNOWN)
		return is == YES;
	unsigned own = count_filters("/proc/self/status");
	is = own && own != count_filters("/proc/1/status") ? YES : NO;
	__atomic_store_n(&known, is, __ATOMIC_RELAXED);
	return is == YES;
}
