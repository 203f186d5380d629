/* SPDX-License-Identifier: ISC
 *
 * Parses --filter domain=N,class=NAME, and applies it to records.
 */
#include "xen_filter.h"

#include "cli.h"

#include <string.h>

#include <weft/parse.h>

/* Bits 16 to 27 of a record's id. */
static const struct {
	const char *name;
	uint32_t bits;
} classes[] = {
	{"gen", 0x001},
	{"sched", 0x002},
	{"dom0op", 0x004},
	{"hvm", 0x008},
	{"mem", 0x010},
	{"pv", 0x020},
	{"shadow", 0x040},
	{"hw", 0x080},
	{"guest", 0x800},
};

static bool refuse(const char *command, const char *word, size_t size)
{
	cli_usage_error(command,
		"--filter: \"%.*s\" is neither domain=N nor class=gen, sched, dom0op, hvm, mem, pv, shadow,"
		" hw or guest",
		(int)size, word);
	return false;
}

static bool add_class(struct xen_filter *filter, const char *name, size_t size)
{
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if (strlen(classes[i].name) == size && memcmp(classes[i].name, name, size) == 0) {
			filter->classes |= classes[i].bits;
			return true;
		}
	return false;
}

static bool add_domain(struct xen_filter *filter, const char *number, size_t size)
{
	uint64_t domain;
	if (filter->domain_count == XEN_FILTER_DOMAINS_MAX ||
		weft_parse_number(number, size, &domain) != WEFT_PARSE_OK || domain > WEFT_XENTRACE_IDLE)
		return false;
	filter->domains[filter->domain_count++] = (uint32_t)domain;
	return true;
}

bool xen_filter_parse(const char *command, const char *text, struct xen_filter *filter)
{
	for (;; text++) {
		size_t size = strcspn(text, ",");
		bool is_domain = strncmp(text, "domain=", 7) == 0,
			 is_class = strncmp(text, "class=", 6) == 0;
		if (!(is_domain && add_domain(filter, text + 7, size - 7)) &&
			!(is_class && add_class(filter, text + 6, size - 6)))
			return refuse(command, text, size);
		text += size;
		if (!*text)
			return true;
	}
}

bool xen_filter_has(const struct xen_filter *filter, const struct weft_xentrace_record *record)
{
	bool has = filter->domain_count == 0;
	if (filter->classes && !(filter->classes & record->id >> 16))
		return false;
	for (unsigned i = 0; i < filter->domain_count && !has; i++)
		has = filter->domains[i] == record->domain;
	return has;
}
