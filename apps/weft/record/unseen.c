/* SPDX-License-Identifier: ISC
 *
 * Prints what the adapters could not record, in the last words of `weft record`. The facts are in
 * the tables of names, so no event is read.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/buffer.h>
#include <weft/error.h>
#include <weft/source.h>
#include <weft/unseen.h>

#include "cli/cli.h"
#include "record.h"
#include "runs/message.h"
#include "runs/saving/name.h"

/* A stream, and a trace on standard output, still have their ring. */
static int open_trace(const struct weft__runs_saved *saved)
{
	struct weft_ring_check check;
	if (saved->stream || weft__runs_is_stdout(saved->file))
		return weft_source_open_ring(saved->path, saved->ring->pid, WEFT_RING_READ, &check);
	return open(saved->file, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

/* The facts of one process; NULL: there are none. The caller frees them. */
static char *read_facts(const struct weft__runs_saved *saved)
{
	char *facts = NULL;
	struct weft_source *source;
	int fd = saved->ring->is_guest ? -1 : open_trace(saved);
	if (fd >= 0 && weft_source_open_descriptor(fd, 0, &source) == WEFT_OK) {
		size_t size;
		const void *bytes = weft_source_bytes(source, &size);
		weft_buffer_read_unseen(bytes, size, &facts);
		weft_source_close(source);
	}
	if (fd >= 0)
		close(fd);
	return facts;
}

/* PROG-PID.weft or PROG-PID.2.weft: the program has recorded. */
static void drop_recorded(struct weft_unseen_list *unseen, const struct weft__runs_ring *ring)
{
	char program[NAME_MAX + 1];
	snprintf(program, sizeof(program), "%s", ring->name);
	char *dash = strrchr(program, '-');
	if (dash)
		*dash = '\0';
	weft_unseen_drop(unseen, program);
}

static void print(const struct weft_unseen_list *unseen)
{
	enum {
		SHOWN = 8
	};
	char sentence[WEFT_UNSEEN_SENTENCE_BYTES], where[48];
	for (uint32_t i = 0; i < unseen->count && i < SHOWN; i++) {
		const struct weft_unseen *fact = &unseen->list[i];
		weft_unseen_sentence(fact, sentence, sizeof(sentence));
		snprintf(where, sizeof(where), ", in %u programs", (unsigned)fact->buffers);
		cli_error("%s%s", sentence, fact->buffers > 1 ? where : "");
	}
	if (unseen->count > SHOWN)
		cli_error("%u more are not recorded; `weft info` lists them",
			(unsigned)(unseen->count - SHOWN) + unseen->more);
}

/* The number of parts that are certainly missing. A program's own functions may pass all calls on.
 */
static size_t count_missing(const struct weft_unseen_list *unseen)
{
	size_t missing = unseen->more;
	for (uint32_t i = 0; i < unseen->count; i++)
		missing += unseen->list[i].kind != WEFT_UNSEEN_OWN;
	return missing;
}

size_t record_report_unseen(const struct weft__runs_saved *saved, size_t count)
{
	struct weft_unseen_list unseen = {0};
	char **facts = calloc(count, sizeof(*facts)); /* the list borrows them */
	for (size_t i = 0; facts && i < count; i++) {
		facts[i] = read_facts(&saved[i]);
		weft_unseen_add(&unseen, facts[i], (uint32_t)i);
	}
	for (size_t i = 0; unseen.count && i < count; i++)
		drop_recorded(&unseen, saved[i].ring);
	print(&unseen);
	size_t missing = count_missing(&unseen);
	for (size_t i = 0; facts && i < count; i++)
		free(facts[i]);
	free(facts);
	return missing;
}
