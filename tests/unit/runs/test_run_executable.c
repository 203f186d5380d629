/* SPDX-License-Identifier: ISC
 *
 * Causes that the files of programs tell: scripts, ELF files of several kinds, and damaged ones.
 */
#include "run_directory.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>

#include "runs/program/executable.h"
#include "runs/program/libraries.h"

static struct place place;

/* In place of libc's: the numbers of the user who asks, as differences from the real ones. */
static unsigned other_user, other_group;

uid_t getuid(void)
{
	return geteuid() + other_user;
}

gid_t getgid(void)
{
	return getegid() + other_group;
}

static struct weft__runs_executable examine(const char *name)
{
	struct weft__runs_executable executable;
	weft__runs_executable_examine(name, &executable);
	weft__runs_executable_search(&executable);
	return executable;
}

static struct weft__runs_executable examine_bytes(const void *bytes, size_t size)
{
	FILE *file = fopen(in_place(&place, "program"), "we");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
	assert_true(place_has(&place, "program"));
	return examine(in_place(&place, "program"));
}

static struct weft__runs_executable examine_text(const char *text)
{
	return examine_bytes(text, strlen(text));
}

/* A small ELF file: a header, program headers, and text behind them. */
struct sample {
	Elf64_Ehdr header;
	Elf64_Phdr segments[2];
	char text[200000];
};

static struct sample *make_sample(void)
{
	struct sample *sample = calloc(1, sizeof(*sample));
	assert_non_null(sample);
	FILE *own = fopen("/proc/self/exe", "re");
	assert_non_null(own);
	assert_int_equal(fread(&sample->header, sizeof(sample->header), 1, own), 1);
	fclose(own);
	sample->header.e_phoff = offsetof(struct sample, segments);
	sample->header.e_phnum = 2;
	sample->header.e_phentsize = sizeof(sample->segments[0]);
	return sample;
}

static struct weft__runs_executable examine_sample(const struct sample *sample)
{
	return examine_bytes(sample, sizeof(*sample));
}

static void scripts_have_interpreters(void **state)
{
	static const struct {
		const char *text, *interpreter;
	} cases[] = {
		{"#!/bin/sh\n", "/bin/sh"},
		{"#!  /bin/sh -e\n", "/bin/sh"},
		{"#!/bin/sh", "/bin/sh"},
		{"exit 0\n", "/bin/sh"},
		{"#!\n", "/bin/sh"},
		{"#!   \n", "/bin/sh"},
		{"", "/bin/sh"},
		{"#!/usr/bin/env -S A=b /bin/sh -e\n", "/bin/sh"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct weft__runs_executable it = examine_text(cases[i].text);
		assert_true(it.is_script);
		assert_string_equal(it.path, cases[i].interpreter);
		assert_int_equal(it.error, 0);
		assert_true(it.is_elf && it.is_dynamic && !it.has_libweft);
	}
}

static void a_script_of_itself_ends(void **state)
{
	char text[PATH_MAX + 8];
	(void)state;
	snprintf(text, sizeof(text), "#!%.200s\n", in_place(&place, "program"));
	struct weft__runs_executable it = examine_text(text);
	assert_true(it.is_script && !it.is_elf);
	it = examine_text("#!/none/at/all\n");
	assert_int_equal(it.error, ENOENT);
	assert_string_equal(it.path, "/none/at/all");
}

static void files_that_cannot_be_read(void **state)
{
	(void)state;
	assert_int_equal(examine("/none/at/all").error, ENOENT);
	assert_int_equal(examine("no-such-program-anywhere").error, ENOENT);
	assert_int_equal(examine(in_place(&place, "")).error, EINVAL);
	assert_int_equal(examine("/dev/null").error, EINVAL);
}

static void an_elf_file_tells_how_it_is_linked(void **state)
{
	struct sample *sample = make_sample();
	(void)state;
	struct weft__runs_executable it = examine_sample(sample);
	assert_true(it.is_elf);
	assert_false(it.is_script || it.is_dynamic || it.is_go || it.has_libweft);
	assert_null(it.machine);
	assert_null(it.privilege);
	sample->segments[1].p_type = PT_INTERP;
	assert_true(examine_sample(sample).is_dynamic);
	sample->header.e_machine = EM_IA_64;
	assert_string_equal(examine_sample(sample).machine, "another machine");
	sample->header.e_machine = EM_RISCV;
	assert_string_equal(examine_sample(sample).machine, "RISC-V");
	sample->header.e_machine = __builtin_bswap16(EM_S390);
	sample->header.e_ident[EI_DATA] ^= ELFDATA2LSB ^ ELFDATA2MSB;
	assert_string_equal(examine_sample(sample).machine, "s390");
	free(sample);
}

/* The file is read in pieces: a text may be in two of them. */
static void texts_are_found_anywhere(void **state)
{
	static const char *const texts[] = {"libweft.so.0", "WEFT_IN_PLACE", "\xff Go buildinf:"};
	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct sample *sample = make_sample();
		const size_t before = offsetof(struct sample, text);
		for (size_t at = 65530 - before; at < 65540 - before; at++) {
			memset(sample->text, 'x', sizeof(sample->text));
			memcpy(sample->text + at, texts[i], strlen(texts[i]) + 1);
			struct weft__runs_executable it = examine_sample(sample);
			assert_int_equal(it.has_libweft, i < 2);
			assert_int_equal(it.is_go, i == 2);
		}
		free(sample);
	}
}

