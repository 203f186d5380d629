/* SPDX-License-Identifier: ISC
 *
 * The input is a file in which an agent has noted how far it has read each ring. What is read from
 * it is written and read again.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/sent.h"
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void read_lines(const void *bytes, size_t size, struct weft__agent_sent *ret_sent)
{
	*ret_sent = (struct weft__agent_sent){.count = 0};
	FILE *file = fmemopen((void *)(uintptr_t)bytes, size, "r");
	require(file && weft__agent_sent_read_lines(ret_sent, file));
	fclose(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct weft__agent_sent sent, again = {.count = 0};
	char *text = NULL;
	size_t length = 0;
	if (size == 0)
		return 0;
	read_lines(bytes, size, &sent);
	FILE *file = open_memstream(&text, &length);
	require(file && weft__agent_sent_write_lines(&sent, file));
	fclose(file);
	require((length > 0) == (sent.count > 0));
	if (length)
		read_lines(text, length, &again);
	for (size_t i = 0; i < sent.count; i++) {
		const struct weft__agent_sent_ring *a = &sent.list[i], *b = &again.list[i];
		require(again.count == sent.count && memcmp(a->uuid, b->uuid, sizeof(a->uuid)) == 0);
		require(a->pid == b->pid && a->point.ticks == b->point.ticks &&
				a->point.events == b->point.events && a->point.recorded == b->point.recorded);
		require(weft__agent_sent_find(&sent, a->uuid) == a);
	}
	weft__agent_sent_close(&again);
	weft__agent_sent_close(&sent);
	free(text);
	return 0;
}
