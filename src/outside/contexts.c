/* SPDX-License-Identifier: ISC
 *
 * For which span of OpenTelemetry each thread works, and the name of the service, as a process
 * shows them by two proposals of OpenTelemetry: the mapping OTEL_CTX (OTEP 4719) leads to a message
 * of protobuf, and the thread-local variable otel_thread_ctx_v1 (OTEP 4947) to a record of 28
 * bytes.
 *
 * A thread's record is read while the thread is stopped or waits, since only the thread changes it.
 */
#include <string.h>

#include <weft/parse.h>

#include "parts.h"

enum {
	LINES_MAX = 1 << 16,   /* of /proc/PID/maps */
	MESSAGE_MAX = 1 << 16, /* bytes */
	MODULES_MAX = 1024,
	TRIES = 3,
};

/* ---- The message ---- */

struct message {
	const unsigned char *at, *end;
};

struct field {
	uint64_t number;
	struct message content; /* of a field with a length; otherwise empty */
};

static bool take_number(struct message *message, uint64_t *ret_number)
{
	uint64_t number = 0;
	for (unsigned shift = 0; shift < 64 && message->at < message->end; shift += 7) {
		const unsigned char byte = *message->at++;
		number |= (uint64_t)(byte & 127) << shift;
		if (byte < 128) {
			*ret_number = number;
			return true;
		}
	}
	return false;
}

/* False at the end, and where it is damaged. */
static bool take_field(struct message *message, struct field *ret)
{
	uint64_t tag, size = 0;
	if (!take_number(message, &tag))
		return false;
	*ret = (struct field){.number = tag >> 3};
	switch (tag & 7) {
	case 0:
		return take_number(message, &size);
	case 1:
		size = 8;
		break;
	case 5:
		size = 4;
		break;
	case 2:
		if (!take_number(message, &size))
			return false;
		break;
	default:
		return false;
	}
	if (size > (uint64_t)(message->end - message->at))
		return false;
	if ((tag & 7) == 2)
		ret->content = (struct message){message->at, message->at + size};
	message->at += size;
	return true;
}

/* The field of that number; the last one counts. */
static struct message find_field(struct message in, uint64_t number)
{
	struct message found = {0};
	struct field field;
	while (take_field(&in, &field))
		if (field.number == number)
			found = field.content;
	return found;
}

static size_t size_of(struct message message)
{
	return message.at ? (size_t)(message.end - message.at) : 0;
}

static bool is_text(struct message message, const char *text)
{
	return size_of(message) == strlen(text) && memcmp(message.at, text, strlen(text)) == 0;
}

/* The text that a list of attributes, each in a field of that number, has under a key. */
static struct message find_text(struct message in, uint64_t number, const char *key)
{
	struct field field;
	while (take_field(&in, &field))
		if (field.number == number && is_text(find_field(field.content, 1), key))
			return find_field(find_field(field.content, 2), 1);
	return (struct message){0};
}

static bool are_threads_shown(struct message context)
{
	const struct message version = find_text(context, 2, "threadlocal.schema_version");
	return is_text(version, "tls_v1") || is_text(version, "tlsdesc_v1_dev");
}

static void take_message(
	struct weft__outside_process *process, struct message context, bool *ret_shows_threads)
{
	const struct message service = find_text(find_field(context, 1), 1, "service.name");
	size_t size = size_of(service);
	size = size < sizeof(process->service) ? size : sizeof(process->service) - 1;
	if (size)
		memcpy(process->service, service.at, size);
	process->service[size] = '\0';
	*ret_shows_threads = are_threads_shown(context);
}

struct shown_header {
	char signature[8];
	uint32_t version, size;
	uint64_t published_ns; /* 0: it is being changed */
	uint64_t payload;
};

/* The process may publish another one meanwhile. */
bool weft__outside_read_process_context(
	struct weft__outside_process *process, uint64_t address, bool *ret_shows_threads)
{
	static unsigned char bytes[MESSAGE_MAX];
	struct shown_header header, again;
	for (int i = 0; i < TRIES; i++) {
		if (!weft__outside_read(process->alive, address, &header, sizeof(header)) ||
			memcmp(header.signature, "OTEL_CTX", 8) != 0 || header.version != 2 ||
			header.size > sizeof(bytes))
			return false;
		if (!header.published_ns ||
			!weft__outside_read(process->alive, header.payload, bytes, header.size) ||
			!weft__outside_read(process->alive, address, &again, sizeof(again)) ||
			again.published_ns != header.published_ns)
			continue;
		take_message(process, (struct message){bytes, bytes + header.size}, ret_shows_threads);
		return true;
	}
	return false;
}

/* ---- A thread ---- */

