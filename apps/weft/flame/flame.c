/* SPDX-License-Identifier: ISC
 *
 * weft flame: draws where in the code threads waited, or what they ran.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/filter.h>

#include "cli/cli.h"
#include "cli/live.h"
#include "cli/output.h"
#include "profiles.h"
#include "render/picture.h"
#include "render/rows.h"
#include "runs/directory/find.h"

static const char usage[] =
	"usage: weft flame [OPTION]... FILE...|PID [-o OUT.svg|OUT.png|OUT.pdf]\n"
	"\n"
	"Draws a flame graph of where in the code threads waited, as far as the adapters noted it: a\n"
	"box for each function, as wide as the time that was waited in it, over those that it called,\n"
	"and over the kind of what was waited for. `weft stats` has the same as a table, by stack, and\n"
	"`weft export` writes it for pprof and as collapsed stacks. FILE is a trace, `-` is standard\n"
	"input; several files, or a directory of traces, are one trace. PID is a running program.\n"
	"\n"
	"  --of WHAT         waits, the default; or cpu: what threads ran, if weft-record(1) took\n"
	"                    samples of it\n"
	"  -o, --output OUT  the file to write; its suffix selects the format; default: SVG on standard\n"
	"                    output\n"
	"  --start TIME      only a range: 12ms, 1.5s, 300us, 40ns after the trace's start, or @N on its\n"
	"                    own clock\n"
	"  --duration T      the length of the range\n"
	"  --only PATTERN    only those of threads and other tasks whose label contains PATTERN, or with\n"
	"                    thread:NAME or process:NAME of a thread or process; can be given more than\n"
	"                    once, like --hide\n"
	"  --hide PATTERN    leave these out\n"
	"  --width PX        240 to 32000; default: 1200\n"
	"  --max-size SIZE   refuse a compressed FILE that holds more (500M, 4G); default: 64M plus 64\n"
	"                    times its own size, and 4G for a pipe\n"
	"  --no-align        leave the clocks of several hosts as they are\n"
	"  --help            this text\n";

struct flame {
	enum flame_source source;
	const char *output;
	enum picture_format format;
	struct cli_time start;
	uint64_t duration_ns, width;
	struct render_rows rows;
};

static bool parse_option(const char *command, int option, struct flame *f)
{
	switch (option) {
	case 'o':
		f->output = optarg;
		return true;
	case 'f':
		return flame_parse_source(command, optarg, &f->source);
	case 's':
		return cli_parse_time(command, "--start", optarg, &f->start);
	case 'd':
		return cli_parse_duration(command, "--duration", optarg, &f->duration_ns);
	case 'w':
		return cli_parse_number(command, "--width", optarg, 240, 32000, &f->width);
	default:
		return render_rows_parse(command, option, &f->rows);
	}
}

static int settle_format(const char *command, struct flame *f)
{
	f->format = strcmp(f->output, "-") == 0 ? PICTURE_SVG : picture_format_of_path(f->output);
	if (f->format == PICTURE_NONE || f->format == PICTURE_HTML)
		return cli_usage_error(
			command, "\"%s\" has an unknown suffix; name it .svg, .png or .pdf", f->output);
	return picture_check_build(f->format);
}

static int parse(int argc, char **argv, struct flame *f, bool *ret_run)
{
	static const struct option options[] = {
		{"help", no_argument, NULL, 'h'},
		{"output", required_argument, NULL, 'o'},
		{"of", required_argument, NULL, 'f'},
		{"start", required_argument, NULL, 's'},
		{"duration", required_argument, NULL, 'd'},
		{"only", required_argument, NULL, 'y'},
		{"hide", required_argument, NULL, 'x'},
		{"width", required_argument, NULL, 'w'},
		CLI_MAX_SIZE_OPTION,
		CLI_NO_ALIGN_OPTION,
		{NULL, 0, NULL, 0},
	};
	*ret_run = false;
	for (int option; (option = cli_next_option(argc, argv, options)) != -1;) {
		if (option == 'h')
			return cli_help(usage);
		if (!parse_option(argv[0], option, f))
			return CLI_USAGE;
	}
	if (!cli_count_operands(argc, argv, "FILE or PID"))
		return CLI_USAGE;
	const int status = settle_format(argv[0], f);
	*ret_run = status == CLI_DONE;
	return status;
}

/* ---- The picture ---- */

