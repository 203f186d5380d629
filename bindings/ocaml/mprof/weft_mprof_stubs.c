/* SPDX-License-Identifier: ISC
 *
 * Where the memory of a Bigarray is. It never moves.
 */
#define CAML_NAME_SPACE
#include <caml/bigarray.h>
#include <caml/mlvalues.h>

intnat weft_mprof_address(value buffer)
{
	return (intnat)Caml_ba_data_val(buffer);
}

value weft_mprof_address_byte(value buffer)
{
	return Val_long(weft_mprof_address(buffer));
}
