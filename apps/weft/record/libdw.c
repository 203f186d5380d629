/* SPDX-License-Identifier: ISC
 *
 * See libdw.h.
 */
#include "libdw.h"

#include <dlfcn.h>

bool libdw_find(const char *const *names, size_t count, void **ret_functions)
{
	void *library = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
	bool is_complete = library != NULL;
	for (size_t i = 0; i < count && is_complete; i++) {
		ret_functions[i] = dlsym(library, names[i]);
		is_complete = ret_functions[i] != NULL;
	}
	return is_complete;
}
