/* SPDX-License-Identifier: ISC
 *
 * A line for each ring: its UUID, its process, the number of events.
 */
#include "sent.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/parse.h>

#include "cli/cli.h"

#define UUID_BYTES 16

static bool parse_uuid(const char *text, uint8_t ret_uuid[UUID_BYTES])
{
	uint64_t byte;
	for (size_t i = 0; i < UUID_BYTES; i++) {
		if (weft_parse_hexadecimal(text + 2 * i, 2, &byte) != WEFT_PARSE_OK)
			return false;
		ret_uuid[i] = (uint8_t)byte;
	}
	return true;
}

/* A line that is not as it was written is left out: at worst, a program's spans are sent again. */
static bool parse_line(const char *line, struct agent_sent_ring *ret_ring)
{
	uint64_t pid;
	if (strlen(line) < 2 * UUID_BYTES + 2 || !parse_uuid(line, ret_ring->uuid))
		return false;
	line += 2 * UUID_BYTES + 1;
	const size_t size = strcspn(line, " ");
	const char *events = line + size + (line[size] == ' ');
	if (weft_parse_number(line, size, &pid) != WEFT_PARSE_OK || pid > INT_MAX)
		return false;
	ret_ring->pid = (pid_t)pid;
	return weft_parse_number(events, strcspn(events, "\n"), &ret_ring->events) == WEFT_PARSE_OK;
}

static bool read_lines(struct agent_sent *sent, FILE *file)
{
	char line[128];
	struct agent_sent_ring ring;
	bool good = true;
	while (good && fgets(line, sizeof(line), file))
		if (parse_line(line, &ring))
			good = agent_sent_set(sent, ring);
	return good;
}

bool agent_sent_open(struct agent_sent *sent, const char *folder)
{
	*sent = (struct agent_sent){.count = 0};
	if (snprintf(sent->file, sizeof(sent->file), "%s/sent", folder) >= (int)sizeof(sent->file)) {
		cli_error("--spool: the path is too long");
		return false;
	}
	FILE *file = fopen(sent->file, "re");
	if (!file && errno == ENOENT)
		return true;
	const bool good = file && read_lines(sent, file);
	if (!good)
		cli_error("%s: %s", sent->file, strerror(errno));
	if (file)
		fclose(file);
	return good;
}

void agent_sent_close(struct agent_sent *sent)
{
	free(sent->list);
}

struct agent_sent_ring *agent_sent_find(const struct agent_sent *sent, const uint8_t uuid[16])
{
	for (size_t i = 0; i < sent->count; i++)
		if (memcmp(sent->list[i].uuid, uuid, 16) == 0)
			return &sent->list[i];
	return NULL;
}

bool agent_sent_set(struct agent_sent *sent, struct agent_sent_ring ring)
{
	struct agent_sent_ring *known = agent_sent_find(sent, ring.uuid);
	if (known) {
		*known = ring;
		return true;
	}
	struct agent_sent_ring *list = realloc(sent->list, (sent->count + 1) * sizeof(*list));
	if (!list)
		return false;
	sent->list = list;
	list[sent->count++] = ring;
	return true;
}

static void forget_gone(struct agent_sent *sent)
{
	size_t count = 0;
	for (size_t i = 0; i < sent->count; i++)
		if (sent->list[i].pid > 0 && (kill(sent->list[i].pid, 0) == 0 || errno != ESRCH))
			sent->list[count++] = sent->list[i];
	sent->count = count;
}

static bool write_lines(const struct agent_sent *sent, FILE *file)
{
	for (size_t i = 0; i < sent->count; i++) {
		for (size_t byte = 0; byte < sizeof(sent->list[i].uuid); byte++)
			fprintf(file, "%02x", sent->list[i].uuid[byte]);
		fprintf(file, " %d %" PRIu64 "\n", (int)sent->list[i].pid, sent->list[i].events);
	}
	const bool good = fflush(file) == 0 && !ferror(file);
	return fclose(file) == 0 && good;
}

void agent_sent_write(struct agent_sent *sent)
{
	char path[PATH_MAX + 8];
	forget_gone(sent);
	snprintf(path, sizeof(path), "%s.new", sent->file);
	FILE *file = fopen(path, "we");
	if (!file || !write_lines(sent, file) || rename(path, sent->file) != 0)
		cli_error(
			"%s: %s; after a new start, the agent may send spans again", path, strerror(errno));
}
