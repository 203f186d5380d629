/* SPDX-License-Identifier: ISC
 *
 * Opens several files as one trace. First all sources are opened, to see which of them fit
 * together; then the clocks of their hosts are found; then the files get decoders, which convert
 * their ticks by the same clock readings for each host; then the decoders are merged.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/export.h"
#include "base/options.h"
#include "input/archive.h"
#include "input/candidate.h"
#include "source/part.h"

void weft__input_fail(struct weft_input_file *file, int error)
{
	file->fit = WEFT_INPUT_UNREADABLE;
	file->error = error;
	file->reason = errno;
}

static int open_source(const char *path, const struct weft_input_options *options,
	struct weft__input_candidate *candidate)
{
	size_t size;
	size_t bytes = strlen(path) + 1;
	char *copy = malloc(bytes);
	if (!copy)
		return WEFT_ERROR_MEMORY;
	candidate->file.path = memcpy(copy, path, bytes);
	struct weft_source **source = &candidate->file.source;
	int error = options->open ? options->open(options->context, path, source) : 0;
	if (!error && !*source)
		error = weft_source_open_checked(path, options->max_bytes, weft__input_is_trace, source);
	if (error) {
		weft__input_fail(&candidate->file, error);
		return 0;
	}
	const void *content = weft_source_bytes(candidate->file.source, &size);
	(void)weft__format_identify_trace(content, size, &candidate->identity);
	/* The headers of all packets were read, also those in holes of the file, which take memory
	 * while they are mapped: of a thousand files, gigabytes. */
	weft_source_forget(candidate->file.source);
	return 0;
}

/* ---- Decoders ---- */

static int create_decoder(const struct weft_input *input, struct weft_input_file *file)
{
	size_t size;
	const void *bytes = weft_source_bytes(file->source, &size);
	const struct weft__input_host *host = &input->hosts[file->host];
	int error = weft_decoder_create(&file->decoder);
	if (error)
		return error;
	weft__format_decoder_share_readings(file->decoder, &host->readings);
	if (input->host_count > 1)
		weft__format_decoder_shift(file->decoder, &host->shift);
	weft_decoder_lend(file->decoder, weft_worker_help(input->worker));
	error = weft_decoder_feed_borrowed(file->decoder, bytes, size);
	if (!error)
		error = weft_decoder_finish(file->decoder);
	weft_source_forget(file->source);
	if (error && error != WEFT_ERROR_MEMORY) {
		weft__input_fail(file, error);
		weft_decoder_destroy(file->decoder);
		file->decoder = NULL;
		error = 0;
	}
	return error;
}

static int create_decoders(struct weft_input *input)
{
	uint64_t all = 0;
	size_t size;
	int error = 0;
	for (size_t i = 0; i < input->file_count; i++)
		if (input->files[i].fit == WEFT_INPUT_OPEN) {
			weft_source_bytes(input->files[i].source, &size);
			all += size;
		}
	input->worker = all > WEFT__WORKER_MIN_BYTES ? weft_worker_create() : NULL;
	for (size_t i = 0; i < input->file_count && !error; i++)
		if (input->files[i].fit == WEFT_INPUT_OPEN)
			error = create_decoder(input, &input->files[i]);
	return error;
}

/* The last component of a path. */
static const char *short_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

static int merge(struct weft_input *input)
{
	size_t count = 0;
	struct weft_decoder_part *parts = calloc(input->file_count + 1, sizeof(*parts));
	if (!parts)
		return WEFT_ERROR_MEMORY;
	for (size_t i = 0; i < input->file_count; i++) {
		struct weft_input_file *file = &input->files[i];
		file->part = (uint32_t)count;
		if (file->decoder)
			parts[count++] = (struct weft_decoder_part){file->decoder, short_name(file->path)};
	}
	int error = count ? weft_decoder_create_merged(parts, count, &input->decoder) : 0;
	if (!error && count)
		weft_decoder_lend(input->decoder, weft_worker_help(input->worker));
	free(parts);
	return error;
}

static int open_candidates(struct weft_input *input, struct weft__input_candidate *list,
	const char *const *paths, const struct weft_input_options *options)
{
	size_t count = input->file_count;
	int error = 0;
	for (size_t i = 0; i < count && !error; i++) {
		list[i].number = i;
		error = open_source(paths[i], options, &list[i]);
	}
	input->host_count = error ? 0 : weft__input_choose(list, count, options->at_any_time);
	return error;
}

/* ---- Hosts ---- */

static int share_readings(
	struct weft_input *input, const struct weft__input_candidate *list, uint32_t host)
{
	struct weft__identity *identities = calloc(input->file_count, sizeof(*identities));
	size_t count = 0;
	for (size_t i = 0; identities && i < input->file_count; i++)
		if (list[i].file.fit == WEFT_INPUT_OPEN && list[i].host == host)
			identities[count++] = list[i].identity;
	int error = identities
					? weft__format_share_readings(identities, count, &input->hosts[host].readings)
					: WEFT_ERROR_MEMORY;
	free(identities);
	return error;
}

