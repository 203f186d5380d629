/* SPDX-License-Identifier: ISC
 *
 * weft agent: looks at the counters of all programs of a host, and keeps them.
 */
#include "command.h"
#include "http.h"
#include "spans.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <weft/parse.h>
#include <weft/source.h>

#include "agent/agent.h"
#include "agent/mmv.h"
#include "agent/rollup.h"
#include "cli/cli.h"
#include "runs/attach/region.h"
#include "runs/message.h"

static const char usage[] =
	"usage: weft agent [OPTION]...\n"
	"       weft agent ledger [--csv | --json] [--data FILE]\n"
	"\n"
	"Looks at the counters of all programs that are linked with libweft, each second, and keeps them\n"
	"in a database: totals that go on when programs end and start again, and values at times, from\n"
	"which `weft metrics` answers questions. Runs until SIGTERM or Ctrl-C.\n"
	"\n"
	"Programs that start while the folder exists have their counters there, and their last values are\n"
	"counted even if they are killed while no agent runs. `weft agent ledger` prints the totals.\n"
	"\n"
	"  --folder DIR       the folder. Default: $WEFT_AGENT, else /run/weft/agent for root and\n"
	"                     $XDG_RUNTIME_DIR/weft/agent for others. Programs find it the same way\n"
	"  --data FILE        the database. Default: /var/lib/weft/agent.db for root, else\n"
	"                     ~/.local/state/weft/agent.db\n"
	"  --every DURATION   the time between two looks, at least 1s, which is the default\n"
	"  --only-folder      leave out programs whose counters are not in the folder\n"
	"  --once             look once\n"
	"\n"
	"Rules about values, of which each takes snapshots of the programs that make it true (see\n"
	"weft-trigger(5)): 'rate(requests by customer) > 100/s for 10s', 'p99(latency) > 50ms'\n"
	"\n"
	"  --rule RULE        a rule; may be given several times\n"
	"  --rules FILE       a file with a rule on each line\n"
	"  --snapshots DIR    the folder for snapshots. Default: snapshots beside the database\n"
	"  --most N           the number of snapshots that stay there, 100 by default\n"
	"  --most-bytes SIZE  their size in all, 1G by default; older ones are removed\n"
	"\n"
	"  --http ADDRESS:PORT\n"
	"                     answer Alertmanager's webhook (POST /alert), of which each alert takes\n"
	"                     snapshots of the programs that its labels name, and GET /metrics\n"
	"  --token-file FILE  the token of requests; default: a new random one, which is printed\n"
	"  --tokens FILE      further tokens, which show at /metrics what has some labels: lines like\n"
	"                     TOKEN customer=acme\n"
	"  --depth N          /metrics, and --mmv, have series of N labels at most\n"
	"\n"
	"  --mmv DIR          write the values of /metrics to a file in DIR, which Performance Co-Pilot\n"
	"                     reads: /var/lib/pcp/tmp/mmv\n"
	"\n"
	"  --otlp URL         send the spans of programs that record, as they end, to a receiver of\n"
	"                     OpenTelemetry: http://localhost:4318\n"
	"  --spool DIR        the folder for what it does not take. Default: spool beside the database\n"
	"  --spool-size SIZE  the most bytes in it, 256M by default\n"
	"  --timeout TIME     wait so long for an answer; default: 10s\n"
	"\n"
	"  --help             this text\n"
	"\n"
	"Exit status: 1 if the folder or the database cannot be used.\n";

struct agent_arguments {
	struct weft__agent_options options;
	char folder[PATH_MAX], file[PATH_MAX], snapshots[PATH_MAX], spool[PATH_MAX];
	time_t every_s;
	bool is_once;
	bool has_made_folder;
	struct agent_http_options http; /* no host: none */
	struct push_options push;       /* no URL: none */
	struct weft__agent_mmv mmv;
};

/* ---- Folders and files ---- */

/* Makes all folders of a path that are missing, but the last piece: that is a file. */
static bool make_parents(char *path, mode_t mode)
{
	for (char *at = path + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		bool good = mkdir(path, mode) == 0 || errno == EEXIST;
		if (!good)
			cli_error("%s: %s", weft__runs_shown(path), strerror(errno));
		*at = '/';
		if (!good)
			return false;
	}
	return true;
}

