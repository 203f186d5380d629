/* SPDX-License-Identifier: ISC
 *
 * File and line of the functions that labels name, and of the calls in which tasks wait, from the
 * debug information of the program.
 */
#ifndef WEFT_RECORD_LINES_H
#define WEFT_RECORD_LINES_H

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Looks up the functions and calls that a saved trace's adapters have named, and appends their
 * names and lines to its table of names. Does nothing where there is no debug information, and
 * takes at most some seconds. The program ran as `user`; if we are root, its files are read with
 * that user's rights. */
void record_add_lines(const char *file, uid_t user);

/* ---- Looking up (debug_info.c) ---- */

struct debug_info;

/* NULL: libdw is not installed, or there is no memory. It stays until the process ends. */
struct debug_info *debug_info_open(void);

/* Opens an ELF file, unless that was done before. Later none can be opened: see confine(). */
void debug_info_add(struct debug_info *info, const char *file);

/* True if all files that were added belong to our user, and no other user can write to them. */
bool debug_info_is_ours(const struct debug_info *info);

/* The line of the code at an address of a file that was added, as its linker counts: "hello.c:12".
 * False if it is unknown. */
bool debug_info_find(
	struct debug_info *info, const char *file, uint64_t address, char *ret_location, size_t room);

/* True if the file that was added has that build id, in hexadecimal; also if neither has one. */
bool debug_info_is(struct debug_info *info, const char *file, const char *build_id);

#define DEBUG_CALLS_MAX 8

/* A function of the source, and the line in it. */
struct debug_call {
	const char *symbol;
	const char *file; /* without its folder; NULL: unknown */
	int line;
	bool is_system; /* the file is a header of the system, or of a language's library */
};

/* The functions at an address of a file that was added, inlined ones too, from the innermost one
 * on. All have a symbol. 0: unknown. The texts stay as long as `info`. */
size_t debug_info_calls(struct debug_info *info, const char *file, uint64_t address,
	struct debug_call ret_calls[DEBUG_CALLS_MAX]);

/* ---- Files (debug_files.c) ---- */

/* The flags by which it finds and reads files. */
#define DEBUG_FILES_FIND (O_PATH | O_CLOEXEC)
#define DEBUG_FILES_READ (O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

/* Opens a regular file for reading; `ret_real` is its path without links. -1: there is none. */
int debug_files_open(const char *path, char ret_real[PATH_MAX]);

/* The description of its debug information in an ELF file. */
struct debug_files_wanted {
	const char *file; /* the ELF file, without links */
	const unsigned char *build_id;
	size_t build_id_size;
	const char *link; /* NULL: none */
	uint32_t checksum;
};

/* Opens the file of debug information: below the global folder for these, or in the ELF file's own.
 * -1: there is none. */
int debug_files_find(const struct debug_files_wanted *wanted);

/* ---- Rights (confine.c) ---- */

#define CONFINE_SECONDS 5 /* of processor time */
#define CONFINE_NOBODY  65534

/* Limits memory and time of this process. */
void confine_limit(void);

/* If we are root: becomes that user, for good. */
void confine_become(uid_t user);

/* Gives up all rights but those of its user: from now on this process can do nothing but compute,
 * and read files by the functions above. False if the system has no filter of system calls. */
bool confine(void);

#endif
