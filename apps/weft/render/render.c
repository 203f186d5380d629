/* SPDX-License-Identifier: ISC
 *
 * weft render: draws a trace into a file.
 */
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include <weft/render.h>

#include "cli/cli.h"
#include "cli/output.h"
#include "link.h"
#include "page.h"
#include "picture.h"
#include "rows.h"

static const char usage[] =
	"usage: weft render FILE... -o OUT.svg|OUT.png|OUT.pdf|OUT.html [OPTION]...\n"
	"\n"
	"Draws the trace FILE (`-` is standard input) as a picture, or makes a page for a browser: one\n"
	"file that contains the viewer and the trace, and needs no network. Several files of one boot,\n"
	"or a directory of traces, are one trace.\n"
	"\n"
	"  -o, --output OUT     the file to write; its suffix selects the format; `-` is standard output\n"
	"      --format F       svg, png, pdf or html, whatever OUT is called\n"
	"      --start T        the start of the picture: 12ms, 1.5s, 300us, 40ns after the trace's\n"
	"                       start, or @N on its own clock\n"
	"      --duration T     the length of the picture\n"
	"      --past T         read only that range and T before it, of a trace of any size: the picture\n"
	"                       has the tasks that do something in that time, in rows of their own\n"
	"      --width PX       160 to 32000; default: 1400\n"
	"      --height PX      80 to 32000; default: 800\n"
	"      --theme NAME     light (default), dark, safe, safe-dark; the safe ones are for\n"
	"                       colour-blind eyes\n"
	"      --focus WHAT     what to draw largest if the rows do not all fit: a row's number, or\n"
	"                       task:ID\n"
	"      --view LINK      a page with several views, one for each --view: what `y` copies in the\n"
	"                       viewer, or its part from # on\n"
	"      --squeeze        draw long idle times as narrow stripes that tell their length\n"
	"      --counters FORM  lanes (default) above the tasks, overlay over them, or none\n"
	"      --group-by WHAT  group rows by thread, process or host, or none;\n"
	"                       default: by process, if there are several\n"
	"      --no-fold        draw each task on a line of its own; don't fold alike tasks\n"
	"      --hide PATTERN   leave out tasks whose label contains PATTERN, or with kind:NAME tasks\n"
	"                       of a kind; can be given more than once, like --only\n"
	"      --only PATTERN   leave out all other tasks\n"
	"      --no-simplify    binds start where they were created\n"
	"      --max-size SIZE  refuse a compressed FILE that holds more (500M, 4G); default: 64M plus\n"
	"                       64 times its own size, and 4G for a pipe\n"
	"      --cpu-hz HZ      the rate of the cycles in a trace of Xen (2596.15M); default: estimated\n"
	"      --no-align       leave the clocks of several hosts as they are\n"
	"      --help           this text\n";

#define VIEWS_MAX 32 /* each is a viewer of its own, with all of the trace */

struct render_arguments {
	char **files;
	int file_count;
	const char *output, *focus;
	enum picture_format format;
	enum weft_theme theme;
	struct cli_time start;
	uint64_t duration_ns; /* 0: up to the end */
	uint64_t width, height;
	bool has_start, has_theme, squeeze;
	enum weft_counter_form counters;
	struct render_rows rows;
	const char *views[VIEWS_MAX];
	int view_count;
};

static bool parse_format(const char *command, const char *name, enum picture_format *ret_format)
{
	int chosen = cli_choose(command, "--format:", name, picture_format_names);
	*ret_format = (enum picture_format)(PICTURE_SVG + chosen);
	return chosen >= 0;
}

static bool parse_counters(const char *command, const char *name, enum weft_counter_form *ret_form)
{
	const char *names[WEFT_COUNTERS_NONE + 2] = {NULL};
	for (unsigned form = 0; form <= WEFT_COUNTERS_NONE; form++)
		names[form] = weft_counter_form_name((enum weft_counter_form)form);
	int chosen = cli_choose(command, "--counters:", name, names);
	*ret_form = (enum weft_counter_form)chosen;
	return chosen >= 0;
}

