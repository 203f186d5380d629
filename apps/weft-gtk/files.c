/* SPDX-License-Identifier: ISC
 *
 * See files.h. A file that was left out, for example because it was empty, may belong to the trace
 * once it has grown. So the sizes of these files are compared one by one; of the shown ones, the
 * sum is enough.
 */
#include "files.h"

#include <string.h>

#include <glib.h>
#include <glib/gstdio.h>

#include "runs/directory/traces.h"

struct files {
	struct weft__runs_traces names;
	int64_t *sizes;
	bool *are_shown;
};

/* 0 if there is no such file. */
static int64_t counted_size(const char *path)
{
	GStatBuf status;
	return g_stat(path, &status) == 0 ? (int64_t)status.st_size + 1 : 0;
}

struct files *files_look(char **paths)
{
	struct files *files = g_new0(struct files, 1);
	for (; *paths; paths++)
		weft__runs_traces_add(&files->names, *paths);
	files->sizes = g_new(int64_t, files->names.count);
	files->are_shown = g_new(bool, files->names.count);
	for (size_t i = 0; i < files->names.count; i++) {
		files->sizes[i] = counted_size(files->names.paths[i]);
		files->are_shown[i] = true;
	}
	return files;
}

void files_forget(struct files *files)
{
	if (!files)
		return;
	weft__runs_traces_finish(&files->names);
	g_free(files->sizes);
	g_free(files->are_shown);
	g_free(files);
}

/* A path that was named twice is shown once. */
static void choose(struct files *files, const char *path)
{
	for (size_t i = 0; i < files->names.count; i++)
		if (!files->are_shown[i] && strcmp(files->names.paths[i], path) == 0) {
			files->are_shown[i] = true;
			return;
		}
}

void files_choose(struct files *files, char **shown)
{
	for (size_t i = 0; i < files->names.count; i++)
		files->are_shown[i] = false;
	for (; *shown; shown++)
		choose(files, *shown);
}

bool files_differ(const struct files *files, const struct files *later)
{
	if (files->names.count != later->names.count)
		return true;
	for (size_t i = 0; i < files->names.count; i++)
		if (strcmp(files->names.paths[i], later->names.paths[i]) != 0 ||
			(!files->are_shown[i] && files->sizes[i] != later->sizes[i]))
			return true;
	return false;
}

int64_t files_size(const struct files *files, const struct files *later)
{
	int64_t sum = 0;
	for (size_t i = 0; i < files->names.count; i++)
		if (files->are_shown[i])
			sum += later->sizes[i];
	return sum;
}
