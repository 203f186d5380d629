/* SPDX-License-Identifier: ISC
 *
 * Where a std::thread has its function, as offsetof says it in C++.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "thread/tuple.h"

#define TUPLE(types) "NSt6thread11_State_implINS_8_InvokerISt5tupleIJ" types "EEEEEE"

static void functions_in_tuples(void **state)
{
	static const struct {
		const char *class_name;
		size_t at, at_of_32_bits;
	} cases[] = {
		{TUPLE("PFvvE"), 1, 1},
		{TUPLE("PFviEi"), 2, 2},
		{TUPLE("PFvcidPKcEcidS4_"), 4, 6}, /* S4_ is PKc */
		{TUPLE("PDoFvbEb"), 2, 2},
		{TUPLE("M4poolFvviEPS3_i"), 3, 3},
		{TUPLE("M4poolFvvEPS3_"), 2, 2},
		{TUPLE("PFvRiESt17reference_wrapperIiE"), 2, 2},
		{TUPLE("PFvRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEES8_"), 5, 7},
		{TUPLE("PFvSt10shared_ptrIiEES4_"), 3, 3},
		{TUPLE("4pool"), 0, 0},
		{TUPLE("Z4mainEUlvE_"), 0, 0},
		{TUPLE("PFv4poolES3_"), 0, 0},           /* of a class that is not known */
		{TUPLE("PFvM4poolFvvEEMS3_FvvE"), 0, 0}, /* has two words */
		{TUPLE("PFvvES99_"), 0, 0},              /* refers to nothing */
		{"NSt6thread11_State_implINS_8_InvokerISt5tupleIJPFvvE", 0, 0}, /* cut off */
		{"4main", 0, 0},
		{"", 0, 0},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(weft__thread_function_in(cases[i].class_name),
			sizeof(void *) == 8 ? cases[i].at : cases[i].at_of_32_bits);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_in_tuples),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