static bool parse_view(const char *command, const char *link, struct render_arguments *a)
{
	size_t at;
	const char *mistake = render_link_mistake(link, &at);
	if (mistake) {
		struct weft_text text = {0};
		weft_text_add_quoted(&text, link, strlen(link));
		cli_usage_error(command, "--view: %s; at character %zu of %.*s", mistake, at + 1,
			(int)text.size, text.size ? text.bytes : "");
		weft_text_finish(&text);
		return false;
	}
	if (a->view_count == VIEWS_MAX) {
		cli_usage_error(command, "--view: a page has %d views at most", VIEWS_MAX);
		return false;
	}
	a->views[a->view_count++] = link;
	return true;
}

static bool parse_option(const char *command, int option, struct render_arguments *a)
{
	switch (option) {
	case 'o':
		a->output = optarg;
		return true;
	case 'F':
		return parse_format(command, optarg, &a->format);
	case 's':
		a->has_start = true;
		return cli_parse_time(command, "--start", optarg, &a->start);
	case 'd':
		if (!cli_parse_duration(command, "--duration", optarg, &a->duration_ns))
			return false;
		if (a->duration_ns == 0)
			cli_usage_error(command, "--duration must be more than 0");
		return a->duration_ns > 0;
	case 'w':
		return cli_parse_number(command, "--width", optarg, 160, 32000, &a->width);
	case 'H':
		return cli_parse_number(command, "--height", optarg, 80, 32000, &a->height);
	case 't':
		a->has_theme = true;
		return cli_parse_theme(command, optarg, &a->theme);
	case 'f':
		a->focus = optarg;
		return true;
	case 'q':
		return a->squeeze = true;
	case 'V':
		return parse_view(command, optarg, a);
	case 'c':
		return parse_counters(command, optarg, &a->counters);
	default:
		return render_rows_parse(command, option, &a->rows);
	}
}

/* Chooses the format; CLI_DONE if it is known and available in this build. */
static int settle_format(const char *command, struct render_arguments *a)
{
	if (a->format == PICTURE_NONE && strcmp(a->output, "-") == 0)
		return cli_usage_error(command, "`-o -` needs --format svg, png, pdf or html");
	if (a->format == PICTURE_NONE)
		a->format = picture_format_of_path(a->output);
	if (a->format == PICTURE_NONE)
		return cli_usage_error(command,
			"\"%s\" has an unknown suffix; name it .svg, .png, .pdf or .html, or use --format",
			a->output);
	if (cli_trace_has_range() && a->format == PICTURE_HTML)
		return cli_usage_error(command, "--past is not for pages, which have all of the trace");
	if (a->view_count && a->format != PICTURE_HTML)
		return cli_usage_error(command, "--view is for pages: -o OUT.html");
	if (a->format == PICTURE_PNG && a->width * a->height > PICTURE_PIXELS_MAX)
		return cli_usage_error(command,
			"a PNG of %llu x %llu is too large (100 million pixels at most); SVG has no such limit",
			(unsigned long long)a->width, (unsigned long long)a->height);
	if (a->format == PICTURE_HTML && !WEFT_HAS_PAGE) {
		cli_error("this weft was built without the page, for lack of: " WEFT_PAGE_MISSING);
		return CLI_NO;
	}
	return picture_check_build(a->format);
}

static int parse(int argc, char **argv, struct render_arguments *a, bool *ret_run)
{
	static const struct option options[] = {
		{"help", no_argument, NULL, 'h'},
		{"output", required_argument, NULL, 'o'},
		{"format", required_argument, NULL, 'F'},
		{"start", required_argument, NULL, 's'},
		{"duration", required_argument, NULL, 'd'},
		{"width", required_argument, NULL, 'w'},
		{"height", required_argument, NULL, 'H'},
		{"theme", required_argument, NULL, 't'},
		{"focus", required_argument, NULL, 'f'},
		{"view", required_argument, NULL, 'V'},
		{"squeeze", no_argument, NULL, 'q'},
		{"counters", required_argument, NULL, 'c'},
		RENDER_ROWS_OPTIONS,
		CLI_MAX_SIZE_OPTION,
		CLI_CPU_HZ_OPTION,
		CLI_NO_ALIGN_OPTION,
		CLI_PAST_OPTION,
		{NULL, 0, NULL, 0},
	};
	*ret_run = false;
	for (int option; (option = cli_next_option(argc, argv, options)) != -1;) {
		if (option == 'h')
			return cli_help(usage);
		if (!parse_option(argv[0], option, a))
			return CLI_USAGE;
	}
	a->file_count = cli_count_operands(argc, argv, "FILE");
	a->files = argv + optind;
	if (!a->file_count)
		return CLI_USAGE;
	if (!a->output)
		return cli_usage_error(argv[0], "-o OUT is missing: the file for the picture");
	*ret_run = true;
	return settle_format(argv[0], a);
}

