/* SPDX-License-Identifier: ISC
 *
 * Short forms of names of C++ and Rust. Rust's were taken from a program, and what they mean from
 * `c++filt -s rust`.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/demangle.h"

#define ROOM 120

static void expect(const char *mangled, const char *expected)
{
	char bytes[ROOM];
	struct weft__symbols_name text = {bytes, 0, sizeof(bytes)};
	weft__symbols_demangle(&text, mangled);
	assert_int_equal(text.size, strlen(expected));
	assert_memory_equal(bytes, expected, text.size);
}

static void names_of_cplusplus(void **state)
{
	(void)state;
	expect("_ZN6server6acceptEi", "server::accept");
	expect("_ZN6serverD2Ev", "server::~");
	expect("_ZN12_GLOBAL__N_14pool4fillEv", "pool::fill");
	expect("_ZNSt6thread6_StateD1Ev", "std::thread::_State::~");
	expect("_ZN4pool17handle_connectionEi", "pool::handle_connection");
	expect("_ZN4pool17b0123456789abcdef4fillEv", "pool::b0123456789abcdef::fill");
	expect("_ZN4pool6WorkerC2Ev", "pool::Worker::Worker");
	expect("main", "main");
}

static void names_of_rust(void **state)
{
	static const char *const names[][2] = {
		{"_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write"},
		{"_ZN3std4sync6poison5mutex14Mutex$LT$T$GT$4lock17h94493eb9fafe3700E",
			"std::sync::poison::mutex::Mutex<T>::lock"},
		{"_ZN61_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$m..Feed$LT$C$GT$$GT$4take"
		 "17h0123456789abcdefE",
			"<alloc::vec::Vec<T> as m::Feed<C>>::take"},
		{"_ZN2dl4main28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE", "dl::main::{closure}"},
		{"_RNvMNtNtNtNtCsjrHSEGnQ3l9_3std3sys4sync5mutex5futexNtB2_5Mutex14lock_contended",
			"Mutex::lock_contended"},
		{"_RNvCsjrHSEGnQ3l9_1m4main", "m::main"},
		{"_RNCNvCsjrHSEGnQ3l9_1m4main0B3_", "main::{closure}"},
		{"_RINvMs0_NtNtNtCsjrHSEGnQ3l9_3std12backtrace_rs9symbolize5gimliNtB6_5Cache11with_global"
		 "NCNvB6_7resolves_0EBc_",
			"Cache::with_global"},
		{"_RINvMNtCsgEmfK2I1SDS_4core5sliceSh11copy_withinINtNtNtB5_3ops5range14RangeInclusivejEEC"
		 "sfEOYDRpO4Ta_11miniz_oxide",
			"copy_within"},
		{"_RNvXs_NtCs1_4core3fmtReNtB4_5Debug3fmtCs1_1m", "fmt"}, {"_RNvMNvC1a1fFUKCjRhEu1g", "g"},
		/* The argument of a generic has one itself. */
		{"_RINvC1a1fNvINtC1b1VjE1gE", "a::f"},
		{"_RNvMNvC1a1fFG0_UKCjRhEu1g", "g"}, /* for any lifetimes */
	};
	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		expect(names[i][0], names[i][1]);
}

static void what_is_no_name_stays(void **state)
{
	(void)state;
	expect("_R", "_R");
	expect("_Resume", "_Resume");
	expect("_RB_", "_RB_");
	expect("_RNvC9999a1f", "_RNvC9999a1f");
}

/* "_ZN6server707handle_xxx…Ev": the text has the begin of it. */
static void long_components_are_cut_off(void **state)
{
	static const size_t sizes[] = {ROOM, ROOM + 1, 511, 512, 513, 707, 99999};
	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		char *name = NULL, *letters = malloc(sizes[i] + 1);
		memset(letters, 'x', sizes[i]);
		letters[sizes[i]] = '\0';
		assert_true(asprintf(&name, "_ZN6server%zu%sEv", sizes[i], letters) > 0);
		char bytes[ROOM];
		struct weft__symbols_name text = {bytes, 0, sizeof(bytes)};
		weft__symbols_demangle(&text, name);
		assert_int_equal(text.size, sizeof(bytes));
		assert_memory_equal(bytes, "server::xxxx", 12);
		free(letters);
		free(name);
	}
	expect("_ZN99999999999999999999999999999999999999999999999999999x",
		"_ZN99999999999999999999999999999999999999999999999999999x");
}

/* Run under sanitizers, too: a name may be cut off or wrong anywhere. */
static void wrong_names_are_read_within_their_bounds(void **state)
{
	static const char name[] =
		"_RINvMNtNtCsjrHSEGnQ3l9_3std4sync9once_lockINtB3_8OnceLockFUKCTRL_hPjEDNtB2_1tp1aSlEL_E10"
		"initializeNCINvB2_11get_or_initNCNvB2V_6stdout0E0zKj1f_EB7_";
	static const char letters[] = "CMXYNIBASPORQTFDKLEGUsu_019zp";
	(void)state;
	srand(1);
	for (int round = 0; round < 20000; round++) {
		size_t size = 2 + (size_t)rand() % (sizeof(name) - 2);
		char *copy = strndup(name, size);
		for (int i = rand() % 6; i > 0 && size > 2; i--)
			copy[2 + (size_t)rand() % (size - 2)] = letters[(size_t)rand() % (sizeof(letters) - 1)];
		char bytes[ROOM];
		struct weft__symbols_name text = {bytes, 0, sizeof(bytes)};
		weft__symbols_demangle(&text, copy);
		assert_true(text.size > 0 && text.size <= sizeof(bytes));
		free(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_cplusplus),
		cmocka_unit_test(names_of_rust),
		cmocka_unit_test(what_is_no_name_stays),
		cmocka_unit_test(long_components_are_cut_off),
		cmocka_unit_test(wrong_names_are_read_within_their_bounds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
