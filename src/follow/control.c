/* SPDX-License-Identifier: ISC
 *
 * Controls what a program records: bytes in its buffer's header, which it reads before each event.
 * Each change is also noted in the header, with its time, for readers of the trace.
 *
 * The mapping has the size of the file when it was opened. A hostile program may change all of its
 * content, so sizes and offsets are those that were checked then.
 */
#include "follow/control.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/category_abi.h"
#include "base/export.h"
#include "follow/live.h"
#include "format/weft/tables.h"
#include "source/mapping.h"
#include "xen/guest.h"

/* ---- Opening ---- */

static int read_header(struct weft_control *control)
{
	const uint8_t *bytes = (const uint8_t *)control->header;
	if (!weft__format_buffer_probe(bytes, control->size))
		return WEFT_ERROR_FORMAT;
	const struct weft__input input = {.bytes = bytes,
		.size = control->size,
		.diagnostics = &control->diagnostics,
		.description = &control->description};
	control->description.format = "weft";
	int error = weft__format_buffer_init(&control->buffer, &input);
	return error ? error : weft__format_buffer_keep_names(&control->buffer);
}

static int start(struct weft_control *control, int fd)
{
	struct stat status;
	if (fstat(fd, &status) != 0)
		return WEFT_ERROR_SYSTEM;
	void *mapping;
	int rights = control->refused ? PROT_READ : PROT_READ | PROT_WRITE;
	int error = weft__follow_live_map(fd, &status, rights, &mapping, &control->size);
	control->header = mapping;
	control->page = control->refused ? NULL : mapping;
	if (!error)
		error = read_header(control);
	if (!error)
		weft__follow_process_open(&control->process, control->buffer.pid, status.st_ino);
	return error;
}

/* Opening a FIFO does not block. `ret_refused`: why it is open only for reading, or 0. */
static int open_file(const char *path, int *ret_refused)
{
	const int flags = O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	int fd = open(path, O_RDWR | flags);
	*ret_refused = 0;
	if (fd >= 0 || (errno != EACCES && errno != EPERM && errno != EROFS))
		return fd;
	*ret_refused = errno;
	return open(path, O_RDONLY | flags);
}

static struct weft_control *create_control(int refused)
{
	struct weft_control *control = calloc(1, sizeof(*control));
	if (control) {
		control->process.fd = -1;
		control->refused = refused;
	}
	return control;
}

/* Closes it after an error. */
static int finish_opening(
	struct weft_control *control, int error, struct weft_control **ret_control)
{
	int reason = errno;
	if (error)
		weft_control_close(control);
	else
		*ret_control = control;
	errno = reason;
	return error;
}

static int open_control(int fd, int refused, struct weft_control **ret_control)
{
	struct weft_control *control = create_control(refused);
	return control ? finish_opening(control, start(control, fd), ret_control) : WEFT_ERROR_MEMORY;
}

WEFT__EXPORT int weft_control_open(const char *path, struct weft_control **ret_control)
{
	int refused, fd = open_file(path, &refused);
	if (fd < 0)
		return WEFT_ERROR_SYSTEM;
	int error = open_control(fd, refused, ret_control);
	int reason = errno;
	close(fd);
	errno = reason;
	return error;
}

WEFT__EXPORT int weft_control_open_descriptor(int fd, struct weft_control **ret_control)
{
	int flags = fcntl(fd, F_GETFL);
	if (flags < 0)
		return WEFT_ERROR_SYSTEM;
	return open_control(fd, (flags & O_ACCMODE) == O_RDWR ? 0 : EACCES, ret_control);
}

WEFT__EXPORT int weft_control_open_guest(
	struct weft_guest *guest, struct weft_control **ret_control)
{
	struct weft__live_ring live;
	int error = weft__follow_live_open_guest(&live, guest);
	if (error)
		return error;
	struct weft_control *control = create_control(EACCES);
	if (!control)
		return WEFT_ERROR_MEMORY;
	control->guest = guest;
	control->header = live.bytes;
	control->size = live.size;
	control->page = weft__xen_guest_header(guest);
	if (control->page)
		control->refused = 0;
	return finish_opening(control, read_header(control), ret_control);
}

