/* SPDX-License-Identifier: ISC
 *
 * See window.h.
 */
#include "window.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <weft/parse.h>

#include "agent/command.h"
#include "agent/database.h"
#include "agent/window.h"
#include "cli/cli.h"
#include "metrics/programs.h"
#include "metrics/value.h"
#include "runs/message.h"

/* ---- Times ---- */

static bool parse_digits(const char *text, size_t size, uint64_t most, int *ret_number)
{
	uint64_t number;
	if (weft_parse_number(text, size, &number) != WEFT_PARSE_OK || number > most)
		return false;
	*ret_number = (int)number;
	return true;
}

/* Parses HH:MM: the last time that the clock showed it. */
static bool parse_hour(const char *text, int64_t now, int64_t *ret_time)
{
	int hour, minute;
	if (strlen(text) != 5 || text[2] != ':' || !parse_digits(text, 2, 23, &hour) ||
		!parse_digits(text + 3, 2, 59, &minute))
		return false;
	*ret_time = weft__agent_window_clock(now, hour, minute);
	return true;
}

/* Parses YYYY-MM-DD: when that day began. A day that no calendar has becomes another one. */
static bool parse_date(const char *text, int64_t *ret_time)
{
	int year, month, number;
	if (strlen(text) != 10 || text[4] != '-' || text[7] != '-' ||
		!parse_digits(text, 4, 9999, &year) || !parse_digits(text + 5, 2, 12, &month) ||
		!parse_digits(text + 8, 2, 31, &number))
		return false;
	struct tm day = {.tm_year = year - 1900,
		.tm_mon = month - 1,
		.tm_mday = number,
		.tm_hour = 12,
		.tm_isdst = -1};
	time_t noon = mktime(&day);
	*ret_time = weft__agent_window_midnight(noon);
	return day.tm_mon == month - 1 && day.tm_mday == number;
}

static bool parse_since(const char *command, const char *text, int64_t now, int64_t *ret_time)
{
	uint64_t seconds;
	bool good = true;
	if (strcmp(text, "midnight") == 0)
		*ret_time = weft__agent_window_midnight(now);
	else if (text[0] == '@' &&
			 weft_parse_number(text + 1, strlen(text + 1), &seconds) == WEFT_PARSE_OK)
		*ret_time = seconds > INT64_MAX ? INT64_MAX : (int64_t)seconds;
	else
		good = parse_hour(text, now, ret_time) || parse_date(text, ret_time);
	if (!good)
		cli_usage_error(command,
			"--since: \"%s\" is not midnight, HH:MM, YYYY-MM-DD, or @SECONDS since 1970", text);
	return good;
}

/* Minutes, hours and days are windows, but not durations of a trace. */
static bool parse_over(const char *command, const char *text, int64_t *ret_seconds)
{
	static const struct {
		char unit;
		int64_t seconds;
	} units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
	size_t size = strlen(text);
	uint64_t number;
	for (size_t i = 0; size > 1 && i < sizeof(units) / sizeof(*units); i++)
		if (text[size - 1] == units[i].unit &&
			weft_parse_number(text, size - 1, &number) == WEFT_PARSE_OK && number > 0 &&
			number <= 100000000) {
			*ret_seconds = (int64_t)number * units[i].seconds;
			return true;
		}
	cli_usage_error(command, "--over: \"%s\" is not a number with s, m, h or d, like 5m", text);
	return false;
}

/* ---- Output ---- */

static void add_time(struct weft_text *text, int64_t seconds)
{
	char bytes[64];
	time_t at = seconds;
	struct tm day;
	if (localtime_r(&at, &day) && strftime(bytes, sizeof(bytes), "%Y-%m-%d %H:%M:%S", &day))
		weft_text_add_string(text, bytes);
}

static void add_head(
	struct weft_text *text, const char *metric, const struct weft__agent_window *window)
{
	weft_text_add_string(text, weft__runs_shown(metric));
	weft_text_add_string(text, ", ");
	add_time(text, window->from);
	weft_text_add_string(text, " to ");
	add_time(text, window->to);
	weft_text_add_string(text, ", known to ");
	weft_text_add_i64(text, window->exact_to_s);
	weft_text_add_string(text, " s");
	if (window->watched_since > window->from) {
		weft_text_add_string(text, "; the agent has looked since ");
		add_time(text, window->watched_since);
	}
	weft_text_add_string(text, "\n");
}

struct figure {
	const char *name;
	double value;
	bool is_whole; /* the amount of a counter, or a count */
};

