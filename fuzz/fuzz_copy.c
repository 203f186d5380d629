/* SPDX-License-Identifier: ISC
 *
 * The input is the buffer of a program that writes while it is copied and summarized. The last
 * EDITS * 8 bytes say which words a second thread flips meanwhile. The buffer and its copy have
 * exactly the input's size, so a sanitizer finds each access outside of them.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include <weft/buffer.h>

#include "abi/buffer_abi.h"
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#define EDITS  8
#define COPIES 4

/* The word to change; every second one is in the header, which has the geometry. */
struct edit {
	uint32_t word, value;
};

struct writer {
	uint32_t *words;
	size_t count;
	struct edit edits[EDITS];
	atomic_bool is_running, stops;
};

static uint32_t *word_of(const struct writer *w, const struct edit *edit)
{
	size_t header = sizeof(struct weft_abi_buffer) / sizeof(uint32_t);
	size_t count = edit->word & 1 && w->count > header ? header : w->count;
	return &w->words[(edit->word >> 1) % count];
}

static void *write_words(void *context)
{
	struct writer *w = context;
	uint32_t kept[EDITS];
	for (int i = 0; i < EDITS; i++)
		kept[i] = *word_of(w, &w->edits[i]);
	atomic_store(&w->is_running, true);
	while (!atomic_load(&w->stops)) {
		for (int i = 0; i < EDITS; i++)
			__atomic_store_n(word_of(w, &w->edits[i]), w->edits[i].value, __ATOMIC_RELAXED);
		for (int i = EDITS; i-- > 0;)
			__atomic_store_n(word_of(w, &w->edits[i]), kept[i], __ATOMIC_RELAXED);
	}
	return NULL;
}

static void copy_and_read(const void *live, size_t size)
{
	struct weft_buffer_summary summary;
	uint8_t *copy = calloc(1, size);
	require(copy != NULL);
	if (weft_buffer_copy(copy, live, size) == 0)
		check_format(&weft__format_weft, copy, size);
	else
		require(copy[0] == 0 && memcmp(copy, copy + 1, size - 1) == 0);
	if (weft_buffer_summarize(live, size, &summary) == 0)
		require(memchr(summary.program, 0, sizeof(summary.program)) != NULL);
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct writer writer = {0};
	pthread_t thread;
	if (size < sizeof(writer.edits) + 8)
		return 0;
	memcpy(writer.edits, bytes + size - sizeof(writer.edits), sizeof(writer.edits));
	uint8_t *live = malloc(size);
	require(live != NULL);
	memcpy(live, bytes, size);
	copy_and_read(live, size);
	writer.words = (void *)live;
	writer.count = size / sizeof(uint32_t);
	require(pthread_create(&thread, NULL, write_words, &writer) == 0);
	while (!atomic_load(&writer.is_running))
		continue;
	for (int i = 0; i < COPIES; i++)
		copy_and_read(live, size);
	atomic_store(&writer.stops, true);
	pthread_join(thread, NULL);
	free(live);
	return 0;
}
