/* SPDX-License-Identifier: ISC
 *
 * A task compresses a file in one go, and the loop serves no other task meanwhile.
 */
#include "world.h"

static void compress(uint64_t unused)
{
	uint64_t task = make(WEFT_KIND_TASK, "compress");
	(void)unused;
	weft_switch(task);
	weft_begin("deflate");
	pass(60 * MS);
	weft_end();
	pass(5 * MS);
	weft_resolve(task);
}

void program_hog(void)
{
	serve(500, MS, 5 * MS);
	after(250 * MS, compress, 0);
	run_loop();
}