/* The group as a counter, of which the unit and values in base units are known. */
static struct weft__runs_counter counter_of(const struct weft__agent_group *group)
{
	const bool is_counter = group->kind == WEFT__AGENT_GROUP_COUNTER;
	return (struct weft__runs_counter){.unit = group->unit,
		.scale = group->exponent,
		.integer = is_counter ? group->amount : group->count,
		.exemplar = group->exemplar};
}

/* The figures of a group, in base units; NAN: it has none. The number of them. */
static size_t figures_of(const struct weft__agent_group *group,
	const struct weft__agent_window *window, struct figure ret_figures[6])
{
	const struct weft__runs_counter counter = counter_of(group);
	const int scale = weft__metrics_base_unit(&counter).scale;
	const double seconds = window->to > window->from ? (double)(window->to - window->from) : NAN;
	const double amount = weft__unit_scaled((double)group->amount, scale);
	const double count = (double)group->count;
	size_t n = 0;
	if (group->kind == WEFT__AGENT_GROUP_COUNTER) {
		ret_figures[n++] = (struct figure){"amount", amount, true};
		ret_figures[n++] = (struct figure){"per_second", amount / seconds, false};
	} else if (group->kind == WEFT__AGENT_GROUP_GAUGE) {
		const double values[] = {group->value, group->low, group->high};
		static const char *const names[] = {"value", "low", "high"};
		for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
			ret_figures[n++] = (struct figure){
				names[i], group->is_known ? weft__unit_scaled(values[i], scale) : NAN, false};
	} else {
		const double parts[] = {0.5, 0.9, 0.99};
		static const char *const names[] = {"p50", "p90", "p99"};
		ret_figures[n++] = (struct figure){"count", count, true};
		ret_figures[n++] = (struct figure){"average", count > 0 ? amount / count : NAN, false};
		for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
			ret_figures[n++] = (struct figure){names[i],
				weft__unit_scaled(weft__agent_window_quantile(group, parts[i]), scale), false};
	}
	return n;
}

/* Whole numbers with all of their digits: those of counters may be beyond 2^53. */
static void add_figure(
	struct weft_text *text, const struct weft__agent_group *group, const struct figure *figure)
{
	const struct weft__runs_counter counter = counter_of(group);
	if (figure->is_whole && group->kind == WEFT__AGENT_GROUP_COUNTER)
		weft__metrics_add_value(text, &counter);
	else if (figure->is_whole)
		weft_text_add_i64(text, group->count);
	else if (isfinite(figure->value))
		weft_text_add_f64(text, figure->value);
	else
		weft_text_add_string(text, "null");
}

static const char *unit_of(const struct weft__agent_group *group)
{
	const struct weft__runs_counter counter = counter_of(group);
	return weft__metrics_base_unit(&counter).name;
}

/* When it was, and how to look at it in a trace. */
static void add_exemplar(struct weft_text *text, const struct weft__agent_group *group)
{
	const struct weft__runs_exemplar *it = &group->exemplar;
	const struct weft__runs_counter counter = counter_of(group);
	weft_text_pad(text, text->size, 25);
	weft_text_add_string(text, "like ");
	weft__metrics_add_scaled(text, it->value, weft__metrics_base_unit(&counter).scale);
	weft_text_add_string(text, " at ");
	add_time(text, (int64_t)(it->unix_ns / 1000000000));
	weft_text_add_string(text, ", process ");
	weft_text_add_i64(text, group->exemplar_pid);
	if (it->task != UINT64_MAX) {
		weft_text_add_string(text, ": weft why FILE task:");
		weft_text_add_u64(text, it->task);
		weft_text_add_string(text, " --at @");
		weft_text_add_u64(text, it->monotonic_ns);
	}
	weft_text_add_string(text, "\n");
}

static void add_line(struct weft_text *text, const struct weft__agent_group *group,
	const struct weft__agent_window *window)
{
	struct figure figures[6];
	size_t count = figures_of(group, window, figures), start = text->size;
	weft_text_add_string(text, group->name[0] ? weft__runs_shown(group->name) : "all");
	weft_text_pad(text, start, 24);
	for (size_t i = 0; i < count; i++) {
		weft_text_add_string(text, i ? "  " : " ");
		weft_text_add_string(text, figures[i].name);
		weft_text_add_string(text, " ");
		add_figure(text, group, &figures[i]);
	}
	if (unit_of(group)[0]) {
		weft_text_add_string(text, "  ");
		weft_text_add_string(text, weft__runs_shown(unit_of(group)));
	}
	weft_text_add_string(text, "\n");
	if (group->exemplar.is_there)
		add_exemplar(text, group);
}

