/* SPDX-License-Identifier: ISC
 *
 * See locked.h. Files stay in the list, whether or not the program still has a lock.
 */
#include "hooks/locked.h"

#include <errno.h>
#include <stdint.h>
#include <sys/stat.h>

#include "hooks/hooks.h"
#include "kernel/call.h"

#define FILES 16

static struct {
	dev_t device;
	ino_t inode;
} files[FILES];
static uint32_t used; /* more than FILES: not all are listed */

static bool is_listed(const struct stat *status)
{
	uint32_t count = __atomic_load_n(&used, __ATOMIC_ACQUIRE);
	for (uint32_t i = 0; i < count && i < FILES; i++)
		if (files[i].inode == status->st_ino && files[i].device == status->st_dev)
			return true;
	return count > FILES;
}

static void add_locked(const struct stat *status)
{
	uint32_t i = __atomic_fetch_add(&used, 1, __ATOMIC_ACQ_REL);
	if (i >= FILES)
		return;
	files[i].device = status->st_dev;
	files[i].inode = status->st_ino;
}

/* In a sandbox nothing is opened any more. */
void weft__hooks_lock_file(int fd)
{
	struct stat status;
	if (!weft__hooks_system_begin())
		return;
	int saved = errno;
	if (weft__kernel_stat(fd, &status) == 0 && S_ISREG(status.st_mode) && !is_listed(&status))
		add_locked(&status);
	errno = saved;
	weft__hooks_system_end();
}

bool weft__hooks_may_open(const char *path)
{
	struct stat status;
	if (likely(!__atomic_load_n(&used, __ATOMIC_ACQUIRE)))
		return true;
	return weft__kernel_stat_path(path, &status) == 0 && !is_listed(&status);
}
