/* SPDX-License-Identifier: ISC
 *
 * Only regular files are taken, so that a FIFO in the directory does not block its reader.
 */
#include "runs/directory/traces.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <weft/error.h>

#include "abi/run_abi.h"
#include "base/array.h"
#include "runs/message.h"
#include "runs/saving/name.h"

bool weft__runs_traces_is_directory(const char *path)
{
	struct stat status;
	return strcmp(path, "-") != 0 && stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* Takes ownership of the path. */
static bool add_path(struct weft__runs_traces *traces, char *path)
{
	const struct weft__column column = {&traces->paths, sizeof(*traces->paths)};
	if (path && weft__columns_reserve(&column, 1, &traces->capacity, traces->count + 1) == 0) {
		traces->paths[traces->count++] = path;
		return true;
	}
	free(path);
	weft__runs_report("%s", weft_error_text(WEFT_ERROR_MEMORY));
	return false;
}

static bool ends_in(const char *name, const char *suffix)
{
	size_t size = strlen(name), bytes = strlen(suffix);
	return size > bytes && strcmp(name + size - bytes, suffix) == 0;
}

static int is_trace_name(const struct dirent *entry)
{
	const char *name = entry->d_name;
	return name[0] != '.' &&
		   (ends_in(name, WEFT_ABI_RUN_RING) || ends_in(name, WEFT_ABI_RUN_RING ".zst") ||
			   ends_in(name, ".xentrace") || ends_in(name, ".xentrace.zst"));
}

static bool add_entry(struct weft__runs_traces *traces, const char *directory, const char *name)
{
	struct stat status;
	char *path = weft__runs_name_in(directory, name);
	if (path && (stat(path, &status) || !S_ISREG(status.st_mode))) {
		free(path);
		return true;
	}
	return add_path(traces, path);
}

static bool add_directory(struct weft__runs_traces *traces, const char *directory)
{
	struct dirent **entries;
	size_t before = traces->count;
	bool good = true;
	int count = scandir(directory, &entries, is_trace_name, alphasort);
	if (count < 0) {
		weft__runs_report("%s: %s", weft__runs_shown(directory), strerror(errno));
		return false;
	}
	for (int i = 0; i < count; i++) {
		good = good && add_entry(traces, directory, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	if (good && traces->count == before) {
		weft__runs_report("%s: no file in this directory ends in .weft, .weft.zst or .xentrace",
			weft__runs_shown(directory));
		good = false;
	}
	return good;
}

bool weft__runs_traces_add(struct weft__runs_traces *traces, const char *path)
{
	if (weft__runs_traces_is_directory(path))
		return add_directory(traces, path);
	return add_path(traces, strdup(path));
}

void weft__runs_traces_finish(struct weft__runs_traces *traces)
{
	for (size_t i = 0; i < traces->count; i++)
		free(traces->paths[i]);
	free(traces->paths);
	*traces = (struct weft__runs_traces){0};
}
