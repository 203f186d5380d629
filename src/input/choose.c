/* SPDX-License-Identifier: ISC
 *
 * Which files fit together: those of one boot have one clock. Other boots fit if the two clocks can
 * be compared by the time of day.
 */
#include "input/candidate.h"

#include <stdlib.h>
#include <string.h>

static bool is_known(const uint8_t id[16])
{
	static const uint8_t zero[16];
	return memcmp(id, zero, sizeof(zero)) != 0;
}

static bool has_boot(const struct weft__input_candidate *c)
{
	return c->file.fit == WEFT_INPUT_OPEN && c->identity.is_monotonic &&
		   is_known(c->identity.boot_id);
}

static bool are_of_one_boot(
	const struct weft__input_candidate *a, const struct weft__input_candidate *b)
{
	return has_boot(a) && has_boot(b) &&
		   memcmp(a->identity.boot_id, b->identity.boot_id, sizeof(a->identity.boot_id)) == 0;
}

/* Xen's own trace fits to those of the boot whose readings of the processor's counter it can be
 * converted by. */
static bool may_fit(
	const struct weft__input_candidate *c, const struct weft__input_candidate *chosen)
{
	return chosen && c->identity.is_hypervisor && !has_boot(c);
}

/* Orders files by the start of their programs, then by pid, because a forked child has its parent's
 * start, then by their position in a stream. The order of the paths matters only between equals.
 * Xen's own trace is the last. The trace's host is the first. */
static int by_start(const void *left, const void *right)
{
	const struct weft__input_candidate *l = left, *r = right;
	uint64_t start_l = l->identity.readings.first.ns, start_r = r->identity.readings.first.ns;
	if (l->identity.is_hypervisor != r->identity.is_hypervisor)
		return l->identity.is_hypervisor ? 1 : -1;
	if (l->host != r->host)
		return l->host < r->host ? -1 : 1;
	if (start_l != start_r)
		return start_l < start_r ? -1 : 1;
	if (l->identity.pid != r->identity.pid)
		return l->identity.pid < r->identity.pid ? -1 : 1;
	if (l->identity.series == r->identity.series && l->identity.piece != r->identity.piece)
		return l->identity.piece < r->identity.piece ? -1 : 1;
	return l->number < r->number ? -1 : l->number > r->number;
}

/* The first file of the boot that most files have; of several, the boot of the first path. NULL if
 * no file names its boot. */
static const struct weft__input_candidate *choose_boot(
	const struct weft__input_candidate *list, size_t count)
{
	const struct weft__input_candidate *chosen = NULL;
	size_t most = 0;
	for (size_t i = 0; i < count && most <= count - i; i++) {
		size_t same = 0;
		for (size_t k = i; k < count; k++)
			same += are_of_one_boot(&list[i], &list[k]);
		if (same > most || (same && same == most && list[i].number < chosen->number)) {
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
		weft__input_fail(file, error);
	return error;
}

/* True if both recorded at the same time, by their wall clocks. A minute is forgiven to these. */
static bool overlap(const struct weft__input_candidate *a, const struct weft__input_candidate *b)
{
	const struct weft__identity *l = &a->identity, *r = &b->identity;
	const double difference = (double)l->offset_ns - (double)r->offset_ns, forgiven = 60e9;
	return (double)l->readings.first.ns + difference <= (double)r->end_ns + forgiven &&
		   (double)r->readings.first.ns - difference <= (double)l->end_ns + forgiven;
}

/* True if the file is of another boot, whose clock can be compared by the time of day. */
static bool may_be_aligned(const struct weft__input_candidate *list, size_t count,
	const struct weft__input_candidate *c, const struct weft__input_candidate *chosen,
	bool at_any_time)
{
	bool is_near = at_any_time;
	if (!chosen || !has_boot(c) || c->identity.is_hypervisor || !c->identity.offset_ns ||
		!chosen->identity.offset_ns)
		return false;
	for (size_t i = 0; i < count && !is_near; i++)
		is_near = are_of_one_boot(&list[i], chosen) && overlap(&list[i], c);
	return is_near;
}

static void leave_out_boots(struct weft__input_candidate *list, size_t count,
	const struct weft__input_candidate *chosen, bool at_any_time)
{
	for (size_t i = 0; i < count; i++) {
		struct weft_input_file *file = &list[i].file;
		if (file->fit != WEFT_INPUT_OPEN || may_fit(&list[i], chosen) ||
			(chosen && are_of_one_boot(chosen, &list[i])) ||
			may_be_aligned(list, count, &list[i], chosen, at_any_time))
			continue;
		file->other = chosen ? chosen->file.path : NULL;
		if (has_boot(&list[i]))
			file->fit = WEFT_INPUT_OTHER_BOOT;
		else if (!is_unreadable(file))
			file->fit = WEFT_INPUT_NO_BOOT;
	}
}

/* The chosen boot is host 0, as is Xen's own trace that names none. */
static uint32_t number_hosts(
	struct weft__input_candidate *list, size_t count, const struct weft__input_candidate *chosen)
{
	uint32_t hosts = 1;
	for (size_t i = 0; i < count; i++) {
		struct weft__input_candidate *c = &list[i];
		c->host = c->file.fit == WEFT_INPUT_OPEN ? hosts : 0;
		if (!chosen || !has_boot(c) || are_of_one_boot(c, chosen))
			c->host = 0;
		for (size_t k = 0; k < i; k++)
			if (are_of_one_boot(&list[k], c))
				c->host = list[k].host;
		hosts += c->host == hosts;
	}
	return hosts;
}

static bool are_of_one_buffer(
	const struct weft__input_candidate *a, const struct weft__input_candidate *b)
{
	return is_known(a->identity.uuid) &&
		   memcmp(a->identity.uuid, b->identity.uuid, sizeof(a->identity.uuid)) == 0;
}

/* True if the files are different ones of one stream. A copy of a file is not. */
static bool are_of_one_series(
	const struct weft__input_candidate *a, const struct weft__input_candidate *b)
{
	return are_of_one_buffer(a, b) && a->identity.series &&
		   a->identity.series == b->identity.series && a->identity.piece != b->identity.piece;
}

/* When the file ends, or the last one of its series. */
static uint64_t end_of(const struct weft__input_candidate *list, size_t count, size_t number)
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
static void leave_out_parts(struct weft__input_candidate *list, size_t count)
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

size_t weft__input_count_open(const struct weft__input_candidate *list, size_t count)
{
	size_t open = 0;
	for (size_t i = 0; i < count; i++)
		open += list[i].file.fit == WEFT_INPUT_OPEN;
	return open;
}

uint32_t weft__input_choose(struct weft__input_candidate *list, size_t count, bool at_any_time)
{
	if (weft__input_count_open(list, count) < 2)
		return 1;
	qsort(list, count, sizeof(*list), by_start);
	leave_out_boots(list, count, choose_boot(list, count), at_any_time);
	leave_out_parts(list, count);
	/* Each host has a file that is open. */
	uint32_t hosts = number_hosts(list, count, choose_boot(list, count));
	qsort(list, count, sizeof(*list), by_start);
	return hosts;
}