/* Finds the row of "task:ID"; false after a message. */
static bool find_task_row(const struct weft_layout *layout, const char *text, double *ret_row)
{
	uint32_t buffer;
	weft_task_id id;
	if (!cli_parse_task("render", "--focus", text, &buffer, &id))
		return false;
	uint32_t task = cli_find_task(layout->model, buffer, id);
	bool is_shown = task != WEFT_NONE && layout->row[task] != WEFT_NONE;
	if (is_shown)
		*ret_row = layout->row[task];
	else if (task == WEFT_NONE)
		cli_usage_error("render", "--focus: there is no task %s in this trace", text + 5);
	else
		cli_usage_error("render", "--focus: task %s is hidden", text + 5);
	return is_shown;
}

/* Finds the row for --focus; false after a message. */
static bool find_focus(const struct weft_layout *layout, const char *focus, double *ret_row)
{
	uint64_t number;
	if (strncmp(focus, "task:", 5) == 0)
		return find_task_row(layout, focus, ret_row);
	if (!cli_parse_number(
			"render", "--focus", focus, 0, layout->row_count ? layout->row_count - 1 : 0, &number))
		return false;
	*ret_row = (double)number;
	return true;
}

/* Sets the view to the requested range; CLI_DONE, or an exit status. */
static int choose_view(const struct render_arguments *a, const struct weft_layout *layout,
	const struct weft_frame *frame, struct weft_view *ret_view)
{
	const struct weft_model_summary *summary = &layout->model->summary;
	double focus = 0;
	if (a->focus && !find_focus(layout, a->focus, &focus))
		return CLI_USAGE;
	weft_frame_view(layout, frame, ret_view);
	weft_view_set_focus(ret_view, focus);
	if (!a->has_start && !a->duration_ns)
		return CLI_DONE;
	uint64_t start = summary->start;
	if (a->has_start)
		start = cli_time_on_clock(a->start, summary->start);
	if (summary->events && (start < summary->start || start >= ret_view->end)) {
		char length[32];
		weft_format_duration(summary->end - summary->start, 4, length);
		return cli_usage_error("render",
			"--start is outside the trace, which is %s long and begins at @%llu", length,
			(unsigned long long)summary->start);
	}
	uint64_t left = ret_view->end > start ? ret_view->end - start : 1;
	uint64_t duration = a->duration_ns && a->duration_ns < left ? a->duration_ns : left;
	weft_view_set_range(ret_view, start, (double)duration);
	return CLI_DONE;
}

static void place_frame(const struct render_arguments *a, const struct weft_layout *layout,
	double width, double height, struct weft_frame *ret_frame)
{
	weft_frame_place(layout, width, height, ret_frame);
	const uint32_t histograms =
		a->counters == WEFT_COUNTERS_LANES ? weft_histogram_lanes(layout->model) : 0;
	weft_frame_place_counters(
		ret_frame, a->counters, layout->model->counter_count + histograms, WEFT_LANE_HEIGHT);
}

/* Squeezes idle time; the times at the margins stay there. */
static int squeeze_view(const struct render_arguments *a, const struct weft_scene *scene,
	struct weft_view *view, struct weft_squeeze **ret_squeeze)
{
	uint64_t start = weft_view_time(view, WEFT_VIEW_MARGIN);
	uint64_t end = weft_view_time(view, view->width - WEFT_VIEW_MARGIN);
	int error = a->squeeze ? weft_scene_create_squeeze(scene, ret_squeeze) : 0;
	if (error || !*ret_squeeze)
		return error;
	weft_view_set_squeeze(view, *ret_squeeze);
	if (a->has_start || a->duration_ns)
		weft_view_set_range(view, start, (double)(end - start));
	return 0;
}

