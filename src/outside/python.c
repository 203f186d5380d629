/* SPDX-License-Identifier: ISC
 *
 * The frames of Python 3.11 to 3.13, whose interpreter has them in structs of its own. They are
 * read from its memory; the program goes on meanwhile, and may have written anything there. Of a
 * thread that waits they count only if it has not run meanwhile; of one that runs, only those that
 * it has at several looks.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "parts.h"

/* Offsets in the structs of CPython. They differ between minor versions, but not within one; 3.13
 * shows those that its build options move. */
struct layout {
	uint32_t version;
	uint32_t interpreters; /* in the runtime */
	uint32_t current;      /* there: the thread that has the interpreter's lock; 0: see `lock` */
	uint32_t threads;      /* in the interpreter */
	uint32_t lock;         /* there: the address of its lock */
	uint32_t native;       /* in a thread: its number */
	uint32_t frame;        /* there: the innermost frame, or the address of a struct with it */
	uint32_t frame_in;     /* in that struct; THREAD_HAS_FRAME: there is none */
	uint32_t code, previous, instruction; /* in a frame */
	uint32_t owner;                       /* there: how it was made; 0: unknown */
	uint32_t first_line, instructions;    /* in code */
	uint32_t ascii, other;                /* in a str: its characters */
};

#define THREAD_HAS_FRAME UINT32_MAX

/* clang-format off */
static const struct layout layouts[] = {
	{.version = 0x030b, .interpreters = 40, .current = 576, .threads = 16, .native = 160,
		.frame = 56, .frame_in = 8, .code = 32, .previous = 48, .instruction = 56,
		.first_line = 72, .instructions = 184, .ascii = 48, .other = 72},
	{.version = 0x030c, .interpreters = 40, .threads = 72, .lock = 384, .native = 144,
		.frame = 56, .frame_in = 0, .code = 0, .previous = 8, .instruction = 56, .owner = 70,
		.first_line = 68, .instructions = 192, .ascii = 40, .other = 56},
	{.version = 0x030d, .interpreters = 632, .threads = 7344, .lock = 16, .native = 160,
		.frame = 72, .frame_in = THREAD_HAS_FRAME, .code = 0, .previous = 8, .instruction = 56, .owner = 70,
		.first_line = 68, .instructions = 200, .ascii = 40, .other = 56},
};
/* clang-format on */

/* Offsets that all these versions have. */
enum {
	THREAD_NEXT = 8,
	CODE_FILE = 112,
	CODE_NAME = 128,
	CODE_LINES = 136,
	BYTES_SIZE = 16,
	BYTES_START = 32,
	TEXT_LENGTH = 16,
	TEXT_STATE = 32,
	LOCK_HOLDER = 8,
	LOCK_IS_HELD = 16,
};

/* The beginning of 3.13's runtime. */
struct shown_offsets {
	char cookie[8];
	uint64_t version, has_no_lock, runtime_bytes, finalizing, interpreters, interpreter_bytes, id,
		next, threads;
};