static void damaged_headers_are_harmless(void **state)
{
	struct sample *sample = make_sample();
	(void)state;
	for (size_t size = 4; size < sizeof(sample->header) + 8; size++) {
		struct weft__runs_executable it = examine_bytes(sample, size);
		assert_true(it.is_script || !it.is_dynamic); /* a shorter file counts as a script */
	}
	sample->header.e_phnum = UINT16_MAX;
	assert_false(examine_sample(sample).is_dynamic);
	sample->header.e_phentsize = 0;
	assert_false(examine_sample(sample).is_dynamic);
	sample->header.e_phentsize = UINT16_MAX;
	assert_false(examine_sample(sample).is_dynamic);
	sample->header.e_phoff = UINT64_MAX;
	assert_false(examine_sample(sample).is_dynamic);
	sample->header.e_ident[EI_CLASS] = 77;
	assert_non_null(examine_sample(sample).machine);
	for (uint32_t seed = 1; seed < 2000; seed++) {
		unsigned char *bytes = (unsigned char *)sample;
		uint32_t random = seed * 2654435761u;
		bytes[4 + random % (sizeof(sample->header) - 4)] = (unsigned char)(random >> 24);
		assert_true(examine_bytes(sample, 4096).is_elf);
	}
	free(sample);
}

static const char *privilege_of(mode_t mode)
{
	assert_int_equal(chmod(in_place(&place, "program"), mode), 0);
	return examine(in_place(&place, "program")).privilege;
}

/* Set-group-ID without the group's right to execute is a mark of mandatory locking. */
static void only_another_owner_gives_privileges(void **state)
{
	struct sample *sample = make_sample();
	(void)state;
	examine_sample(sample);
	assert_null(privilege_of(06755));
	other_user = 1;
	assert_string_equal(privilege_of(04755), "set-user-ID");
	assert_null(privilege_of(02755));
	other_user = 0;
	other_group = 1;
	assert_string_equal(privilege_of(02755), "set-group-ID");
	assert_string_equal(privilege_of(06755), "set-group-ID");
	assert_null(privilege_of(04755));
	assert_null(privilege_of(02745));
	other_user = 1;
	assert_string_equal(privilege_of(06745), "set-user-ID");
	other_user = other_group = 0;
	free(sample);
}

static int make_place(void **state)
{
	(void)state;
	place = place_make();
	return 0;
}

static int remove_place(void **state)
{
	(void)state;
	place_remove(&place);
	return 0;
}

/* This test links libweft statically, so its shared libraries are those of any C program. */
static void the_loader_lists_a_programs_libraries(void **state)
{
	(void)state;
	struct weft__runs_libraries libraries;
	weft__runs_libraries_list("/proc/self/exe", &libraries);
	assert_true(libraries.is_known);
	assert_false(libraries.has_uv || libraries.has_glib || libraries.has_xen || libraries.has_weft);
	assert_false(weft__runs_libraries_is_foreign("/proc/self/exe"));
	(void)examine_text("#!/bin/sh\n");
	weft__runs_libraries_list(in_place(&place, "program"), &libraries);
	assert_false(libraries.is_known);
	weft__runs_libraries_list(in_place(&place, "missing"), &libraries);
	assert_false(libraries.is_known);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(scripts_have_interpreters, make_place, remove_place),
		cmocka_unit_test_setup_teardown(a_script_of_itself_ends, make_place, remove_place),
		cmocka_unit_test_setup_teardown(files_that_cannot_be_read, make_place, remove_place),
		cmocka_unit_test_setup_teardown(
			an_elf_file_tells_how_it_is_linked, make_place, remove_place),
		cmocka_unit_test_setup_teardown(texts_are_found_anywhere, make_place, remove_place),
		cmocka_unit_test_setup_teardown(damaged_headers_are_harmless, make_place, remove_place),
		cmocka_unit_test_setup_teardown(
			only_another_owner_gives_privileges, make_place, remove_place),
		cmocka_unit_test_setup_teardown(
			the_loader_lists_a_programs_libraries, make_place, remove_place),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
