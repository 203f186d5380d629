/* SPDX-License-Identifier: ISC
 *
 * Domains of Xen as regions, so that the ledger counts what each uses, as it does for programs.
 */
#include <stdio.h>
#include <string.h>

#include "agent/regions.h"
#include "runs/guests/usage.h"

/* Unique in one boot: Xen takes 32,751 other numbers before it uses one again. A domain with
 * another name is another program. */
static void name_domain(const struct weft__runs_usage *domain, const char *boot, char ret_name[33])
{
	uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
	for (const char *at = domain->program; *at; at++)
		hash = (hash ^ (uint8_t)*at) * 0x100000001b3u;
	snprintf(ret_name, 33, "%08x%016llx%.8s", (unsigned)domain->domain, (unsigned long long)hash,
		*boot ? boot : "00000000");
}

/* A domain that gets another name keeps its old region: it may get the old name again. */
static void look_at_domain(struct weft__agent_region *region,
	const struct weft__runs_usage_list *domains, const char *boot)
{
	char name[33];
	region->is_dead = region->is_away = true;
	for (size_t i = 0; i < domains->count; i++) {
		if (domains->list[i].domain != region->domain)
			continue;
		name_domain(&domains->list[i], boot, name);
		region->is_dead = false;
		region->is_away = strcmp(name, region->name) != 0;
	}
}

static void add_domain(struct weft__agent_regions *regions, const struct weft__runs_usage *domain,
	const char *boot, double born)
{
	char name[33];
	name_domain(domain, boot, name);
	struct weft__agent_region *region =
		weft__agent_regions_named(regions, name)
			? NULL
			: weft__agent_regions_add(regions, WEFT__AGENT_DOMAIN, name, 0);
	if (!region)
		return;
	snprintf(region->program, sizeof(region->program), "%s", domain->program);
	region->domain = domain->domain;
	region->started = WEFT__AGENT_DOMAIN_STARTED;
	region->born = born;
	region->is_begun = true;
}

void weft__agent_regions_find_domains(
	struct weft__agent_regions *regions, const char *boot, double born)
{
	struct weft__runs_usage_list domains;
	if (!regions->xen)
		return;
	weft__runs_usage_find(regions->xen, &domains);
	/* None: XenStore could not be asked. Dom0 itself is always there. */
	for (size_t i = 0; domains.count && i < regions->count; i++)
		if (regions->list[i]->kind == WEFT__AGENT_DOMAIN)
			look_at_domain(regions->list[i], &domains, boot);
	regions->has_found_domains = regions->has_found_domains || domains.count;
	for (size_t i = 0; i < domains.count; i++)
		add_domain(regions, &domains.list[i], boot, born);
	weft__runs_usage_finish(&domains);
}
