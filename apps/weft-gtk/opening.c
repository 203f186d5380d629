/* SPDX-License-Identifier: ISC
 *
 * See opening.h. The descriptor is closed at once, because each reader maps or copies the file.
 */
#include "opening.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include <glib.h>

static int close_after(int fd, int error)
{
	int reason = errno;
	close(fd);
	errno = reason;
	return error;
}

int opening_source(
	const char *path, pid_t pid, struct weft_source **ret_source, struct weft_ring_check *ret_check)
{
	*ret_check = (struct weft_ring_check){.reason = ""};
	if (!pid)
		return weft_source_open(path, ret_source);
	int fd = weft_source_open_ring(path, pid, WEFT_RING_READ, ret_check);
	return fd < 0 ? WEFT_ERROR_SYSTEM
				  : close_after(fd, weft_source_open_descriptor(fd, 0, ret_source));
}

int opening_follow(
	const char *path, pid_t pid, struct weft_follow **ret_follow, struct weft_ring_check *ret_check)
{
	*ret_check = (struct weft_ring_check){.reason = ""};
	if (!pid)
		return weft_follow_open(path, ret_follow);
	int fd = weft_source_open_ring(path, pid, WEFT_RING_WRITE, ret_check);
	return fd < 0 ? WEFT_ERROR_SYSTEM
				  : close_after(fd, weft_follow_open_descriptor(fd, ret_follow));
}

int opening_control(const char *path, pid_t pid, struct weft_control **ret_control,
	struct weft_ring_check *ret_check)
{
	*ret_check = (struct weft_ring_check){.reason = ""};
	if (!pid)
		return weft_control_open(path, ret_control);
	int fd = weft_source_open_ring(path, pid, WEFT_RING_READ, ret_check);
	return fd < 0 ? WEFT_ERROR_SYSTEM
				  : close_after(fd, weft_control_open_descriptor(fd, ret_control));
}

const char *opening_reason(int error, int system_error, const struct weft_ring_check *check)
{
	if (check->reason[0])
		return check->reason;
	if (error == WEFT_ERROR_EMPTY)
		return "the file is empty";
	return error == WEFT_ERROR_SYSTEM ? strerror(system_error) : weft_error_text(error);
}

char *opening_damage(const struct weft_diagnostics *diagnostics)
{
	GString *lines = g_string_new("");
	for (size_t i = 0; i < diagnostics->count; i++) {
		const struct weft_diagnostic *d = &diagnostics->list[i];
		g_string_append_printf(lines, "%soffset 0x%" PRIx64 ": %s (×%" PRIu64 ")", i ? "\n" : "",
			d->offset, d->message, d->count);
	}
	return g_string_free(lines, FALSE);
}