static void add_json(struct weft_text *text, const char *metric, const char *by,
	const struct weft__agent_group *group, const struct weft__agent_window *window)
{
	struct figure figures[6];
	size_t count = figures_of(group, window, figures);
	weft_text_add_string(text, "{\"metric\":");
	weft_text_add_json(text, metric, strlen(metric));
	weft_text_add_string(text, ",\"from\":");
	weft_text_add_i64(text, window->from);
	weft_text_add_string(text, ",\"to\":");
	weft_text_add_i64(text, window->to);
	weft_text_add_string(text, ",\"known_to_s\":");
	weft_text_add_i64(text, window->exact_to_s);
	weft_text_add_string(text, ",\"watched_since\":");
	weft_text_add_i64(text, window->watched_since);
	if (*by) {
		weft_text_add_string(text, ",\"group\":");
		weft_text_add_json(text, group->name, strlen(group->name));
	}
	if (unit_of(group)[0]) {
		weft_text_add_string(text, ",\"unit\":");
		weft_text_add_json(text, unit_of(group), strlen(unit_of(group)));
	}
	for (size_t i = 0; i < count; i++) {
		weft_text_add_string(text, ",\"");
		weft_text_add_string(text, figures[i].name);
		weft_text_add_string(text, "\":");
		add_figure(text, group, &figures[i]);
	}
	if (group->exemplar.is_there) {
		const struct weft__runs_counter counter = counter_of(group);
		metrics_add_json_exemplar(text, &counter);
		weft_text_add_string(text, ",\"pid\":");
		weft_text_add_i64(text, group->exemplar_pid);
		weft_text_add_string(text, "}");
	}
	weft_text_add_string(text, "}\n");
}

/* An agent that does not look cannot say that nothing was counted. */
static void inform_of_no_look(const char *metric, const struct weft__agent_window *window)
{
	struct weft_text text = {0};
	add_time(&text, window->from);
	weft_text_add_string(&text, "; its last look was at ");
	add_time(&text, window->to);
	weft_text_add(&text, "", 1);
	if (!text.error)
		cli_inform("%s: no agent has looked since %s", weft__runs_shown(metric), text.bytes);
	weft_text_finish(&text);
}

static int answer(sqlite3 *database, const char *file, const struct metrics_window *options,
	const char *metric, int64_t from)
{
	const struct weft__agent_question question = {metric, options->by ? options->by : "", from};
	struct weft__agent_window window;
	struct weft_text text = {0};
	int status = CLI_DONE;
	if (weft__agent_window_ask(database, &question, &window)) {
		cli_error("%s: %s", weft__runs_shown(file), sqlite3_errmsg(database));
		status = CLI_UNREADABLE;
	} else if (window.count && window.to <= window.from) {
		inform_of_no_look(metric, &window);
		status = CLI_NO;
	} else if (!window.count) {
		cli_inform("the agent knows no metric \"%s\"%s%s", metric, *question.by ? " with " : "",
			question.by);
		status = CLI_NO;
	} else if (!options->is_json) {
		add_head(&text, metric, &window);
	}
	for (size_t i = 0; status == CLI_DONE && i < window.count; i++)
		if (options->is_json)
			add_json(&text, metric, question.by, &window.groups[i], &window);
		else
			add_line(&text, &window.groups[i], &window);
	if (text.size)
		cli_write(&text);
	weft_text_finish(&text);
	weft__agent_window_finish(&window);
	return status;
}

int metrics_show_window(
	const char *command, const struct metrics_window *options, char *const *names, int count)
{
	char own[PATH_MAX];
	const char *file = options->data;
	int64_t now = time(NULL), from = 0, seconds = 0;
	if (options->over && options->since)
		return cli_usage_error(command, "--over and --since exclude each other");
	if (!count)
		return cli_usage_error(command, "--over and --since need the name of a metric");
	if (options->since ? !parse_since(command, options->since, now, &from)
					   : !parse_over(command, options->over, &seconds))
		return CLI_USAGE;
	if (options->over)
		from = now - seconds;
	if (!file && !agent_default_file(own))
		return CLI_UNREADABLE;
	if (!file)
		file = own;
	sqlite3 *database = NULL;
	int result = weft__agent_database_open_readonly(file, &database), status = CLI_DONE;
	if (result) {
		cli_error("%s: %s; does `weft agent` run?", weft__runs_shown(file), sqlite3_errstr(result));
		status = CLI_UNREADABLE;
	}
	for (int i = 0; i < count && !result; i++) {
		int next = answer(database, file, options, names[i], from);
		status = next > status ? next : status;
	}
	sqlite3_close(database);
	return status;
}
