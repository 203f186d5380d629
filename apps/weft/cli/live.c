/* SPDX-License-Identifier: ISC
 *
 * The model of a running program: its ring is read without disturbing it, up to now.
 */
#include "live.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/follow.h>
#include <weft/refresh.h>

#include "attach.h"
#include "runs/directory/find.h"

#define BATCH_EVENTS 65536

/* After the second look, the low-water mark is at least the time of the first. */
#define LOOKS 3

/* Reads what there is now. 0 or an error; the program may record without end meanwhile, so it ends
 * after `most` events. */
static int read_all(struct weft_refresh *refresh, struct weft_follow *follow, uint64_t most)
{
	int status = WEFT_OK;
	for (int look = 0; look < LOOKS && status >= 0 && status != WEFT_END; look++) {
		do
			status = weft_refresh_read(refresh, BATCH_EVENTS);
		while (status == WEFT_OK && weft_refresh_events(refresh) < most &&
			   cli_progress_step(weft_refresh_events(refresh)));
		if (status == WEFT_AGAIN)
			(void)weft_follow_wait(follow, 0);
	}
	return status < 0 ? status : 0;
}

static int make_model(struct weft_follow *follow, struct weft_model **ret_model)
{
	const struct weft_refresh_source source = weft_follow_source(follow);
	struct weft_refresh *refresh;
	int error = weft_refresh_create(&source, &refresh);
	if (error)
		return error;
	error = read_all(refresh, follow, UINT32_MAX / 2);
	if (!error)
		error = weft_refresh_model(refresh, ret_model);
	weft_refresh_destroy(refresh);
	return error;
}

static int load(const char *path, const struct weft__runs_found *found, struct cli_live *ret_live)
{
	struct weft_follow *follow = NULL;
	struct stat status = {0};
	int fd = weft__runs_open_operand(path, found);
	if (fd < 0)
		return CLI_UNREADABLE;
	(void)fstat(fd, &status);
	ret_live->inode = status.st_ino;
	int error = weft_follow_open_descriptor(fd, &follow);
	close(fd);
	if (!error)
		error = make_model(follow, &ret_live->model);
	weft_follow_close(follow);
	if (error)
		cli_trace_explain(path, error);
	return error ? CLI_UNREADABLE : CLI_DONE;
}

int cli_live_open(char *operand, struct cli_live *ret_live)
{
	struct weft__runs_found found;
	struct cli_attached attached;
	*ret_live = (struct cli_live){.pid = weft__runs_parse_pid(operand)};
	char *path = cli_attach_path(operand, &found, &attached);
	int status = path ? load(path, &found, ret_live) : CLI_UNREADABLE;
	cli_detach(&attached);
	return status;
}

bool cli_live_is_replaced(const struct cli_live *live)
{
	const struct weft_model *model = live->model;
	const enum weft_ending ending =
		model->buffer_count ? model->buffers[0].ending : WEFT_ENDING_UNKNOWN;
	return ending != WEFT_ENDING_STOP && ending != WEFT_ENDING_EXIT &&
		   weft__runs_has_left(live->pid, live->inode);
}