/* Other users make files in root's folder, but cannot list it nor remove those of others. The mode
 * of mkdir depends on the umask. */
static bool make_folder(char *path, bool *ret_is_new)
{
	mode_t mode = geteuid() == 0 ? 01733 : 0700;
	if (!make_parents(path, 0755))
		return false;
	*ret_is_new = mkdir(path, mode) == 0 && chmod(path, mode) == 0;
	if (*ret_is_new || errno == EEXIST)
		return true;
	cli_error("%s: %s", weft__runs_shown(path), strerror(errno));
	return false;
}

bool agent_find_default_file(char ret_file[PATH_MAX])
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	int size;
	if (geteuid() == 0)
		size = snprintf(ret_file, PATH_MAX, "/var/lib/weft/agent.db");
	else if (state && state[0] == '/')
		size = snprintf(ret_file, PATH_MAX, "%s/weft/agent.db", state);
	else if (home && home[0] == '/')
		size = snprintf(ret_file, PATH_MAX, "%s/.local/state/weft/agent.db", home);
	else
		size = PATH_MAX;
	return size < PATH_MAX;
}

bool agent_default_file(char ret_file[PATH_MAX])
{
	if (agent_find_default_file(ret_file))
		return true;
	cli_error("neither XDG_STATE_HOME nor HOME says where the database is; use --data FILE");
	return false;
}

static bool find_folder(struct agent_arguments *a)
{
	if (!a->folder[0] && !weft__runs_region_folder(a->folder)) {
		cli_error("XDG_RUNTIME_DIR is not a directory of this user; use --folder DIR");
		return false;
	}
	return make_folder(a->folder, &a->has_made_folder);
}

/* ---- Running ---- */

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

