/* SPDX-License-Identifier: ISC
 *
 * The choices that all windows share, in weft/viewer.ini of the configuration directory.
 */
#ifndef WEFT_GTK_PREFERENCES_H
#define WEFT_GTK_PREFERENCES_H

#include <stdbool.h>

/* Whether W A S D zoom and move. A file that cannot be read or written is ignored. */
bool preferences_have_wasd(void);
void preferences_set_wasd(bool has_wasd);

#endif
