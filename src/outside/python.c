/* SPDX-License-Identifier: ISC
 *
 * The frames of Python 3.11, whose interpreter has them in structs of its own. They are read from
 * its memory; the program goes on meanwhile, and may have written anything there. Of a thread that
 * waits they count only if it has not run meanwhile; of one that runs, only those that it has at
 * several looks.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "parts.h"

/* Offsets in the structs of CPython 3.11, which do not change within 3.11. */
enum {
	RUNTIME_INTERPRETERS = 40,
	RUNTIME_CURRENT = 576, /* the thread that has the lock of the interpreter */
	INTERPRETER_THREADS = 16,
	THREAD_NEXT = 8,
	THREAD_CFRAME = 56,
	THREAD_NATIVE = 160,
	CFRAME_FRAME = 8,
	FRAME_CODE = 32,
	FRAME_PREVIOUS = 48,
	FRAME_INSTRUCTION = 56,
	CODE_FIRST_LINE = 72,
	CODE_FILE = 112,
	CODE_NAME = 128,
	CODE_LINES = 136,
	CODE_INSTRUCTIONS = 184,
	BYTES_SIZE = 16,
	BYTES_START = 32,
	TEXT_LENGTH = 16,
	TEXT_STATE = 32,
	TEXT_ASCII = 48,
	TEXT_OTHER = 72,
};

enum {
	VERSION = 0x030b, /* 3.11 */
	THREADS_MAX = 256,
	LINES_MAX = 1 << 16, /* bytes of a table of lines */
	LINES_UNIT = 2,      /* bytes of an instruction */
	PAUSE_NS = 3000000,  /* between two looks at a thread that runs */
};

static uint64_t word_at(pid_t pid, uint64_t address)
{
	uint64_t word = 0;
	return weft__outside_read(pid, address, &word, sizeof(word)) ? word : 0;
}

/* ---- Text ---- */

