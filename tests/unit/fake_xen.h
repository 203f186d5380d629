/* SPDX-License-Identifier: ISC
 *
 * A Xen of our own: keys in an array, and pages of one file in memory, which are mapped in any
 * order and change under their reader, as a guest's do.
 */
#ifndef WEFT_TEST_FAKE_XEN_H
#define WEFT_TEST_FAKE_XEN_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "xen/host.h"

enum {
	FAKE_VCPUS = 4,
	FAKE_KEYS = 128,
	FAKE_FIRST = 500, /* the reference of the last page; that of the first one is the largest */
	FAKE_LOOK_NS = 110000000, /* longer than a guest is left alone between two looks */
};

struct fake_key {
	char path[128];
	char value[4097];
	size_t size;
};

struct fake_xen {
	struct fake_key keys[FAKE_KEYS];
	size_t count;
	uint32_t pages;
	int memory;
	char *bytes; /* all pages in order */
	uint64_t now_ns;
	enum weft__xen_domain domain; /* of all of them */
	struct weft__xen_usage usage;
	struct weft__xen_vcpu vcpus[FAKE_VCPUS]; /* one without time does not exist */
	uint32_t writable; /* the reference of the page that is granted for writing, too */
	unsigned mapped;   /* mappings that exist */
	unsigned reads;
	bool has_changed, refuses_maps, knows_time, has_counter;
};

static inline uint32_t fake_reference(const struct fake_xen *xen, uint32_t page)
{
	return FAKE_FIRST + xen->pages - 1 - page;
}

static inline struct fake_key *fake_find(struct fake_xen *xen, const char *path)
{
	for (size_t i = 0; i < xen->count; i++)
		if (strcmp(xen->keys[i].path, path) == 0)
			return &xen->keys[i];
	return NULL;
}

/* Stores a key; a NULL value removes it. */
static inline void fake_write(struct fake_xen *xen, const char *path, const char *value)
{
	struct fake_key *key = fake_find(xen, path);
	xen->has_changed = true;
	if (!value) {
		if (key)
			*key = xen->keys[--xen->count];
		return;
	}
	if (!key && xen->count < FAKE_KEYS)
		key = &xen->keys[xen->count++];
	if (!key)
		return;
	snprintf(key->path, sizeof(key->path), "%s", path);
	key->size = (size_t)snprintf(key->value, sizeof(key->value), "%s", value);
}

static inline char *fake_read(void *context, const char *path, size_t *ret_size)
{
	struct fake_xen *xen = context;
	const struct fake_key *key = fake_find(xen, path);
	char *copy = key ? malloc(key->size + 1) : NULL;
	xen->reads++;
	errno = ENOENT;
	if (!copy)
		return NULL;
	memcpy(copy, key->value, key->size);
	copy[key->size] = '\0';
	*ret_size = key->size;
	return copy;
}

/* The names between `path` and the next slash, each once. */
static inline char **fake_list(void *context, const char *path, size_t *ret_count)
{
	struct fake_xen *xen = context;
	size_t length = strlen(path), count = 0;
	char **names = calloc(1, FAKE_KEYS * (sizeof(*names) + 128));
	char *text = (char *)(names + FAKE_KEYS);
	for (size_t i = 0; i < xen->count; i++) {
		const char *key = xen->keys[i].path;
		if (strncmp(key, path, length) != 0 || key[length] != '/')
			continue;
		snprintf(text, 128, "%.*s", (int)strcspn(key + length + 1, "/"), key + length + 1);
		bool is_new = true;
		for (size_t k = 0; k < count; k++)
			is_new = is_new && strcmp(names[k], text) != 0;
		if (is_new) {
			names[count++] = text;
			text += 128;
		}
	}
	*ret_count = count;
	return names;
}

