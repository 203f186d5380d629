/* SPDX-License-Identifier: ISC
 *
 * Facts about what cannot be recorded, for the readers of the trace, by the keys of
 * weft/unseen.def.
 */
#ifndef WEFT_ADAPTERS_UNSEEN_H
#define WEFT_ADAPTERS_UNSEEN_H

#include "hooks/hooks.h"

/* Records that `what` is not, once. Children that are forked later record it again in their own
 * buffers. */
void weft__hooks_unseen(const char *key, const char *what);

/* The same about one moment: children do not record it. A key after "-" takes it back. */
void weft__hooks_unseen_here(const char *key, const char *what);

/* A call of `name` leads to `function`, which is another library's, and so is not recorded. Says so
 * if this process records. errno may change. */
void weft__hooks_unseen_passed(const char *name, const void *function);

/* Says which functions of the program itself hide hooks. */
void weft__hooks_unseen_own(void);

/* `function` counts the mappings of rings of io_uring whose requests are recorded. */
void weft__hooks_offer_rings(unsigned (*function)(void));

/* A forked child begins to record; and a process ends. */
void weft__hooks_unseen_inherited(void);
void weft__hooks_unseen_at_end(void);

#endif
