/* SPDX-License-Identifier: ISC
 *
 * Records a note at each stage of a program's life: before main, in it, and when it is over. Built
 * with the shared and with the static library.
 */
#include <stdlib.h>

#include <weft/weft.h>

__attribute__((constructor(102))) static void begin(void)
{
	weft_note("constructor");
}

__attribute__((destructor(102))) static void end(void)
{
	weft_note("destructor");
}

static void at_exit(void)
{
	weft_note("atexit");
}

int main(void)
{
	weft_note("main");
	return atexit(at_exit);
}
