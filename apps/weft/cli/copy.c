/* SPDX-License-Identifier: ISC
 *
 * Copies what a guest, a process or memory holds of a trace.
 */
#include "copy.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/watch.h>

#include "cli.h"
#include "runs/directory/find.h"
#include "runs/guests/guest.h"
#include "runs/memory/operand.h"
#include "runs/saving/save.h"
#include "runs/saving/values.h"

bool cli_copy_is_wanted(const char *operand)
{
	return weft__runs_guest_domain(operand) || weft__runs_is_image(operand) ||
		   weft__runs_parse_pid(operand);
}

/* Writes a copy of the ring, and of its process's metrics, to a file in memory. */
static int copy_ring(int ring, const struct weft__runs_found *found, int copy)
{
	void *bytes;
	size_t size;
	int error = weft__runs_copy_running(ring, &bytes, &size);
	if (error)
		return error;
	struct weft__runs_values values = weft__runs_values_open(found->path, &found->ring);
	bool good = fchmod(copy, 0600) == 0 && weft__runs_write_copy(bytes, size, values.metrics, copy);
	weft__runs_values_close(&values);
	weft_watch_free(bytes, size);
	return good ? 0 : WEFT_ERROR_SYSTEM;
}

static int copy_process(const char *operand)
{
	struct weft__runs_found found = {.ring.pid = 0};
	if (!weft__runs_find_process(weft__runs_parse_pid(operand), &found))
		return -1;
	int ring = weft__runs_open_operand(found.path, &found);
	if (ring < 0)
		return -1;
	int copy = memfd_create("weft-process", MFD_CLOEXEC);
	int error = copy < 0 ? WEFT_ERROR_SYSTEM : copy_ring(ring, &found, copy);
	if (error) {
		cli_trace_explain(operand, error);
		if (copy >= 0)
			close(copy);
		copy = -1;
	}
	close(ring);
	if (copy >= 0)
		(void)lseek(copy, 0, SEEK_SET);
	return copy;
}

int cli_copy_open(const char *operand)
{
	if (weft__runs_guest_domain(operand))
		return weft__runs_guest_copy(operand);
	return weft__runs_is_image(operand)
			   ? weft__runs_image_copy_named(operand, cli_trace_max_bytes())
			   : copy_process(operand);
}
