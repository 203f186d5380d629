/* SPDX-License-Identifier: ISC
 *
 * See agent.h.
 */
#include "agent/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "runs/message.h"

#define SERIES_MAX 1000000

/* If the power fails, no more than the changes of so many seconds are missing. */
#define DURABLE_EACH_S 10

/* ---- Opening ---- */

static bool report_result(const struct weft__agent *agent, int result)
{
	sqlite3 *it = agent->ledger.database.it;
	weft__runs_report("%s: %s", weft__runs_shown(agent->options.file),
		result == SQLITE_MISMATCH         ? "it was made by another version of weft"
		: it && result != SQLITE_CANTOPEN ? sqlite3_errmsg(it)
										  : sqlite3_errstr(result));
	return false;
}

/* The kernel releases the lock however the agent ends. SQLite's own locks would not keep another
 * agent out. */
static bool lock(struct weft__agent *agent)
{
	char path[PATH_MAX];
	const char *file = agent->options.file;
	if (snprintf(path, sizeof(path), "%s-lock", file) >= (int)sizeof(path))
		errno = ENAMETOOLONG;
	else
		agent->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW, 0600);
	if (agent->lock >= 0 && flock(agent->lock, LOCK_EX | LOCK_NB) == 0)
		return true;
	weft__runs_report("%s: %s", weft__runs_shown(file),
		errno == EWOULDBLOCK ? "another agent writes it" : strerror(errno));
	return false;
}

static bool open_folder(struct weft__agent *agent)
{
	const char *folder = agent->options.folder;
	int error = weft__agent_regions_open(&agent->ledger.regions, folder);
	agent->ledger.regions.xen = agent->options.xen;
	if (error)
		weft__runs_report("%s: %s", folder ? weft__runs_shown(folder) : "memory",
			error == EWOULDBLOCK ? "another agent collects there"
			: error == EPERM ? "other users could remove files there; it must belong to root or to "
							   "you, and be writable for others only with the sticky bit"
							 : strerror(error));
	return !error;
}

static void read_boot(char ret_boot[37])
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t size = fd >= 0 ? read(fd, ret_boot, 36) : 0;
	ret_boot[size > 0 ? size : 0] = '\0';
	if (fd >= 0)
		close(fd);
}

static int load(struct weft__agent *agent)
{
	struct weft__agent_ledger *ledger = &agent->ledger;
	int result = weft__agent_database_open(agent->options.file, &ledger->database);
	ledger->series.limit = SERIES_MAX;
	if (!result)
		result = weft__agent_series_load(&ledger->series, ledger->database.it);
	if (!result)
		result = weft__agent_history_load(&agent->history, ledger);
	return result ? result : weft__agent_entries_load(&agent->entries, ledger->database.it);
}

bool weft__agent_open(struct weft__agent *agent, const struct weft__agent_options *options)
{
	*agent = (struct weft__agent){
		.options = *options, .alerts = options->alerts, .ledger.regions.folder = -1, .lock = -1};
	read_boot(agent->ledger.boot);
	bool good = open_folder(agent) && lock(agent);
	int result = good ? load(agent) : SQLITE_OK;
	if (result)
		good = report_result(agent, result);
	if (!good)
		weft__agent_close(agent);
	return good;
}

void weft__agent_close(struct weft__agent *agent)
{
	weft__agent_alerts_finish(&agent->alerts);
	weft__agent_ledger_finish(&agent->ledger);
	if (agent->lock >= 0)
		close(agent->lock);
	agent->lock = -1;
}

/* ---- Looking ---- */

/* The incident is written with the ledger. */
static int heed_clock(struct weft__agent *agent, int64_t now)
{
	struct weft__agent_ledger *ledger = &agent->ledger;
	if (now >= ledger->last)
		return SQLITE_OK;
	weft__agent_ledger_refuse(ledger, now, NULL,
		"the clock was set back by %lld s: the history of that time is forgotten",
		(long long)(ledger->last - now));
	return weft__agent_history_turn_back(&agent->history, ledger, now);
}

static int write_all(struct weft__agent *agent, int64_t now)
{
	struct weft__agent_ledger *ledger = &agent->ledger;
	int result = heed_clock(agent, now);
	if (!result)
		result = weft__agent_ledger_write(ledger, now);
	if (!result)
		result = weft__agent_history_write(&agent->history, ledger, now, agent->options.gap);
	return result ? result : weft__agent_entries_write(&agent->entries, ledger, now);
}

