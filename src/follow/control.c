/* SPDX-License-Identifier: ISC
 *
 * Telling a program what to record: bytes in the header of its buffer, which it reads before each
 * event. Who changes one also leaves a note of it, with the time, for those who read the trace.
 *
 * The mapping is of the file as it was opened; a hostile program may change all that is in it, so
 * sizes and places are those that were checked then.
 */
#include "follow/control.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/export.h"
#include "follow/clock.h"
#include "source/mapping.h"

/* ---- Opening ---- */

static int map(struct weft_control *control, int fd, const struct stat *status)
{
	if (!S_ISREG(status->st_mode))
		return WEFT_ERROR_FORMAT;
	if (status->st_size == 0)
		return WEFT_ERROR_EMPTY;
	if ((size_t)status->st_size < sizeof(struct weft_abi_buffer))
		return WEFT_ERROR_FORMAT;
	control->size = (size_t)status->st_size;
	int rights = control->refused ? PROT_READ : PROT_READ | PROT_WRITE;
	void *bytes = mmap(NULL, control->size, rights, MAP_SHARED, fd, 0);
	if (bytes == MAP_FAILED)
		return WEFT_ERROR_SYSTEM;
	control->header = bytes;
	return weft__mapping_guard(bytes, control->size);
}

static int start(struct weft_control *control, int fd)
{
	struct stat status;
	if (fstat(fd, &status) != 0)
		return WEFT_ERROR_SYSTEM;
	int error = map(control, fd, &status);
	if (error)
		return error;
	const uint8_t *bytes = (const uint8_t *)control->header;
	if (!weft__buffer_probe(bytes, control->size))
		return WEFT_ERROR_FORMAT;
	const struct weft__input input = {
		bytes, control->size, &control->diagnostics, &control->description};
	control->description.format = "weft";
	error = weft__buffer_init(&control->buffer, &input);
	if (error)
		return error;
	weft__process_open(&control->process, control->buffer.pid, status.st_ino);
	return 0;
}

/* O_NONBLOCK: without waiting for the other end of a pipe of that name. */
static int open_file(struct weft_control *control, const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0 || (errno != EACCES && errno != EPERM && errno != EROFS))
		return fd;
	control->refused = errno;
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

WEFT__EXPORT int weft_control_open(const char *path, struct weft_control **ret_control)
{
	struct weft_control *control = calloc(1, sizeof(*control));
	if (!control)
		return WEFT_ERROR_MEMORY;
	control->process.fd = -1;
	int fd = open_file(control, path);
	int error = fd < 0 ? WEFT_ERROR_SYSTEM : start(control, fd);
	int reason = errno;
	if (fd >= 0)
		close(fd);
	if (error)
		weft_control_close(control);
	else
		*ret_control = control;
	errno = reason;
	return error;
}

WEFT__EXPORT void weft_control_close(struct weft_control *control)
{
	if (!control)
		return;
	weft__process_close(&control->process);
	if (control->header) {
		weft__mapping_release(control->header);
		munmap(control->header, control->size);
	}
	free(control);
}

/* ---- Looking ---- */

WEFT__EXPORT bool weft_control_is_live(struct weft_control *control)
{
	/* Recording that was stopped has an end, though the program goes on. */
	return !__atomic_load_n(&control->header->end.ticks, __ATOMIC_RELAXED) &&
		   !weft__process_has_ended(&control->process);
}

WEFT__EXPORT int weft_control_summarize(
	const struct weft_control *control, struct weft_buffer_summary *ret_summary)
{
	return weft_buffer_summarize(control->header, control->size, ret_summary);
}

WEFT__EXPORT const struct weft_trace_description *weft_control_describe(
	struct weft_control *control)
{
	struct weft_trace_description *description = &control->description;
	weft__categories_read(&control->buffer, &control->categories);
	description->categories = control->categories.list;
	description->category_count = control->categories.count;
	description->changes = control->categories.changes;
	description->change_count = control->categories.change_count;
	return description;
}

int weft__control_check(struct weft_control *control)
{
	if (!weft_control_is_live(control))
		return WEFT_ERROR_STATE;
	errno = control->refused;
	return control->refused ? WEFT_ERROR_SYSTEM : 0;
}

/* ---- Setting ---- */

/* In `pattern` each * stands for any text. */
static bool matches(const char *pattern, const char *name)
{
	const char *star = NULL, *resume = NULL;
	while (*name) {
		if (*pattern == '*') {
			star = ++pattern;
			resume = name;
		} else if (*pattern == *name) {
			pattern++;
			name++;
		} else if (star) {
			pattern = star;
			name = ++resume;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

/* Others may do the same at the same moment, and be killed in the middle: each has a place of its
 * own, whose number is stored last. */
static void note_change(struct weft_control *control, uint8_t category, uint8_t level)
{
	struct weft_abi_buffer *header = control->header;
	uint64_t ticks = 0;
	weft__clock_read(__atomic_load_n(&header->clock, __ATOMIC_RELAXED), &ticks);
	uint32_t number = __atomic_fetch_add(&header->changes_count, 1, __ATOMIC_RELAXED);
	struct weft_abi_change *change = &header->changes[number % WEFT_ABI_CHANGES];
	__atomic_store_n(&change->number, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	__atomic_store_n(&change->ticks, ticks, __ATOMIC_RELAXED);
	__atomic_store_n(&change->category, category, __ATOMIC_RELAXED);
	__atomic_store_n(&change->level, level, __ATOMIC_RELAXED);
	__atomic_store_n(&change->number, number + 1, __ATOMIC_RELEASE);
}

static void set_all(struct weft_control *control, uint8_t level)
{
	for (unsigned i = 0; i < WEFT_ABI_LEVELS; i++)
		__atomic_store_n(&control->header->levels[i], level, __ATOMIC_RELAXED);
	note_change(control, WEFT_ABI_CATEGORY_ALL, level);
}

WEFT__EXPORT unsigned weft_control_matches(struct weft_control *control, const char *pattern)
{
	const struct weft_trace_description *description = weft_control_describe(control);
	unsigned matched = 0;
	for (uint32_t i = 0; i < description->category_count; i++)
		matched += matches(pattern, description->categories[i].name);
	return matched;
}

WEFT__EXPORT int weft_control_set_level(
	struct weft_control *control, const char *pattern, enum weft_level level, unsigned *ret_matched)
{
	unsigned matched = 0;
	if ((unsigned)level > WEFT_LEVEL_MAX)
		return WEFT_ERROR_ARGUMENT;
	int error = weft__control_check(control);
	if (error)
		return error;
	const struct weft_trace_description *description = weft_control_describe(control);
	const bool all = strcmp(pattern, "*") == 0;
	for (uint32_t i = 0; i < description->category_count; i++) {
		const struct weft_trace_category *category = &description->categories[i];
		if (!matches(pattern, category->name))
			continue;
		matched++;
		if (all)
			continue;
		__atomic_store_n(
			&control->header->levels[category->number], (uint8_t)level, __ATOMIC_RELAXED);
		note_change(control, category->number, (uint8_t)level);
	}
	if (all)
		set_all(control, (uint8_t)level);
	if (ret_matched)
		*ret_matched = matched;
	return 0;
}
