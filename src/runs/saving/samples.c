/* SPDX-License-Identifier: ISC
 *
 * See samples.h. The ring's file becomes longer, behind the part that the program has mapped.
 */
#include "runs/saving/samples.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/buffer_abi.h"

static bool write_at(int fd, const void *bytes, size_t size, uint64_t at)
{
	return pwrite(fd, bytes, size, (off_t)at) == (ssize_t)size;
}

/* The bytes of the header are stored last, so that readers never see incomplete room. */
static void append(int ring, const void *tables, size_t size)
{
	struct stat status;
	const uint64_t bytes = size;
	if (fstat(ring, &status) != 0)
		return;
	const uint64_t offset = ((uint64_t)status.st_size + 63) / 64 * 64;
	if (!write_at(ring, tables, size, offset)) /* no memory is left */
		(void)!ftruncate(ring, status.st_size);
	else if (write_at(
				 ring, &offset, sizeof(offset), offsetof(struct weft_abi_buffer, added_offset)))
		write_at(ring, &bytes, sizeof(bytes), offsetof(struct weft_abi_buffer, added_bytes));
}

/* Other tables may have been added, if the program has ended. */
static bool make_room(int ring, const struct weft_buffer_sampling *sampling)
{
	struct weft_abi_buffer header;
	void *tables;
	size_t size;
	if (pread(ring, &header, sizeof(header), 0) != (ssize_t)sizeof(header) ||
		memcmp(header.magic, WEFT_ABI_MAGIC, sizeof(header.magic)) != 0)
		return false;
	if (header.added_bytes || weft_buffer_make_sample_room(sampling, &tables, &size))
		return true;
	append(ring, tables, size);
	free(tables);
	return true;
}

bool weft__runs_samples_make_room(int ring, const struct weft_buffer_sampling *sampling)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_mutex_lock(&mutex);
	const bool is_made = make_room(ring, sampling);
	pthread_mutex_unlock(&mutex);
	return is_made;
}
