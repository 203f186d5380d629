/* SPDX-License-Identifier: ISC
 *
 * XenStore lists the domains and has their names; the hypervisor has their figures.
 */
#include "xen/domains.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/parse.h>

#include "xen/host.h"

/* Domains are numbered below this. */
#define DOMAINS_MAX 0x7ff0

uint32_t weft__xen_domains_number(const char *text)
{
	uint64_t number;
	bool is_domain =
		weft_parse_number(text, strlen(text), &number) == WEFT_PARSE_OK && number < DOMAINS_MAX;
	return is_domain ? (uint32_t)number : UINT32_MAX;
}

static void read_name(struct weft_host *host, uint32_t domain, char ret_name[64])
{
	char path[64];
	size_t size;
	snprintf(path, sizeof(path), "/local/domain/%" PRIu32 "/name", domain);
	char *value = host->access.read(host->access.context, path, &size);
	snprintf(ret_name, 64, "%s", value ? value : "");
	free(value);
}

size_t weft__xen_domains_list(struct weft_host *host, struct weft__xen_domain_name **ret_list)
{
	size_t count = 0, known = 0;
	char **names = host->access.list(host->access.context, "/local/domain", &count);
	struct weft__xen_domain_name *list = names ? calloc(count + 1, sizeof(*list)) : NULL;
	for (size_t i = 0; list && i < count; i++) {
		const uint32_t domain = weft__xen_domains_number(names[i]);
		if (domain == UINT32_MAX)
			continue;
		list[known].domain = domain;
		read_name(host, domain, list[known++].name);
	}
	free(names);
	*ret_list = list;
	return known;
}

bool weft__xen_domains_measure(
	struct weft_host *host, uint32_t domain, struct weft__xen_usage *ret_usage)
{
	return host->access.measure(host->access.context, domain, ret_usage);
}

bool weft__xen_domains_measure_vcpu(
	struct weft_host *host, uint32_t domain, uint32_t vcpu, struct weft__xen_vcpu *ret_vcpu)
{
	return host->access.measure_vcpu(host->access.context, domain, vcpu, ret_vcpu);
}