WEFT__EXPORT void weft_control_close(struct weft_control *control)
{
	if (!control)
		return;
	weft__follow_process_close(&control->process);
	weft__format_buffer_finish(&control->buffer);
	if (control->header && !control->guest) {
		weft__source_mapping_release(control->header);
		munmap(control->header, control->size);
	}
	free(control);
}

/* ---- Reading ---- */

WEFT__EXPORT bool weft_control_is_live(struct weft_control *control)
{
	bool has_ended = control->guest ? weft_guest_look(control->guest) != WEFT_GUEST_OPEN
									: weft__follow_process_has_ended(&control->process);
	return !has_ended && !__atomic_load_n(&control->header->stopped, __ATOMIC_RELAXED);
}

WEFT__EXPORT int weft_control_summarize(
	const struct weft_control *control, struct weft_buffer_summary *ret_summary)
{
	return weft_buffer_summarize(control->header, control->size, ret_summary);
}

WEFT__EXPORT const struct weft_trace_description *weft_control_describe(
	struct weft_control *control)
{
	weft__format_categories_read(&control->buffer, &control->categories, &control->description);
	return &control->description;
}

/* Checks that the program is recording and that the buffer is writable. 0, or an error of
 * weft_control_set_level. */
static int check_control(struct weft_control *control)
{
	if (!weft_control_is_live(control))
		return WEFT_ERROR_STATE;
	errno = control->refused;
	return control->refused ? WEFT_ERROR_SYSTEM : 0;
}

/* ---- Setting ---- */

static uint64_t now(const struct weft_control *control)
{
	const struct weft__live_ring live = {
		.guest = control->guest, .clock = weft__format_buffer_clock(&control->buffer)};
	uint64_t ticks = 0; /* 0: a program's own clock cannot be read */
	weft__follow_live_read_clock(&live, &ticks);
	return ticks;
}

static bool does_match(const char *pattern, const struct weft_trace_category *category)
{
	return weft__abi_matches(pattern, category->name, (uint32_t)strlen(category->name));
}

WEFT__EXPORT unsigned weft_control_matches(struct weft_control *control, const char *pattern)
{
	const struct weft_trace_description *description = weft_control_describe(control);
	unsigned matched = 0;
	for (uint32_t i = 0; i < description->category_count; i++)
		matched += does_match(pattern, &description->categories[i]);
	return matched;
}

/* A recorder that is older than the level "count" would take it for off. */
static bool can_count(const struct weft_control *control)
{
	struct weft__live_table tables[WEFT_ABI_TABLES_MAX];
	const uint32_t count = weft__format_tables_find(&control->buffer, tables);
	for (uint32_t i = 0; i < count; i++)
		if (tables[i].entry.number == WEFT_ABI_TABLE_counted)
			return true;
	return false;
}

WEFT__EXPORT int weft_control_set_level(
	struct weft_control *control, const char *pattern, enum weft_level level, unsigned *ret_matched)
{
	unsigned matched = 0;
	if ((unsigned)level > WEFT_LEVEL_LAST)
		return WEFT_ERROR_ARGUMENT;
	int error = check_control(control);
	if (!error && level == WEFT_LEVEL_COUNT && !can_count(control))
		error = WEFT_ERROR_UNSUPPORTED;
	if (error)
		return error;
	const struct weft_trace_description *description = weft_control_describe(control);
	const bool all = strcmp(pattern, "*") == 0;
	if (all)
		weft__abi_set_level(control->page, now(control), WEFT_ABI_CATEGORY_ALL, (uint8_t)level);
	for (uint32_t i = 0; i < description->category_count; i++) {
		const struct weft_trace_category *category = &description->categories[i];
		if (!does_match(pattern, category))
			continue;
		matched++;
		if (!all)
			weft__abi_set_level(control->page, now(control), category->number, (uint8_t)level);
	}
	if (ret_matched)
		*ret_matched = matched;
	return 0;
}