/* Leaves out traces of Xen to which the readings of the others do not fit. */
static void leave_out_hypervisors(struct weft_input *input, struct weft__input_candidate *list)
{
	size_t count = input->file_count;
	bool is_alone = weft__input_count_open(list, count) < 2;
	for (size_t i = 0; i < count && !is_alone; i++)
		if (list[i].file.fit == WEFT_INPUT_OPEN && list[i].identity.is_hypervisor &&
			!weft__format_identity_fits(&list[i].identity, &input->hosts[list[i].host].readings)) {
			list[i].file.fit = WEFT_INPUT_NO_COUNTER;
			list[i].file.other = list[0].file.path;
		}
}

static bool has_name(const struct weft__input_host *host, const char *name)
{
	size_t size = strlen(name);
	return strncmp(host->name, name, size) == 0 &&
		   (!host->name[size] || strncmp(host->name + size, " (boot ", 7) == 0);
}

/* The host's name; with its boot, if another host has the same one. */
static void name_host(
	struct weft_input *input, const struct weft__identity *identity, uint32_t number)
{
	struct weft__input_host *host = &input->hosts[number];
	bool is_ambiguous = !identity->host[0];
	for (uint32_t i = 0; i < number; i++)
		is_ambiguous |= has_name(&input->hosts[i], identity->host);
	const uint8_t *id = identity->boot_id;
	if (is_ambiguous)
		snprintf(host->name, sizeof(host->name), "%s (boot %02x%02x%02x%02x)", identity->host,
			id[0], id[1], id[2], id[3]);
	else
		snprintf(host->name, sizeof(host->name), "%s", identity->host);
	host->about.name = host->name;
	memcpy(host->about.boot_id, id, sizeof(host->about.boot_id));
}

static int create_hosts(struct weft_input *input, struct weft__input_candidate *list)
{
	int error = 0;
	input->hosts = calloc(input->host_count, sizeof(*input->hosts));
	if (!input->hosts)
		return WEFT_ERROR_MEMORY;
	for (uint32_t i = 0; i < input->host_count && !error; i++)
		error = share_readings(input, list, i);
	leave_out_hypervisors(input, list);
	for (size_t i = 0; i < input->file_count; i++)
		if (list[i].file.fit == WEFT_INPUT_OPEN && !input->hosts[list[i].host].about.name)
			name_host(input, &list[i].identity, list[i].host);
	return error;
}

/* Finds the clocks of several hosts, by decoders that are made for this alone. */
static int align(struct weft_input *input, bool no_align)
{
	struct weft__input_part *parts = calloc(input->file_count + 1, sizeof(*parts));
	size_t count = 0;
	int error = parts ? 0 : WEFT_ERROR_MEMORY;
	for (size_t i = 0; i < input->file_count && !error; i++) {
		struct weft_input_file *file = &input->files[i];
		if (file->fit == WEFT_INPUT_OPEN)
			error = create_decoder(input, file);
		if (!file->decoder)
			continue;
		parts[count++] = (struct weft__input_part){file->decoder, file->host};
		file->decoder = NULL;
	}
	if (!error)
		error = weft__input_align(input->hosts, input->host_count, parts, count, !no_align);
	for (size_t i = 0; i < count; i++)
		weft_decoder_destroy(parts[i].decoder);
	free(parts);
	return error;
}

static int fill(
	struct weft_input *input, const char *const *paths, const struct weft_input_options *options)
{
	struct weft__input_candidate *list = calloc(input->file_count, sizeof(*list));
	if (!list)
		return WEFT_ERROR_MEMORY;
	int error = open_candidates(input, list, paths, options);
	if (!error)
		error = create_hosts(input, list);
	for (size_t i = 0; i < input->file_count; i++) {
		input->files[i] = list[i].file;
		input->files[i].host = list[i].host;
	}
	free(list);
	if (!error && input->host_count > 1)
		error = align(input, options->no_align);
	if (!error)
		error = create_decoders(input);
	return error ? error : merge(input);
}

WEFT__EXPORT int weft_input_open_files(const char *const *paths, size_t count,
	const struct weft_input_options *options, struct weft_input **ret_input)
{
	struct weft_input_options known = {0};
	if (options)
		WEFT__OPTIONS_COPY(&known, options);
	if (count == 0)
		return WEFT_ERROR_ARGUMENT;
	struct weft_input *input = calloc(1, sizeof(*input));
	if (!input)
		return WEFT_ERROR_MEMORY;
	input->files = calloc(count, sizeof(*input->files));
	input->file_count = input->files ? count : 0;
	int error = input->files ? fill(input, paths, &known) : WEFT_ERROR_MEMORY;
	if (error)
		weft_input_close(input);
	else
		*ret_input = input;
	return error;
}

/* ---- An archive ---- */

struct members {
	struct weft_source *archive;
	struct weft__input_member *list;
	const char **names;
	size_t count;
};