static int draw_scene(const struct render_arguments *a, const char *title,
	const struct weft_scene *scene, const struct weft_frame *frame, struct weft_view *view,
	const struct weft_font *font, struct weft_canvas *canvas)
{
	struct weft_squeeze *squeeze = NULL;
	double *edges = malloc((view->row_count + (size_t)1) * sizeof(*edges));
	int error = edges ? squeeze_view(a, scene, view, &squeeze) : WEFT_ERROR_MEMORY;
	struct weft_render_options options = {
		.theme = a->theme,
		.title = title,
		.font = font,
		.hover = a->format == PICTURE_SVG,
		.no_counters = a->counters == WEFT_COUNTERS_NONE,
	};
	if (!error) {
		weft_scene_row_edges(scene, view, edges);
		weft_view_set_edges(view, edges);
		error = weft_render_frame(scene, frame, view, &options, canvas);
	}
	weft_squeeze_destroy(squeeze);
	free(edges);
	return error;
}

struct render_drawing {
	const struct render_arguments *arguments;
	const struct cli_trace *trace;
	const struct weft_layout *layout;
};

static int draw(
	const void *context, const struct weft_font *font, struct weft_canvas *canvas, int *ret_status)
{
	const struct render_drawing *d = context;
	const struct render_arguments *a = d->arguments;
	struct weft_scene *scene = NULL;
	struct weft_frame frame;
	struct weft_view view;
	place_frame(a, d->layout, canvas->width, canvas->height, &frame);
	*ret_status = choose_view(a, d->layout, &frame, &view);
	if (*ret_status)
		return 0;
	struct weft_progress progress = cli_progress_of(d->trace);
	int error = weft_scene_create_watched(d->layout->model, d->layout, &progress, &scene);
	cli_progress_end();
	if (error)
		return error;
	error = draw_scene(a, picture_short_name(d->trace->name), scene, &frame, &view, font, canvas);
	weft_scene_destroy(scene);
	return error;
}

static int render_picture(const struct render_arguments *a, const struct cli_trace *trace,
	const struct weft_layout *layout, int *ret_status)
{
	const struct render_drawing drawing = {a, trace, layout};
	const struct picture_file picture = {.format = a->format,
		.path = a->output,
		.title = picture_short_name(trace->name),
		.draw = draw,
		.context = &drawing};
	struct weft_canvas *canvas = NULL;
	int error = weft_canvas_create((double)a->width, (double)a->height, &canvas);
	if (!error)
		error = picture_write(&picture, canvas, ret_status);
	weft_canvas_destroy(canvas);
	return error;
}

/* Writes the page's first view as a command of the viewer. */
static void describe_view(const struct render_arguments *a, const struct weft_layout *layout,
	const struct weft_view *view, struct weft_text *text)
{
	if (a->has_start || a->duration_ns) {
		uint64_t start = weft_view_time(view, WEFT_VIEW_MARGIN);
		weft_text_add_string(text, "view start=");
		weft_text_add_u64(text, start - layout->model->summary.start);
		weft_text_add_string(text, "ns duration=");
		weft_text_add_u64(text, weft_view_time(view, view->width - WEFT_VIEW_MARGIN) - start);
		weft_text_add_string(text, "ns");
	}
	if (a->focus) {
		weft_text_add_string(text, text->size ? " focus=" : "view focus=");
		weft_text_add_u64(text, (uint64_t)view->focus);
	}
	if (a->counters != WEFT_COUNTERS_LANES) {
		weft_text_add_string(text, text->size ? " counters=" : "view counters=");
		weft_text_add_string(text, a->counters == WEFT_COUNTERS_NONE ? "off" : "overlay");
	}
	if (a->squeeze)
		weft_text_add_string(text, text->size ? " squeeze=on" : "view squeeze=on");
	struct weft_text rows = {0};
	if (!render_rows_describe(&a->rows, &rows) && rows.size) {
		weft_text_add_string(text, text->size ? "" : "view");
		weft_text_add(text, rows.bytes, rows.size);
	}
	weft_text_finish(&rows);
	weft_text_add(text, "", 1);
}

/* Lists the files of the trace without those that were left out; returns their number. There is
 * room for all. */
static size_t list_files(const struct cli_trace *trace, struct page_file *files)
{
	size_t count = 0;
	for (size_t i = 0; i < weft_input_file_count(trace->input); i++) {
		const struct weft_input_file *file = weft_input_file(trace->input, i);
		if (!file->decoder)
			continue;
		files[count].name = picture_short_name(file->path);
		files[count].bytes = weft_source_bytes(file->source, &files[count].size);
		count++;
	}
	if (count)
		return count;
	files->name = picture_short_name(trace->name);
	files->bytes = weft_source_bytes(weft_input_source(trace->input), &files->size);
	return 1;
}

