/* SPDX-License-Identifier: ISC
 *
 * Names the files of a run's traces: the first gets the name that the user gave, the others names
 * beside it.
 */
#include "runs/saving/name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool weft__runs_is_directory(const char *output)
{
	struct stat status;
	return !output || output[strlen(output) - 1] == '/' ||
		   (stat(output, &status) == 0 && S_ISDIR(status.st_mode));
}

bool weft__runs_is_stdout(const char *output)
{
	return output && strcmp(output, "-") == 0;
}

/* FILE with -PID before its suffix; with -PROG-PID if that process has a trace already. */
static char *name_beside(const char *file, const struct weft__runs_ring *ring, bool same_process)
{
	char *name = NULL, pid[16];
	const char *slash = strrchr(file, '/');
	const char *base = slash ? slash + 1 : file;
	const char *suffix = strrchr(base, '.');
	if (!suffix || suffix == base)
		suffix = base + strlen(base);
	snprintf(pid, sizeof(pid), "%d", (int)ring->pid);
	int length = same_process
					 ? asprintf(&name, "%.*s-%.*s%s", (int)(suffix - file), file, ring->stem_size,
						   ring->name, suffix)
					 : asprintf(&name, "%.*s-%s%s", (int)(suffix - file), file, pid, suffix);
	return length < 0 ? NULL : name;
}

char *weft__runs_name_in(const char *directory, const char *ring_name)
{
	char *name = NULL;
	size_t length = strlen(directory);
	const char *slash = length && directory[length - 1] != '/' ? "/" : "";
	return asprintf(&name, "%s%s%s", directory, slash, ring_name) < 0 ? NULL : name;
}

/* Pids are reused, so a name that we choose may exist. The earlier trace stays, and the newer one
 * gets _2, _3, … before its suffix. */
static char *unused(char *name)
{
	const char *suffix = name ? strrchr(name, '.') : NULL;
	if (suffix && strchr(suffix, '/'))
		suffix = NULL;
	int stem = name ? (int)(suffix ? suffix - name : (ptrdiff_t)strlen(name)) : 0;
	char *other = name;
	for (unsigned number = 2; other && access(other, F_OK) == 0; number++) {
		if (other != name)
			free(other);
		if (asprintf(&other, "%.*s_%u%s", stem, name, number, name + stem) < 0)
			other = NULL;
	}
	if (other != name)
		free(name);
	return other;
}

char *weft__runs_make_directory(const struct weft__runs_rings *rings)
{
	char *name = NULL;
	size_t first = 0;
	while (first < rings->count && rings->list[first].is_failure)
		first++;
	if (first == rings->count ||
		asprintf(&name, "%.*s/", rings->list[first].stem_size, rings->list[first].name) < 0)
		return NULL;
	mkdir(name, 0700);
	if (weft__runs_is_directory(name) && access(name, W_OK) == 0)
		return name;
	free(name);
	return NULL;
}

struct weft__runs_identity weft__runs_identify(const char *file)
{
	struct stat status;
	if (stat(file, &status) != 0)
		return (struct weft__runs_identity){0, 0};
	return (struct weft__runs_identity){(uint64_t)status.st_dev, (uint64_t)status.st_ino};
}

char *weft__runs_name_output(const char *output, const struct weft__runs_identity *before)
{
	char *name = output ? strdup(output) : NULL;
	if (!name || weft__runs_is_directory(output) || weft__runs_is_stdout(output))
		return name;
	struct weft__runs_identity now = weft__runs_identify(output);
	bool is_same = now.device == before->device && now.inode == before->inode;
	return is_same ? name : unused(name);
}

char *weft__runs_name_file(const char *output, const struct weft__runs_ring *ring, bool is_first)
{
	if (weft__runs_is_stdout(output))
		return strdup(ring->name);
	if (weft__runs_is_directory(output))
		return weft__runs_name_in(output ? output : "", ring->name);
	return is_first ? strdup(output) : name_beside(output, ring, false);
}

char *weft__runs_name_trace(
	const char *output, const struct weft__runs_ring *ring, const struct weft__runs_ring *before)
{
	if (weft__runs_is_stdout(output))
		return before ? unused(weft__runs_name_in("", ring->name)) : strdup("-");
	if (weft__runs_is_directory(output))
		return unused(weft__runs_name_in(output ? output : "", ring->name));
	return before ? unused(name_beside(output, ring, before->pid == ring->pid)) : strdup(output);
}
