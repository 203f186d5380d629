/* SPDX-License-Identifier: ISC
 *
 * Headers of other programs: `traceparent` and `baggage`. What is read lies in the header, and what
 * was read and printed is read again as the same.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <weft/context.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void require(int condition)
{
	if (!condition)
		abort();
}

static void read_context(const char *text, size_t size)
{
	struct weft_context context, again;
	char printed[WEFT_CONTEXT_TEXT], variable[WEFT_CONTEXT_VARIABLE];
	const int is_valid = weft_context_parse(text, size, &context);
	const size_t length = weft_context_print(&context, printed);
	require(length == (is_valid ? sizeof(printed) - 1 : 0));
	if (!is_valid)
		return;
	require(weft_context_parse(printed, length, &again));
	require(memcmp(&context, &again, sizeof(context)) == 0);
	require(weft_context_print_variable(&context, variable) == sizeof(variable) - 1);
	require(strcmp(variable + sizeof("TRACEPARENT=") - 1, printed) == 0);
}

static void read_baggage(const char *text, size_t size)
{
	struct weft_baggage_member member;
	size_t at = 0, before = 0;
	while (weft_baggage_next(text, size, &at, &member)) {
		require(at > before && member.key_size > 0);
		require(member.key >= text && member.value > member.key);
		require(member.value + member.value_size <= text + size);
		before = at;
	}
	for (size_t room = 0; room <= size; room++) {
		const size_t kept = weft_baggage_size(text, size, room);
		require(kept <= room && (kept == 0 || kept == size || text[kept] == ','));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char *text = malloc(size + !size); /* exactly as long, so that reads past its end are seen */
	require(text != NULL);
	if (size)
		memcpy(text, bytes, size);
	read_context(text, size);
	read_baggage(text, size);
	free(text);
	return 0;
}
