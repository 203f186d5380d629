/* SPDX-License-Identifier: ISC
 *
 * The smallest program that records: one task, with a name, that runs and ends.
 *
 *     weft record -o hello.weft build/examples/hello && weft dump hello.weft
 */
#include <stdio.h>
#include <weft/weft.h>

int main(void)
{
	uint64_t task = weft_create(WEFT_KIND_TASK);
	weft_label_as(task, "say hello");
	weft_switch(task);
	puts("Hello, world.");
	weft_resolve(task);
	weft_switch(WEFT_TASK_NONE);
}
