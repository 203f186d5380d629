/* SPDX-License-Identifier: ISC
 *
 * A line for each ring: its UUID, its process, the latest stamp, the number of events with it, and
 * of all.
 */
#include "agent/sent.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <weft/parse.h>

#include "base/field.h"
#include "runs/message.h"

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
static bool parse_line(const char *line, struct weft__agent_sent_ring *ret_ring)
{
	size_t size;
	uint64_t pid;
	const char *uuid = weft__field(line, 0, &size);
	if (size != 2 * UUID_BYTES || !parse_uuid(uuid, ret_ring->uuid) ||
		!weft__field_number(line, 1, INT_MAX, &pid))
		return false;
	ret_ring->pid = (pid_t)pid;
	return weft__field_number(line, 2, UINT64_MAX, &ret_ring->point.ticks) &&
		   weft__field_number(line, 3, UINT64_MAX, &ret_ring->point.events) &&
		   weft__field_number(line, 4, UINT64_MAX, &ret_ring->point.recorded);
}

bool weft__agent_sent_read_lines(struct weft__agent_sent *sent, FILE *file)
{
	char line[128];
	struct weft__agent_sent_ring ring;
	bool good = true;
	while (good && fgets(line, sizeof(line), file))
		if (parse_line(line, &ring))
			good = weft__agent_sent_set(sent, &ring);
	return good && !ferror(file);
}

bool weft__agent_sent_open(struct weft__agent_sent *sent, const char *folder)
{
	*sent = (struct weft__agent_sent){.count = 0};
	if (snprintf(sent->file, sizeof(sent->file), "%s/sent", folder) >= (int)sizeof(sent->file)) {
		weft__runs_report("--spool: the path is too long");
		return false;
	}
	FILE *file = fopen(sent->file, "re");
	if (!file && errno == ENOENT)
		return true;
	const bool good = file && weft__agent_sent_read_lines(sent, file);
	if (!good)
		weft__runs_report("%s: %s", weft__runs_shown(sent->file), strerror(errno));
	if (file)
		fclose(file);
	return good;
}

void weft__agent_sent_close(struct weft__agent_sent *sent)
{
	free(sent->list);
}

static struct weft__agent_sent_ring *find(const struct weft__agent_sent *sent, const uint8_t *uuid)
{
	for (size_t i = 0; i < sent->count; i++)
		if (memcmp(sent->list[i].uuid, uuid, UUID_BYTES) == 0)
			return &sent->list[i];
	return NULL;
}

const struct weft__agent_sent_ring *weft__agent_sent_find(
	const struct weft__agent_sent *sent, const uint8_t uuid[16])
{
	return find(sent, uuid);
}

bool weft__agent_sent_set(struct weft__agent_sent *sent, const struct weft__agent_sent_ring *ring)
{
	struct weft__agent_sent_ring *known = find(sent, ring->uuid);
	if (known) {
		*known = *ring;
		return true;
	}
	struct weft__agent_sent_ring *list = realloc(sent->list, (sent->count + 1) * sizeof(*list));
	if (!list)
		return false;
	sent->list = list;
	list[sent->count++] = *ring;
	return true;
}

static void forget_gone(struct weft__agent_sent *sent)
{
	size_t count = 0;
	for (size_t i = 0; i < sent->count; i++)
		if (sent->list[i].pid > 0 && (kill(sent->list[i].pid, 0) == 0 || errno != ESRCH))
			sent->list[count++] = sent->list[i];
	sent->count = count;
}

bool weft__agent_sent_write_lines(const struct weft__agent_sent *sent, FILE *file)
{
	for (size_t i = 0; i < sent->count; i++) {
		const struct weft__agent_sent_ring *ring = &sent->list[i];
		for (size_t byte = 0; byte < UUID_BYTES; byte++)
			fprintf(file, "%02x", ring->uuid[byte]);
		fprintf(file, " %d %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", (int)ring->pid,
			ring->point.ticks, ring->point.events, ring->point.recorded);
	}
	return fflush(file) == 0 && !ferror(file);
}

void weft__agent_sent_write(struct weft__agent_sent *sent)
{
	char path[PATH_MAX + 8];
	forget_gone(sent);
	snprintf(path, sizeof(path), "%s.new", sent->file);
	FILE *file = fopen(path, "we");
	bool good = file && weft__agent_sent_write_lines(sent, file);
	if (file && fclose(file) != 0)
		good = false;
	if (!good || rename(path, sent->file) != 0)
		weft__runs_report("%s: %s; after a new start, the agent may send spans again",
			weft__runs_shown(path), strerror(errno));
}
