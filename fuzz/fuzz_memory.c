/* SPDX-License-Identifier: ISC
 *
 * The input is a core, or an image of a machine's memory: rings are searched in it, and copied.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "reader.h"
#include "runs/memory/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#define COPY_MAX ((uint64_t)1 << 22)

static void copy(const struct weft__runs_image *image, const struct weft__runs_image_ring *ring)
{
	int fd = memfd_create("ring", MFD_CLOEXEC);
	require(fd >= 0 && ring->size >= 4096);
	require(weft__runs_image_extent(image, ring->address, ring->size) == ring->size);
	if (ring->size <= COPY_MAX)
		require(weft__runs_image_copy(image, ring, fd) == 0);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char reason[WEFT__RUNS_IMAGE_REASON_BYTES];
	struct weft__runs_image_ring rings[WEFT__RUNS_IMAGE_RINGS];
	struct weft__runs_image image;
	struct weft_source *source;
	int fd = memfd_create("core", MFD_CLOEXEC);
	require(fd >= 0 && write(fd, bytes, size) == (ssize_t)size && lseek(fd, 0, SEEK_SET) == 0);
	int error = weft_source_open_descriptor(fd, 0, &source);
	close(fd);
	if (error || !weft__runs_image_open_file(source, &image, reason))
		return 0;
	size_t count = weft__runs_image_search(&image, rings);
	for (size_t i = 0; i < count; i++)
		copy(&image, &rings[i]);
	weft__runs_image_close(&image);
	return 0;
}
