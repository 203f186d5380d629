/* SPDX-License-Identifier: ISC
 *
 * See opening.h. The descriptor is closed at once, because each reader maps or copies the file.
 */
#include "opening.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include <glib.h>

#include "runs/directory/traces.h"
#include "runs/memory/operand.h"

static uint64_t cpu_hz;
static bool no_align;

static int close_after(int fd, int error)
{
	int reason = errno;
	close(fd);
	errno = reason;
	return error;
}

/* Copies what is no file: a guest's buffer, or a ring in memory. */
static int copy(const char *operand, struct weft_source **ret_source)
{
	int fd = weft__runs_guest_domain(operand) ? weft__runs_guest_copy(operand)
											  : weft__runs_image_copy_named(operand, 0);
	return fd < 0 ? WEFT_ERROR_SYSTEM
				  : close_after(fd, weft_source_open_descriptor(fd, 0, ret_source));
}

int opening_source(
	const char *path, pid_t pid, struct weft_source **ret_source, struct weft_ring_check *ret_check)
{
	*ret_check = (struct weft_ring_check){.reason = ""};
	if (weft__runs_guest_domain(path) || weft__runs_is_image(path))
		return copy(path, ret_source);
	if (!pid)
		return weft_source_open(path, ret_source);
	int fd = weft_source_open_ring(path, pid, WEFT_RING_READ, ret_check);
	return fd < 0 ? WEFT_ERROR_SYSTEM
				  : close_after(fd, weft_source_open_descriptor(fd, 0, ret_source));
}

static bool find_guest(
	const char *path, struct weft__runs_guest *ret_guest, struct weft_ring_check *check)
{
	char reason[WEFT_GUEST_REASON_BYTES];
	if (weft__runs_guest_try(path, ret_guest, reason))
		return true;
	g_strlcpy(check->reason, reason, sizeof(check->reason));
	return false;
}

int opening_growing(char **paths, pid_t pid, bool are_files, struct weft__runs_guest *ret_guest,
	struct weft_growing **ret_growing, struct weft_ring_check *ret_check)
{
	*ret_check = (struct weft_ring_check){.reason = ""};
	struct weft_growing_spec spec = {
		.size = sizeof(spec),
		.paths = (const char *const *)paths,
		.count = g_strv_length(paths),
		.pids = are_files ? NULL : &pid,
		.ret_check = ret_check,
		.what = are_files ? WEFT_GROWING_FILES : WEFT_GROWING_RING,
		.hz = cpu_hz,
	};
	if (!are_files && weft__runs_guest_domain(paths[0])) {
		if (!find_guest(paths[0], ret_guest, ret_check))
			return WEFT_ERROR_SYSTEM;
		spec.guest = ret_guest->guest;
	}
	return weft_input_open_growing(&spec, ret_growing);
}

int opening_control(const char *path, pid_t pid, struct weft_control **ret_control,
	struct weft_ring_check *ret_check)
{
	*ret_check = (struct weft_ring_check){.reason = ""};
	if (!pid)
		return weft_control_open(path, ret_control);
	int fd = weft_source_open_ring(path, pid, WEFT_RING_READ, ret_check);
	return fd < 0 ? WEFT_ERROR_SYSTEM
				  : close_after(fd, weft_control_open_descriptor(fd, ret_control));
}

const char *opening_reason(int error, int system_error, const struct weft_ring_check *check)
{
	if (check->reason[0])
		return check->reason;
	if (error == WEFT_ERROR_EMPTY)
		return "the file is empty";
	return error == WEFT_ERROR_SYSTEM ? strerror(system_error) : weft_error_text(error);
}

/* Begins a line. The names of several files' damage are in the first line of each. */
static void begin_line(GString *lines, const char *name)
{
	g_string_append_printf(lines, "%s%s%s", lines->len ? "\n" : "", name, name[0] ? ": " : "");
}

static void add_damage(GString *lines, const char *path, const struct weft_diagnostics *diagnostics)
{
	for (size_t i = 0; i < diagnostics->count; i++) {
		const struct weft_diagnostic *d = &diagnostics->list[i];
		char text[256];
		weft_diagnostic_format(d, text, sizeof(text));
		begin_line(lines, i ? "" : path);
		g_string_append_printf(lines, "offset 0x%" PRIx64 ": %s", d->offset, text);
	}
}

static void add_left_out(GString *lines, const char *path, const char *reason)
{
	begin_line(lines, "left out");
	g_string_append_printf(lines, "%s: %s", path, reason);
}

char *opening_growing_damage(struct weft_growing *growing)
{
	const struct weft_ring_check none = {.reason = ""};
	struct weft_growing_state state;
	GString *lines = g_string_new("");
	weft_growing_state(growing, &state);
	for (uint32_t i = 0; i < state.files && state.parts > 1; i++) {
		const struct weft_growing_part part = weft_growing_part(growing, i);
		if (part.error)
			add_left_out(lines, part.name, opening_reason(part.error, 0, &none));
		else
			add_damage(lines, part.name, weft_decoder_diagnostics(part.decoder));
	}
	if (state.files)
		add_damage(lines, "", weft_growing_diagnostics(growing));
	return g_string_free(lines, FALSE);
}