static int list_members(struct members *members)
{
	size_t size, position = 0;
	const void *bytes = weft_source_bytes(members->archive, &size);
	struct weft__input_member member;
	while (weft__input_archive_next(bytes, size, &position, &member))
		members->count++;
	members->list = calloc(members->count + 1, sizeof(*members->list));
	members->names = calloc(members->count + 1, sizeof(*members->names));
	if (!members->list || !members->names)
		return WEFT_ERROR_MEMORY;
	position = 0;
	for (size_t i = 0; i < members->count; i++) {
		(void)weft__input_archive_next(bytes, size, &position, &members->list[i]);
		members->names[i] = members->list[i].name;
	}
	return 0;
}

/* Checks it as weft_source_open_checked() checks a file: what is no trace is not compared with the
 * others. */
static int open_part(struct weft_source *archive, const struct weft__input_member *member,
	struct weft_source **ret_source)
{
	size_t size;
	const char *bytes = weft_source_bytes(archive, &size);
	if (member->offset == size)
		return WEFT_ERROR_DAMAGED; /* the archive was cut before it */
	if (!member->size)
		return WEFT_ERROR_EMPTY;
	if (member->lacks_zeros || !weft__input_is_trace(bytes + member->offset, member->size))
		return WEFT_ERROR_FORMAT;
	return weft__source_part(archive, member->offset, member->size, ret_source);
}

/* Two files may have equal names. The path is the name in the member, with which that begins. */
static int open_member(void *context, const char *path, struct weft_source **ret_source)
{
	return open_part(context, (const struct weft__input_member *)(const void *)path, ret_source);
}

int weft__input_open_archive(struct weft_source *archive, const struct weft_input_options *options,
	struct weft_input **ret_input)
{
	struct members members = {.archive = archive};
	struct weft_input_options own = *options;
	own.size = sizeof(own);
	own.open = open_member;
	own.context = archive;
	int error = list_members(&members);
	if (!error && !members.count)
		error = WEFT_ERROR_FORMAT;
	if (!error)
		error = weft_input_open_files(members.names, members.count, &own, ret_input);
	if (!error)
		(*ret_input)->archive = archive;
	free(members.names);
	free(members.list);
	return error;
}

/* ---- Explanations ---- */

static const char *error_text(const struct weft_input_file *file)
{
	if (file->error == WEFT_ERROR_SYSTEM)
		return strerror(file->reason);
	return file->error == WEFT_ERROR_EMPTY ? "the file is empty" : weft_error_text(file->error);
}

WEFT__EXPORT size_t weft_input_explain(const struct weft_input_file *file, char *text, size_t size)
{
	const char *other = file->other ? file->other : "other files";
	int length = 0;
	switch (file->fit) {
	case WEFT_INPUT_OPEN:
		length = snprintf(text, size, "%s", "");
		break;
	case WEFT_INPUT_UNREADABLE:
		length = snprintf(text, size, "%s", error_text(file));
		break;
	case WEFT_INPUT_NO_BOOT:
		length = snprintf(text, size,
			"it does not say which boot its clock counts from, so its times cannot be compared with "
			"those of %s; open it alone",
			other);
		break;
	case WEFT_INPUT_NO_COUNTER:
		length = snprintf(text, size,
			"its times are counts of the processor's counter, of which %s and the others have no "
			"readings, or readings of another boot; open it alone",
			other);
		break;
	case WEFT_INPUT_OTHER_BOOT:
		length = snprintf(text, size,
			"its clock counts from another boot than that of %s, so their times cannot be compared; "
			"open it alone",
			other);
		break;
	case WEFT_INPUT_SAME_BUFFER:
		length = snprintf(text, size, "it is a part of the same recording as %s", other);
		break;
	}
	return length > 0 ? (size_t)length : 0;
}

void weft__input_close_files(struct weft_input *input)
{
	for (size_t i = 0; i < input->file_count; i++) {
		weft_decoder_destroy(input->files[i].decoder);
		weft_source_close(input->files[i].source);
		free((void *)(uintptr_t)input->files[i].path);
	}
	free(input->files);
	free(input->hosts);
}

WEFT__EXPORT size_t weft_input_host_count(const struct weft_input *input)
{
	return input->host_count > 1 ? input->host_count : 0;
}

WEFT__EXPORT const struct weft_input_host *weft_input_host(
	const struct weft_input *input, size_t number)
{
	return number < weft_input_host_count(input) ? &input->hosts[number].about : NULL;
}

WEFT__EXPORT size_t weft_input_file_count(const struct weft_input *input)
{
	return input->file_count;
}

WEFT__EXPORT const struct weft_input_file *weft_input_file(
	const struct weft_input *input, size_t number)
{
	return number < input->file_count ? &input->files[number] : NULL;
}

WEFT__EXPORT uint64_t weft_input_trace_time(
	const struct weft_input *input, const struct weft_input_file *file, uint64_t own_ns)
{
	return input->host_count > 1 ? weft__format_shift(&input->hosts[file->host].shift, own_ns)
								 : own_ns;
}

WEFT__EXPORT uint64_t weft_input_own_time(
	const struct weft_input *input, const struct weft_input_file *file, uint64_t time_ns)
{
	return input->host_count > 1 && time_ns != UINT64_MAX
			   ? weft__format_shift_back(&input->hosts[file->host].shift, time_ns)
			   : time_ns;
}
