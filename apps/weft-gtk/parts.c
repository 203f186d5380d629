/* SPDX-License-Identifier: ISC
 *
 * See parts.h. As much is read before a part as it is long, for the names of tasks that go on.
 */
#include "parts.h"

#include <glib.h>
#include <glib/gstdio.h>

#include "opening.h"

#define PART_SHARE 16 /* of the largest trace that is read as a whole */

static uint64_t whole_bytes = (uint64_t)1 << 30;

void parts_set_whole(uint64_t bytes)
{
	whole_bytes = bytes;
}

double parts_bytes(void)
{
	return (double)(whole_bytes / PART_SHARE);
}

static int weigh(const char *path, struct weft_density *ret_density)
{
	struct weft_ring_check check;
	struct weft_source *source;
	struct weft_input *input;
	int error = opening_source(path, 0, &source, &check);
	if (!error)
		error = opening_input(source, &input);
	if (error)
		return error;
	error = weft_decoder_weigh(weft_input_decoder(input), ret_density);
	weft_input_close(input);
	return error;
}

struct read_part *parts_choose(const char *path)
{
	GStatBuf status;
	if (g_stat(path, &status) || !S_ISREG(status.st_mode) ||
		(uint64_t)status.st_size <= whole_bytes)
		return NULL;
	struct read_part *part = g_new0(struct read_part, 1);
	if (weigh(path, &part->density)) {
		g_free(part);
		return NULL;
	}
	part->start_ns = part->end_ns = part->density.start_ns;
	(void)weft_density_widen(&part->density, parts_bytes(), &part->start_ns, &part->end_ns);
	return part;
}

int parts_build(const struct read_part *part, struct weft_input *input,
	const struct weft_progress *progress, struct weft_model **ret_model)
{
	const struct weft_range range = {
		.start_ns = part->start_ns,
		.duration_ns = part->end_ns - part->start_ns,
		.past_ns = part->end_ns - part->start_ns,
		.is_absolute = true,
	};
	return weft_input_build_range(input, &range, progress, ret_model);
}
