/* SPDX-License-Identifier: ISC
 *
 * Each key is read once, into memory of our own. XenStore bounds a value at 4096 bytes, and the
 * number of keys that are read for one buffer is bounded here.
 */
#include "xen/announced.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char MIRAGE_ID[] = "mprof";

#define FORMAT     "1"
#define VALUE_MAX  4096
#define VALUES_MAX 1024 /* ring-ref-0 … of one buffer */

struct reading {
	const struct weft__xen_access *access;
	struct weft__xen_announced *announced;
	const char *problem;
};

/* ---- Keys ---- */

static char *read_key(const struct weft__xen_access *access, uint32_t domain, const char *folder,
	const char *key, size_t *ret_size)
{
	char path[160];
	snprintf(path, sizeof(path), "/local/domain/%" PRIu32 "/data/%s/%s", domain, folder, key);
	char *value = access->read(access->context, path, ret_size);
	if (value && *ret_size > VALUE_MAX) {
		free(value);
		return NULL;
	}
	return value;
}

static char *read_own(const struct reading *r, const char *key, size_t *ret_size)
{
	char folder[WEFT__XEN_ID_BYTES + 8];
	snprintf(folder, sizeof(folder), "weft/%s", r->announced->id);
	return read_key(r->access, r->announced->domain, folder, key, ret_size);
}

static bool is_text(const char *value, size_t size, const char *text)
{
	return value && size == strlen(text) && memcmp(value, text, size) == 0;
}

/* FNV-1a of the keys that a guest writes anew when it publishes another buffer under the same id.
 */
uint64_t weft__xen_announced_mark(
	const struct weft__xen_access *access, uint32_t domain, const char *id)
{
	static const char *const keys[] = {"state", "pages", "directory-ref", "ring-ref-0"};
	static const char *const mirage_keys[] = {"ring-ref"};
	bool is_mirage = strcmp(id, MIRAGE_ID) == 0;
	const char *const *list = is_mirage ? mirage_keys : keys;
	uint64_t mark = 0xcbf29ce484222325u;
	char folder[WEFT__XEN_ID_BYTES + 8];
	snprintf(folder, sizeof(folder), "%s%s", is_mirage ? "" : "weft/", id);
	for (size_t k = 0; k < (is_mirage ? 1 : sizeof(keys) / sizeof(*keys)); k++) {
		size_t size = 0;
		char *value = read_key(access, domain, folder, list[k], &size);
		if (k == 0 && !is_mirage && !is_text(value, size, "open"))
			mark = 0;
		for (size_t i = 0; value && mark && i <= size; i++) /* with the NUL, as a separator */
			mark = (mark ^ (uint8_t)value[i]) * 0x100000001b3u;
		if (!value && k == 0)
			mark = 0;
		free(value);
	}
	return mark;
}

/* ---- Numbers ---- */

/* A key with one number of at most 32 bits. False if the key is missing or not a number. */
static bool read_number(struct reading *r, const char *key, uint32_t *ret_number)
{
	size_t size;
	struct weft__xen_references one;
	char *value = read_own(r, key, &size);
	bool good = value && !weft__xen_references_init(&one, 1);
	if (good) {
		good = !weft__xen_references_add(&one, value, size);
		*ret_number = one.list[0];
		weft__xen_references_finish(&one);
	}
	free(value);
	return good;
}

static void read_name(struct reading *r)
{
	size_t size;
	char *value = read_own(r, "name", &size);
	snprintf(r->announced->name, sizeof(r->announced->name), "%s", value ? value : "");
	free(value);
}

/* ---- References ---- */

/* Takes the references of ring-ref-0, ring-ref-1 and so on. */
static void read_lists(struct reading *r)
{
	struct weft__xen_references *references = &r->announced->references;
	char key[32];
	for (unsigned i = 0; !r->problem && references->count < references->capacity; i++) {
		size_t size;
		snprintf(key, sizeof(key), "ring-ref-%u", i);
		char *value = i < VALUES_MAX ? read_own(r, key, &size) : NULL;
		r->problem = value ? weft__xen_references_add(references, value, size)
						   : "it lists fewer grant references than it has pages";
		free(value);
	}
}

/* Takes the references of a directory's pages, if the buffer has one. */
static bool read_directory(struct reading *r)
{
	size_t size;
	char *value = read_own(r, "directory-ref", &size);
	if (!value)
		return false;
	const uint32_t in_page = WEFT__XEN_PAGE_BYTES / sizeof(uint32_t);
	struct weft__xen_references *references = &r->announced->references;
	r->problem = r->announced->pages > WEFT__XEN_PAGES_MAX
					 ? "it has more than 65536 pages"
					 : weft__xen_references_init(
						   references, ((uint64_t)r->announced->pages + in_page - 1) / in_page);
	if (!r->problem)
		r->problem = weft__xen_references_add(references, value, size);
	free(value);
	return r->announced->has_directory = true;
}

