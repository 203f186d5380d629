/* SPDX-License-Identifier: ISC
 *
 * The context of this process for readers of OpenTelemetry (OTEP 4719, "process context"): a
 * mapping of a fixed name, with a header and a message of protobuf that says whose process this is,
 * and how its threads show their contexts (record/context_shown.c). A forked child has none.
 */
#include <string.h>

#include "kernel/call.h"
#include "kernel/clock.h"
#include "record/context.h"
#include "record/context_shown.h"
#include "record/recorder.h"

#define NAME        "OTEL_CTX"
#define PAGE        4096
#define SERVICE_MAX 255
#define SET_VMA     0x53564d41 /* PR_SET_VMA */
#define NOEXEC_SEAL 8          /* MFD_NOEXEC_SEAL, of Linux 6.3 */

struct published {
	char signature[8];
	uint32_t version, payload_size;
	uint64_t published_ns; /* of CLOCK_BOOTTIME; stored last */
	uint64_t payload;      /* its address */
};

/* ---- The message ---- */

struct message {
	size_t size;
	unsigned char bytes[1024];
};

/* Fields of protobuf's type "bytes", which texts and messages are. */
static void add_field(struct message *to, unsigned number, const void *bytes, size_t size)
{
	to->bytes[to->size++] = (unsigned char)(number << 3 | 2);
	for (size_t rest = size; rest >= 0x80 || (to->bytes[to->size++] = (unsigned char)rest, false);
		 rest >>= 7)
		to->bytes[to->size++] = (unsigned char)(rest | 0x80);
	memcpy(to->bytes + to->size, bytes, size);
	to->size += size;
}

/* An attribute: field `number` of `to`. `type` is that of the value: 1 text, 5 a list. */
static void add_attribute(
	struct message *to, unsigned number, const char *key, unsigned type, const char *value)
{
	struct message any = {0}, pair = {0};
	add_field(&any, type, value, strlen(value));
	add_field(&pair, 1, key, strlen(key));
	add_field(&pair, 2, any.bytes, any.size);
	add_field(to, number, pair.bytes, pair.size);
}

/* A ProcessContext of opentelemetry.proto.processcontext.v1development. */
static void write_message(struct message *ret_message, const char *service)
{
	struct message resource = {0};
	add_attribute(&resource, 1, "service.name", 1, service);
	add_attribute(&resource, 1, "telemetry.sdk.name", 1, "weft");
	add_field(ret_message, 1, resource.bytes, resource.size);
	add_attribute(ret_message, 2, "threadlocal.schema_version", 1, "tls_v1");
	add_attribute(ret_message, 2, "threadlocal.attribute_key_map", 5, "");
}

/* ---- The mapping ---- */

/* True if a mapping of this process has the name: there must be only one. */
static bool is_published(void)
{
	static const char name[] = NAME;
	char bytes[512];
	size_t found = 0;
	bool is = false;
	const long fd = weft__kernel_call(
		SYS_openat, AT_FDCWD, (long)(uintptr_t) "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0, 0, 0);
	if (fd < 0)
		return false;
	for (long size = 1; size > 0 && !is;) {
		size = weft__kernel_call(SYS_read, fd, (long)(uintptr_t)bytes, sizeof(bytes), 0, 0, 0);
		for (long i = 0; i < size && !is; i++) {
			/* No byte of the name is its first one again. */
			found = bytes[i] == name[found] ? found + 1 : bytes[i] == name[0];
			is = found == sizeof(name) - 1;
		}
	}
	weft__kernel_call(SYS_close, fd, 0, 0, 0, 0, 0);
	return is;
}

static long create_file(unsigned flags)
{
	return weft__kernel_call(SYS_memfd_create, (long)(uintptr_t)NAME, flags, 0, 0, 0, 0);
}

/* A private mapping of a file of that name; NULL: none. */
static void *map(void)
{
	void *memory = NULL;
	long fd = create_file(MFD_CLOEXEC | MFD_ALLOW_SEALING | NOEXEC_SEAL);
	if (fd < 0)
		fd = create_file(MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return NULL;
	const bool good =
		!weft__kernel_call(SYS_ftruncate, fd, PAGE, 0, 0, 0, 0) &&
		!weft__kernel_map(PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, (int)fd, &memory);
	weft__kernel_call(SYS_close, fd, 0, 0, 0, 0, 0);
	if (good && !weft__kernel_advise(memory, PAGE, MADV_DONTFORK))
		return memory;
	if (good)
		weft__kernel_unmap(memory, PAGE);
	return NULL;
}

WEFT__EXPORT bool weft_context_publish(const char *service)
{
	struct message message = {0};
	if (strlen(service) > SERVICE_MAX || is_published())
		return false;
	struct published *header = map();
	if (!header)
		return false;
	write_message(&message, service);
	memcpy(header + 1, message.bytes, message.size);
	memcpy(header->signature, NAME, sizeof(header->signature));
	header->version = 2;
	header->payload_size = (uint32_t)message.size;
	header->payload = (uintptr_t)(header + 1);
	weft__fence();
	weft__store(&header->published_ns, weft__kernel_clock_ns(CLOCK_BOOTTIME));
	/* Readers may wait for this call. The mapping has its name without it. */
	weft__kernel_call(
		SYS_prctl, SET_VMA, 0, (long)(uintptr_t)header, PAGE, (long)(uintptr_t)NAME, 0);
	weft__store(&weft__record_contexts_shown, 1);
	return true;
}
