/* SPDX-License-Identifier: ISC
 *
 * The format is that of POSIX's ustar: a header of 512 bytes before each file, with numbers in
 * octal, and the file's bytes, filled up to a multiple of 512.
 */
#include "input/archive.h"

#include <stdint.h>
#include <string.h>

enum {
	BLOCK_BYTES = 512,
	SIZE_AT = 124,
	SIZE_DIGITS = 11,
	SUM_AT = 148,
	SUM_BYTES = 8,
	SUM_DIGITS = 6,
	TYPE_AT = 156,
	MAGIC_AT = 257,
	GNU_SPARSE = 'S',
	MORE_REGIONS_AT = 482,          /* of a sparse file: in the header */
	MORE_REGIONS_IN_BLOCK_AT = 504, /* and in each block after it */
};

static bool read_octal(const unsigned char *digits, unsigned count, uint64_t *ret_number)
{
	uint64_t number = 0;
	for (unsigned i = 0; i < count; i++) {
		if (digits[i] < '0' || digits[i] > '7')
			return false;
		number = 8 * number + (uint64_t)(digits[i] - '0');
	}
	*ret_number = number;
	return true;
}

/* The sum of all bytes, as if those of the sum were blanks. */
static bool is_header(const unsigned char *header)
{
	uint64_t noted = 0, sum = 0;
	for (unsigned i = 0; i < BLOCK_BYTES; i++)
		sum += i >= SUM_AT && i < SUM_AT + SUM_BYTES ? ' ' : header[i];
	return memcmp(header + MAGIC_AT, "ustar", 5) == 0 &&
		   read_octal(header + SUM_AT, SUM_DIGITS, &noted) && noted == sum;
}

bool weft__input_archive_is(const void *bytes, size_t size)
{
	return size >= BLOCK_BYTES && is_header(bytes);
}

/* Else it is a directory, which old archives mark by the name alone, or more about the next file.
 */
static bool is_file(char type, const char *name)
{
	const size_t size = strlen(name);
	return (type == '0' || type == '\0' || type == GNU_SPARSE) && !(size && name[size - 1] == '/');
}

/* All zeros: the archive's end. */
static bool is_end(const unsigned char *block)
{
	for (unsigned i = 0; i < BLOCK_BYTES; i++)
		if (block[i])
			return false;
	return true;
}

/* Where the content begins: a file with more than four regions has blocks with the others before
 * it. Each says in a byte whether another one follows. */
static size_t skip_regions(
	const unsigned char *all, size_t size, const unsigned char *header, size_t offset)
{
	bool goes_on = header[TYPE_AT] == GNU_SPARSE && header[MORE_REGIONS_AT];
	while (goes_on && size - offset >= BLOCK_BYTES) {
		goes_on = all[offset + MORE_REGIONS_IN_BLOCK_AT];
		offset += BLOCK_BYTES;
	}
	return offset;
}

bool weft__input_archive_next(
	const void *bytes, size_t size, size_t *position, struct weft__input_member *ret_member)
{
	const unsigned char *all = bytes;
	while (*position <= size) {
		const unsigned char *header = all + *position;
		const size_t left = size - *position;
		size_t offset = *position + BLOCK_BYTES;
		uint64_t length;
		if (left >= BLOCK_BYTES && is_end(header))
			return false;
		if (left < BLOCK_BYTES || !is_header(header) ||
			!read_octal(header + SIZE_AT, SIZE_DIGITS, &length)) {
			*ret_member = (struct weft__input_member){
				.name = "(the rest of the archive)", .offset = *position, .size = left};
			*position = size + 1;
			return true;
		}
		offset = skip_regions(all, size, header, offset);
		if (length > size - offset)
			length = size - offset;
		const size_t filled = ((size_t)length + BLOCK_BYTES - 1) / BLOCK_BYTES * BLOCK_BYTES;
		*position = filled > size - offset ? size : offset + filled;
		*ret_member = (struct weft__input_member){
			.offset = offset, .size = (size_t)length, .lacks_zeros = header[TYPE_AT] == GNU_SPARSE};
		memcpy(ret_member->name, header, WEFT__INPUT_NAME_BYTES - 1);
		if (is_file((char)header[TYPE_AT], ret_member->name))
			return true;
	}
	return false;
}
