/* SPDX-License-Identifier: ISC
 *
 * Maps a guest's buffer, and finds out when the guest no longer writes to it.
 *
 * References go stale when a process in a Linux guest ends, and the guest's kernel may then grant
 * the same ones for other pages. The page `alive-ref` tells: it is mapped before the others and
 * read after them. If it says that the process lives, no reference was stale.
 */
#include "xen/guest.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/export.h"
#include "xen/announced.h"
#include "xen/host.h"

/* How old an answer of the hypervisor may be, and one of XenStore, which takes longer. */
static const uint64_t INTERVAL_NS = 100000000;
static const uint64_t STORE_INTERVAL_NS = 1000000000;

struct weft_guest {
	struct weft_host *host;
	struct weft_guest_name name;
	struct weft__xen_announced announced;
	void *pages;
	void *header;        /* the first page once more, for writing; NULL: not asked for yet */
	const uint8_t *life; /* its first byte is 1 while the process lives; NULL: there is none */
	enum weft_guest_state state;
	uint64_t due_ns, store_due_ns; /* when to ask again */
};

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- Opening ---- */

__attribute__((format(printf, 4, 5))) static int refuse(const struct weft_guest_name *name,
	int error, char reason[WEFT_GUEST_REASON_BYTES], const char *format, ...)
{
	va_list arguments;
	int used = snprintf(reason, WEFT_GUEST_REASON_BYTES, "domain '%s' (id %" PRIu32 ") ",
		name->domain_name, name->domain);
	va_start(arguments, format);
	vsnprintf(reason + used, WEFT_GUEST_REASON_BYTES - (size_t)used, format, arguments);
	va_end(arguments);
	return error;
}

static void *map(
	struct weft_guest *guest, const struct weft__xen_references *references, uint32_t *ret_count)
{
	const struct weft__xen_access *access = &guest->host->access;
	*ret_count = references->count;
	return access->map(
		access->context, guest->announced.domain, references->list, references->count, false);
}

static bool map_life(struct weft_guest *guest)
{
	const struct weft__xen_access *access = &guest->host->access;
	const struct weft__xen_announced *a = &guest->announced;
	if (a->has_life)
		guest->life = access->map(access->context, a->domain, &a->life, 1, false);
	return !a->has_life || guest->life;
}

static bool is_alive(const struct weft_guest *guest)
{
	return !guest->life || __atomic_load_n(guest->life, __ATOMIC_ACQUIRE) == 1;
}

/* Replaces the references of the directory's pages by those in the directory. The guest may change
 * it meanwhile: each is loaded once. NULL, or the problem as a text. */
static const char *read_directory(struct weft_guest *guest)
{
	const struct weft__xen_access *access = &guest->host->access;
	struct weft__xen_announced *a = &guest->announced;
	struct weft__xen_references all;
	uint32_t pages;
	const uint32_t *directory = map(guest, &a->references, &pages);
	if (!directory)
		return "cannot map the directory of its pages";
	const char *problem = weft__xen_references_init(&all, a->pages);
	for (uint32_t i = 0; i < a->pages && !problem; i++)
		problem =
			weft__xen_references_add_one(&all, __atomic_load_n(&directory[i], __ATOMIC_RELAXED));
	access->unmap(access->context, (void *)(uintptr_t)directory, pages);
	if (!problem)
		problem = weft__xen_references_check(&all);
	weft__xen_references_finish(&a->references);
	a->references = all;
	return problem;
}

