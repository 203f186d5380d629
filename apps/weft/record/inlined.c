/* SPDX-License-Identifier: ISC
 *
 * See inlined.h. The debug information of a function has a tree of the functions that were inlined
 * into it, each with the line that calls it.
 */
#include "inlined.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "libdw.h"

/* The functions of libdw that are used here. */
#define FUNCTIONS(F)        \
	F(dwarf_attr)           \
	F(dwarf_attr_integrate) \
	F(dwarf_child)          \
	F(dwarf_diename)        \
	F(dwarf_filesrc)        \
	F(dwarf_formstring)     \
	F(dwarf_formudata)      \
	F(dwarf_getscopes)      \
	F(dwarf_getscopes_die)  \
	F(dwarf_getsrcfiles)    \
	F(dwarf_haspc)          \
	F(dwarf_siblingof)      \
	F(dwarf_tag)            \
	F(dwfl_lineinfo)        \
	F(dwfl_module_addrdie)  \
	F(dwfl_module_getsrc)

static struct {
	FUNCTIONS(LIBDW_POINTER)
} dw;

enum {
	NAMESPACES_MAX = 32, /* inside of each other */
	SCOPES_MAX = 64,     /* the same */
};

bool inlined_load(void)
{
	static const char *const names[] = {FUNCTIONS(LIBDW_NAME)};
	void *functions[sizeof(names) / sizeof(*names)];
	if (!libdw_find(names, sizeof(names) / sizeof(*names), functions))
		return false;
	memcpy(&dw, functions, sizeof(dw));
	return true;
}

/* The folders of Rust's library are relative if it was built elsewhere. */
static bool is_system(const char *file)
{
	static const char *const folders[] = {"/usr/include/", "/usr/lib/", "/rustc/", "/usr/src/rustc",
		"library/std/src/", "library/core/src/", "library/alloc/src/"};
	for (size_t i = 0; file && i < sizeof(folders) / sizeof(*folders); i++)
		if (strncmp(file, folders[i], strlen(folders[i])) == 0)
			return true;
	return false;
}

static const char *symbol_of(Dwarf_Die *function)
{
	Dwarf_Attribute attribute;
	Dwarf_Attribute *found = dw.dwarf_attr_integrate(function, DW_AT_linkage_name, &attribute);
	const char *name = found ? dw.dwarf_formstring(found) : NULL;
	if (!name)
		name = dw.dwarf_diename(function);
	/* A lambda's class has no name. */
	return name && strcmp(name, "operator()") == 0 ? "{lambda}" : name;
}

/* Where an inlined function is called. */
static struct debug_call call_of(Dwarf_Die *unit, Dwarf_Die *function)
{
	struct debug_call call = {.symbol = NULL};
	Dwarf_Attribute attribute;
	Dwarf_Files *files;
	Dwarf_Word file, line;
	size_t count;
	if (dw.dwarf_formudata(dw.dwarf_attr(function, DW_AT_call_file, &attribute), &file) == 0 &&
		dw.dwarf_getsrcfiles(unit, &files, &count) == 0 && file < count)
		call.file = dw.dwarf_filesrc(files, file, NULL, NULL);
	if (dw.dwarf_formudata(dw.dwarf_attr(function, DW_AT_call_line, &attribute), &line) == 0)
		call.line = (int)line;
	return call;
}

/* Finds the scope inside of another that has an address: its function, at any depth of namespaces
 * and types; or inside of that, a block or inlined function. */
static bool find_scope(Dwarf_Die *outer, Dwarf_Addr address, unsigned depth, Dwarf_Die *ret_scope)
{
	Dwarf_Die it;
	for (int end = dw.dwarf_child(outer, &it); end == 0; end = dw.dwarf_siblingof(&it, &it)) {
		switch (dw.dwarf_tag(&it)) {
		case DW_TAG_namespace:
		case DW_TAG_structure_type:
		case DW_TAG_class_type:
		case DW_TAG_enumeration_type:
		case DW_TAG_union_type:
			if (depth && find_scope(&it, address, depth - 1, ret_scope))
				return true;
			break;
		case DW_TAG_subprogram:
		case DW_TAG_lexical_block:
		case DW_TAG_inlined_subroutine:
			if (dw.dwarf_haspc(&it, address) <= 0)
				break;
			*ret_scope = it;
			return true;
		default:
			break;
		}
	}
	return false;
}

/* Rust's functions are inside of namespaces, in which libdw does not look. */
static int list_scopes_within(Dwarf_Die *unit, Dwarf_Addr address, Dwarf_Die **ret_list)
{
	Dwarf_Die path[SCOPES_MAX], *list;
	int count = 0;
	while (count < SCOPES_MAX && find_scope(count ? &path[count - 1] : unit, address,
									 count ? 0 : NAMESPACES_MAX, &path[count]))
		count++;
	list = count ? malloc((size_t)count * sizeof(*list)) : NULL;
	for (int i = 0; list && i < count; i++)
		list[i] = path[count - 1 - i];
	*ret_list = list;
	return list ? count : 0;
}

/* The scopes of an address, from the innermost one to its function, or the file. */
static int list_scopes(Dwarf_Die *unit, Dwarf_Addr address, Dwarf_Die **ret_list)
{
	Dwarf_Die *innermost = NULL;
	int count = dw.dwarf_getscopes(unit, address, &innermost);
	if (count > 0)
		count = dw.dwarf_getscopes_die(innermost, ret_list);
	free(innermost);
	return count > 0 ? count : list_scopes_within(unit, address, ret_list);
}

static void add(struct debug_call list[DEBUG_CALLS_MAX], size_t *count, struct debug_call call)
{
	const char *slash = call.file ? strrchr(call.file, '/') : NULL;
	call.is_system = is_system(call.file);
	if (slash)
		call.file = slash + 1;
	if (call.line <= 0)
		call.file = NULL;
	list[(*count)++] = call;
}

size_t inlined_find(
	Dwfl_Module *module, Dwarf_Addr address, struct debug_call ret_list[DEBUG_CALLS_MAX])
{
	Dwfl_Line *line = dw.dwfl_module_getsrc(module, address);
	struct debug_call call = {.symbol = NULL};
	Dwarf_Addr bias;
	Dwarf_Die *unit = dw.dwfl_module_addrdie(module, address, &bias), *scopes = NULL;
	const int scope_count = unit ? list_scopes(unit, address - bias, &scopes) : 0;
	size_t count = 0;
	if (line)
		call.file = dw.dwfl_lineinfo(line, NULL, &call.line, NULL, NULL, NULL);
	for (int i = 0; i < scope_count && dw.dwarf_tag(&scopes[i]) != DW_TAG_subprogram; i++) {
		if (dw.dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine)
			continue;
		call.symbol = symbol_of(&scopes[i]);
		if (call.symbol && !is_system(call.file) && count < DEBUG_CALLS_MAX - 1)
			add(ret_list, &count, call);
		call = call_of(unit, &scopes[i]);
	}
	free(scopes);
	call.symbol = NULL;
	add(ret_list, &count, call);
	return count;
}