struct flame_drawing {
	const struct weft_profile *profile;
	struct weft_profile_picture picture;
};

static int draw_profile(
	const void *context, const struct weft_font *font, struct weft_canvas *canvas, int *ret_status)
{
	const struct flame_drawing *d = context;
	struct weft_profile_picture picture = d->picture;
	picture.font = font;
	*ret_status = CLI_DONE;
	return weft_profile_draw(d->profile, &picture, canvas);
}

static int draw(const struct flame *f, const char *title, const char *detail,
	const struct weft_profile *profile, int *ret_status)
{
	const struct flame_drawing drawing = {profile, {.size = sizeof(drawing.picture),
													   .width = (double)f->width,
													   .title = title,
													   .detail = detail}};
	const struct picture_file picture = {.format = f->format,
		.path = f->output,
		.title = title,
		.draw = draw_profile,
		.context = &drawing};
	struct weft_canvas *canvas = NULL;
	int error = weft_canvas_create(drawing.picture.width, 0, &canvas);
	if (!error)
		error = picture_write(&picture, canvas, ret_status);
	weft_canvas_destroy(canvas);
	return error;
}

/* ---- The profile ---- */

static int find_hidden(
	const struct render_rows *rows, const struct weft_model *model, uint8_t **ret_hidden)
{
	struct weft_text filter = {0};
	if (!rows->hide.count && !rows->only.count)
		return 0;
	int error = render_rows_filter(rows, &filter);
	if (!error)
		error = weft_filter_tasks(model, filter.bytes, ret_hidden);
	weft_text_finish(&filter);
	return error;
}

static int draw_model(
	const struct flame *f, const char *name, const struct weft_model *model, int *ret_status)
{
	const struct weft_model_summary *summary = &model->summary;
	struct weft_stats_options options = {.size = sizeof(options)};
	struct weft_profile *profile = NULL;
	uint8_t *hidden = NULL;
	char detail[200];
	options.start_ns = cli_time_on_clock(f->start, summary->start);
	if (__builtin_add_overflow(options.start_ns, f->duration_ns, &options.end_ns))
		options.end_ns = UINT64_MAX;
	int error = find_hidden(&f->rows, model, &hidden);
	options.hidden = hidden;
	if (!error)
		error = flame_make_profile(f->source, model, &options, &profile);
	if (!error && !weft_profile_weight(profile)) {
		cli_error("%s: %s", name, flame_explain_none(f->source));
		*ret_status = CLI_NO;
	} else if (!error) {
		const uint64_t start =
			options.start_ns > summary->start ? options.start_ns : summary->start;
		weft_profile_describe(profile, start - summary->start, detail, sizeof(detail));
		error = draw(f, picture_short_name(name), detail, profile, ret_status);
	}
	weft_profile_destroy(profile);
	free(hidden);
	return error;
}

static int draw_process(const struct flame *f, char *pid)
{
	struct cli_trace trace = {.name = pid};
	struct cli_live live;
	int status = cli_live_open(pid, &live);
	if (status)
		return status;
	int error = draw_model(f, pid, live.model, &status);
	weft_model_destroy(live.model);
	return error ? cli_trace_fail(&trace, error) : status;
}

static int draw_files(const struct flame *f, char **files, int count)
{
	struct weft_model *model = NULL;
	struct cli_trace trace;
	int status = cli_trace_open_all(files, count, &trace);
	if (status)
		return status;
	cli_progress_start();
	int error = cli_trace_build_model(&trace, &model);
	cli_progress_end();
	cli_trace_report(&trace);
	if (!error)
		error = draw_model(f, trace.name, model, &status);
	if (error)
		status = cli_trace_fail(&trace, error);
	weft_model_destroy(model);
	cli_trace_close(&trace);
	return status;
}

int cli_flame(int argc, char **argv)
{
	struct flame f = {.output = "-", .duration_ns = UINT64_MAX, .width = 1200};
	bool wanted;
	const int status = parse(argc, argv, &f, &wanted);
	if (!wanted)
		return status;
	if (argc - optind == 1 && weft__runs_parse_pid(argv[optind]))
		return draw_process(&f, argv[optind]);
	return draw_files(&f, argv + optind, argc - optind);
}
