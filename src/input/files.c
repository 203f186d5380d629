/* SPDX-License-Identifier: ISC
 *
 * Opens several files as one trace. First all sources are opened, to see which of them fit
 * together; then those get decoders, which convert their ticks by the same clock readings; then the
 * decoders are merged.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/export.h"
#include "base/options.h"
#include "input/opened.h"

/* A file while it is compared with the others. */
struct candidate {
	struct weft_input_file file;
	struct weft__identity identity;
	size_t number; /* in the order of the paths */
};

static bool is_known(const uint8_t id[16])
{
	static const uint8_t zero[16];
	return memcmp(id, zero, sizeof(zero)) != 0;
}

static bool has_boot(const struct candidate *c)
{
	return c->file.fit == WEFT_INPUT_OPEN && c->identity.is_monotonic &&
		   is_known(c->identity.boot_id);
}

static bool are_of_one_boot(const struct candidate *a, const struct candidate *b)
{
	return has_boot(a) && has_boot(b) &&
		   memcmp(a->identity.boot_id, b->identity.boot_id, sizeof(a->identity.boot_id)) == 0;
}

/* Xen's own trace fits to those of the boot whose readings of the processor's counter it can be
 * converted by. */
static bool may_fit(const struct candidate *c, const struct candidate *chosen)
{
	return chosen && c->identity.is_hypervisor && !has_boot(c);
}

static void fail(struct weft_input_file *file, int error)
{
	file->fit = WEFT_INPUT_UNREADABLE;
	file->error = error;
	file->reason = errno;
}

static int open_source(
	const char *path, const struct weft_input_options *options, struct candidate *candidate)
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
		fail(&candidate->file, error);
		return 0;
	}
	const void *content = weft_source_bytes(candidate->file.source, &size);
	(void)weft__format_identify_trace(content, size, &candidate->identity);
	/* The headers of all packets were read, also those in holes of the file, which take memory
	 * while they are mapped: of a thousand files, gigabytes. */
	weft_source_forget(candidate->file.source);
	return 0;
}

/* ---- Which files fit together ---- */

/* Orders files by the start of their programs, then by pid, because a forked child has its parent's
 * start, then by their position in a stream. The order of the paths matters only between equals.
 * Xen's own trace is the last. */
static int by_start(const void *left, const void *right)
{
	const struct candidate *l = left, *r = right;
	uint64_t start_l = l->identity.readings.first.ns, start_r = r->identity.readings.first.ns;
	if (l->identity.is_hypervisor != r->identity.is_hypervisor)
		return l->identity.is_hypervisor ? 1 : -1;
	if (start_l != start_r)
		return start_l < start_r ? -1 : 1;
	if (l->identity.pid != r->identity.pid)
		return l->identity.pid < r->identity.pid ? -1 : 1;
	if (l->identity.series == r->identity.series && l->identity.piece != r->identity.piece)
		return l->identity.piece < r->identity.piece ? -1 : 1;
	return l->number < r->number ? -1 : l->number > r->number;
}

/* The first file of the boot that most files have. NULL if no file names its boot. */
static const struct candidate *choose_boot(const struct candidate *list, size_t count)
{
	const struct candidate *chosen = NULL;
	size_t most = 0;
	for (size_t i = 0; i < count && most < count - i; i++) {
		size_t same = 0;
		for (size_t k = i; k < count; k++)
			same += are_of_one_boot(&list[i], &list[k]);
		if (same > most) {
			most = same;
			chosen = &list[i];
		}
	}
	return chosen;
}

/* True if the bytes are not a trace, which says more about the file than that it names no boot. */
static bool is_unreadable(struct weft_input_file *file)
{
	size_t size;
	const void *bytes = weft_source_bytes(file->source, &size);
	struct weft_decoder *decoder = NULL;
	int error = weft_decoder_create(&decoder);
	if (!error)
		error = weft_decoder_feed_borrowed(decoder, bytes, size);
	if (!error)
		error = weft_decoder_finish(decoder);
	weft_decoder_destroy(decoder);
	weft_source_forget(file->source);
	if (error)
		fail(file, error);
	return error;
}

static void leave_out_boots(struct candidate *list, size_t count)
{
	const struct candidate *chosen = choose_boot(list, count);
	for (size_t i = 0; i < count; i++) {
		struct weft_input_file *file = &list[i].file;
		if (file->fit != WEFT_INPUT_OPEN || may_fit(&list[i], chosen) ||
			(chosen && are_of_one_boot(chosen, &list[i])))
			continue;
		if (has_boot(&list[i]))
			file->fit = WEFT_INPUT_OTHER_BOOT;
		else if (!is_unreadable(file))
			file->fit = WEFT_INPUT_NO_BOOT;
		file->other = chosen ? chosen->file.path : NULL;
	}
}

