/* SPDX-License-Identifier: ISC
 *
 * weft agent: looks at the counters of all programs of a host, and keeps them.
 */
#include "arguments.h"
#include "command.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include <weft/parse.h>

#include "cli/cli.h"

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
	"  --only-folder      leave out programs whose counters are not in the folder, and the domains\n"
	"                     of Xen, which are counted in dom0\n"
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
	"  --spans WHICH      all (default), or requests: as for weft export\n"
	"  --spool DIR        the folder for what the receiver does not take. Default: spool beside the\n"
	"                     database\n"
	"  --spool-size SIZE  the most bytes in it, 256M by default\n"
	"  --timeout TIME     wait so long for an answer; default: 10s\n"
	"\n"
	"  --help             this text\n"
	"\n"
	"Exit status: 1 if the folder or the database cannot be used.\n";

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
	OPTION_SPANS,
	OPTION_SPOOL,
	OPTION_SPOOL_SIZE,
	OPTION_TIMEOUT,
};

static bool take_path(const char *command, const char *option, const char **ret_path)
{
	*ret_path = optarg;
	if (*optarg && strlen(optarg) < PATH_MAX)
		return true;
	cli_usage_error(command, "%s: \"%s\" is not a path", option, optarg);
	return false;
}

static bool parse_path(const char *command, const char *option, char ret_path[PATH_MAX])
{
	const char *path;
	if (!take_path(command, option, &path))
		return false;
	strcpy(ret_path, path);
	return true;
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

static bool parse_spans(const char *command, struct agent_arguments *a)
{
	static const char *const names[] = {"all", "requests", NULL};
	const int chosen = cli_choose(command, "--spans:", optarg, names);
	a->folds = chosen == 1;
	return chosen >= 0;
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
		return take_path(command, "--token-file", &a->http.token_file);
	case OPTION_TOKENS:
		return take_path(command, "--tokens", &a->http.tokens);
	case OPTION_MMV:
		return take_path(command, "--mmv", &a->mmv.folder);
	case OPTION_OTLP:
		a->push.url = optarg;
		return true;
	case OPTION_SPANS:
		a->has_push_option = true;
		return parse_spans(command, a);
	case OPTION_SPOOL:
		return parse_path(command, "--spool", a->spool);
	case OPTION_SPOOL_SIZE:
		a->has_push_option = true;
		return cli_parse_size(command, "--spool-size", optarg, &a->push.spool_bytes);
	case OPTION_TIMEOUT:
		a->has_push_option = true;
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

/* CLI_DONE, or the exit status after a message. */
static int check(int argc, char **argv, const struct agent_arguments *a)
{
	const char *command = argv[0];
	if (a->push.url && a->is_once)
		return cli_usage_error(command, "--once is not for --otlp");
	if (!a->push.url && (a->spool[0] || a->has_push_option))
		return cli_usage_error(command, "%s for --otlp",
			a->spool[0] ? "--spool is" : "--spans, --spool-size and --timeout are");
	if (!a->http.host[0] && (a->http.token_file || a->http.tokens))
		return cli_usage_error(
			command, "%s for --http", a->http.token_file ? "--token-file is" : "--tokens is");
	if (optind < argc)
		return cli_usage_error(
			command, "unknown operand \"%s\"; the only one is ledger", argv[optind]);
	return a->push.url ? push_check_url(command, "--otlp", a->push.url) : CLI_DONE;
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
		{"spans", required_argument, NULL, OPTION_SPANS},
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
	const int status = check(argc, argv, &a);
	if (status != CLI_DONE)
		return status;
	a.options.folder = a.folder;
	a.options.file = a.file;
	a.options.gap = 5 + 3 * (int64_t)a.every_s;
	return agent_run(&a);
}
