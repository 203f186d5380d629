/* SPDX-License-Identifier: ISC
 *
 * In dom0: writes what a domain shares to a file, once. A reader of its own, to compare weft with.
 *
 *     map DOMAIN FOLDER FILE      FOLDER is weft/ID or mprof, below data/
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <xengnttab.h>
#include <xenstore.h>

#define PAGE_BYTES 4096
#define REFS_MAX   65536

static uint32_t refs[REFS_MAX];
static size_t count;

static char *read_key(
	struct xs_handle *store, const char *domain, const char *folder, const char *key)
{
	char path[256];
	unsigned size;
	snprintf(path, sizeof(path), "/local/domain/%s/data/%s/%s", domain, folder, key);
	return xs_read(store, XBT_NULL, path, &size);
}

static void add_list(const char *list)
{
	while (*list && count < REFS_MAX) {
		char *end;
		refs[count++] = (uint32_t)strtoul(list, &end, 10);
		list = *end == ',' ? end + 1 : end;
		if (*end && *end != ',')
			exit(2);
	}
}

static void *map(xengnttab_handle *grants, const char *domain)
{
	void *pages = xengnttab_map_domain_grant_refs(
		grants, (uint32_t)count, (uint32_t)atoi(domain), refs, PROT_READ);
	if (!pages) {
		perror("map");
		exit(1);
	}
	return pages;
}

/* Replaces the references of a directory by those that it lists. */
static void expand(xengnttab_handle *grants, const char *domain, size_t pages)
{
	const uint32_t *directory = map(grants, domain);
	if (pages > REFS_MAX || pages > count * (PAGE_BYTES / sizeof(uint32_t)))
		exit(2);
	memcpy(refs, directory, pages * sizeof(uint32_t));
	count = pages;
}

static void find_refs(xengnttab_handle *grants, struct xs_handle *store, char **arguments)
{
	const char *domain = arguments[1], *folder = arguments[2];
	const char *pages = read_key(store, domain, folder, "pages");
	char *list = read_key(store, domain, folder, "directory-ref");
	if (list) {
		add_list(list);
		expand(grants, domain, (size_t)atoi(pages));
		return;
	}
	list = read_key(store, domain, folder, "ring-ref");
	for (int i = 0; list || i == 0; i++) {
		char key[32];
		if (list)
			add_list(list);
		snprintf(key, sizeof(key), "ring-ref-%d", i);
		list = read_key(store, domain, folder, key);
		if (!list && i == 0)
			return;
	}
}

int main(int argument_count, char **arguments)
{
	xengnttab_handle *grants = xengnttab_open(NULL, 0);
	struct xs_handle *store = xs_open(0);
	if (argument_count != 4 || !grants || !store)
		return 2;
	find_refs(grants, store, arguments);
	const void *pages = map(grants, arguments[1]);
	FILE *file = fopen(arguments[3], "wb");
	if (!file || fwrite(pages, PAGE_BYTES, count, file) != count || fclose(file))
		return 1;
	return 0;
}
