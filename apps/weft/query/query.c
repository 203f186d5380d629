/* SPDX-License-Identifier: ISC
 *
 * weft query: asks a trace by SQL.
 */
#include "query.h"

#include <ctype.h>
#include <getopt.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
	"usage: weft query [OPTION]... FILE... [SQL]\n"
	"       weft query --tables\n"
	"\n"
	"Asks a trace by SQL, as SQLite understands it: its tasks, edges, notes, counters and more are\n"
	"tables. Several files, or a directory of traces, are one trace. Without SQL,\n"
	"statements are read from standard input, with a prompt on a terminal.\n"
	"\n"
	"  --tables         list the tables and their columns\n"
	"  --csv            print rows as CSV, with a line of titles\n"
	"  --json           print rows as JSON, an object on each line\n"
	"  --start TIME     read only a range of the trace: 12ms, 1.5s, 300us, 40ns after its start, or @N\n"
	"                   on its own clock; what began before or ends later is not known\n"
	"  --duration T     the length of the range\n"
	"  --max-size SIZE  refuse a compressed FILE that holds more (500M, 4G); default: 64M plus 64\n"
	"                   times its own size, and 4G for a pipe\n"
	"  --cpu-hz HZ      the rate of the cycles in a trace of Xen (2596.15M); default: estimated\n"
	"  --no-align       leave the clocks of several hosts as they are\n"
	"  --help           this text\n"
	"\n"
	"Times are ns on the trace's own clock. Besides SQLite's functions there are duration(NS), which\n"
	"is text such as '1.2 ms', and percentile(VALUE, P) of a group.\n"
	"\n"
	"  weft query t.weft \"SELECT label, duration(running) FROM tasks ORDER BY running DESC LIMIT 5\"\n"
	"  weft query t.weft \"SELECT kind, count(*), duration(percentile(end - start, 99))\n"
	"                     FROM tasks GROUP BY kind\"\n";

struct query_arguments {
	enum query_format format;
	char **files;
	int file_count;
	const char *sql; /* NULL: on standard input */
};

void query_list_tables(void)
{
	struct weft_text text = {0};
	unsigned count, column_count;
	const struct weft_table *tables = weft_tables(&count);
	for (unsigned i = 0; i < count; i++) {
		const struct weft_column *columns = weft_table_columns(i, &column_count);
		weft_text_add_string(&text, i ? "\n" : "");
		weft_text_add_string(&text, tables[i].name);
		weft_text_add_string(&text, ": ");
		weft_text_add_string(&text, tables[i].sentence);
		weft_text_add_string(&text, "\n");
		for (unsigned c = 0; c < column_count; c++) {
			size_t start = text.size;
			weft_text_add_string(&text, "  ");
			weft_text_add_string(&text, columns[c].name);
			weft_text_pad(&text, start, 13);
			weft_text_add_string(&text, columns[c].unit);
			weft_text_pad(&text, start, 24);
			weft_text_add_string(&text, columns[c].sentence);
			weft_text_add_string(&text, "\n");
		}
	}
	cli_write(&text);
	weft_text_finish(&text);
}

/* True for an operand that is SQL: no file has that name, and it is more than a word. */
static bool is_sql(const char *operand)
{
	return strpbrk(operand, " \t\n;") && access(operand, F_OK) != 0;
}

/* CLI_DONE; or the exit status if `ret_run` is false. */
static int parse(int argc, char **argv, struct query_arguments *ret, bool *ret_run)
{
	static const struct option options[] = {
		{"help", no_argument, NULL, 'h'},
		{"tables", no_argument, NULL, 't'},
		{"csv", no_argument, NULL, 'c'},
		{"json", no_argument, NULL, 'j'},
		CLI_MAX_SIZE_OPTION,
		CLI_CPU_HZ_OPTION,
		CLI_NO_ALIGN_OPTION,
		CLI_RANGE_OPTIONS,
		{NULL, 0, NULL, 0},
	};
	*ret = (struct query_arguments){.format = QUERY_TEXT};
	*ret_run = false;
	for (int option; (option = cli_next_option(argc, argv, options)) != -1;) {
		if (option == 'h')
			return cli_help(usage);
		if (option == 't') {
			query_list_tables();
			return CLI_DONE;
		}
		if (option == '?')
			return CLI_USAGE;
		ret->format = option == 'c' ? QUERY_CSV : QUERY_JSON;
	}
	ret->file_count = cli_count_operands(argc, argv, "FILE");
	ret->files = argv + optind;
	if (ret->file_count > 1 && is_sql(ret->files[ret->file_count - 1]))
		ret->sql = ret->files[--ret->file_count];
	if (!ret->file_count)
		return CLI_USAGE;
	if (is_sql(ret->files[0]))
		return cli_usage_error("query", "a FILE comes before the SQL");
	if (!ret->sql && strcmp(ret->files[0], "-") == 0)
		return cli_usage_error("query", "standard input is the trace: SQL is missing");
	*ret_run = true;
	return CLI_DONE;
}

static int run_query(sqlite3 *database, const void *context)
{
	const struct query_arguments *arguments = context;
	return arguments->sql ? query_run(database, arguments->sql, arguments->format)
						  : query_run_input(database, arguments->format);
}

static int ask(const struct query_arguments *arguments, const struct cli_trace *trace)
{
	struct weft_model *model = NULL;
	int error = cli_trace_build_model(trace, &model);
	if (error)
		return cli_trace_fail(trace, error);
	if (model->summary.events == 0 && !model->summary.read_end)
		cli_inform("%s: a valid trace without events", trace->name);
	int status = query_use_database(model, run_query, arguments);
	weft_model_destroy(model);
	return status;
}

int cli_query(int argc, char **argv)
{
	struct query_arguments arguments;
	struct cli_trace trace;
	bool run_query;
	int status = parse(argc, argv, &arguments, &run_query);
	if (!run_query)
		return status;
	status = cli_trace_open_all(arguments.files, arguments.file_count, &trace);
	if (status != CLI_DONE)
		return status;
	cli_progress_start();
	status = ask(&arguments, &trace);
	cli_trace_report(&trace);
	cli_progress_end();
	cli_trace_close(&trace);
	cli_progress_die_if_interrupted();
	return status;
}
