/* SPDX-License-Identifier: ISC
 *
 * weft ctl FILE|PID snapshot: saves what a program has recorded so far.
 */
#include "ctl.h"
#include "cli/trigger.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/watch.h>

#include "record/record.h"
#include "runs/directory/rings.h"
#include "runs/saving/save.h"
#include "runs/attach/metrics.h"
#include "runs/saving/snapshots.h"

/* Chooses PROG-PID.snapshot-N.weft in the current directory, with the lowest free N. The program's
 * name in the buffer must not be trusted as a path. */
static char *choose_file(const struct ctl *ctl)
{
	struct weft_buffer_summary summary;
	char *file = NULL;
	if (weft_control_summarize(ctl->control, &summary) < 0)
		return strdup("snapshot.weft");
	for (char *at = summary.program; *at; at++)
		if (*at == '/' || (unsigned char)*at < ' ' || (at == summary.program && *at == '.'))
			*at = '_';
	for (unsigned number = 1;; number++) {
		free(file);
		if (asprintf(&file, "%s-%u.snapshot-%u.weft", summary.program, summary.pid, number) < 0)
			return NULL;
		if (access(file, F_OK) != 0)
			return file;
	}
}

/* Copies the buffer; with --hold the past is held meanwhile, at the cost of new events. */
static int copy(const struct ctl *ctl, void **ret_bytes, size_t *ret_size)
{
	struct weft_watch *watch;
	int error = weft_watch_open_descriptor(ctl->fd, &watch);
	if (error)
		return error;
	if (ctl->hold)
		weft_watch_hold(watch, WEFT_WATCH_HOLD_MAX_NS);
	error = weft_watch_copy(watch, ret_bytes, ret_size);
	weft_watch_close(watch);
	return error;
}

static const uint64_t SECOND_NS = 1000000000;

/* Waits until a rule fires; events from before the command do not count. */
static int wait_until_one_fires(struct weft_triggers *triggers, struct weft_follow *follow)
{
	struct weft_slice rule;
	int status;
	while ((status = weft__runs_follow_rules(triggers, follow, UINT_MAX)) == WEFT_OK)
		continue;
	weft_triggers_fired(triggers, &rule);
	while (status == WEFT_AGAIN && !weft_triggers_fired(triggers, &rule)) {
		status = weft_follow_wait(follow, SECOND_NS / 50);
		if (status >= 0)
			status = weft__runs_follow_rules(triggers, follow, UINT_MAX);
	}
	if (status < 0)
		return status;
	return status == WEFT_END && !weft_triggers_fired(triggers, &rule) ? WEFT_ERROR_STATE : 0;
}

/* Waits for --when. 0 when the rule has fired; WEFT_ERROR_STATE if the program ended before. */
static int wait_for_trigger(const struct ctl *ctl, struct weft_trace_alert *ret_alert)
{
	struct weft_triggers *triggers;
	struct weft_trigger_error wrong; /* not used: the rule was checked before */
	struct weft_follow *follow = NULL;
	int error = weft_triggers_create(&triggers);
	if (error)
		return error;
	error = weft_triggers_add(triggers, ctl->when, strlen(ctl->when), &wrong);
	if (!error)
		error = weft_follow_open_descriptor(ctl->fd, &follow);
	if (!error)
		error = wait_until_one_fires(triggers, follow);
	if (!error)
		*ret_alert = *weft_triggers_alert(triggers);
	weft_follow_close(follow);
	weft_triggers_destroy(triggers);
	return error;
}

static int save(const struct ctl *ctl, char *file, const struct weft_trace_alert *alert)
{
	void *bytes;
	size_t size;
	int error = copy(ctl, &bytes, &size);
	if (!error && ctl->when && weft_watch_add_alert(&bytes, &size, alert))
		cli_error("%s: the snapshot does not say which rule fired", ctl->operand);
	if (error)
		return ctl_fail(ctl, error);
	int values = weft__runs_metrics_open(ctl->pid);
	bool good = weft__runs_save_copy(bytes, size, values, file);
	if (values >= 0)
		close(values);
	weft_watch_free(bytes, size);
	if (good && strcmp(file, "-") != 0) {
		const struct weft__runs_ring ring = {.is_running = false};
		const struct weft__runs_saved saved = {.file = file, .ring = &ring};
		record_report(&saved, 1, 0, NULL);
	}
	return good ? CLI_DONE : CLI_NO;
}

int ctl_snapshot_check(const struct ctl *ctl, int count, char **arguments)
{
	(void)count, (void)arguments;
	if (ctl->output && strcmp(ctl->output, "-") == 0 && isatty(STDOUT_FILENO))
		return cli_usage_error(
			"ctl", "refusing to write a binary trace to a terminal; use -o FILE or a pipe");
	return !ctl->when || cli_trigger_check("ctl", "--when", ctl->when) ? CLI_DONE : CLI_USAGE;
}

int ctl_snapshot(struct ctl *ctl, int count, char **arguments)
{
	(void)count, (void)arguments;
	struct weft_trace_alert alert;
	int error = ctl->when ? wait_for_trigger(ctl, &alert) : 0;
	if (error)
		return ctl_fail(ctl, error);
	char *file = ctl->output ? strdup(ctl->output) : choose_file(ctl);
	if (!file) {
		cli_error("%s", strerror(errno));
		return CLI_NO;
	}
	int status = save(ctl, file, &alert);
	free(file);
	return status;
}
