/* SPDX-License-Identifier: ISC
 *
 * Names of functions and classes, as the symbols and the data of a recorded program have them.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define WEFT_CATEGORY always
#include "hooks/hooks.h"
#include "thread/tuple.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void require(int condition)
{
	if (!condition)
		abort();
}

/* A text that has something already, or nothing; the demangler appends. */
static void append(const char *name, size_t before)
{
	struct weft__hooks_text text = {.size = before};
	weft__hooks_append_demangled(&text, name);
	require(text.size >= before && text.size <= sizeof(text.bytes));
	require(text.size > before || *name == '\0' || before == sizeof(text.bytes));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char *name = malloc(size + 1); /* exactly as long, so that reads past its end are seen */
	require(name != NULL);
	memcpy(name, bytes, size);
	name[size] = '\0';
	append(name, 0);
	append(name, WEFT__HOOKS_NAME_BYTES - 3);
	append(name, WEFT__HOOKS_NAME_BYTES);
	require(weft__thread_function_in(name) <= size * 4 + 2);
	free(name);
	return 0;
}
