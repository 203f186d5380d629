/* SPDX-License-Identifier: ISC
 *
 * Shows its service and the contexts of its threads as OpenTelemetry's OTEP 4719 and 4947 describe
 * it, without weft. Built as a program, or in two parts: -DLIBRARY has the thread-local variable,
 * -DUSES_LIBRARY the rest.
 *
 *     contexts_publisher WAY [LIBRARY]
 *
 * WAY is "good" or "development", or what is wrong with it: see the test.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

void attach(void *record);

#ifndef USES_LIBRARY
/* So that the variable is not the first one. */
__thread char before[100] __attribute__((aligned(64)));
__thread void *otel_thread_ctx_v1;

void attach(void *record)
{
	before[0]++;
	otel_thread_ctx_v1 = record;
}
#endif

#ifndef LIBRARY
#ifndef PR_SET_VMA
#define PR_SET_VMA           0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif

struct record {
	unsigned char trace[16], span[8], valid, flags;
	uint16_t attributes_size;
};

struct header {
	char signature[8];
	uint32_t version, size;
	uint64_t published_ns, payload;
};

static const char *way;
static void (*attach_here)(void *record);

static int is(const char *name)
{
	return strcmp(way, name) == 0;
}

/* A context whose ids are made of one digit. */
static void *make_record(int digit)
{
	struct record *record = aligned_alloc(64, 64);
	memset(record, 0, sizeof(*record));
	if (!is("zero"))
		memset(record, digit << 4 | digit, 24);
	record->valid = is("invalid") ? 2 : 1;
	if (is("unmapped"))
		return (void *)16;
	return is("odd") ? (char *)record + 1 : (void *)record;
}

/* A field of protobuf with a length below 128. */
static size_t add(unsigned char *to, int number, const void *content, size_t size)
{
	to[0] = (unsigned char)(number << 3 | 2);
	to[1] = (unsigned char)size;
	memmove(to + 2, content, size);
	return size + 2;
}

static size_t add_attribute(unsigned char *to, int number, const char *key, const char *text)
{
	unsigned char value[100], pair[128];
	size_t size = add(pair, 1, key, strlen(key));
	size += add(pair + size, 2, value, add(value, 1, text, strlen(text)));
	return add(to, number, pair, size);
}

static void publish(void)
{
	static unsigned char payload[512], resource[128];
	const int fd = memfd_create("OTEL_CTX", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, 4096) != 0)
		exit(3);
	struct header *header = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	close(fd);
	size_t size = add_attribute(resource, 1, "service.instance.id", "7");
	size += add_attribute(resource + size, 1, "service.name", "shop \xe2\x98\x95");
	size = add(payload, 1, resource, size);
	if (!is("no-version"))
		size += add_attribute(payload + size, 2, "threadlocal.schema_version",
			is("development") ? "tlsdesc_v1_dev"
			: is("go")        ? "go_pprof_labels_v1"
							  : "tls_v1");
	if (is("damaged"))
		payload[1] = 127;
	memcpy(header->signature, is("signature") ? "OTEL-CTX" : "OTEL_CTX", 8);
	header->version = is("version") ? 3 : 2;
	header->size = is("large") ? UINT32_MAX : (uint32_t)size;
	header->payload = is("far") ? UINT64_MAX - 3 : (uintptr_t)payload;
	header->published_ns = !is("updating");
	(void)prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, header, 4096, "OTEL_CTX");
}

/* A thread has its name once its context is there. */
struct thread {
	const char *name;
	void *record;
};

static void begin(const struct thread *thread)
{
	if (thread->record)
		attach_here(thread->record);
	prctl(PR_SET_NAME, thread->name);
}

static void *wait_for_ever(void *thread)
{
	begin(thread);
	for (;;)
		pause();
	return NULL;
}

static volatile unsigned long turns;

static void *spin(void *thread)
{
	begin(thread);
	for (;;)
		turns++;
	return NULL;
}

static void start(const char *name, void *(*run)(void *), void *record)
{
	pthread_t thread;
	struct thread *own = malloc(sizeof(*own));
	*own = (struct thread){name, record};
	pthread_create(&thread, NULL, run, own);
}

int main(int argc, char **argv)
{
	way = argc > 1 ? argv[1] : "good";
	attach_here = attach;
	if (argc > 2) {
		void *library = dlopen(argv[2], RTLD_NOW);
		void *found = library ? dlsym(library, "attach") : NULL;
		if (!found)
			return 2;
		memcpy(&attach_here, &found, sizeof(found));
	}
	publish();
	start("worker", wait_for_ever, make_record(2));
	start("idle", wait_for_ever, NULL);
	start("spinner", spin, make_record(3));
	return wait_for_ever(&(struct thread){"first", make_record(1)}) != NULL;
}
#endif