static void read_references(struct reading *r)
{
	struct weft__xen_announced *a = r->announced;
	if (!read_number(r, "pages", &a->pages)) {
		r->problem = "its number of pages is missing or not a number";
		return;
	}
	if (!read_directory(r)) {
		r->problem = weft__xen_references_init(&a->references, a->pages);
		if (!r->problem)
			read_lists(r);
	}
	a->has_life = read_number(r, "alive-ref", &a->life);
	if (!r->problem)
		r->problem = weft__xen_references_check(&a->references);
}

/* ---- One buffer ---- */

static bool is_id(const char *id)
{
	size_t size = strspn(id, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_");
	return size > 0 && size < WEFT__XEN_ID_BYTES && !id[size];
}

/* The state decides if the rest may be read: the guest writes it last. */
static enum weft__xen_reading read_state(struct reading *r)
{
	size_t size;
	char *state = read_own(r, "state", &size);
	bool is_open = is_text(state, size, "open"), is_closed = is_text(state, size, "closed");
	bool is_there = state != NULL;
	free(state);
	r->announced->is_closed = is_closed;
	if (!is_there || is_closed)
		return WEFT__XEN_ABSENT;
	if (!is_open)
		r->problem = "its state is neither open nor closed";
	char *format = r->problem ? NULL : read_own(r, "format", &size);
	if (!r->problem && !is_text(format, size, FORMAT))
		r->problem = "it is announced in another format than this weft knows";
	free(format);
	return r->problem ? WEFT__XEN_INVALID : WEFT__XEN_READ;
}

static enum weft__xen_reading read_mirage(struct reading *r)
{
	struct weft__xen_announced *a = r->announced;
	size_t size;
	uint64_t count = 1;
	char *value = read_key(r->access, a->domain, MIRAGE_ID, "ring-ref", &size);
	if (!value)
		return WEFT__XEN_ABSENT;
	for (size_t i = 0; i < size; i++)
		count += value[i] == ',';
	a->is_mirage = true;
	r->problem = weft__xen_references_init(&a->references, count);
	if (!r->problem)
		r->problem = weft__xen_references_add(&a->references, value, size);
	if (!r->problem)
		r->problem = weft__xen_references_check(&a->references);
	a->pages = a->references.count;
	free(value);
	return r->problem ? WEFT__XEN_INVALID : WEFT__XEN_READ;
}

enum weft__xen_reading weft__xen_announced_read(const struct weft__xen_access *access,
	uint32_t domain, const char *id, struct weft__xen_announced *ret_announced, const char **reason)
{
	struct weft__xen_announced announced = {.domain = domain};
	struct reading r = {access, &announced, NULL};
	enum weft__xen_reading result = WEFT__XEN_INVALID;
	*reason = "its name is not one of letters, digits, - and _";
	if (!is_id(id))
		return result;
	snprintf(announced.id, sizeof(announced.id), "%s", id);
	announced.mark = weft__xen_announced_mark(access, domain, id);
	bool is_mirage = strcmp(id, MIRAGE_ID) == 0;
	result = is_mirage ? read_mirage(&r) : read_state(&r);
	if (!is_mirage && result == WEFT__XEN_READ) {
		read_references(&r);
		read_name(&r);
		result = r.problem ? WEFT__XEN_INVALID : WEFT__XEN_READ;
	}
	/* The keys have changed while they were read: the buffer is read when it is complete. */
	if (result != WEFT__XEN_ABSENT &&
		weft__xen_announced_mark(access, domain, id) != announced.mark) {
		weft__xen_announced_finish(&announced);
		result = WEFT__XEN_ABSENT;
	}
	*reason = r.problem;
	*ret_announced = announced;
	if (result != WEFT__XEN_READ)
		weft__xen_announced_finish(ret_announced);
	return result;
}

void weft__xen_announced_finish(struct weft__xen_announced *announced)
{
	weft__xen_references_finish(&announced->references);
}

/* ---- All buffers of a domain ---- */

size_t weft__xen_announced_list(const struct weft__xen_access *access, uint32_t domain,
	char ret_ids[WEFT__XEN_BUFFERS_MAX][WEFT__XEN_ID_BYTES])
{
	char path[64];
	size_t count = 0, size = 0, found = 0;
	snprintf(path, sizeof(path), "/local/domain/%" PRIu32 "/data/weft", domain);
	char **names = access->list(access->context, path, &count);
	for (size_t i = 0; names && i < count && found < WEFT__XEN_BUFFERS_MAX; i++)
		if (is_id(names[i]) && strcmp(names[i], MIRAGE_ID) != 0)
			snprintf(ret_ids[found++], WEFT__XEN_ID_BYTES, "%s", names[i]);
	free(names);
	char *mirage = read_key(access, domain, MIRAGE_ID, "ring-ref", &size);
	if (mirage && found < WEFT__XEN_BUFFERS_MAX)
		snprintf(ret_ids[found++], WEFT__XEN_ID_BYTES, "%s", MIRAGE_ID);
	free(mirage);
	return found;
}
