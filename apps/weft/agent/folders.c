/* SPDX-License-Identifier: ISC
 *
 * weft agent: the files and folders that it keeps.
 */
#include "arguments.h"
#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "runs/attach/region.h"
#include "runs/message.h"

/* Makes all folders of a path that are missing, but the last piece: that is a file. */
static bool make_parents(char *path, mode_t mode)
{
	for (char *at = path + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		bool good = mkdir(path, mode) == 0 || errno == EEXIST;
		if (!good)
			cli_error("%s: %s", weft__runs_shown(path), strerror(errno));
		*at = '/';
		if (!good)
			return false;
	}
	return true;
}

/* Other users make files in root's folder, but cannot list it nor remove those of others. The mode
 * of mkdir depends on the umask. */
static bool make_folder(char *path, bool *ret_is_new)
{
	mode_t mode = geteuid() == 0 ? 01733 : 0700;
	if (!make_parents(path, 0755))
		return false;
	*ret_is_new = mkdir(path, mode) == 0 && chmod(path, mode) == 0;
	if (*ret_is_new || errno == EEXIST)
		return true;
	cli_error("%s: %s", weft__runs_shown(path), strerror(errno));
	return false;
}

bool agent_find_default_file(char ret_file[PATH_MAX])
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	int size;
	if (geteuid() == 0)
		size = snprintf(ret_file, PATH_MAX, "/var/lib/weft/agent.db");
	else if (state && state[0] == '/')
		size = snprintf(ret_file, PATH_MAX, "%s/weft/agent.db", state);
	else if (home && home[0] == '/')
		size = snprintf(ret_file, PATH_MAX, "%s/.local/state/weft/agent.db", home);
	else
		size = PATH_MAX;
	return size < PATH_MAX;
}

bool agent_default_file(char ret_file[PATH_MAX])
{
	if (agent_find_default_file(ret_file))
		return true;
	cli_error("neither XDG_STATE_HOME nor HOME says where the database is; use --data FILE");
	return false;
}

static bool find_folder(struct agent_arguments *a)
{
	if (!a->folder[0] && !weft__runs_region_folder(a->folder)) {
		cli_error("XDG_RUNTIME_DIR is not a directory of this user; use --folder DIR");
		return false;
	}
	return make_folder(a->folder, &a->has_made_folder);
}

/* The path of a folder beside the database. */
static bool name_beside(const char *file, const char *name, char ret_path[PATH_MAX])
{
	const char *slash = strrchr(file, '/');
	return snprintf(ret_path, PATH_MAX, "%.*s%s", slash ? (int)(slash + 1 - file) : 0, file, name) <
		   PATH_MAX;
}

/* Snapshots and spans may show what programs do: they are for this user alone. */
static bool make_private_folder(const char *option, char *path)
{
	if (!make_parents(path, 0700))
		return false;
	if (mkdir(path, 0700) == 0)
		return true;
	const int fd = errno == EEXIST ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	const bool is_good = fd >= 0 && faccessat(fd, ".", W_OK, 0) == 0;
	if (!is_good)
		cli_error("%s: %s: %s", option, weft__runs_shown(path), strerror(errno));
	if (fd >= 0)
		close(fd);
	return is_good;
}

static bool make_snapshots_folder(struct agent_arguments *a)
{
	if (!a->options.alerts.count && !a->http.host[0])
		return true;
	a->options.alerts.capture.folder = a->snapshots;
	return (a->snapshots[0] || name_beside(a->file, "snapshots", a->snapshots)) &&
		   make_private_folder("--snapshots", a->snapshots);
}

static bool make_spool(struct agent_arguments *a)
{
	if (!a->push.url)
		return true;
	a->push.spool = a->spool;
	return (a->spool[0] || name_beside(a->file, "spool", a->spool)) &&
		   make_private_folder("--spool", a->spool);
}

bool agent_make_folders(struct agent_arguments *a)
{
	return (a->file[0] || agent_default_file(a->file)) && make_snapshots_folder(a) &&
		   make_spool(a) && make_parents(a->file, 0700) && find_folder(a);
}
