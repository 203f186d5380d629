/* SPDX-License-Identifier: ISC
 *
 * A note of each level, in the file's category.
 */
#define LEVELS_NOTES(name)                                       \
	do {                                                         \
		weft_at(WEFT_LEVEL_ERROR, weft_note(name " error"));     \
		weft_at(WEFT_LEVEL_WARNING, weft_note(name " warning")); \
		weft_note(name " info");                                 \
		weft_at(WEFT_LEVEL_DEBUG, weft_note(name " debug"));     \
		weft_at(WEFT_LEVEL_TRACE, weft_note(name " trace"));     \
	} while (0)
