/* SPDX-License-Identifier: ISC
 *
 * A call that is compiled out.
 */
#define WEFT_DISABLED

#include "disabled.h"

#include <weft/weft.h>

#include "measure.h"

LOOP(do_resolve, weft_resolve(i); KEEP(i))

const struct subject disabled_resolve = {"compiled out (WEFT_DISABLED)", do_resolve};