static bool is_pending_too_long(const struct weft__agent *agent, int64_t now)
{
	const int64_t since = agent->pending_since;
	return since && (now < since || now - since >= DURABLE_EACH_S);
}

static int write_look(struct weft__agent *agent, int64_t now)
{
	struct weft__agent_ledger *ledger = &agent->ledger;
	bool is_late = is_pending_too_long(agent, now);
	bool is_durable = weft__agent_ledger_has_dead(ledger, now) || is_late || !agent->has_looked;
	const int before = sqlite3_total_changes(ledger->database.it);
	if (is_late)
		agent->history.watch.stop = 0; /* a commit without changes would not wait for the disk */
	int result = weft__agent_database_set_durable(&ledger->database, is_durable);
	if (!result)
		result = weft__agent_database_run(&ledger->database, WEFT__AGENT_BEGIN, NULL, 0);
	if (result)
		return result;
	result = write_all(agent, now);
	if (!result)
		result = weft__agent_database_run(&ledger->database, WEFT__AGENT_COMMIT, NULL, 0);
	if (!result && sqlite3_total_changes(ledger->database.it) != before)
		agent->pending_since = is_durable ? 0 : agent->pending_since ? agent->pending_since : now;
	return result;
}

/* The processes of regions, of which the kernel knows how long they had no processor. Whose a
 * region is, is known once it was read. */
static void find_processes(struct weft__agent_ledger *ledger)
{
	struct weft__agent_regions *regions = &ledger->regions;
	for (size_t i = 0, count = regions->count; i < count; i++) {
		struct weft__agent_region *region = regions->list[i];
		if (region->kind >= WEFT__AGENT_KINDS || region->has_process || region->is_dead ||
			!region->program[0])
			continue;
		region->has_process = true;
		if (weft__agent_region_is_of(region))
			weft__agent_regions_add_process(regions, region->pid, region->program, ledger->boot, 0);
	}
}

/* When the machine was booted: its domains had used nothing then. */
static double booted_s(int64_t now)
{
	struct timespec up = {0};
	clock_gettime(CLOCK_BOOTTIME, &up);
	return (double)(now - up.tv_sec);
}

/* The regions that a look has found; the first one also says what has gone meanwhile. */
static int read_look(struct weft__agent *agent, int64_t now)
{
	struct weft__agent_ledger *ledger = &agent->ledger;
	int error = weft__agent_regions_find(&ledger->regions);
	if (error && error != agent->folder_error)
		weft__agent_ledger_refuse(
			ledger, now, NULL, "%s: %s", agent->options.folder, strerror(error));
	agent->folder_error = error;
	if (agent->options.searches)
		weft__agent_regions_search(&ledger->regions);
	find_processes(ledger);
	weft__agent_regions_find_domains(
		&ledger->regions, ledger->boot, agent->has_looked ? (double)ledger->last : booted_s(now));
	int result = weft__agent_ledger_read(ledger, now);
	if (!result && !agent->has_looked)
		result = weft__agent_ledger_forget_lost(ledger, now);
	return result;
}

bool weft__agent_look(struct weft__agent *agent, int64_t now)
{
	struct weft__agent_ledger *ledger = &agent->ledger;
	int result = read_look(agent, now);
	if (!result)
		result = write_look(agent, now);
	if (result) {
		if (result != agent->failure)
			report_result(agent, result);
		agent->failure = result;
		if (!sqlite3_get_autocommit(ledger->database.it))
			weft__agent_database_run(&ledger->database, WEFT__AGENT_ROLLBACK, NULL, 0);
		weft__agent_ledger_undo(ledger);
		return false;
	}
	agent->failure = SQLITE_OK;
	agent->has_looked = true;
	weft__agent_history_commit(&agent->history, ledger);
	weft__agent_entries_commit(&agent->entries, ledger, now);
	weft__agent_ledger_commit(ledger, now);
	weft__agent_alerts_test(&agent->alerts, ledger, now);
	weft__agent_alerts_report_unused(&agent->alerts, ledger);
	return true;
}
