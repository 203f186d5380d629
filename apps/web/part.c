/* SPDX-License-Identifier: ISC
 *
 * The part that is read of a trace that is too large for the page's memory.
 */
#include "page.h"

static struct {
	struct weft_density density; /* of the whole trace */
	struct weft_model_part read;
	bool is_wanted;
} part;

/* For the density, which the worker writes before it calls page_part_begin(). */
struct weft_density *PAGE_EXPORT(page_part_density)(void)
{
	return &part.density;
}

/* Chooses the first part, of `bytes` at most. */
void PAGE_EXPORT(page_part_begin)(double bytes)
{
	part.read.start_ns = part.read.end_ns = part.density.start_ns;
	part.is_wanted =
		weft_density_widen(&part.density, bytes, &part.read.start_ns, &part.read.end_ns);
}

/* Chooses a part that the viewer has asked for. */
void PAGE_EXPORT(page_part_choose)(uint64_t start_ns, uint64_t end_ns)
{
	part.read.start_ns = start_ns;
	part.read.end_ns = end_ns;
	part.is_wanted = true;
}

/* The next trace is read as a whole. */
void PAGE_EXPORT(page_part_drop)(void)
{
	part.is_wanted = false;
}

uint64_t PAGE_EXPORT(page_part_start)(void)
{
	return part.read.start_ns;
}

uint64_t PAGE_EXPORT(page_part_end)(void)
{
	return part.read.end_ns;
}

void page_part_set(struct weft_model_builder *builder)
{
	part.read.trace_start_ns = part.density.start_ns;
	part.read.trace_end_ns = part.density.end_ns;
	if (part.is_wanted)
		weft_model_builder_set_part(builder, &part.read);
}

/* Says to the viewer, which shows the first part, that there are others. */
int PAGE_EXPORT(page_part_show)(double bytes)
{
	return weft_viewer_set_density(page_viewer, &part.density, bytes);
}