void opening_set_hz(uint64_t hz)
{
	cpu_hz = hz;
}

void opening_set_no_align(void)
{
	no_align = true;
}

int opening_input(struct weft_source *source, struct weft_input **ret_input)
{
	const struct weft_input_options options = {.size = sizeof(options), .hz = cpu_hz};
	return weft_input_open_source_with(source, &options, ret_input);
}

/* ---- Several files ---- */

bool opening_is_several(char **paths)
{
	return paths[0] && (paths[1] || weft__runs_traces_is_directory(paths[0]));
}

#define REASON_BYTES (2 * PATH_MAX)

static char *explain(const struct weft_input_file *file)
{
	char text[REASON_BYTES];
	weft_input_explain(file, text, sizeof(text));
	return g_strdup_printf("%s: %s", file->path, text);
}

/* Files that were named must fit together; of a directory's files, those that do not are left out.
 * NULL if the trace can be shown. */
static char *find_misfit(const struct weft_input *input, bool is_directory)
{
	bool has_none = !weft_input_decoder(input);
	for (size_t i = 0; i < weft_input_file_count(input); i++) {
		const struct weft_input_file *file = weft_input_file(input, i);
		bool is_misfit = file->fit != WEFT_INPUT_OPEN && file->fit != WEFT_INPUT_UNREADABLE;
		if (file->fit != WEFT_INPUT_OPEN &&
			(has_none || (!is_directory && (is_misfit || file->error == WEFT_ERROR_SYSTEM))))
			return explain(file);
	}
	return NULL;
}

int opening_files(char **paths, struct weft_input **ret_input, char **ret_reason)
{
	struct weft__runs_traces files = {0};
	struct weft_input *input = NULL;
	bool is_directory = true;
	int error = 0;
	for (; *paths && !error; paths++) {
		is_directory = is_directory && weft__runs_traces_is_directory(*paths);
		if (!weft__runs_traces_add(&files, *paths)) {
			*ret_reason = g_strdup_printf("%s: no trace in this directory", *paths);
			error = WEFT_ERROR_ARGUMENT;
		}
	}
	const struct weft_input_options options = {
		.size = sizeof(options), .no_align = no_align, .at_any_time = !is_directory};
	if (!error)
		error =
			weft_input_open_files((const char *const *)files.paths, files.count, &options, &input);
	weft__runs_traces_finish(&files);
	if (!error && (*ret_reason = find_misfit(input, is_directory))) {
		weft_input_close(input);
		error = WEFT_ERROR_ARGUMENT;
	}
	if (!error)
		*ret_input = input;
	return error;
}

char *opening_all_damage(const struct weft_input *input)
{
	GString *lines = g_string_new("");
	for (size_t i = 0; i < weft_input_file_count(input); i++) {
		const struct weft_input_file *file = weft_input_file(input, i);
		if (file->decoder)
			add_damage(lines, file->path, weft_decoder_diagnostics(file->decoder));
	}
	add_damage(lines, "", weft_decoder_diagnostics(weft_input_decoder(input)));
	return g_string_free(lines, FALSE);
}

char *opening_left_out(const struct weft_input *input)
{
	GString *lines = g_string_new("");
	for (size_t i = 0; i < weft_input_file_count(input); i++) {
		const struct weft_input_file *file = weft_input_file(input, i);
		char reason[REASON_BYTES];
		if (file->decoder)
			continue;
		weft_input_explain(file, reason, sizeof(reason));
		add_left_out(lines, file->path, reason);
	}
	return g_string_free(lines, FALSE);
}

char *opening_hosts(const struct weft_input *input)
{
	GString *lines = g_string_new("");
	for (size_t i = 1; i < weft_input_host_count(input); i++) {
		const struct weft_input_host *host = weft_input_host(input, i);
		char sentence[512];
		weft_input_explain_host(host, sentence, sizeof(sentence));
		begin_line(lines, "host");
		g_string_append_printf(lines, "%s: %s", host->name, sentence);
	}
	return g_string_free(lines, FALSE);
}

char **opening_shown(const struct weft_input *input)
{
	GPtrArray *paths = g_ptr_array_new_with_free_func(g_free);
	bool can_grow = true;
	for (size_t i = 0; i < weft_input_file_count(input); i++) {
		const struct weft_input_file *file = weft_input_file(input, i);
		if (!file->decoder)
			continue;
		g_ptr_array_add(paths, g_strdup(file->path));
		can_grow = can_grow && strcmp(weft_decoder_describe(file->decoder)->format, "weft") == 0;
	}
	if (!can_grow) {
		g_ptr_array_unref(paths);
		return NULL;
	}
	g_ptr_array_add(paths, NULL);
	return (char **)g_ptr_array_free(paths, FALSE);
}
