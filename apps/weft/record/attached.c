/* SPDX-License-Identifier: ISC
 *
 * weft record -p: makes a linked process record, until it ends or a signal ends us. The process
 * then goes on unrecorded, and may be attached to again. Also --wait, which waits for processes
 * that we did not start either.
 *
 * Signals are blocked and read one by one, so none comes while the trace is being saved.
 */
#include <signal.h>
#include <time.h>

#include "cli/cli.h"
#include "record.h"
#include "runs/attach/page.h"
#include "runs/directory/rings.h"

static void block_signals(sigset_t *ret_ending)
{
	static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	sigemptyset(ret_ending);
	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
		sigaddset(ret_ending, ending[i]);
	sigprocmask(SIG_BLOCK, ret_ending, NULL);
}

/* True until a signal that ends us is pending. */
static bool goes_on(void *ending)
{
	const struct timespec now = {0, 0};
	return sigtimedwait(ending, NULL, &now) < 0;
}

/* True while a process records into the directory. */
static bool has_recorder(const char *directory)
{
	struct weft__runs_rings rings;
	bool found = false;
	if (!weft__runs_rings_find(directory, 1, &rings))
		return false;
	for (size_t i = 0; i < rings.count && !found; i++)
		found = weft__runs_ring_is_running(directory, &rings.list[i]);
	weft__runs_rings_finish(&rings);
	return found;
}

/* How many looks at the rings pass between two looks for processes that still record. */
enum {
	LOOKS = 10
};

/* Returns when no process records into the directory any more, or when a signal comes. */
static void watch(
	const char *directory, const sigset_t *ending, struct weft__runs_snapshots *snapshots)
{
	const struct timespec interval = {0, WEFT__RUNS_LOOK_NS};
	unsigned looks = 0;
	while (sigtimedwait(ending, NULL, &interval) < 0) {
		if (snapshots)
			weft__runs_snapshots_look(snapshots);
		if (++looks % LOOKS == 0 && !has_recorder(directory))
			return;
	}
}

void record_await_others(const char *directory, struct weft__runs_snapshots *snapshots)
{
	sigset_t ending;
	block_signals(&ending);
	if (!has_recorder(directory))
		return;
	cli_error("the program has ended; waiting for its other processes, until Ctrl-C");
	watch(directory, &ending, snapshots);
}

bool record_attach(pid_t pid, uint64_t size_bytes, char ret_directory[PATH_MAX], pid_t *ret_pid)
{
	static sigset_t ending;
	block_signals(&ending);
	const struct weft__runs_attach_options attach = {
		.pid = pid,
		.size_bytes = size_bytes,
		.goes_on = goes_on,
		.context = &ending,
	};
	if (!weft__runs_attach(&attach, ret_directory, ret_pid))
		return false;
	cli_error("process %d records, until it ends or Ctrl-C", (int)pid);
	return true;
}

struct weft__runs_detached *record_attached(struct weft__runs_snapshot_options *options)
{
	sigset_t ending;
	block_signals(&ending);
	struct weft__runs_snapshots *snapshots = weft__runs_snapshots_create(options);
	watch(options->directory, &ending, snapshots);
	weft__runs_snapshots_destroy(snapshots);
	return weft__runs_detach(options->directory);
}
