/* SPDX-License-Identifier: ISC
 *
 * Reads memory by address, whatever it is kept in.
 */
#include "runs/memory/image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/search.h"

bool weft__runs_image_add(struct weft__runs_image *memory, struct weft__runs_image_part part)
{
	const struct weft__column column = {&memory->parts, sizeof(*memory->parts)};
	if (part.size == 0)
		return true;
	if (part.size > UINT64_MAX - part.address) /* none ends beyond the last address */
		part.size = UINT64_MAX - part.address;
	if (memory->count == UINT32_MAX ||
		weft__columns_reserve(&column, 1, &memory->capacity, memory->count + 1))
		return false;
	memory->parts[memory->count++] = part;
	return true;
}

static int by_address(const void *left, const void *right)
{
	const struct weft__runs_image_part *l = left, *r = right;
	if (l->address != r->address)
		return l->address < r->address ? -1 : 1;
	return (l->size > r->size) - (l->size < r->size);
}

void weft__runs_image_sort(struct weft__runs_image *memory)
{
	if (memory->count)
		qsort(memory->parts, memory->count, sizeof(*memory->parts), by_address);
}

void weft__runs_image_close(struct weft__runs_image *memory)
{
	weft_source_close(memory->source);
	if (memory->process >= 0)
		close(memory->process);
	if (memory->pages >= 0)
		close(memory->pages);
	free(memory->parts);
}

static bool begins_by(const void *parts, uint32_t part, uint64_t address)
{
	return ((const struct weft__runs_image_part *)parts)[part].address <= address;
}

/* The last part that begins at or before the address, if it has it; else NULL. */
static const struct weft__runs_image_part *find(
	const struct weft__runs_image *memory, uint64_t address)
{
	uint32_t begun = weft__search(memory->parts, 0, (uint32_t)memory->count, begins_by, address);
	const struct weft__runs_image_part *part = begun ? &memory->parts[begun - 1] : NULL;
	return part && address - part->address < part->size ? part : NULL;
}

static bool read_file(
	const struct weft__runs_image *memory, uint64_t offset, uint8_t *to, size_t size)
{
	if (offset > memory->size || size > memory->size - offset)
		return false;
	memcpy(to, memory->bytes + offset, size);
	return true;
}

static bool read_process(
	const struct weft__runs_image *memory, uint64_t address, uint8_t *to, size_t size)
{
	while (size) {
		ssize_t got = pread(memory->process, to, size, (off_t)address);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		to += got;
		address += (uint64_t)got;
		size -= (size_t)got;
	}
	return true;
}

bool weft__runs_image_read(
	const struct weft__runs_image *memory, uint64_t address, void *to, size_t size)
{
	for (uint8_t *at = to; size;) {
		const struct weft__runs_image_part *part = find(memory, address);
		if (!part)
			return false;
		uint64_t skipped = address - part->address, left = part->size - skipped;
		size_t piece = size < left ? size : (size_t)left;
		if (!(memory->source ? read_file : read_process)(memory, part->offset + skipped, at, piece))
			return false;
		at += piece;
		address += piece;
		size -= piece;
	}
	return true;
}

uint64_t weft__runs_image_extent(
	const struct weft__runs_image *memory, uint64_t address, uint64_t most)
{
	const struct weft__runs_image_part *part;
	uint64_t end = address;
	while (end - address < most && (part = find(memory, end)))
		end = part->address + part->size;
	return end - address < most ? end - address : most;
}
