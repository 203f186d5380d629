/* SPDX-License-Identifier: ISC
 *
 * The system's part of weft/input.h for the page: a source is a file that the worker has written
 * into memory, and there is no second thread.
 */
#include "files.h"

#include <stdlib.h>
#include <string.h>

#include <weft/worker.h>

#include "page.h"
#include "source/part.h"

struct weft_source {
	char *name;
	uint8_t *bytes;
	size_t size, room;
	bool is_part; /* of another one */
};

static struct weft_source *files;
static uint32_t file_count;

/* ---- Loading ---- */

void files_drop(void)
{
	for (uint32_t i = 0; i < file_count; i++) {
		free(files[i].name);
		free(files[i].bytes);
	}
	free(files);
	files = NULL;
	file_count = 0;
}

static bool make_room(struct weft_source *file, size_t room)
{
	uint8_t *larger = room <= file->room ? file->bytes : realloc(file->bytes, room);
	if (!larger)
		return false;
	file->bytes = larger;
	file->room = room > file->room ? room : file->room;
	return true;
}

/* Starts the next file, of about `size` bytes; 0: unknown. The text is its name. */
int PAGE_EXPORT(page_load_file)(double size)
{
	if (size >= (double)UINT32_MAX)
		return WEFT_ERROR_LIMIT;
	struct weft_source *larger = realloc(files, (file_count + (size_t)1) * sizeof(*files));
	if (!larger)
		return WEFT_ERROR_MEMORY;
	files = larger;
	struct weft_source *file = &files[file_count];
	*file = (struct weft_source){.name = strdup(page_text())};
	if (file->name && make_room(file, (size_t)size + 1)) {
		file_count++;
		return 0;
	}
	free(file->name);
	return WEFT_ERROR_MEMORY;
}

/* The address for its next `size` bytes; NULL if memory ran out. */
uint8_t *PAGE_EXPORT(page_load_room)(uint32_t size)
{
	struct weft_source *file = &files[file_count - 1];
	if (size > SIZE_MAX - file->size)
		return NULL;
	size_t need = file->size + size, ample = file->room + file->room / 2;
	if (need > file->room && !(ample > need && make_room(file, ample)) && !make_room(file, need))
		return NULL;
	return file->bytes + file->size;
}

void PAGE_EXPORT(page_load_more)(uint32_t size)
{
	files[file_count - 1].size += size;
}

int files_open(uint64_t hz, bool no_align, struct weft_input **ret_input)
{
	const struct weft_input_options options = {
		.size = sizeof(options), .hz = hz, .no_align = no_align};
	if (file_count == 1)
		return weft_input_open(files[0].name, &options, ret_input);
	const char **names = malloc((file_count + (size_t)1) * sizeof(*names));
	if (!names)
		return WEFT_ERROR_MEMORY;
	for (uint32_t i = 0; i < file_count; i++)
		names[i] = files[i].name;
	int error = weft_input_open_files(names, file_count, &options, ret_input);
	free(names);
	return error;
}

/* ---- weft/source.h ---- */

/* Two files may have equal names, so the address of the name decides. */
int weft_source_open_checked(const char *path, uint64_t max_bytes,
	bool (*may_be)(const void *bytes, size_t size), struct weft_source **ret_source)
{
	(void)max_bytes, (void)may_be; /* the worker has a limit of its own */
	for (uint32_t i = 0; i < file_count; i++)
		if (files[i].name == path) {
			*ret_source = &files[i];
			return 0;
		}
	return WEFT_ERROR_ARGUMENT;
}

const void *weft_source_bytes(const struct weft_source *source, size_t *ret_size)
{
	*ret_size = source->size;
	return source->bytes;
}

int weft__source_part(
	struct weft_source *whole, size_t offset, size_t size, struct weft_source **ret_part)
{
	struct weft_source *part = malloc(sizeof(*part));
	if (!part)
		return WEFT_ERROR_MEMORY;
	*part = (struct weft_source){.bytes = whole->bytes + offset, .size = size, .is_part = true};
	*ret_part = part;
	return 0;
}

void weft_source_forget(struct weft_source *source)
{
	(void)source;
}

void weft_source_close(struct weft_source *source)
{
	if (source && source->is_part)
		free(source); /* files_drop() frees the others */
}

/* ---- weft/worker.h ---- */

struct weft_worker *weft_worker_create(void)
{
	return NULL;
}

void weft_worker_destroy(struct weft_worker *worker)
{
	(void)worker;
}

const struct weft_help *weft_worker_help(const struct weft_worker *worker)
{
	(void)worker;
	return NULL;
}
