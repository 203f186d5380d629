/* SPDX-License-Identifier: ISC
 *
 * The dynamic section of a loaded object, as dl_iterate_phdr shows it. Nothing here allocates or
 * takes a lock.
 */
#ifndef WEFT_ADAPTERS_OBJECT_H
#define WEFT_ADAPTERS_OBJECT_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft__hooks_object {
	const struct dl_phdr_info *info;
	const char *strings;
	const ElfW(Sym) * symbols;
	const uint32_t *hash; /* DT_GNU_HASH; NULL: none */
	const uint16_t *versions;
	/* Relocations of the table of functions, and all others. */
	const ElfW(Rela) * relocations[2];
	size_t counts[2];
	bool has_rpath; /* that is used: DT_RUNPATH replaces it */
};

/* False if it has no dynamic section that can be read. */
bool weft__hooks_object_read(struct weft__hooks_object *ret, const struct dl_phdr_info *info);

/* True if one of its segments has the address, with all these rights (PF_X and so on). */
bool weft__hooks_object_has(const struct dl_phdr_info *info, uintptr_t address, uint32_t rights);

/* The function of that name that the object exports, in its newest version; 0: none. */
uintptr_t weft__hooks_object_function(const struct weft__hooks_object *object, const char *name);

#endif
