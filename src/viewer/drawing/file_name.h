/* SPDX-License-Identifier: ISC
 *
 * Names of the files that are saved from a trace: pictures and cuts.
 */
#ifndef WEFT_VIEWER_FILE_NAME_H
#define WEFT_VIEWER_FILE_NAME_H

#define WEFT__FILE_NAME_BYTES 128

/* The trace's title without the suffix of a trace, and `suffix`. Characters that file systems
 * refuse, and those that would hide what the name is, are replaced by "_". Returns `ret_name`. */
const char *weft__viewer_file_name(
	const char *title, const char *suffix, char ret_name[WEFT__FILE_NAME_BYTES]);

#endif
