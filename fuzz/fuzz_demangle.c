/* SPDX-License-Identifier: ISC
 *
 * Names of functions and classes, as the symbols and the data of a recorded program have them.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/demangle.h"
#include "thread/tuple.h"

#define ROOM 120

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void require(int condition)
{
	if (!condition)
		abort();
}

/* A text that has something already, or nothing; the demangler appends. */
static void append(const char *name, size_t before)
{
	char bytes[ROOM];
	struct weft__symbols_name text = {bytes, before, sizeof(bytes)};
	weft__symbols_demangle(&text, name);
	require(text.size >= before && text.size <= sizeof(bytes));
	require(text.size > before || *name == '\0' || before == sizeof(bytes));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char *name = malloc(size + 1); /* exactly as long, so that reads past its end are seen */
	require(name != NULL);
	memcpy(name, bytes, size);
	name[size] = '\0';
	append(name, 0);
	append(name, ROOM - 3);
	append(name, ROOM);
	require(weft__thread_function_in(name) <= size * 4 + 2);
	free(name);
	return 0;
}
