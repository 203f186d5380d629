/* SPDX-License-Identifier: ISC
 *
 * A tar archive of traces, which opens as they do together. It may be hostile.
 */
#ifndef WEFT_INPUT_ARCHIVE_H
#define WEFT_INPUT_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>

#define WEFT__INPUT_NAME_BYTES 101

struct weft__input_member {
	char name[WEFT__INPUT_NAME_BYTES]; /* the first member, see open_member() */
	size_t offset, size;               /* of its bytes in the archive */
	bool lacks_zeros;                  /* GNU tar left out its holes (--sparse) */
};

bool weft__input_archive_is(const void *bytes, size_t size);

/* Finds the next file from a position on, which is 0 at first, and moves that behind it. All behind
 * a damaged header is one file. The last file of an archive that was cut may be cut, and behind it
 * is one of the bytes that are left, which has none if the cut is between two files. False: there
 * are no more. */
bool weft__input_archive_next(
	const void *bytes, size_t size, size_t *position, struct weft__input_member *ret_member);

#endif
