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
	"       weft flame --diff [OPTION]... A B [-o OUT.svg|OUT.png|OUT.pdf]\n"
	"\n"
	"Draws a flame graph of where in the code threads waited, as far as the adapters noted it: a\n"
	"box for each function, as wide as the time that was waited in it, over those that it called,\n"
	"and over the kind of what was waited for. `weft stats` has the same as a table, by stack, and\n"
	"`weft export` writes it for pprof and as collapsed stacks. FILE is a trace, `-` is standard\n"
	"input; several files, or a directory of traces, are one trace. PID is a running program.\n"
	"\n"
	"  --of WHAT         waits, the default; or cpu: what threads ran, if weft-record(1) takes\n"
	"                    samples\n"
	"  --diff            draw B, in colours that say where it has more time than A (red) or less\n"
	"                    (blue); the times of A are scaled to the length of B\n"
	"  -o, --output OUT  the file to write; its suffix selects the format; default: SVG on standard\n"
	"                    output\n"
	"  --start TIME      only a range: 12ms, 1.5s, 300us, 40ns after the trace's start, or @N on its\n"
	"                    own clock\n"
	"  --duration T      the length of the range\n"
	"  --past T          read only the range and T before it, of a trace of any size\n"
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
	bool is_diff;
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
	case 'D':
		return f->is_diff = true;
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
		{"diff", no_argument, NULL, 'D'},
		{"start", required_argument, NULL, 's'},
		{"duration", required_argument, NULL, 'd'},
		{"only", required_argument, NULL, 'y'},
		{"hide", required_argument, NULL, 'x'},
		{"width", required_argument, NULL, 'w'},
		CLI_MAX_SIZE_OPTION,
		CLI_NO_ALIGN_OPTION,
		CLI_PAST_OPTION,
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
	if (f->is_diff && argc - optind != 2)
		return cli_usage_error(argv[0], "--diff compares two traces: A and B");
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

/* A profile, of which range of which trace it is. */
struct flame_side {
	struct weft_profile *profile;
	uint64_t from_ns; /* from the begin of the trace on */
	char name[200];
};

static int make_side(const struct flame *f, const char *name, const struct weft_model *model,
	struct flame_side *ret_side, int *ret_status)
{
	const uint64_t begin = model->summary.start;
	struct weft_stats_options options = {.size = sizeof(options)};
	uint8_t *hidden = NULL;
	options.start_ns = cli_time_on_clock(f->start, begin);
	if (__builtin_add_overflow(options.start_ns, f->duration_ns, &options.end_ns))
		options.end_ns = UINT64_MAX;
	int error = find_hidden(&f->rows, model, &hidden);
	options.hidden = hidden;
	if (!error)
		error = flame_make_profile(f->source, model, &options, &ret_side->profile);
	free(hidden);
	if (!error && !weft_profile_weight(ret_side->profile)) {
		cli_error("%s: %s", name, flame_explain_none(f->source));
		*ret_status = CLI_NO;
	}
	ret_side->from_ns = options.start_ns > begin ? options.start_ns - begin : 0;
	snprintf(ret_side->name, sizeof(ret_side->name), "%s", picture_short_name(name));
	return error;
}

static int read_process(const struct flame *f, char *pid, struct flame_side *ret_side)
{
	struct cli_trace trace = {.name = pid};
	struct cli_live live;
	int status = cli_live_open(pid, &live);
	if (status)
		return status;
	int error = make_side(f, pid, live.model, ret_side, &status);
	weft_model_destroy(live.model);
	return error ? cli_trace_fail(&trace, error) : status;
}

static int read_files(const struct flame *f, char **files, int count, struct flame_side *ret_side)
{
	struct weft_model *model = NULL;
	struct cli_trace trace;
	int status = cli_trace_open_all(files, count, &trace);
	if (status)
		return status;
	cli_progress_start();
	cli_trace_read_only(f->start, f->duration_ns);
	int error = cli_trace_build_model(&trace, &model);
	cli_progress_end();
	cli_trace_report(&trace);
	if (!error)
		error = make_side(f, trace.name, model, ret_side, &status);
	if (error)
		status = cli_trace_fail(&trace, error);
	weft_model_destroy(model);
	cli_trace_close(&trace);
	return status;
}

static int read_side(const struct flame *f, char **operands, int count, struct flame_side *ret_side)
{
	/* Samples are behind the buffer: they are read in a copy. */
	if (count == 1 && f->source == FLAME_WAITS && weft__runs_parse_pid(operands[0]))
		return read_process(f, operands[0], ret_side);
	return read_files(f, operands, count, ret_side);
}

/* `before` is NULL without a comparison. */
static int draw_sides(
	const struct flame *f, const struct flame_side *now, const struct flame_side *before)
{
	const struct cli_trace trace = {.name = now->name};
	char detail[600];
	int status = CLI_DONE, error = 0;
	const size_t size = weft_profile_describe(now->profile, now->from_ns, detail, 200);
	if (before) {
		char text[200];
		weft_profile_describe(before->profile, before->from_ns, text, sizeof(text));
		const char *figures = strstr(text, ": "); /* behind the same words */
		snprintf(detail + size, sizeof(detail) - size, "; before, in %s%s", before->name, figures);
		error = weft_profile_compare(now->profile, before->profile);
	}
	if (!error)
		error = draw(f, now->name, detail, now->profile, &status);
	return error ? cli_trace_fail(&trace, error) : status;
}

static int draw_difference(const struct flame *f, char **operands)
{
	struct flame_side before = {.profile = NULL}, now = {.profile = NULL};
	int status = read_side(f, operands, 1, &before);
	if (!status)
		status = read_side(f, operands + 1, 1, &now);
	if (!status)
		status = draw_sides(f, &now, &before);
	weft_profile_destroy(before.profile);
	weft_profile_destroy(now.profile);
	return status;
}

static int draw_one(const struct flame *f, char **operands, int count)
{
	struct flame_side now = {.profile = NULL};
	int status = read_side(f, operands, count, &now);
	if (!status)
		status = draw_sides(f, &now, NULL);
	weft_profile_destroy(now.profile);
	return status;
}

int cli_flame(int argc, char **argv)
{
	struct flame f = {.output = "-", .duration_ns = UINT64_MAX, .width = 1200};
	bool wanted;
	const int status = parse(argc, argv, &f, &wanted);
	if (!wanted)
		return status;
	return f.is_diff ? draw_difference(&f, argv + optind)
					 : draw_one(&f, argv + optind, argc - optind);
}
