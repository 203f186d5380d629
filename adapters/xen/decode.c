/* SPDX-License-Identifier: ISC
 *
 * Reads the tables of operations.def.
 *
 * A switch finds the row of a number: two rows of one number do not compile.
 */
#include "xen/decode.h"

#include <string.h>
#include <sys/ioctl.h>

/* Fields, as operations.def names them. */
#define NONE        0xffu
#define RESULT      0xc0u
#define AT(offset)  (offset)
#define ARGUMENT(n) (0x40u | (n))
#define ANSWER(at)  (0x80u | (at))

#define DOMAINS          0x7ff0u /* numbers from here on are Xen's own: DOMID_SELF, DOMID_XEN ... */
#define MULTICALL        13u
#define MEMORY_OP        12u
#define MEMORY_OP_NUMBER 0x3fu /* the bits above count what a continuation has done */

/* ---- Fields ---- */

static bool is_offset(unsigned field)
{
	return field < ARGUMENT(0);
}

static bool is_answer(unsigned field)
{
	return field >= ANSWER(0) && field < RESULT;
}

static unsigned offset_of(unsigned field)
{
	return field & 0x3f;
}

static uint32_t load(const uint8_t *bytes)
{
	return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static int64_t number_at(unsigned field, const uint8_t *bytes)
{
	return is_offset(field) && bytes ? (int64_t)load(bytes + field) : -1;
}

int32_t weft__xen_domain(const uint8_t bytes[static 2])
{
	const unsigned domain = bytes[0] | (unsigned)bytes[1] << 8;
	return domain < DOMAINS ? (int32_t)domain : -1;
}

/* ---- Requests ---- */

struct weft__xen_request weft__xen_find_request(unsigned long request)
{
	switch (request) {
#define REQUEST(device, type, number, size, name, domain, count, port) \
	case _IOC(_IOC_NONE, type, number, size):                          \
		return (struct weft__xen_request){                             \
			name, WEFT__XEN_##device, size, (type) == 'P' && (number) == 0, domain, count, port};
#include "xen/operations.def"
	default:
		return (struct weft__xen_request){0};
	}
}

struct weft__xen_call weft__xen_decode_request(
	const struct weft__xen_request *request, const uint8_t *bytes)
{
	return (struct weft__xen_call){
		.name = request->name,
		.number = -1,
		.domain =
			is_offset(request->domain) && bytes ? weft__xen_domain(bytes + request->domain) : -1,
		.count = number_at(request->count, bytes),
		.port = number_at(request->port, bytes),
		.gives_port = request->port == RESULT,
	};
}

/* ---- Hypercalls ---- */

struct hypercall {
	const char *name; /* NULL: unknown */
	uint8_t command, buffer, domain;
};

struct command {
	const char *name;
	uint8_t domain;
};

static struct hypercall find_hypercall(uint64_t number)
{
	switch (number) {
#define HYPERCALL(number, name, command, buffer, domain) \
	case number:                                         \
		return (struct hypercall){name, command, buffer, domain};
#include "xen/operations.def"
	default:
		return (struct hypercall){NULL, NONE, NONE, NONE};
	}
}

static struct command find_command(uint64_t hypercall, uint32_t number)
{
	switch (hypercall << 32 | number) {
#define COMMAND(hypercall, number, name, domain) \
	case UINT64_C(hypercall) << 32 | (number):   \
		return (struct command){name, domain};
#include "xen/operations.def"
	default:
		return (struct command){NULL, NONE};
	}
}

/* The number of the sub-command; -1: none, or unknown. */
static int64_t command_of(
	const struct hypercall *it, const uint64_t hypercall[], const uint8_t *bytes)
{
	if (it->command == NONE)
		return -1;
	if (is_offset(it->command))
		return number_at(it->command, bytes);
	const uint32_t number = (uint32_t)hypercall[1 + offset_of(it->command)];
	return hypercall[0] == MEMORY_OP ? number & MEMORY_OP_NUMBER : number;
}

/* That of the sub-command, or if it has no row, that of the hypercall. */
static unsigned domain_of(const struct hypercall *it, uint64_t number, int64_t command)
{
	const struct command row =
		command < 0 ? (struct command){NULL, NONE} : find_command(number, (uint32_t)command);
	return row.name ? row.domain : it->domain;
}

uint64_t weft__xen_find_entry(const uint64_t hypercall[static WEFT__XEN_ARGUMENTS])
{
	return hypercall[0] == MULTICALL && (uint32_t)hypercall[2] == 1 ? hypercall[1] : 0;
}

/* The entry is the number, the result, and six arguments. */
void weft__xen_take_entry(uint64_t ret_hypercall[static WEFT__XEN_ARGUMENTS],
	const uint8_t bytes[static WEFT__XEN_ENTRY_BYTES])
{
	memcpy(ret_hypercall, bytes, 8);
	memcpy(ret_hypercall + 1, bytes + 16, 8 * (WEFT__XEN_ARGUMENTS - 1));
}

/* The domain of a sub-command that the buffer names is where the hypercall has it, so that one part
 * has both. */
struct weft__xen_part weft__xen_find_part(const uint64_t hypercall[static WEFT__XEN_ARGUMENTS])
{
	const struct hypercall it = find_hypercall(hypercall[0]);
	if (it.buffer == NONE)
		return (struct weft__xen_part){0};
	const unsigned domain = domain_of(&it, hypercall[0], command_of(&it, hypercall, NULL));
	const size_t of_command = is_offset(it.command) ? it.command + 4u : 0;
	const size_t of_domain = is_offset(domain) || is_answer(domain) ? offset_of(domain) + 2u : 0;
	return (struct weft__xen_part){
		hypercall[1 + it.buffer], of_command > of_domain ? of_command : of_domain};
}

static int32_t find_domain(unsigned field, const uint64_t hypercall[], const uint8_t *bytes)
{
	if (is_offset(field))
		return bytes ? weft__xen_domain(bytes + field) : -1;
	if (field == NONE || is_answer(field))
		return -1;
	const uint64_t argument = hypercall[1 + offset_of(field)];
	return weft__xen_domain((const uint8_t[]){argument & 0xff, argument >> 8 & 0xff});
}

struct weft__xen_call weft__xen_decode_hypercall(
	const uint64_t hypercall[static WEFT__XEN_ARGUMENTS], const uint8_t *bytes)
{
	const struct hypercall it = find_hypercall(hypercall[0]);
	struct weft__xen_call call = {.name = it.name, .number = -1, .count = -1, .port = -1};
	if (!it.name) {
		call.name = "hypercall";
		call.number = (int64_t)(uint32_t)hypercall[0];
	}
	const int64_t command = command_of(&it, hypercall, bytes);
	const struct command row =
		command < 0 ? (struct command){NULL, NONE} : find_command(hypercall[0], (uint32_t)command);
	if (row.name)
		call.name = row.name;
	else if (command >= 0)
		call.number = command;
	const unsigned domain = domain_of(&it, hypercall[0], command);
	call.domain = find_domain(domain, hypercall, bytes);
	if (hypercall[0] == MULTICALL)
		call.count = (int64_t)(uint32_t)hypercall[2];
	if (is_answer(domain))
		call.answer = hypercall[1 + it.buffer] + offset_of(domain);
	return call;
}
