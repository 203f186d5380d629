/* SPDX-License-Identifier: ISC
 *
 * Which files a trace consists of, and how large they are: compared with an earlier look, it says
 * whether the trace has grown.
 */
#ifndef WEFT_GTK_FILES_H
#define WEFT_GTK_FILES_H

#include <stdbool.h>
#include <stdint.h>

struct files;

/* Looks at the files, and at those in directories; `paths` ends with NULL. */
struct files *files_look(char **paths);
/* NULL is allowed. */
void files_forget(struct files *files);

/* Says which of the files are shown; the others were left out. `shown` ends with NULL. Without this
 * call, all are shown. */
void files_choose(struct files *files, char **shown);

/* True if the later look found other files, or another size of one that was left out. */
bool files_differ(const struct files *files, const struct files *later);

/* The sizes of the shown files, of which each counts as one byte more, together; `later` may be a
 * look that does not differ, or `files` itself. */
int64_t files_size(const struct files *files, const struct files *later);

#endif
