/* SPDX-License-Identifier: ISC
 *
 * weft dump --follow: prints what is in a file and what is added to it, until Ctrl-C. Of a
 * program's buffer these are the events that it records, until the program ends; of another file
 * the bytes that are appended to it, each of which is decoded once.
 */
#include <poll.h>
#include <sys/stat.h>

#include <weft/follow.h>

#include "cli/attach.h"
#include "dump.h"
#include "tail/tail.h"
#include "tail/xentrace.h"

#define LOOK_MS 50

static void find_range(
	const void *context, uint64_t first_ns, uint64_t *ret_start_ns, uint64_t *ret_end_ns)
{
	const struct dump_range range = dump_find_range(context, first_ns);
	*ret_start_ns = range.start_ns;
	*ret_end_ns = range.end_ns;
}

static int follow_events(const struct dump_options *options, const char *path)
{
	const struct tail_events what = {
		.name = path, .json = options->json, .range = find_range, .context = options};
	const struct weft_growing_spec spec = {
		.size = sizeof(spec), .paths = &path, .count = 1, .hz = cli_trace_hz(), .is_patient = true};
	struct weft_growing *growing;
	int error = weft_input_open_growing(&spec, &growing);
	if (error)
		return cli_trace_explain(path, error);
	int status = tail_events(growing, &what);
	weft_growing_close(growing);
	return status;
}

static int follow_records(const struct dump_options *options, const char *path)
{
	const struct dump_range range = dump_find_range(options, 0);
	const struct tail_xentrace records = {
		.json = options->json,
		.is_followed = true,
		.filter = &options->filter,
		.start_ns = range.start_ns,
		.end_ns = range.end_ns,
	};
	return tail_xentrace(path, &records);
}

/* A directory, device or pipe. */
static bool is_of_other_kind(const char *path)
{
	struct stat status;
	return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

/* Nothing says what the file will be before its first bytes come. */
static bool wait_for_begin(const char *path)
{
	struct stat status;
	while (stat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 0) {
		if (cli_is_interrupted())
			return false;
		poll(NULL, 0, LOOK_MS);
	}
	return true;
}

int dump_follow(const struct dump_options *options, const char *path)
{
	int error = weft_source_survive_truncation();
	if (error) {
		return cli_trace_explain(path, error);
	}
	if (is_of_other_kind(path)) {
		cli_inform("%s: not a regular file", path);
		return CLI_UNREADABLE;
	}
	cli_catch_interrupts();
	if (!wait_for_begin(path))
		return CLI_DONE;
	if (tail_xentrace_is(path))
		return follow_records(options, path);
	if (!xen_filter_is_empty(&options->filter))
		return cli_usage_error("dump", "--filter needs the records of a trace of Xen");
	return follow_events(options, path);
}
