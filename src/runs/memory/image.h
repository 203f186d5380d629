/* SPDX-License-Identifier: ISC
 *
 * Memory in which a program may have a ring, without the program's help: that of a process, what a
 * core keeps of it, or a file with the memory of a machine. All of it may be hostile.
 */
#ifndef WEFT_RUNS_MEMORY_H
#define WEFT_RUNS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <weft/source.h>

/* Memory from an address on, and where its bytes are: in a file, or under the same address. */
struct weft__runs_image_part {
	uint64_t address, size, offset;
};

struct weft__runs_image {
	struct weft_source *source; /* NULL: a process */
	const uint8_t *bytes;       /* of the source */
	uint64_t size;
	int process, pages;                  /* its files mem and pagemap; -1: none */
	struct weft__runs_image_part *parts; /* in order of addresses */
	size_t count, capacity;
	uint64_t missing; /* bytes of memory that a core lacks */
};

#define WEFT__RUNS_IMAGE_REASON_BYTES 160

/* Takes the source, even after an error: a core, or an image whose addresses are offsets in the
 * file. False with a reason. */
bool weft__runs_image_open_file(struct weft_source *source, struct weft__runs_image *ret_memory,
	char reason[WEFT__RUNS_IMAGE_REASON_BYTES]);
bool weft__runs_image_open_process(
	pid_t pid, struct weft__runs_image *ret_memory, char reason[WEFT__RUNS_IMAGE_REASON_BYTES]);
void weft__runs_image_close(struct weft__runs_image *memory);

/* Adds a part; its size may be 0. False without memory. */
bool weft__runs_image_add(struct weft__runs_image *memory, struct weft__runs_image_part part);
/* To be called after the last one was added. */
void weft__runs_image_sort(struct weft__runs_image *memory);

/* Copies bytes, which may lie in several parts. False: not all are there. */
bool weft__runs_image_read(
	const struct weft__runs_image *memory, uint64_t address, void *to, size_t size);

/* The number of bytes from the address on without a gap, at most `most`. */
uint64_t weft__runs_image_extent(
	const struct weft__runs_image *memory, uint64_t address, uint64_t most);

/* ---- Rings ---- */

struct weft__runs_image_ring {
	uint64_t address, size; /* as far as the memory has it */
	uint32_t pid;           /* 0: it names none, as a program without an operating system */
	char program[65];
};

#define WEFT__RUNS_IMAGE_RINGS 64

/* Finds the rings, at most that many: by the magic at each address where a ring may begin. */
size_t weft__runs_image_search(const struct weft__runs_image *memory,
	struct weft__runs_image_ring ret_rings[WEFT__RUNS_IMAGE_RINGS]);

/* True if a ring begins at the address. */
bool weft__runs_image_has_ring(const struct weft__runs_image *memory, uint64_t address,
	struct weft__runs_image_ring *ret_ring);

/* Writes the ring into an empty file. The process may record meanwhile: then the copy is like that
 * of weft_buffer_copy. 0 or an error; WEFT_ERROR_STATE: the memory has gone. */
int weft__runs_image_copy(
	const struct weft__runs_image *memory, const struct weft__runs_image_ring *ring, int file);

#endif
