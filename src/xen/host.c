/* SPDX-License-Identifier: ISC
 *
 * Finds the domains and the buffers that they announce.
 */
#include "xen/host.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/export.h"
#include "xen/announced.h"
#include "xen/domains.h"

struct weft_host *weft__xen_host_create(const struct weft__xen_access *access)
{
	struct weft_host *host = calloc(1, sizeof(*host));
	if (host)
		host->access = *access;
	return host;
}

WEFT__EXPORT int weft_host_open(struct weft_host **ret_host, char reason[WEFT_GUEST_REASON_BYTES])
{
	struct weft__xen_access access;
	if (!weft__xen_access_open(&access, reason, WEFT_GUEST_REASON_BYTES))
		return WEFT_ERROR_SYSTEM;
	struct weft_host *host = weft__xen_host_create(&access);
	if (!host) {
		access.close(access.context);
		snprintf(reason, WEFT_GUEST_REASON_BYTES, "%s", weft_error_text(WEFT_ERROR_MEMORY));
		return WEFT_ERROR_MEMORY;
	}
	*ret_host = host;
	return 0;
}

WEFT__EXPORT void weft_host_close(struct weft_host *host)
{
	if (!host)
		return;
	host->access.close(host->access.context);
	free(host->watched);
	free(host);
}

/* ---- Time ---- */

WEFT__EXPORT int weft_host_read_clocks(struct weft_host *host, struct weft_host_clocks *ret_clocks)
{
	struct weft_abi_comparison now;
	uint64_t hz;
	if (!host->access.rate(host->access.context, &hz) ||
		!weft__xen_comparison_make(&host->access, &now) || !now.counter)
		return WEFT_ERROR_STATE;
	*ret_clocks = (struct weft_host_clocks){hz, now.counter, now.xen_ns, now.monotonic_ns};
	return 0;
}

WEFT__EXPORT bool weft_host_end_trace(struct weft_host *host)
{
	return host->access.end_trace(host->access.context);
}

WEFT__EXPORT bool weft_host_size_trace(struct weft_host *host, uint32_t pages)
{
	return host->access.size_trace(host->access.context, pages);
}

/* ---- Domains ---- */

struct found {
	struct weft_guest_name *list;
	size_t count;
	struct weft_guest_name domain; /* the last one that is wanted */
	int error;
};

/* Adds the domain's buffers, or only the one with that id. */
static void add_buffers(struct weft_host *host, const struct weft_guest_name *domain,
	const char *id, struct found *found)
{
	char ids[WEFT__XEN_BUFFERS_MAX][WEFT__XEN_ID_BYTES];
	size_t count = weft__xen_announced_list(&host->access, domain->domain, ids);
	struct weft_guest_name *list =
		realloc(found->list, (found->count + count + 1) * sizeof(*found->list));
	if (!list) {
		found->error = WEFT_ERROR_MEMORY;
		return;
	}
	found->list = list;
	for (size_t i = 0; i < count; i++) {
		if (id && strcmp(id, ids[i]) != 0)
			continue;
		list[found->count] = *domain;
		memcpy(list[found->count].buffer, ids[i], sizeof(ids[i]));
		list[found->count++].mark = weft__xen_announced_mark(&host->access, domain->domain, ids[i]);
	}
}

/* A number is a domain's id, as for `xl`. */
static bool is_wanted(const struct weft_guest_name *domain, const char *wanted)
{
	if (strcmp(wanted, "all") == 0)
		return domain->domain != 0;
	uint32_t number = weft__xen_domains_number(wanted);
	return number != UINT32_MAX ? domain->domain == number
								: strcmp(domain->domain_name, wanted) == 0;
}

/* Splits "DOMAIN/BUFFER". NULL as the buffer: all of them. */
static const char *split(const char *text, char ret_domain[64])
{
	const char *slash = strrchr(text, '/');
	size_t length = slash ? (size_t)(slash - text) : strlen(text);
	snprintf(ret_domain, 64, "%.*s", (int)(length < 64 ? length : 63), text);
	return slash ? slash + 1 : NULL;
}

