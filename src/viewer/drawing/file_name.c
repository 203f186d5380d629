/* SPDX-License-Identifier: ISC
 *
 * See file_name.h.
 */
#include "viewer/drawing/file_name.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

/* Bytes of the title without ".weft", ".sexp.gz" and the like. */
static size_t stem_size(const char *title)
{
	static const char *const known[] = {".zst", ".gz", ".weft", ".ctf", ".sexp"};
	size_t size = strlen(title);
	for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		size_t length = strlen(known[i]);
		if (size > length && memcmp(title + size - length, known[i], length) == 0)
			size -= length;
	}
	return size;
}

static bool is_allowed(uint32_t character)
{
	return weft__utf8_is_showable(character) &&
		   (character >= 0x80 || !strchr("/\\:*?\"<>|", (int)character));
}

const char *weft__viewer_file_name(
	const char *title, const char *suffix, char ret_name[WEFT__FILE_NAME_BYTES])
{
	title = title[0] ? title : "trace";
	const size_t room = WEFT__FILE_NAME_BYTES - strlen(suffix) - 1;
	size_t size = stem_size(title), used = 0;
	for (size_t at = 0, length; at < size; at += length) {
		uint32_t character;
		bool is_valid;
		length = weft__utf8_decode(title + at, size - at, &character, &is_valid);
		bool is_kept = is_valid && is_allowed(character);
		size_t added = is_kept ? length : 1;
		if (used + added > room)
			break;
		memcpy(ret_name + used, is_kept ? title + at : "_", added);
		used += added;
	}
	snprintf(ret_name + used, WEFT__FILE_NAME_BYTES - used, "%s", suffix);
	return ret_name;
}