static int map_pages(struct weft_guest *guest, char *reason)
{
	static const char STALE[] =
		"announces a trace of a process that has ended; its pages are no longer shared";
	uint32_t count;
	if (!map_life(guest))
		return refuse(&guest->name, WEFT_ERROR_STATE, reason, "%s", STALE);
	const char *problem = guest->announced.has_directory ? read_directory(guest) : NULL;
	if (problem)
		return refuse(&guest->name, WEFT_ERROR_DAMAGED, reason,
			"announces a trace that cannot be read: %s", problem);
	guest->pages = map(guest, &guest->announced.references, &count);
	if (!guest->pages)
		return refuse(&guest->name, WEFT_ERROR_STATE, reason,
			"announces a trace, but its pages cannot be mapped (%s): the process that recorded "
			"has ended, or has no right to share them",
			strerror(errno));
	return is_alive(guest) ? 0 : refuse(&guest->name, WEFT_ERROR_STATE, reason, "%s", STALE);
}

static int open_guest(struct weft_guest *guest, char *reason)
{
	const char *problem;
	const struct weft_guest_name *name = &guest->name;
	switch (weft__xen_announced_read(
		&guest->host->access, name->domain, name->buffer, &guest->announced, &problem)) {
	case WEFT__XEN_READ:
		return map_pages(guest, reason);
	case WEFT__XEN_ABSENT:
		return refuse(name, WEFT_ERROR_STATE, reason,
			"publishes no trace: data/weft/%s in XenStore is not open", name->buffer);
	case WEFT__XEN_INVALID:
		break;
	}
	return refuse(
		name, WEFT_ERROR_DAMAGED, reason, "announces a trace that cannot be read: %s", problem);
}

WEFT__EXPORT int weft_guest_open(struct weft_host *host, const struct weft_guest_name *name,
	struct weft_guest **ret_guest, char reason[WEFT_GUEST_REASON_BYTES])
{
	struct weft_guest *guest = calloc(1, sizeof(*guest));
	if (!guest)
		return refuse(name, WEFT_ERROR_MEMORY, reason, "%s", weft_error_text(WEFT_ERROR_MEMORY));
	guest->host = host;
	guest->name = *name;
	int error = open_guest(guest, reason);
	if (error)
		weft_guest_close(guest);
	else
		*ret_guest = guest;
	return error;
}

/* Names the buffers of a domain that has several. */
static int refuse_several(const struct weft_guest_name *list, size_t count, char *reason)
{
	char names[128] = "";
	for (size_t i = 0; i < count; i++) {
		size_t used = strlen(names);
		snprintf(names + used, sizeof(names) - used, "%s%s", i ? ", " : "", list[i].buffer);
	}
	return refuse(list, WEFT_ERROR_ARGUMENT, reason,
		"publishes several traces (%s); name one, as in xen:%s/%s", names, list->domain_name,
		list->buffer);
}

/* Opens the only buffer in the list that can be opened. */
static int open_only(struct weft_host *host, const struct weft_guest_name *list, size_t count,
	struct weft_guest **ret_guest, char *reason)
{
	struct weft_guest *only = NULL;
	int error = 0;
	for (size_t i = 0; i < count; i++) {
		struct weft_guest *guest;
		error = weft_guest_open(host, &list[i], &guest, reason);
		if (!error && only) {
			weft_guest_close(guest);
			weft_guest_close(only);
			return refuse_several(list, count, reason);
		}
		if (!error)
			only = guest;
	}
	*ret_guest = only;
	return only ? 0 : error;
}

WEFT__EXPORT int weft_guest_open_only(struct weft_host *host, const char *domain,
	struct weft_guest **ret_guest, char reason[WEFT_GUEST_REASON_BYTES])
{
	struct weft_guest_name *list, found;
	size_t count;
	int error = weft__xen_host_find(host, domain, &list, &count, &found, reason);
	if (error)
		return error;
	error = count ? open_only(host, list, count, ret_guest, reason)
				  : refuse(&found, WEFT_ERROR_STATE, reason,
						"publishes no trace: its part of XenStore has no data/weft%s and no "
						"data/mprof/ring-ref",
						strchr(domain, '/') ? strrchr(domain, '/') : "");
	free(list);
	return error;
}

