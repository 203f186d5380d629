/* SPDX-License-Identifier: ISC
 *
 * weft agent: one look after the other, until a signal.
 */
#include "arguments.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <weft/source.h>

#include "agent/rollup.h"
#include "cli/cli.h"
#include "runs/guests/usage.h"
#include "runs/message.h"

/* An agent of 1000 programs has more than 1000 files open. */
static void allow_files(void)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/* Signals that end the agent come between two looks. A program that opens its own file while its
 * end is looked for would send SIGIO. */
static void prepare_signals(sigset_t *ret_ends)
{
	signal(SIGIO, SIG_IGN);
	sigemptyset(ret_ends);
	sigaddset(ret_ends, SIGTERM);
	sigaddset(ret_ends, SIGINT);
	sigaddset(ret_ends, SIGHUP);
	sigaddset(ret_ends, AGENT_HTTP_SIGNAL);
	sigprocmask(SIG_BLOCK, ret_ends, NULL);
}

/* Sleeps until the next whole second at which a look is due, or until a signal, which it returns.
 */
static int wait_for_next(time_t every_s, const sigset_t *ends)
{
	struct timespec now, left;
	clock_gettime(CLOCK_REALTIME, &now);
	left.tv_sec = every_s - 1 - now.tv_sec % every_s;
	left.tv_nsec = 1000000000 - now.tv_nsec;
	if (left.tv_nsec == 1000000000) {
		left.tv_sec++;
		left.tv_nsec = 0;
	}
	int signal;
	do
		signal = sigtimedwait(ends, NULL, &left);
	while (signal < 0 && errno == EINTR);
	return signal < 0 ? 0 : signal;
}

/* Acts on alerts that come meanwhile. False: a signal ends the agent. */
static bool wait_for_look(const struct agent_arguments *a, const sigset_t *ends,
	struct agent_http *http, struct weft__agent *agent)
{
	int signal;
	while ((signal = wait_for_next(a->every_s, ends)) == AGENT_HTTP_SIGNAL)
		if (http)
			agent_http_act(http, agent);
	return signal == 0;
}

static int64_t now_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec;
}

/* A failure is reported once. */
static void write_mmv(struct weft__agent_mmv *mmv, const struct weft__agent *agent)
{
	struct weft__agent_rollup rollup;
	if (!mmv->folder)
		return;
	errno = ENOMEM;
	bool good = weft__agent_rollup_read(agent->ledger.database.it, NULL, 0, &rollup) == SQLITE_OK &&
				weft__agent_mmv_write(mmv, rollup.samples, rollup.count, now_s());
	const int error = good ? 0 : errno;
	weft__agent_rollup_finish(&rollup);
	if (error && error != mmv->error)
		cli_error("--mmv: %s: %s", weft__runs_shown(mmv->folder), strerror(error));
	mmv->error = error;
}

/* Programs would put their counters into a folder that no agent reads. */
static int give_up(const struct agent_arguments *a)
{
	if (a->has_made_folder)
		rmdir(a->folder);
	return CLI_NO;
}

/* The agent does these besides. */
struct sides {
	struct agent_http *http;
	struct agent_spans *spans;
};

static bool start_sides(const struct agent_arguments *a, struct sides *sides)
{
	return (!sides->http || agent_http_start(sides->http, a->file)) &&
		   (!a->push.url || (sides->spans = agent_spans_start(&a->push, a->folds)));
}

static void stop_sides(const struct sides *sides)
{
	agent_http_stop(sides->http);
	agent_spans_stop(sides->spans);
}

/* A look, and what follows from it. False: it failed. */
static bool look(struct agent_arguments *a, const struct sides *sides, struct weft__agent *agent)
{
	const bool good = weft__agent_look(agent, now_s());
	if (good)
		write_mmv(&a->mmv, agent);
	if (sides->spans)
		agent_spans_find(sides->spans, a->options.searches ? NULL : agent);
	return good;
}

/* Rings of programs are read for snapshots and spans. */
static bool open_agent(struct agent_arguments *a, struct weft__agent *agent)
{
	if (a->options.searches)
		a->options.xen = weft__runs_usage_open();
	const bool reads_rings = a->options.alerts.count || a->http.host[0] || a->push.url;
	return agent_make_folders(a) && !(reads_rings && weft_source_survive_truncation()) &&
		   weft__agent_open(agent, &a->options);
}

/* The last look comes when nothing else uses the database. */
static bool look_until_end(struct agent_arguments *a, const sigset_t *ends,
	const struct sides *sides, struct weft__agent *agent)
{
	bool good;
	do
		good = look(a, sides, agent);
	while (!a->is_once && wait_for_look(a, ends, sides->http, agent));
	stop_sides(sides);
	if (a->is_once)
		return good && !a->mmv.error;
	good = weft__agent_look(agent, now_s());
	weft__agent_mmv_finish(&a->mmv);
	return good;
}

int agent_run(struct agent_arguments *a)
{
	struct weft__agent agent;
	struct sides sides = {NULL, NULL};
	sigset_t ends;
	allow_files();
	prepare_signals(&ends);
	if (a->http.host[0] && !(sides.http = agent_http_open(&a->http)))
		return CLI_NO;
	if (!open_agent(a, &agent)) {
		stop_sides(&sides);
		return give_up(a);
	}
	if (!start_sides(a, &sides)) {
		stop_sides(&sides);
		weft__agent_close(&agent);
		return give_up(a);
	}
	const bool good = look_until_end(a, &ends, &sides, &agent);
	weft__agent_close(&agent);
	return good ? CLI_DONE : CLI_NO;
}
