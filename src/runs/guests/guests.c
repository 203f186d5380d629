/* SPDX-License-Identifier: ISC
 *
 * A domain that reboots or comes back from another machine has a new number and publishes its
 * buffers anew: they are new buffers here, with new files.
 *
 * Guests are hostile: a domain can announce buffers as fast as it likes. So XenStore is read at
 * most every LOOK_NS, a buffer that cannot be mapped is tried a few times only, and the buffers and
 * pages of one domain are bounded.
 */
#include "runs/guests/guests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runs/guests/guest.h"
#include "runs/message.h"
#include "runs/stream/streaming.h"

static const uint64_t LOOK_NS = 100000000;
/* A buffer that could not be mapped is tried again without a change in XenStore. */
static const uint64_t RETRY_NS = 1000000000;

enum {
	TRIES_MAX = 10,
	STREAMS_MAX = 256, /* of one domain, in all */
};

struct entry {
	struct weft_guest_name name;
	struct weft_guest *guest; /* NULL: not mapped now */
	unsigned tries;           /* in vain */
	bool is_known;            /* it was streamed, or was refused for good */
};

struct weft__runs_guests {
	struct weft_host *host;
	const char *domain;
	struct entry *list;
	size_t count;
	uint64_t due_ns; /* no look before */
	uint64_t retry_ns;
	uint32_t last;         /* the domain that was streamed last */
	bool ends_with_buffer; /* the one that was named */
	bool once, waits, has_streamed, is_gone, is_new;
};

/* ---- Beginning and end ---- */

static bool has_domain(struct weft__runs_guests *guests, char reason[WEFT_GUEST_REASON_BYTES])
{
	struct weft_guest_name *list;
	size_t count;
	bool found = weft_host_find(guests->host, guests->domain, &list, &count, reason) == 0;
	if (found)
		free(list);
	return found;
}

static bool start(struct weft__runs_guests *guests, const struct weft__runs_guests_options *options)
{
	char reason[WEFT_GUEST_REASON_BYTES] = "cannot watch XenStore";
	guests->host = options->host;
	bool good = (guests->host || weft_host_open(&guests->host, reason) == 0) &&
				weft_host_watch(guests->host) == 0;
	if (good && !options->waits)
		good = has_domain(guests, reason);
	if (!good)
		weft__runs_report("%s: %s", weft__runs_shown(options->operand), reason);
	return good;
}

/* NUMBER or NUMBER/BUFFER. */
static bool is_number(const char *domain)
{
	size_t digits = strspn(domain, "0123456789");
	return digits && (domain[digits] == '\0' || domain[digits] == '/');
}

struct weft__runs_guests *weft__runs_guests_create(const struct weft__runs_guests_options *options)
{
	struct weft__runs_guests *guests = calloc(1, sizeof(*guests));
	if (!guests) {
		weft__runs_report("%s", weft_error_text(WEFT_ERROR_MEMORY));
		return NULL;
	}
	guests->domain = weft__runs_guest_domain(options->operand);
	/* A number is never used again for another domain. */
	guests->once = options->once || is_number(guests->domain);
	guests->ends_with_buffer = options->once && strchr(guests->domain, '/');
	guests->waits = options->waits;
	guests->is_new = true;
	if (start(guests, options))
		return guests;
	weft__runs_guests_destroy(guests);
	return NULL;
}

void weft__runs_guests_destroy(struct weft__runs_guests *guests)
{
	if (!guests)
		return;
	for (size_t i = 0; i < guests->count; i++)
		weft_guest_close(guests->list[i].guest);
	weft_host_close(guests->host);
	free(guests->list);
	free(guests);
}

/* ---- One buffer ---- */

static bool is_same(const struct weft_guest_name *a, const struct weft_guest_name *b)
{
	return a->domain == b->domain && a->mark == b->mark && strcmp(a->buffer, b->buffer) == 0;
}

/* The entry of a buffer; a new one if there is none. NULL: the domain has too many. */
static struct entry *find_entry(
	struct weft__runs_guests *guests, const struct weft_guest_name *name)
{
	size_t same = 0;
	for (size_t i = 0; i < guests->count; i++) {
		if (is_same(&guests->list[i].name, name))
			return &guests->list[i];
		same += guests->list[i].name.domain == name->domain;
	}
	if (same == STREAMS_MAX)
		return NULL;
	struct entry *list = realloc(guests->list, (guests->count + 1) * sizeof(*list));
	if (!list)
		return NULL;
	guests->list = list;
	list += guests->count++;
	*list = (struct entry){.name = *name};
	if (same + 1 == STREAMS_MAX)
		weft__runs_report("domain '%s' (id %u) has announced %d traces; no more are collected",
			name->domain_name, (unsigned)name->domain, STREAMS_MAX);
	return list;
}

static size_t size_of(const struct weft_guest *guest)
{
	const void *bytes;
	size_t size = 0;
	if (guest)
		weft_guest_bytes(guest, &bytes, &size);
	return size;
}