/* Adds the buffers of all domains that are wanted. Returns their number. */
static size_t add_domains(
	struct weft_host *host, const char *wanted, const char *id, struct found *found)
{
	struct weft__xen_domain_name *list;
	size_t domains = 0, count = weft__xen_domains_list(host, &list);
	for (size_t i = 0; i < count && !found->error; i++) {
		struct weft_guest_name domain = {.domain = list[i].domain};
		memcpy(domain.domain_name, list[i].name, sizeof(domain.domain_name));
		if (!is_wanted(&domain, wanted))
			continue;
		domains++;
		found->domain = domain;
		add_buffers(host, &domain, id, found);
	}
	free(list);
	return domains;
}

int weft__xen_host_find(struct weft_host *host, const char *domain,
	struct weft_guest_name **ret_list, size_t *ret_count, struct weft_guest_name *ret_domain,
	char reason[WEFT_GUEST_REASON_BYTES])
{
	char wanted[64];
	const char *id = split(domain, wanted);
	struct found found = {0};
	size_t domains = add_domains(host, wanted, id, &found);
	if (!found.error && domains == 0 && strcmp(wanted, "all") != 0) {
		snprintf(reason, WEFT_GUEST_REASON_BYTES, "there is no domain '%s'; `xl list` lists them",
			wanted);
		found.error = WEFT_ERROR_ARGUMENT;
	} else if (found.error) {
		snprintf(reason, WEFT_GUEST_REASON_BYTES, "%s", weft_error_text(found.error));
	}
	if (found.error) {
		free(found.list);
		return found.error;
	}
	*ret_list = found.list;
	*ret_count = found.count;
	*ret_domain = found.domain;
	return 0;
}

WEFT__EXPORT int weft_host_find(struct weft_host *host, const char *domain,
	struct weft_guest_name **ret_list, size_t *ret_count, char reason[WEFT_GUEST_REASON_BYTES])
{
	struct weft_guest_name last;
	return weft__xen_host_find(host, domain, ret_list, ret_count, &last, reason);
}

bool weft__xen_host_has_domain(struct weft_host *host, uint32_t domain)
{
	char path[64];
	size_t size;
	snprintf(path, sizeof(path), "/local/domain/%" PRIu32 "/name", domain);
	char *value = host->access.read(host->access.context, path, &size);
	free(value);
	return value != NULL;
}

WEFT__EXPORT bool weft_host_runs(struct weft_host *host, uint32_t domain)
{
	enum weft__xen_domain state = host->access.look(host->access.context, domain);
	return state == WEFT__XEN_UNKNOWN ? weft__xen_host_has_domain(host, domain)
									  : state == WEFT__XEN_RUNS;
}

/* ---- Changes ---- */

static void path_of(uint32_t domain, char ret_path[64])
{
	snprintf(ret_path, 64, "/local/domain/%" PRIu32 "/data", domain);
}

static bool has(const uint32_t *list, size_t count, uint32_t domain)
{
	for (size_t i = 0; i < count; i++)
		if (list[i] == domain)
			return true;
	return false;
}

/* Watches the domains that came, and no longer those that went. */
static void watch_domains(struct weft_host *host)
{
	const struct weft__xen_access *access = &host->access;
	char path[64];
	size_t count = 0, known = 0;
	char **names = access->list(access->context, "/local/domain", &count);
	uint32_t *list = names ? calloc(count + 1, sizeof(*list)) : NULL;
	for (size_t i = 0; list && i < count; i++)
		if ((list[known] = weft__xen_domains_number(names[i])) != UINT32_MAX)
			known++;
	for (size_t i = 0; list && i < known; i++) {
		path_of(list[i], path);
		if (!has(host->watched, host->watched_count, list[i]))
			(void)access->watch(access->context, path);
	}
	for (size_t i = 0; list && i < host->watched_count; i++) {
		path_of(host->watched[i], path);
		if (!has(list, known, host->watched[i]))
			access->unwatch(access->context, path);
	}
	if (list) {
		free(host->watched);
		host->watched = list;
		host->watched_count = known;
	}
	free(names);
}

WEFT__EXPORT int weft_host_watch(struct weft_host *host)
{
	const struct weft__xen_access *access = &host->access;
	if (!access->watch(access->context, "@introduceDomain") ||
		!access->watch(access->context, "@releaseDomain"))
		return WEFT_ERROR_SYSTEM;
	host->is_watching = true;
	watch_domains(host);
	return 0;
}

WEFT__EXPORT bool weft_host_has_changed(struct weft_host *host)
{
	if (!host->access.changed(host->access.context))
		return false;
	if (host->is_watching)
		watch_domains(host);
	return true;
}
