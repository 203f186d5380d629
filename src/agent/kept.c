/* SPDX-License-Identifier: ISC
 *
 * See kept.h. When the agent removes a file's first name, the kernel notes the time of that.
 */
#include "agent/kept.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/counter_abi.h"

/* As long as runs that nobody saves (runs/directory/expire.c). */
static const time_t KEPT_S = (time_t)7 * 24 * 3600;

/* Without memory, none is too many. */
static size_t count_name(struct weft__agent_kept *kept, uid_t user)
{
	for (size_t i = 0; i < kept->count; i++)
		if (kept->list[i].user == user)
			return ++kept->list[i].count;
	struct weft__agent_kept_user *list =
		realloc(kept->list, (kept->count + 1) * sizeof(*kept->list));
	if (list) {
		kept->list = list;
		list[kept->count++] = (struct weft__agent_kept_user){user, 1};
	}
	return 1;
}

static bool has_expired(const struct stat *status, time_t now)
{
	return status->st_nlink == 1 && now - status->st_ctime > KEPT_S;
}

bool weft__agent_kept_look(struct weft__agent_kept *kept, int folder, const char *name, bool cleans,
	size_t most, time_t now)
{
	struct stat status;
	if (strspn(name, "0123456789abcdef") != 32 ||
		strcmp(name + 32, WEFT_ABI_AGENT_KEPT_SUFFIX) != 0)
		return false;
	if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
		return true;
	const bool is_foreign =
		cleans && status.st_uid != geteuid() &&
		(!S_ISREG(status.st_mode) || !status.st_size || count_name(kept, status.st_uid) > most);
	if (is_foreign || (S_ISREG(status.st_mode) && has_expired(&status, now)))
		unlinkat(folder, name, S_ISDIR(status.st_mode) ? AT_REMOVEDIR : 0);
	return true;
}

void weft__agent_kept_finish(struct weft__agent_kept *kept)
{
	free(kept->list);
	*kept = (struct weft__agent_kept){0};
}