static size_t put_utf8(char *to, uint32_t c)
{
	if (c < 0x80) {
		to[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = (char)(0xc0 | c >> 6);
		to[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	to[0] = (char)(0xe0 | (c >> 12 & 0xf));
	to[1] = (char)(0x80 | (c >> 6 & 0x3f));
	to[2] = (char)(0x80 | (c & 0x3f));
	return 3;
}

/* Reads the last characters of a str that fit; for a path, these are its name. */
static void read_text(pid_t pid, uint64_t address, char *ret_text, size_t room)
{
	unsigned char units[256];
	uint32_t state = 0;
	uint64_t length = word_at(pid, address + TEXT_LENGTH);
	size_t used = 0;
	ret_text[0] = '\0';
	if (!weft__outside_read(pid, address + TEXT_STATE, &state, sizeof(state)))
		return;
	const unsigned size = state >> 2 & 7; /* bytes of a character */
	const bool is_compact = state & 0x20, is_ascii = state & 0x40;
	if (!is_compact || (size != 1 && size != 2) || !length || length > 1 << 20)
		return;
	const size_t most = sizeof(units) / size, count = length < most ? (size_t)length : most;
	const uint64_t start = address + (is_ascii ? TEXT_ASCII : TEXT_OTHER) + (length - count) * size;
	if (!weft__outside_read(pid, start, units, count * size))
		return;
	size_t from = 0;
	for (size_t i = 0; i < count; i++)
		if (size == 1 && units[i] == '/')
			from = i + 1;
	for (size_t i = from; i < count && used + 4 < room; i++)
		used += put_utf8(ret_text + used,
			size == 1 ? units[i] : (uint32_t)(units[2 * i] | units[2 * i + 1] << 8));
	ret_text[used] = '\0';
}

/* ---- Lines ---- */

/* A signed number of a table of lines, 6 bits in each byte. */
static int64_t take_number(const unsigned char *table, size_t size, size_t *at)
{
	uint64_t number = 0;
	unsigned shift = 0;
	unsigned char byte;
	do {
		byte = *at < size ? table[(*at)++] : 0;
		number |= (uint64_t)(byte & 63) << shift;
		shift += 6;
	} while ((byte & 64) && shift < 32);
	return number & 1 ? -(int64_t)(number >> 1) : (int64_t)(number >> 1);
}

/* The line of an instruction, by its number. Each entry of the table has 1 to 8 instructions. */
static uint32_t find_line(
	const unsigned char *table, size_t size, uint64_t instruction, int64_t line)
{
	enum {
		ONE_LINE = 10, /* and the next two: a difference of 0, 1, 2 */
		NO_COLUMN = 13,
		LONG = 14,
		NONE = 15,
	};
	uint64_t covered = 0;
	for (size_t i = 0; i < size;) {
		const unsigned code = table[i] >> 3 & 15;
		size_t at = i + 1;
		covered += (table[i] & 7) + 1;
		if (code == NO_COLUMN || code == LONG)
			line += take_number(table, size, &at);
		else if (code >= ONE_LINE && code < NO_COLUMN)
			line += code - ONE_LINE;
		if (instruction < covered)
			return code == NONE || line < 0 || line > INT32_MAX ? 0 : (uint32_t)line;
		for (i++; i < size && !(table[i] & 0x80);)
			i++;
	}
	return 0;
}

static uint32_t read_line(pid_t pid, uint64_t code, uint64_t instruction)
{
	const uint64_t lines = word_at(pid, code + CODE_LINES), size = word_at(pid, lines + BYTES_SIZE);
	int32_t first = 0;
	if (!weft__outside_read(pid, code + CODE_FIRST_LINE, &first, sizeof(first)) || first < 0)
		return 0;
	if (instruction < code + CODE_INSTRUCTIONS)
		return (uint32_t)first;
	unsigned char *table = size && size <= LINES_MAX ? malloc(size) : NULL;
	uint32_t line = 0;
	if (table && weft__outside_read(pid, lines + BYTES_START, table, size))
		line = find_line(table, size, (instruction - code - CODE_INSTRUCTIONS) / LINES_UNIT, first);
	free(table);
	return line;
}

/* ---- Frames ---- */

static uint32_t read_frames(pid_t pid, uint64_t thread, struct weft__outside_frame *ret_frames)
{
	uint64_t frame = word_at(pid, word_at(pid, thread + THREAD_CFRAME) + CFRAME_FRAME);
	uint32_t count = 0;
	for (; frame && count < WEFT__OUTSIDE_FRAMES; frame = word_at(pid, frame + FRAME_PREVIOUS)) {
		struct weft__outside_frame *to = &ret_frames[count];
		memset(to, 0, sizeof(*to));
		to->code = word_at(pid, frame + FRAME_CODE);
		read_text(pid, word_at(pid, to->code + CODE_NAME), to->function, sizeof(to->function));
		read_text(pid, word_at(pid, to->code + CODE_FILE), to->file, sizeof(to->file));
		if (!to->function[0] || !to->file[0])
			break;
		to->line = read_line(pid, to->code, word_at(pid, frame + FRAME_INSTRUCTION));
		count++;
	}
	return count;
}

/* Keeps the frames from the outermost on that both looks have. Returns how many there are. */
static uint32_t keep_common(struct weft__outside_frame *frames, uint32_t count,
	const struct weft__outside_frame *before, uint32_t before_count)
{
	uint32_t same = 0;
	while (same < count && same < before_count &&
		   frames[count - 1 - same].code == before[before_count - 1 - same].code)
		same++;
	memmove(frames, frames + (count - same), same * sizeof(*frames));
	return same;
}

static void read_thread(const struct weft__outside_process *process,
	struct weft__outside_thread *thread, uint64_t address, bool has_lock, bool may_pause)
{
	struct weft__outside_frame frames[WEFT__OUTSIDE_FRAMES], before[WEFT__OUTSIDE_FRAMES];
	uint32_t count = read_frames(process->alive, address, frames);
	const bool runs = thread->kernel.state == 'R';
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	const uint64_t start = weft__outside_clock();
	for (unsigned i = 1; runs && i < WEFT__OUTSIDE_LOOKS; i++) {
		if (may_pause)
			nanosleep(&pause, NULL);
		const uint32_t before_count = count;
		memcpy(before, frames, sizeof(before));
		count = read_frames(process->alive, address, frames);
		count = keep_common(frames, count, before, before_count);
	}
	if (runs && count)
		thread->looks_ns = weft__outside_clock() - start;
	if (!count || (!runs && !weft__outside_has_stayed(process->alive, thread)))
		return;
	thread->has_python_lock = has_lock;
	thread->script = malloc(count * sizeof(*frames));
	if (!thread->script)
		return;
	memcpy(thread->script, frames, count * sizeof(*frames));
	thread->script_count = count;
}

void weft__outside_read_python(
	struct weft__outside_process *process, uint64_t runtime, uint64_t version, bool may_pause)
{
	const pid_t pid = process->alive;
	if (!runtime || !version || word_at(pid, version) >> 16 != VERSION)
		return;
	const uint64_t current = word_at(pid, runtime + RUNTIME_CURRENT);
	uint64_t thread =
		word_at(pid, word_at(pid, runtime + RUNTIME_INTERPRETERS) + INTERPRETER_THREADS);
	/* A list without end has no more threads either. */
	for (uint32_t i = 0; thread && i < process->count && i < THREADS_MAX; i++) {
		const uint64_t native = word_at(pid, thread + THREAD_NATIVE);
		for (uint32_t k = 0; k < process->count; k++)
			if ((uint64_t)process->threads[k].inner == native && !process->threads[k].script)
				read_thread(process, &process->threads[k], thread, thread == current, may_pause);
		thread = word_at(pid, thread + THREAD_NEXT);
	}
}
