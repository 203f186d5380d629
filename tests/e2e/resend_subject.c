/* SPDX-License-Identifier: ISC
 *
 * A program that makes a stream as large as it can without recording: it counts its packets'
 * sequences and the clock hand up, and changes names and losses, as fast as a reader can copy.
 *
 *     resend-subject SECONDS
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <weft/weft.h>

#include "abi/buffer_abi.h"
#include "abi/packet_abi.h"

/* Finds our own buffer in the list of mappings. */
static struct weft_abi_buffer *find_buffer(void)
{
	char line[4096];
	void *found = NULL;
	FILE *file = fopen("/proc/self/maps", "r");
	while (file && fgets(line, sizeof(line), file))
		if (!found && strstr(line, ".weft") && strstr(line, "rw-s")) /* its first part */
			found = (void *)(uintptr_t)strtoull(line, NULL, 16);
	if (file)
		fclose(file);
	return found;
}

static void store(uint64_t *word, uint64_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

static void claim_all(struct weft_abi_buffer *buffer, uint64_t *sequence)
{
	unsigned char *bytes = (unsigned char *)buffer + buffer->packets_offset;
	store(&buffer->hand, *sequence + buffer->packet_count);
	for (uint32_t i = 0; i < buffer->packet_count; i++) {
		struct weft_abi_packet *packet =
			(void *)(bytes +
					 (uint64_t)((*sequence + i) % buffer->packet_count) * buffer->packet_bytes);
		packet->written += 100;
		__atomic_store_n(&packet->committed, buffer->packet_bytes, __ATOMIC_RELEASE);
		store(&packet->state, (*sequence + i + 1) << 2 | WEFT_ABI_PACKET_CLOSED);
	}
	*sequence += buffer->packet_count;
}

int main(int argc, char **argv)
{
	for (int i = 0; i < 100000; i++) /* every packet has content */
		weft_tag_value("tag", i);
	struct weft_abi_buffer *buffer = find_buffer();
	if (argc != 2 || !buffer)
		return 1;
	uint64_t *names = (void *)((unsigned char *)buffer + buffer->names_offset);
	uint64_t sequence = buffer->hand + buffer->packet_count;
	buffer->names_used = buffer->names_bytes;
	for (time_t end = time(NULL) + atoi(argv[1]); time(NULL) < end;) {
		claim_all(buffer, &sequence);
		store(&buffer->losses[WEFT_ABI_LOSS_FULL], sequence);
		for (uint32_t i = 0; i < buffer->names_bytes / 8; i += 16)
			store(&names[i], sequence);
		/* A packet that changes while it is copied is not taken. */
		nanosleep(&(const struct timespec){0, 20000}, NULL);
	}
	return 0;
}