static bool start_sides(const struct agent_arguments *a, struct sides *ret_sides)
{
	*ret_sides = (struct sides){NULL, NULL};
	if (a->http.host[0] && !(ret_sides->http = agent_http_start(&a->http)))
		return false;
	return !a->push.url || (ret_sides->spans = agent_spans_start(&a->push));
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

static int run_agent(struct agent_arguments *a)
{
	struct weft__agent agent;
	struct sides sides;
	sigset_t ends;
	allow_files();
	prepare_signals(&ends);
	if ((a->options.alerts.count || a->http.host[0] || a->push.url) &&
		weft_source_survive_truncation()) /* of rings */
		return give_up(a);
	if (!weft__agent_open(&agent, &a->options))
		return give_up(a);
	if (!start_sides(a, &sides)) {
		stop_sides(&sides);
		weft__agent_close(&agent);
		return give_up(a);
	}
	bool good;
	do
		good = look(a, &sides, &agent);
	while (!a->is_once && wait_for_look(a, &ends, sides.http, &agent));
	stop_sides(&sides);
	if (a->is_once)
		good = good && !a->mmv.error;
	else
		good = weft__agent_look(&agent, now_s());
	if (!a->is_once)
		weft__agent_mmv_finish(&a->mmv);
	weft__agent_close(&agent);
	return good ? CLI_DONE : CLI_NO;
}

/* ---- Arguments ---- */

enum {
	OPTION_FOLDER = 256,
	OPTION_DATA,
	OPTION_EVERY,
	OPTION_ONLY_FOLDER,
	OPTION_ONCE,
	OPTION_RULE,
	OPTION_RULES,
	OPTION_SNAPSHOTS,
	OPTION_MOST,
	OPTION_MOST_BYTES,
	OPTION_HTTP,
	OPTION_TOKEN_FILE,
	OPTION_TOKENS,
	OPTION_DEPTH,
	OPTION_MMV,
	OPTION_OTLP,
	OPTION_SPOOL,
	OPTION_SPOOL_SIZE,
	OPTION_TIMEOUT,
};

static bool parse_path(const char *command, const char *option, char ret_path[PATH_MAX])
{
	if (snprintf(ret_path, PATH_MAX, "%s", optarg) < PATH_MAX && *optarg)
		return true;
	cli_usage_error(command, "%s: \"%s\" is not a path", option, optarg);
	return false;
}

static bool parse_every(const char *command, struct agent_arguments *a)
{
	uint64_t ns;
	if (!cli_parse_duration(command, "--every", optarg, &ns))
		return false;
	a->every_s = (time_t)(ns / 1000000000);
	if (ns % 1000000000 == 0 && a->every_s >= 1 && a->every_s <= 3600)
		return true;
	cli_usage_error(command, "--every: \"%s\" is not a number of seconds from 1s to 3600s", optarg);
	return false;
}

static bool parse_most(const char *command, struct agent_arguments *a)
{
	uint64_t most;
	if (weft_parse_number(optarg, strlen(optarg), &most) == WEFT_PARSE_OK && most &&
		most < 1000000) {
		a->options.alerts.capture.most = (unsigned)most;
		return true;
	}
	cli_usage_error(command, "--most: \"%s\" is not a number from 1 to 999999", optarg);
	return false;
}

static bool parse_depth(const char *command, struct agent_arguments *a)
{
	uint64_t depth;
	if (weft_parse_number(optarg, strlen(optarg), &depth) == WEFT_PARSE_OK) {
		a->http.depth = a->mmv.depth = depth;
		return true;
	}
	cli_usage_error(command, "--depth: \"%s\" is not a number of labels", optarg);
	return false;
}

/* The path of a folder beside the database. */
static bool name_beside(const char *file, const char *name, char ret_path[PATH_MAX])
{
	const char *slash = strrchr(file, '/');
	return snprintf(ret_path, PATH_MAX, "%.*s%s", slash ? (int)(slash + 1 - file) : 0, file, name) <
		   PATH_MAX;
}

/* Snapshots may show what programs do: they are for this user alone. */
static bool make_snapshots_folder(struct agent_arguments *a)
{
	if (!a->options.alerts.count && !a->http.host[0])
		return true;
	if (!a->snapshots[0] && !name_beside(a->file, "snapshots", a->snapshots))
		return false;
	a->options.alerts.capture.folder = a->snapshots;
	if (!make_parents(a->snapshots, 0700))
		return false;
	if (mkdir(a->snapshots, 0700) == 0 || (errno == EEXIST && access(a->snapshots, W_OK) == 0))
		return true;
	cli_error("%s: %s", weft__runs_shown(a->snapshots), strerror(errno));
	return false;
}

static bool find_spool(struct agent_arguments *a)
{
	if (!a->push.url)
		return true;
	a->push.spool = a->spool;
	return (a->spool[0] || name_beside(a->file, "spool", a->spool)) && make_parents(a->spool, 0700);
}

static bool parse_http(const char *command, struct agent_arguments *a)
{
	if (agent_split_address(optarg, a->http.host, a->http.port))
		return true;
	cli_usage_error(command, "--http: \"%s\" is not ADDRESS:PORT, such as 127.0.0.1:9339", optarg);
	return false;
}

/* False after a message. */
static bool parse_option(const char *command, int option, struct agent_arguments *a)
{
	switch (option) {
	case OPTION_FOLDER:
		return parse_path(command, "--folder", a->folder);
	case OPTION_DATA:
		return parse_path(command, "--data", a->file);
	case OPTION_EVERY:
		return parse_every(command, a);
	case OPTION_ONLY_FOLDER:
		a->options.searches = false;
		return true;
	case OPTION_RULE:
		return agent_add_rule(&a->options.alerts, optarg) == CLI_DONE;
	case OPTION_RULES:
		return agent_add_rules(&a->options.alerts, optarg) == CLI_DONE;
	case OPTION_SNAPSHOTS:
		return parse_path(command, "--snapshots", a->snapshots);
	case OPTION_HTTP:
		return parse_http(command, a);
	case OPTION_TOKEN_FILE:
		a->http.token_file = optarg;
		return true;
	case OPTION_TOKENS:
		a->http.tokens = optarg;
		return true;
	case OPTION_MMV:
		a->mmv.folder = optarg;
		return true;
	case OPTION_OTLP:
		a->push.url = optarg;
		return true;
	case OPTION_SPOOL:
		return parse_path(command, "--spool", a->spool);
	case OPTION_SPOOL_SIZE:
		return cli_parse_size(command, "--spool-size", optarg, &a->push.spool_bytes);
	case OPTION_TIMEOUT:
		return cli_parse_duration(command, "--timeout", optarg, &a->push.timeout_ns);
	case OPTION_DEPTH:
		return parse_depth(command, a);
	case OPTION_MOST:
		return parse_most(command, a);
	case OPTION_MOST_BYTES:
		return cli_parse_size(
			command, "--most-bytes", optarg, &a->options.alerts.capture.most_bytes);
	default:
		a->is_once = true;
		return true;
	}
}

int cli_agent(int argc, char **argv)
{
	static const struct option options[] = {
		{"help", no_argument, NULL, 'h'},
		{"folder", required_argument, NULL, OPTION_FOLDER},
		{"data", required_argument, NULL, OPTION_DATA},
		{"every", required_argument, NULL, OPTION_EVERY},
		{"only-folder", no_argument, NULL, OPTION_ONLY_FOLDER},
		{"once", no_argument, NULL, OPTION_ONCE},
		{"rule", required_argument, NULL, OPTION_RULE},
		{"rules", required_argument, NULL, OPTION_RULES},
		{"snapshots", required_argument, NULL, OPTION_SNAPSHOTS},
		{"most", required_argument, NULL, OPTION_MOST},
		{"most-bytes", required_argument, NULL, OPTION_MOST_BYTES},
		{"http", required_argument, NULL, OPTION_HTTP},
		{"token-file", required_argument, NULL, OPTION_TOKEN_FILE},
		{"tokens", required_argument, NULL, OPTION_TOKENS},
		{"depth", required_argument, NULL, OPTION_DEPTH},
		{"mmv", required_argument, NULL, OPTION_MMV},
		{"otlp", required_argument, NULL, OPTION_OTLP},
		{"spool", required_argument, NULL, OPTION_SPOOL},
		{"spool-size", required_argument, NULL, OPTION_SPOOL_SIZE},
		{"timeout", required_argument, NULL, OPTION_TIMEOUT},
		{NULL, 0, NULL, 0},
	};
	static struct agent_arguments a = {.options.searches = true,
		.options.alerts.capture = {.most = 100, .most_bytes = 1 << 30},
		.every_s = 1,
		.http.depth = SIZE_MAX,
		.mmv.depth = SIZE_MAX,
		.push = {.spool_bytes = 256 << 20,
			.queue_bytes = 32 << 20,
			.timeout_ns = 10 * UINT64_C(1000000000),
			.patience_ns = 300 * UINT64_C(1000000000),
			.in_background = true}};
	if (argc > 1 && strcmp(argv[1], "ledger") == 0) {
		argv[1] = argv[0]; /* the command that messages name */
		return agent_ledger(argc - 1, argv + 1);
	}
	for (int option; (option = cli_next_option(argc, argv, options)) != -1;) {
		if (option == 'h')
			return cli_help(usage);
		if (option == '?' || !parse_option(argv[0], option, &a))
			return CLI_USAGE;
	}
	if (a.push.url && a.is_once)
		return cli_usage_error(argv[0], "--once is not for --otlp");
	if (!a.push.url && a.spool[0])
		return cli_usage_error(argv[0], "--spool is for --otlp");
	if (optind < argc)
		return cli_usage_error(
			argv[0], "unknown operand \"%s\"; the only one is ledger", argv[optind]);
	if ((!a.file[0] && !agent_default_file(a.file)) || !make_parents(a.file, 0700) ||
		!make_snapshots_folder(&a) || !find_spool(&a) || !find_folder(&a))
		return CLI_NO;
	a.options.folder = a.folder;
	a.options.file = a.http.data = a.file;
	a.options.gap = 5 + 3 * (int64_t)a.every_s;
	return run_agent(&a);
}