static bool are_of_one_buffer(const struct candidate *a, const struct candidate *b)
{
	return is_known(a->identity.uuid) &&
		   memcmp(a->identity.uuid, b->identity.uuid, sizeof(a->identity.uuid)) == 0;
}

/* True if the files are different ones of one stream. A copy of a file is not. */
static bool are_of_one_series(const struct candidate *a, const struct candidate *b)
{
	return are_of_one_buffer(a, b) && a->identity.series &&
		   a->identity.series == b->identity.series && a->identity.piece != b->identity.piece;
}

/* When the file ends, or the last one of its series. */
static uint64_t end_of(const struct candidate *list, size_t count, size_t number)
{
	uint64_t end = list[number].identity.end_ns;
	for (size_t i = 0; i < count; i++)
		if (list[i].file.fit == WEFT_INPUT_OPEN && are_of_one_series(&list[i], &list[number]) &&
			list[i].identity.end_ns > end)
			end = list[i].identity.end_ns;
	return end;
}

/* Keeps one file for each buffer, or all files of one stream: of a snapshot and the whole trace,
 * the one that ends last. */
static void leave_out_parts(struct candidate *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < count && list[i].file.fit == WEFT_INPUT_OPEN; k++) {
			if (k == i || list[k].file.fit != WEFT_INPUT_OPEN ||
				!are_of_one_buffer(&list[i], &list[k]) || are_of_one_series(&list[i], &list[k]))
				continue;
			uint64_t own_end = end_of(list, count, i), other_end = end_of(list, count, k);
			if (own_end != other_end ? own_end > other_end : i < k)
				continue;
			list[i].file.fit = WEFT_INPUT_SAME_BUFFER;
			list[i].file.other = list[k].file.path;
		}
}

static size_t count_open(const struct candidate *list, size_t count)
{
	size_t open = 0;
	for (size_t i = 0; i < count; i++)
		open += list[i].file.fit == WEFT_INPUT_OPEN;
	return open;
}

/* ---- Decoders ---- */

static int create_decoder(const struct weft_input *input, struct weft_input_file *file)
{
	size_t size;
	const void *bytes = weft_source_bytes(file->source, &size);
	int error = weft_decoder_create(&file->decoder);
	if (error)
		return error;
	weft__format_decoder_share_readings(file->decoder, &input->readings);
	weft_decoder_lend(file->decoder, weft_worker_help(input->worker));
	error = weft_decoder_feed_borrowed(file->decoder, bytes, size);
	if (!error)
		error = weft_decoder_finish(file->decoder);
	weft_source_forget(file->source);
	if (error && error != WEFT_ERROR_MEMORY) {
		fail(file, error);
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

static int open_candidates(struct weft_input *input, struct candidate *list,
	const char *const *paths, const struct weft_input_options *options)
{
	size_t count = input->file_count;
	int error = 0;
	for (size_t i = 0; i < count && !error; i++) {
		list[i].number = i;
		error = open_source(paths[i], options, &list[i]);
	}
	if (!error && count_open(list, count) > 1) {
		qsort(list, count, sizeof(*list), by_start);
		leave_out_boots(list, count);
		leave_out_parts(list, count);
	}
	return error;
}

static int share_readings(struct weft_input *input, const struct candidate *list)
{
	struct weft__identity *identities = calloc(input->file_count, sizeof(*identities));
	size_t count = 0;
	for (size_t i = 0; identities && i < input->file_count; i++)
		if (list[i].file.fit == WEFT_INPUT_OPEN)
			identities[count++] = list[i].identity;
	int error = identities ? weft__format_share_readings(identities, count, &input->readings)
						   : WEFT_ERROR_MEMORY;
	free(identities);
	return error;
}

/* Leaves out traces of Xen to which the readings of the others do not fit. */
static void leave_out_hypervisors(struct weft_input *input, struct candidate *list)
{
	size_t count = input->file_count;
	bool is_alone = count_open(list, count) < 2;
	for (size_t i = 0; i < count && !is_alone; i++)
		if (list[i].file.fit == WEFT_INPUT_OPEN && list[i].identity.is_hypervisor &&
			!weft__format_identity_fits(&list[i].identity, &input->readings)) {
			list[i].file.fit = WEFT_INPUT_NO_COUNTER;
			list[i].file.other = list[0].file.path;
		}
}

static int fill(
	struct weft_input *input, const char *const *paths, const struct weft_input_options *options)
{
	struct candidate *list = calloc(input->file_count, sizeof(*list));
	if (!list)
		return WEFT_ERROR_MEMORY;
	int error = open_candidates(input, list, paths, options);
	if (!error)
		error = share_readings(input, list);
	if (!error)
		leave_out_hypervisors(input, list);
	for (size_t i = 0; i < input->file_count; i++)
		input->files[i] = list[i].file;
	free(list);
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