/* The guest's process may have ended since its pages were mapped: see above. */
struct weft_abi_buffer *weft__xen_guest_header(struct weft_guest *guest)
{
	const struct weft__xen_access *access = &guest->host->access;
	const struct weft__xen_announced *a = &guest->announced;
	if (!guest->header)
		guest->header = access->map(access->context, a->domain, a->references.list, 1, true);
	return is_alive(guest) ? guest->header : NULL;
}

WEFT__EXPORT void weft_guest_close(struct weft_guest *guest)
{
	if (!guest)
		return;
	const struct weft__xen_access *access = &guest->host->access;
	if (guest->header)
		access->unmap(access->context, guest->header, 1);
	if (guest->pages)
		access->unmap(access->context, guest->pages, guest->announced.references.count);
	if (guest->life)
		access->unmap(access->context, (void *)(uintptr_t)guest->life, 1);
	weft__xen_announced_finish(&guest->announced);
	free(guest);
}

WEFT__EXPORT const struct weft_guest_name *weft_guest_describe(const struct weft_guest *guest)
{
	return &guest->name;
}

WEFT__EXPORT bool weft_guest_bytes(
	const struct weft_guest *guest, const void **ret_bytes, size_t *ret_size)
{
	*ret_bytes = guest->pages;
	*ret_size = (size_t)guest->announced.references.count * WEFT__XEN_PAGE_BYTES;
	return guest->announced.is_mirage;
}

/* ---- The end ---- */

static enum weft_guest_state ask_store(struct weft_guest *guest)
{
	const struct weft__xen_announced *a = &guest->announced;
	if (weft__xen_announced_mark(&guest->host->access, a->domain, a->id) == a->mark)
		return WEFT_GUEST_OPEN;
	/* A domain's keys are removed before its memory. */
	return weft__xen_host_has_domain(guest->host, a->domain) ? WEFT_GUEST_CLOSED : WEFT_GUEST_GONE;
}

static enum weft_guest_state ask(struct weft_guest *guest, uint64_t now)
{
	const struct weft__xen_access *access = &guest->host->access;
	switch (access->look(access->context, guest->announced.domain)) {
	case WEFT__XEN_CRASHED:
		return WEFT_GUEST_CRASHED;
	case WEFT__XEN_SHUT:
		return WEFT_GUEST_SHUT;
	case WEFT__XEN_GONE:
		return WEFT_GUEST_GONE;
	case WEFT__XEN_RUNS:
		if (now < guest->store_due_ns)
			return WEFT_GUEST_OPEN;
		break;
	case WEFT__XEN_UNKNOWN:
		break;
	}
	guest->store_due_ns = now + STORE_INTERVAL_NS;
	return ask_store(guest);
}

WEFT__EXPORT enum weft_guest_state weft_guest_look(struct weft_guest *guest)
{
	if (guest->state != WEFT_GUEST_OPEN)
		return guest->state;
	uint64_t now = now_ns();
	if (now < guest->due_ns)
		return guest->state;
	guest->due_ns = now + INTERVAL_NS;
	guest->state = ask(guest, now);
	if (guest->state == WEFT_GUEST_OPEN && !is_alive(guest))
		guest->state = WEFT_GUEST_CLOSED;
	return guest->state;
}

bool weft__xen_guest_now(const struct weft_guest *guest, uint64_t *ret_ns)
{
	const struct weft__xen_access *access = &guest->host->access;
	return access->now(access->context, ret_ns);
}

bool weft__xen_guest_has_counter(const struct weft_guest *guest)
{
	const struct weft__xen_access *access = &guest->host->access;
	return access->has_counter(access->context, guest->name.domain);
}

void weft__xen_guest_compare(const struct weft_guest *guest, bool at_once)
{
	weft__xen_comparisons_add(&guest->host->comparisons, &guest->host->access, at_once);
}

uint32_t weft__xen_guest_comparisons(
	const struct weft_guest *guest, const struct weft_abi_comparison **ret_list)
{
	*ret_list = guest->host->comparisons.list;
	return guest->host->comparisons.count;
}
