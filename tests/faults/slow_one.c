/* SPDX-License-Identifier: ISC
 *
 * One request among 60,000 of half a millisecond takes 24 ms.
 */
#include "world.h"

void program_slow_one(void)
{
	serve(60000, 100 * US, 500 * US);
	after(3 * S, serve_one, 24 * MS);
	run_loop();
}