static inline void *fake_map(
	void *context, uint32_t domain, const uint32_t *references, uint32_t count, bool is_writable)
{
	struct fake_xen *xen = context;
	const int kind = MAP_SHARED | MAP_FIXED;
	(void)domain;
	errno = EINVAL;
	for (uint32_t i = 0; i < count; i++)
		if (xen->refuses_maps || references[i] - FAKE_FIRST >= xen->pages ||
			(is_writable && references[i] != xen->writable))
			return NULL;
	char *place = mmap(NULL, (size_t)count * WEFT__XEN_PAGE_BYTES, PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	for (uint32_t i = 0; i < count; i++) {
		off_t page = (off_t)(xen->pages - 1 - (references[i] - FAKE_FIRST));
		mmap(place + (size_t)i * WEFT__XEN_PAGE_BYTES, WEFT__XEN_PAGE_BYTES,
			is_writable ? PROT_READ | PROT_WRITE : PROT_READ, kind, xen->memory,
			page * WEFT__XEN_PAGE_BYTES);
	}
	xen->mapped++;
	return place;
}

static inline void fake_unmap(void *context, void *pages, uint32_t count)
{
	struct fake_xen *xen = context;
	xen->mapped--;
	munmap(pages, (size_t)count * WEFT__XEN_PAGE_BYTES);
}

static inline enum weft__xen_domain fake_look(void *context, uint32_t domain)
{
	(void)domain;
	return ((struct fake_xen *)context)->domain;
}

static inline bool fake_measure(void *context, uint32_t domain, struct weft__xen_usage *ret_usage)
{
	const struct fake_xen *xen = context;
	(void)domain;
	*ret_usage = xen->usage;
	return xen->domain != WEFT__XEN_GONE && xen->domain != WEFT__XEN_UNKNOWN;
}

static inline bool fake_measure_vcpu(
	void *context, uint32_t domain, uint32_t vcpu, struct weft__xen_vcpu *ret_vcpu)
{
	const struct fake_xen *xen = context;
	(void)domain;
	if (vcpu >= FAKE_VCPUS || !xen->vcpus[vcpu].cpu_ns)
		return false;
	*ret_vcpu = xen->vcpus[vcpu];
	return true;
}

static inline bool fake_now(void *context, uint64_t *ret_ns)
{
	struct fake_xen *xen = context;
	*ret_ns = xen->now_ns;
	return xen->knows_time;
}

static inline bool fake_rate(void *context, uint64_t *ret_hz)
{
	*ret_hz = 2000000000;
	return ((struct fake_xen *)context)->knows_time;
}

static inline bool fake_end_trace(void *context)
{
	return ((struct fake_xen *)context)->knows_time;
}

static inline bool fake_size_trace(void *context, uint32_t pages)
{
	(void)pages;
	return ((struct fake_xen *)context)->knows_time;
}

static inline bool fake_watch(void *context, const char *path)
{
	(void)path;
	return ((struct fake_xen *)context)->has_changed = true;
}

static inline void fake_unwatch(void *context, const char *path)
{
	(void)context, (void)path;
}

static inline bool fake_changed(void *context)
{
	struct fake_xen *xen = context;
	bool has_changed = xen->has_changed;
	xen->has_changed = false;
	return has_changed;
}

static inline bool fake_has_counter(void *context, uint32_t domain)
{
	(void)domain;
	return ((struct fake_xen *)context)->has_counter;
}

static inline void fake_close(void *context)
{
	(void)context;
}

/* Connects to it. */
static inline struct weft_host *fake_connect(struct fake_xen *xen)
{
	const struct weft__xen_access access = {fake_read, fake_list, fake_map, fake_unmap, fake_look,
		fake_measure, fake_measure_vcpu, fake_now, fake_rate, fake_end_trace, fake_size_trace,
		fake_watch, fake_unwatch, fake_changed, fake_has_counter, fake_close, xen};
	return weft__xen_host_create(&access);
}

/* Makes a Xen with memory for `pages`, and a connection to it. */
static inline struct weft_host *fake_open(struct fake_xen *xen, uint32_t pages)
{
	*xen = (struct fake_xen){.pages = pages, .domain = WEFT__XEN_RUNS, .knows_time = true};
	xen->memory = memfd_create("pages", MFD_CLOEXEC);
	size_t size = (size_t)pages * WEFT__XEN_PAGE_BYTES;
	if (xen->memory < 0 || ftruncate(xen->memory, (off_t)size) != 0)
		return NULL;
	xen->bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, xen->memory, 0);
	return fake_connect(xen);
}

static inline void fake_finish(struct fake_xen *xen, struct weft_host *host)
{
	weft_host_close(host);
	munmap(xen->bytes, (size_t)xen->pages * WEFT__XEN_PAGE_BYTES);
	close(xen->memory);
}

/* "507,506,505" for `count` pages from `page` on. */
static inline void fake_write_list(
	struct fake_xen *xen, const char *path, uint32_t page, uint32_t count)
{
	char value[4097] = "";
	size_t used = 0;
	for (uint32_t i = 0; i < count; i++)
		used += (size_t)snprintf(value + used, sizeof(value) - used, "%s%u", i ? "," : "",
			(unsigned)fake_reference(xen, page + i));
	fake_write(xen, path, value);
}

#endif