static int write_page(const struct render_arguments *a, const struct cli_trace *trace,
	const char *view, struct weft_text *text)
{
	struct page_file *files =
		calloc(weft_input_file_count(trace->input) + (size_t)1, sizeof(*files));
	if (!files)
		return WEFT_ERROR_MEMORY;
	const size_t count = list_files(trace, files);
	const struct page_content content = {
		.title = picture_short_name(trace->name),
		.theme = a->has_theme ? weft_theme_name(a->theme) : NULL,
		.view = view,
		.files = files,
		.file_count = count,
		.views = a->views,
		.view_count = a->view_count,
		.hz = cli_trace_hz(),
	};
	int error = page_write(&content, text);
	free(files);
	return error;
}

/* True if the page begins with the whole trace, so that no row or time has to be found. */
static bool is_whole_page(const struct render_arguments *a)
{
	return a->format == PICTURE_HTML && !a->has_start && !a->duration_ns && !a->focus;
}

/* `layout` is NULL for a whole page. */
static int render_page(const struct render_arguments *a, const struct cli_trace *trace,
	const struct weft_layout *layout, int *ret_status)
{
	struct weft_text text = {0}, command = {0};
	struct weft_frame frame;
	struct weft_view view = {0};
	*ret_status = CLI_DONE;
	if (layout) {
		place_frame(a, layout, (double)a->width, (double)a->height, &frame);
		*ret_status = choose_view(a, layout, &frame, &view);
	}
	if (*ret_status)
		return 0;
	describe_view(a, layout, &view, &command);
	int error = command.error ? command.error : write_page(a, trace, command.bytes, &text);
	if (!error)
		*ret_status = cli_save(a->output, text.bytes, text.size) ? CLI_DONE : CLI_NO;
	weft_text_finish(&command);
	weft_text_finish(&text);
	return error;
}

static int render_model(
	const struct render_arguments *a, const struct cli_trace *trace, const struct weft_model *model)
{
	struct weft_layout *layout = NULL;
	int status = CLI_DONE;
	struct weft_progress progress = cli_progress_of(trace);
	int error = is_whole_page(a) ? 0 : render_rows_lay_out(&a->rows, model, &progress, &layout);
	cli_progress_end();
	if (!error && a->format == PICTURE_HTML)
		error = render_page(a, trace, layout, &status);
	else if (!error)
		error = render_picture(a, trace, layout, &status);
	weft_layout_destroy(layout);
	return error ? cli_trace_fail(trace, error) : status;
}

static int render(const struct render_arguments *a, const struct cli_trace *trace)
{
	struct weft_model *model = NULL;
	cli_progress_start();
	cli_trace_read_only(a->start, a->duration_ns ? a->duration_ns : UINT64_MAX);
	int error = is_whole_page(a) ? cli_trace_build_summary(trace, &model)
								 : cli_trace_build_model(trace, &model);
	cli_progress_end();
	if (error)
		return cli_trace_fail(trace, error);
	if (model->summary.events == 0)
		cli_error("%s: the trace has no events; the picture says so", trace->name);
	int status = render_model(a, trace, model);
	weft_model_destroy(model);
	return status;
}

/* The page is small because it lacks what reads these formats. */
static bool can_be_page(const struct cli_trace *trace)
{
	const char *format = weft_decoder_describe(trace->decoder)->format;
	return strcmp(format, "trace-dat") != 0 && strcmp(format, "perf-data") != 0;
}

int cli_render(int argc, char **argv)
{
	struct render_arguments arguments = {.width = 1400, .height = 800};
	struct cli_trace trace;
	bool run;
	int status = parse(argc, argv, &arguments, &run);
	if (status || !run)
		return status;
	if (cli_output_is_input(AT_FDCWD, arguments.output, arguments.files, arguments.file_count)) {
		cli_error("refusing to replace the trace %s by a picture of it", arguments.output);
		return CLI_NO;
	}
	status = cli_trace_open_all(arguments.files, arguments.file_count, &trace);
	if (status)
		return status;
	if (arguments.format == PICTURE_HTML && !can_be_page(&trace)) {
		cli_error("%s: a page cannot read this format; make a trace for it with `weft cut %s -o "
				  "FILE.weft`",
			trace.name, trace.name);
		status = CLI_NO;
	} else {
		status = render(&arguments, &trace);
	}
	cli_trace_report(&trace);
	cli_trace_close(&trace);
	return status;
}
