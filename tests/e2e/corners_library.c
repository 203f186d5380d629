/* SPDX-License-Identifier: ISC
 *
 * An instrumented library, to be loaded and unloaded. See corners_subject.c.
 */
#include <weft/weft.h>

__attribute__((visibility("default"))) void corners_run(void);

void corners_run(void)
{
	weft_note("from the library");
	weft_counter_add("runs", 1);
}