struct record {
	unsigned char trace[16], span[8], valid, flags;
	uint16_t attributes_size;
};

static bool is_zero(const unsigned char *bytes, size_t size)
{
	return bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0;
}

void weft__outside_read_thread_context(pid_t pid, uint64_t pointer,
	const struct weft__outside_local *local, struct weft__outside_context *ret_context)
{
	uint64_t at;
	struct record record;
	const uint64_t address = weft__outside_local_address(pid, pointer, local);
	*ret_context = (struct weft__outside_context){0};
	if (!address || !weft__outside_read(pid, address, &at, sizeof(at)) || !at || at % 2 ||
		!weft__outside_read(pid, at, &record, sizeof(record)) || record.valid != 1 ||
		is_zero(record.trace, sizeof(record.trace)) || is_zero(record.span, sizeof(record.span)))
		return;
	memcpy(ret_context->trace, record.trace, sizeof(record.trace));
	memcpy(ret_context->span, record.span, sizeof(record.span));
	ret_context->is_given = true;
}

void weft__outside_look_at_context(
	const struct weft__outside_process *process, struct weft__outside_thread *thread)
{
	if (!process->local.is_known || thread->kernel.state == 'R' || !thread->is_readable)
		return;
	weft__outside_read_thread_context(process->alive,
		weft__outside_thread_pointer(process->alive, thread->tid), &process->local,
		&thread->context);
	if (thread->context.is_given && !weft__outside_has_stayed(process->alive, thread))
		thread->context.is_given = false;
}

/* ---- The process ---- */

/* Its context, and where files begin. */
struct mappings {
	uint64_t context;
	uint64_t modules[MODULES_MAX];
	uint32_t module_count;
};

/* "7f00-7f80 r-xp 00001000 08:01 4711    /usr/lib/libc.so.6" */
static void take_line(struct mappings *m, const char *line)
{
	uint64_t start, offset;
	const size_t digits = strcspn(line, "-"), first = strcspn(line, " ");
	const char *name = strpbrk(line, "/[");
	if (!name || !line[first] || strlen(line + first) < 7 ||
		weft_parse_hexadecimal(line, digits, &start) != WEFT_PARSE_OK ||
		weft_parse_hexadecimal(line + first + 6, strcspn(line + first + 6, " "), &offset) !=
			WEFT_PARSE_OK)
		return;
	if (strncmp(name, "[anon_shmem:OTEL_CTX]", 21) == 0 ||
		strncmp(name, "[anon:OTEL_CTX]", 15) == 0 || strncmp(name, "/memfd:OTEL_CTX", 15) == 0)
		m->context = m->context ? m->context : start;
	else if (*name == '/' && offset == 0 && m->module_count < MODULES_MAX)
		m->modules[m->module_count++] = start;
}

static void read_mappings(pid_t pid, struct mappings *m)
{
	char line[256]; /* a longer one continues as lines that are none */
	FILE *file = weft__outside_open(pid, 0, "maps");
	m->context = m->module_count = 0;
	for (int i = 0; file && i < LINES_MAX && fgets(line, sizeof(line), file); i++)
		take_line(m, line);
	if (file)
		fclose(file);
}

/* Where the program itself begins, by what the kernel told it; 0: unknown. */
static uint64_t headers_of_program(pid_t pid)
{
	enum {
		HEADERS = 3,
		PAIRS = 64
	};
	uint64_t pairs[PAIRS][2], found = 0;
	FILE *file = weft__outside_open(pid, 0, "auxv");
	const size_t count = file ? fread(pairs, sizeof(*pairs), PAIRS, file) : 0;
	if (file)
		fclose(file);
	for (size_t i = 0; i < count; i++)
		found = pairs[i][0] == HEADERS ? pairs[i][1] : found;
	return found;
}

/* The program's own variable is in front of those of libraries. */
static void find_local(struct weft__outside_process *process, const struct mappings *m)
{
	const uint64_t headers = headers_of_program(process->alive);
	for (uint32_t i = 0; i < m->module_count; i++) {
		/* Its headers are in its first page. */
		const bool is_program = headers > m->modules[i] && headers - m->modules[i] < 4096;
		struct weft__outside_local *local = &process->local;
		if ((is_program || !local->is_known) &&
			weft__outside_find_local(
				process->alive, m->modules[i], is_program, "otel_thread_ctx_v1", local) &&
			is_program)
			return;
	}
}

void weft__outside_find_contexts(struct weft__outside_process *process)
{
	static struct mappings mappings;
	bool shows_threads = false;
	read_mappings(process->alive, &mappings);
	if (mappings.context &&
		weft__outside_read_process_context(process, mappings.context, &shows_threads) &&
		shows_threads)
		find_local(process, &mappings);
}
