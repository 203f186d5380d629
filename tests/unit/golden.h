/* SPDX-License-Identifier: ISC
 *
 * Compares a test's output with tests/data/golden. WEFT_GOLDEN=write writes the files anew; look at
 * them before committing.
 */
#ifndef WEFT_TESTS_GOLDEN_H
#define WEFT_TESTS_GOLDEN_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <weft/text.h>

#include "sample.h"

static inline void golden_compare(const char *name, const struct weft_text *text)
{
	char relative[256], path[512];
	size_t size = 0;
	const char *mode = getenv("WEFT_GOLDEN");
	snprintf(relative, sizeof(relative), "tests/data/golden/%s", name);
	sample_path(path, sizeof(path), relative);
	if (mode && strcmp(mode, "write") == 0) {
		FILE *file = fopen(path, "wb");
		assert_non_null(file);
		assert_int_equal(fwrite(text->bytes, 1, text->size, file), text->size);
		assert_int_equal(fclose(file), 0);
		return;
	}
	char *expected = sample_read(path, &size);
	if (!expected)
		fail_msg("no %s: run with WEFT_GOLDEN=write", path);
	unsigned line = 1;
	for (size_t i = 0; i < size && i < text->size && text->bytes[i] == expected[i]; i++)
		line += expected[i] == '\n';
	if (size != text->size || memcmp(text->bytes, expected, size) != 0)
		fail_msg(
			"%s differs from line %u on; if that is meant, run with WEFT_GOLDEN=write", name, line);
	free(expected);
}

#endif
