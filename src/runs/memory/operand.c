/* SPDX-License-Identifier: ISC
 *
 * Finds the ring that an operand names, see operand.h.
 */
#include "runs/memory/operand.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/parse.h>

#include "runs/memory/image.h"
#include "runs/message.h"

static const char CORE[] = "core:", PROCESS[] = "mem:";

/* A ring's size is what a program has written, so it is limited as that of a pipe is. */
#define RING_MAX ((uint64_t)4 << 30)

struct operand {
	char *name; /* of the file, or a PID */
	bool is_process;
	bool has_address;
	uint64_t address;
};

static bool begins(const char *operand, const char *scheme)
{
	return strncmp(operand, scheme, strlen(scheme)) == 0;
}

bool weft__runs_is_image(const char *operand)
{
	return (begins(operand, CORE) || begins(operand, PROCESS)) && access(operand, F_OK) != 0;
}

/* Takes @0x… off the end, unless a file has that name. */
static void take_address(struct operand *operand)
{
	char *at = strrchr(operand->name, '@');
	if (!at || strncmp(at, "@0x", 3) != 0 || access(operand->name, F_OK) == 0 ||
		weft_parse_hexadecimal(at + 3, strlen(at + 3), &operand->address) != WEFT_PARSE_OK)
		return;
	operand->has_address = true;
	*at = '\0';
}

static bool parse(const char *text, struct operand *ret_operand)
{
	struct operand operand = {.is_process = begins(text, PROCESS)};
	operand.name = strdup(strchr(text, ':') + 1);
	if (!operand.name) {
		weft__runs_report("%s", weft_error_text(WEFT_ERROR_MEMORY));
		return false;
	}
	take_address(&operand);
	*ret_operand = operand;
	return true;
}

/* ---- Memory ---- */

static bool open_process(const struct operand *operand, struct weft__runs_image *ret_memory,
	char reason[WEFT__RUNS_IMAGE_REASON_BYTES])
{
	uint64_t pid;
	if (weft_parse_number(operand->name, strlen(operand->name), &pid) == WEFT_PARSE_OK && pid &&
		pid <= INT_MAX)
		return weft__runs_image_open_process((pid_t)pid, ret_memory, reason);
	snprintf(reason, WEFT__RUNS_IMAGE_REASON_BYTES, "%s",
		"write mem:PID, the number of a process, or mem:PID@0xADDRESS");
	return false;
}

static bool open_file(const struct operand *operand, uint64_t max_bytes,
	struct weft__runs_image *ret_memory, char reason[WEFT__RUNS_IMAGE_REASON_BYTES])
{
	struct weft_source *source;
	int error = weft_source_open_limited(operand->name, max_bytes, &source);
	if (!error)
		return weft__runs_image_open_file(source, ret_memory, reason);
	snprintf(reason, WEFT__RUNS_IMAGE_REASON_BYTES, "%s%s",
		error == WEFT_ERROR_SYSTEM ? strerror(errno) : weft_error_text(error),
		error == WEFT_ERROR_SIZE ? "; --max-size SIZE allows more" : "");
	return false;
}

/* ---- Rings ---- */

static void list(const char *shown, const struct operand *operand,
	const struct weft__runs_image_ring *rings, size_t count)
{
	char size[32];
	weft__runs_report("%s: %s%zu rings; name one:", shown,
		count == WEFT__RUNS_IMAGE_RINGS ? "at least " : "", count);
	for (size_t i = 0; i < count; i++) {
		const struct weft__runs_image_ring *ring = &rings[i];
		char process[32] = "";
		if (ring->pid)
			snprintf(process, sizeof(process), ", PID %" PRIu32, ring->pid);
		weft__runs_report("  %s%s@0x%" PRIx64 ": %s%s%s%s", operand->is_process ? PROCESS : CORE,
			weft__runs_shown(operand->name), ring->address, weft__runs_size_text(ring->size, size),
			ring->program[0] ? ", " : "", ring->program[0] ? weft__runs_shown(ring->program) : "",
			process);
	}
}

static void report_none(
	const char *shown, const struct operand *operand, const struct weft__runs_image *memory)
{
	char size[32];
	if (operand->has_address)
		weft__runs_report("%s: no ring begins there", shown);
	else if (memory->missing)
		weft__runs_report("%s: no ring in it; the core lacks %s of the memory, which may have one",
			shown, weft__runs_size_text(memory->missing, size));
	else
		weft__runs_report("%s: no ring in it", shown);
}

/* False after a report. */
static bool choose(const char *shown, const struct operand *operand,
	const struct weft__runs_image *memory, struct weft__runs_image_ring *ret_ring)
{
	struct weft__runs_image_ring rings[WEFT__RUNS_IMAGE_RINGS];
	size_t count = operand->has_address ? weft__runs_image_has_ring(memory, operand->address, rings)
										: weft__runs_image_search(memory, rings);
	if (count == 0)
		report_none(shown, operand, memory);
	else if (count > 1)
		list(shown, operand, rings, count);
	*ret_ring = rings[0];
	return count == 1;
}

static const char *explain(int error)
{
	if (error == WEFT_ERROR_STATE)
		return "its memory has gone while it was read";
	return error == WEFT_ERROR_SYSTEM ? strerror(errno) : weft_error_text(error);
}

static int copy(const char *shown, const struct weft__runs_image *memory,
	const struct weft__runs_image_ring *ring, uint64_t most)
{
	char size[32];
	if (ring->size > most) {
		weft__runs_report("%s: its ring is of %s; --max-size SIZE allows more", shown,
			weft__runs_size_text(ring->size, size));
		return -1;
	}
	int file = memfd_create("weft-memory", MFD_CLOEXEC);
	int error = file < 0 || fchmod(file, 0600) != 0 ? WEFT_ERROR_SYSTEM
													: weft__runs_image_copy(memory, ring, file);
	if (!error)
		return file;
	weft__runs_report("%s: %s", shown, explain(error));
	if (file >= 0)
		close(file);
	return -1;
}

static int open_operand(const char *shown, const struct operand *operand, uint64_t max_bytes)
{
	struct weft__runs_image memory;
	struct weft__runs_image_ring ring;
	char reason[WEFT__RUNS_IMAGE_REASON_BYTES];
	int file = -1;
	if (operand->is_process ? !open_process(operand, &memory, reason)
							: !open_file(operand, max_bytes, &memory, reason)) {
		weft__runs_report("%s: %s", shown, reason);
		return -1;
	}
	if (choose(shown, operand, &memory, &ring))
		file = copy(shown, &memory, &ring, max_bytes ? max_bytes : RING_MAX);
	weft__runs_image_close(&memory);
	return file;
}

int weft__runs_image_copy_named(const char *text, uint64_t max_bytes)
{
	struct operand operand;
	if (!parse(text, &operand))
		return -1;
	int file = open_operand(weft__runs_shown(text), &operand, max_bytes);
	free(operand.name);
	return file;
}