static bool has_room(const struct weft__runs_guests *guests, const struct entry *entry)
{
	size_t mapped = 0;
	for (size_t i = 0; i < guests->count; i++)
		if (guests->list[i].name.domain == entry->name.domain)
			mapped += size_of(guests->list[i].guest);
	return mapped <= WEFT__RUNS_GUEST_MAPPED_MAX;
}

/* Names the file after the domain, its number, and the buffer's id unless it is the usual one. The
 * domain's name may have any characters. */
static struct weft__runs_ring ring_of(const struct weft_guest_name *name)
{
	static const char good[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_+-.";
	struct weft__runs_ring ring = {.pid = (pid_t)name->domain, .program = 1, .is_guest = true};
	char domain[sizeof(name->domain_name)];
	bool is_usual = strcmp(name->buffer, "0") == 0;
	snprintf(domain, sizeof(domain), "%s", name->domain_name[0] ? name->domain_name : "domain");
	for (size_t at = 0; domain[at]; at++)
		if (!strchr(good, domain[at]) || (at == 0 && (domain[0] == '.' || domain[0] == '-')))
			domain[at] = '_';
	ring.stem_size = snprintf(ring.name, sizeof(ring.name), "%s-%u%s%s", domain,
		(unsigned)name->domain, is_usual ? "" : "-", is_usual ? "" : name->buffer);
	strcat(ring.name, ".weft");
	return ring;
}

/* Maps the buffer and hands it over. */
static void try_entry(struct weft__runs_guests *guests, struct entry *entry,
	weft__runs_guests_add *add, void *context)
{
	char reason[WEFT_GUEST_REASON_BYTES];
	int error = weft_guest_open(guests->host, &entry->name, &entry->guest, reason);
	bool is_last = error != WEFT_ERROR_STATE || ++entry->tries == TRIES_MAX;
	if (!error && !has_room(guests, entry)) {
		snprintf(reason, sizeof(reason), "domain '%s' (id %u) shares more than 256 MiB",
			entry->name.domain_name, (unsigned)entry->name.domain);
		weft__runs_guests_release(guests, entry->guest);
		error = WEFT_ERROR_LIMIT;
	}
	if (error && is_last)
		weft__runs_report("%s", reason);
	entry->is_known = is_last;
	if (error)
		return;
	const struct weft__runs_ring ring = ring_of(&entry->name);
	guests->has_streamed = true;
	guests->last = entry->name.domain;
	if (!add(context, &ring, entry->guest))
		weft__runs_guests_release(guests, entry->guest);
}

void weft__runs_guests_release(struct weft__runs_guests *guests, struct weft_guest *guest)
{
	for (size_t i = 0; i < guests->count; i++)
		if (guests->list[i].guest == guest)
			guests->list[i].guest = NULL;
	weft_guest_close(guest);
}

/* ---- All of them ---- */

static bool is_due(struct weft__runs_guests *guests)
{
	uint64_t now = weft__runs_stream_now_ns();
	if (now < guests->due_ns)
		return false;
	guests->due_ns = now + LOOK_NS;
	if (!weft_host_has_changed(guests->host) && !guests->is_new && now < guests->retry_ns)
		return false;
	guests->is_new = false;
	guests->retry_ns = now + RETRY_NS;
	return true;
}

static bool has_name_of(const struct weft_guest_name *list, size_t count, uint32_t domain)
{
	for (size_t i = 0; i < count; i++)
		if (list[i].domain == domain)
			return true;
	return false;
}

/* Drops the entries of domains that have ended: their numbers do not come again, and their buffers
 * are unmapped. */
static void forget(
	struct weft__runs_guests *guests, const struct weft_guest_name *list, size_t count)
{
	size_t kept = 0;
	for (size_t i = 0; i < guests->count; i++) {
		const struct entry *entry = &guests->list[i];
		uint32_t domain = entry->name.domain;
		if (entry->guest || has_name_of(list, count, domain) ||
			weft_host_runs(guests->host, domain))
			guests->list[kept++] = *entry;
	}
	guests->count = kept;
}

size_t weft__runs_guests_count(const struct weft__runs_guests *guests)
{
	return guests->count;
}

void weft__runs_guests_look(
	struct weft__runs_guests *guests, weft__runs_guests_add *add, void *context)
{
	char reason[WEFT_GUEST_REASON_BYTES];
	struct weft_guest_name *list;
	size_t count;
	if (!is_due(guests))
		return;
	guests->is_gone = weft_host_find(guests->host, guests->domain, &list, &count, reason) != 0;
	if (guests->is_gone) {
		forget(guests, NULL, 0);
		return;
	}
	forget(guests, list, count);
	for (size_t i = 0; i < count; i++) {
		struct entry *entry = list[i].mark ? find_entry(guests, &list[i]) : NULL;
		if (entry && !entry->is_known)
			try_entry(guests, entry, add, context);
	}
	free(list);
}

bool weft__runs_guests_go_on(const struct weft__runs_guests *guests)
{
	for (size_t i = 0; i < guests->count; i++)
		if (guests->list[i].guest)
			return true;
	if (!guests->once)
		return true;
	if (guests->has_streamed && guests->ends_with_buffer)
		return false;
	return guests->has_streamed ? weft_host_runs(guests->host, guests->last)
								: guests->waits || !guests->is_gone;
}