enum {
	SHOWS_OFFSETS = 0x030d, /* 3.13 */
	OWNED_BY_C = 3,         /* a frame between calls of C, which has no code of its own */
	FRAMES_WALKED = 4 * WEFT__OUTSIDE_FRAMES,
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

/* The process that is read. */
struct python {
	pid_t pid;
	struct layout at;
};

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
static void read_text(const struct python *python, uint64_t address, char *ret_text, size_t room)
{
	const pid_t pid = python->pid;
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
	const uint64_t start =
		address + (is_ascii ? python->at.ascii : python->at.other) + (length - count) * size;
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

static uint32_t read_line(const struct python *python, uint64_t code, uint64_t instruction)
{
	const pid_t pid = python->pid;
	const uint64_t start = code + python->at.instructions;
	const uint64_t lines = word_at(pid, code + CODE_LINES), size = word_at(pid, lines + BYTES_SIZE);
	int32_t first = 0;
	if (!weft__outside_read(pid, code + python->at.first_line, &first, sizeof(first)) || first < 0)
		return 0;
	if (instruction < start)
		return (uint32_t)first;
	unsigned char *table = size && size <= LINES_MAX ? malloc(size) : NULL;
	uint32_t line = 0;
	if (table && weft__outside_read(pid, lines + BYTES_START, table, size))
		line = find_line(table, size, (instruction - start) / LINES_UNIT, first);
	free(table);
	return line;
}

/* ---- Frames ---- */

/* False if the frame has no function. */
static bool read_frame(
	const struct python *python, uint64_t frame, struct weft__outside_frame *ret_frame)
{
	const pid_t pid = python->pid;
	struct weft__outside_frame it = {.code = word_at(pid, frame + python->at.code)};
	read_text(python, word_at(pid, it.code + CODE_NAME), it.function, sizeof(it.function));
	read_text(python, word_at(pid, it.code + CODE_FILE), it.file, sizeof(it.file));
	if (!it.function[0] || !it.file[0])
		return false;
	it.line = read_line(python, it.code, word_at(pid, frame + python->at.instruction));
	*ret_frame = it;
	return true;
}

static bool is_of_c(const struct python *python, uint64_t frame)
{
	char owner = 0;
	return python->at.owner &&
		   weft__outside_read(python->pid, frame + python->at.owner, &owner, sizeof(owner)) &&
		   owner == OWNED_BY_C;
}

static uint32_t read_frames(
	const struct python *python, uint64_t thread, struct weft__outside_frame *ret_frames)
{
	const struct layout *at = &python->at;
	uint64_t frame = word_at(python->pid, thread + at->frame);
	uint32_t count = 0;
	if (at->frame_in != THREAD_HAS_FRAME)
		frame = word_at(python->pid, frame + at->frame_in);
	for (unsigned i = 0; frame && count < WEFT__OUTSIDE_FRAMES && i < FRAMES_WALKED; i++) {
		if (!is_of_c(python, frame)) {
			if (!read_frame(python, frame, &ret_frames[count]))
				break;
			count++;
		}
		frame = word_at(python->pid, frame + at->previous);
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

static void read_thread(const struct python *python, struct weft__outside_thread *thread,
	uint64_t address, bool has_lock, bool may_pause)
{
	struct weft__outside_frame frames[WEFT__OUTSIDE_FRAMES], before[WEFT__OUTSIDE_FRAMES];
	uint32_t count = read_frames(python, address, frames);
	const bool runs = thread->kernel.state == 'R';
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	const uint64_t start = weft__outside_clock();
	for (unsigned i = 1; runs && i < WEFT__OUTSIDE_LOOKS; i++) {
		if (may_pause)
			nanosleep(&pause, NULL);
		const uint32_t before_count = count;
		memcpy(before, frames, sizeof(before));
		count = read_frames(python, address, frames);
		count = keep_common(frames, count, before, before_count);
	}
	if (runs && count)
		thread->looks_ns = weft__outside_clock() - start;
	if (!count || (!runs && !weft__outside_has_stayed(python->pid, thread)))
		return;
	thread->has_python_lock = has_lock;
	thread->script = malloc(count * sizeof(*frames));
	if (!thread->script)
		return;
	memcpy(thread->script, frames, count * sizeof(*frames));
	thread->script_count = count;
}

/* False if we do not know its version. */
static bool find_layout(pid_t pid, uint64_t runtime, uint64_t version, struct layout *ret_layout)
{
	const uint64_t number = word_at(pid, version) >> 16;
	struct shown_offsets shown;
	size_t i = 0;
	while (i < sizeof(layouts) / sizeof(*layouts) && layouts[i].version != number)
		i++;
	if (i == sizeof(layouts) / sizeof(*layouts))
		return false;
	*ret_layout = layouts[i];
	if (number < SHOWS_OFFSETS)
		return true;
	/* Without the interpreter's lock, objects have other offsets. */
	if (!weft__outside_read(pid, runtime, &shown, sizeof(shown)) || shown.has_no_lock ||
		memcmp(shown.cookie, "xdebugpy", sizeof(shown.cookie)) != 0)
		return false;
	ret_layout->interpreters = (uint32_t)shown.interpreters;
	ret_layout->threads = (uint32_t)shown.threads;
	return true;
}

/* The thread that has the interpreter's lock; 0: none. */
static uint64_t find_current(const struct python *python, uint64_t runtime, uint64_t interpreter)
{
	uint32_t is_held = 0;
	if (python->at.current)
		return word_at(python->pid, runtime + python->at.current);
	const uint64_t lock = word_at(python->pid, interpreter + python->at.lock);
	return weft__outside_read(python->pid, lock + LOCK_IS_HELD, &is_held, sizeof(is_held)) &&
				   is_held == 1
			   ? word_at(python->pid, lock + LOCK_HOLDER)
			   : 0;
}

void weft__outside_read_python(
	struct weft__outside_process *process, uint64_t runtime, uint64_t version, bool may_pause)
{
	struct python python = {.pid = process->alive};
	if (!runtime || !version || !find_layout(python.pid, runtime, version, &python.at))
		return;
	const uint64_t interpreter = word_at(python.pid, runtime + python.at.interpreters);
	const uint64_t current = find_current(&python, runtime, interpreter);
	uint64_t thread = word_at(python.pid, interpreter + python.at.threads);
	/* A list without end has no more threads either. */
	for (uint32_t i = 0; thread && i < process->count && i < THREADS_MAX; i++) {
		const uint64_t native = word_at(python.pid, thread + python.at.native);
		for (uint32_t k = 0; k < process->count; k++)
			if ((uint64_t)process->threads[k].inner == native && !process->threads[k].script)
				read_thread(&python, &process->threads[k], thread, thread == current, may_pause);
		thread = word_at(python.pid, thread + THREAD_NEXT);
	}
}
