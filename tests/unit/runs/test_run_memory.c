/* SPDX-License-Identifier: ISC
 *
 * Rings in memory: cores whose segments lie anywhere, hostile ones, and the memory of a process,
 * which is this one here. A copy of that has to be the one that weft_buffer_copy makes.
 */
#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include <weft/buffer.h>
#include <weft/weft.h>

#include "abi/buffer_abi.h"
#include "abi/packet_abi.h"
#include "runs/memory/image.h"
#include "runs/memory/operand.h"

#define RING_BYTES ((size_t)1 << 17)
#define ADDRESS    0x7f0000000000u
#define PART_BYTES (RING_BYTES / 2)

static _Alignas(4096) unsigned char ring[RING_BYTES];
static struct weft__runs_image_ring found[WEFT__RUNS_IMAGE_RINGS];

/* Records more than the ring holds. */
static int record(void **state)
{
	(void)state;
	assert_int_equal(weft_start(ring, sizeof(ring), NULL), 0);
	for (int i = 0; i < 20000; i++) {
		uint64_t task = weft_create(WEFT_KIND_TASK);
		weft_label_as(task, i % 2 ? "odd" : "even");
		weft_resolve(task);
	}
	weft_stop();
	return 0;
}

/* ---- Cores ---- */

/* A core of two segments; the second half of the ring is first in the file. */
struct core {
	Elf64_Ehdr header;
	Elf64_Phdr segments[2];
	unsigned char second[PART_BYTES], first[PART_BYTES];
};

static struct core *make_core(void)
{
	struct core *core = calloc(1, sizeof(*core));
	assert_non_null(core);
	memcpy(core->header.e_ident, ELFMAG, SELFMAG);
	core->header.e_ident[EI_CLASS] = ELFCLASS64;
	core->header.e_ident[EI_DATA] = ELFDATA2LSB;
	core->header.e_type = ET_CORE;
	core->header.e_phoff = offsetof(struct core, segments);
	core->header.e_phentsize = sizeof(Elf64_Phdr);
	core->header.e_phnum = 2;
	for (int i = 0; i < 2; i++)
		core->segments[i] = (Elf64_Phdr){.p_type = PT_LOAD,
			.p_offset = i ? offsetof(struct core, first) : offsetof(struct core, second),
			.p_vaddr = ADDRESS + (i ? 0 : PART_BYTES),
			.p_filesz = PART_BYTES,
			.p_memsz = PART_BYTES};
	memcpy(core->first, ring, PART_BYTES);
	memcpy(core->second, ring + PART_BYTES, PART_BYTES);
	return core;
}

/* Opens bytes as a file, and frees them. */
static bool open_bytes(void *bytes, size_t size, struct weft__runs_image *ret_image)
{
	char reason[WEFT__RUNS_IMAGE_REASON_BYTES];
	struct weft_source *source;
	int fd = memfd_create("core", MFD_CLOEXEC);
	assert_int_equal(write(fd, bytes, size), size);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(weft_source_open_descriptor(fd, 0, &source), 0);
	close(fd);
	free(bytes);
	return weft__runs_image_open_file(source, ret_image, reason);
}

/* Copies the ring, whose content the caller knows. */
static void check_copy(const struct weft__runs_image *image,
	const struct weft__runs_image_ring *what, const void *expected, size_t size)
{
	int fd = memfd_create("copy", MFD_CLOEXEC);
	unsigned char *copy = malloc(size);
	assert_non_null(copy);
	assert_int_equal(what->size, size);
	assert_int_equal(weft__runs_image_copy(image, what, fd), 0);
	assert_int_equal(lseek(fd, 0, SEEK_END), size);
	assert_int_equal(pread(fd, copy, size, 0), size);
	assert_memory_equal(copy, expected, size);
	close(fd);
	free(copy);
}

static void check_core(struct core *core, uint64_t address)
{
	struct weft__runs_image image;
	assert_true(open_bytes(core, sizeof(*core), &image));
	assert_int_equal(weft__runs_image_search(&image, found), 1);
	assert_int_equal(found[0].address, address);
	assert_int_equal(found[0].pid, getpid());
	assert_int_equal(image.missing, 0);
	check_copy(&image, &found[0], ring, RING_BYTES);
	weft__runs_image_close(&image);
}

static void test_segments_need_not_be_in_order(void **state)
{
	(void)state;
	check_core(make_core(), ADDRESS);
}

static void test_without_paging_the_addresses_are_physical(void **state)
{
	(void)state;
	struct core *core = make_core();
	for (int i = 0; i < 2; i++) {
		core->segments[i].p_paddr = core->segments[i].p_vaddr - ADDRESS + 4096;
		core->segments[i].p_vaddr = 0;
	}
	check_core(core, 4096);
}

/* One that begins at 0 does not make the others physical, wherever it is listed. */
static void test_a_segment_may_begin_at_0(void **state)
{
	(void)state;
	struct core *core = make_core();
	for (int i = 0; i < 2; i++)
		core->segments[i].p_vaddr -= ADDRESS;
	check_core(core, 0);
}

/* The longer one of two segments at one address is read. */
static void test_segments_may_begin_at_one_address(void **state)
{
	(void)state;
	for (int shorter = 0; shorter < 2; shorter++) {
		struct core *core = make_core();
		core->segments[0] = core->segments[1];
		core->segments[shorter].p_filesz = core->segments[shorter].p_memsz = 4096;
		struct weft__runs_image image;
		assert_true(open_bytes(core, sizeof(*core), &image));
		assert_int_equal(weft__runs_image_search(&image, found), 1);
		assert_int_equal(found[0].size, PART_BYTES);
		weft__runs_image_close(&image);
	}
}

/* The end of a file's name may look like an address. */
static void test_a_file_may_be_named_like_an_address(void **state)
{
	(void)state;
	struct core *core = make_core();
	char operand[] = "core:/tmp/weft-memory-XXXXXX/core@0x40", *path = operand + strlen("core:");
	char *slash = strrchr(path, '/');
	*slash = '\0';
	assert_non_null(mkdtemp(path));
	*slash = '/';
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(core, sizeof(*core), 1, file), 1);
	assert_int_equal(fclose(file), 0);
	free(core);
	const int fd = weft__runs_image_copy_named(operand, 0);
	assert_true(fd >= 0);
	assert_int_equal(lseek(fd, 0, SEEK_END), RING_BYTES);
	close(fd);
	unlink(path);
	*slash = '\0';
	rmdir(path);
}

static void test_a_core_may_have_more_segments_than_its_header_can_count(void **state)
{
	(void)state;
	struct core *core = make_core();
	const Elf64_Shdr section = {.sh_info = 2};
	core->header.e_phnum = PN_XNUM;
	unsigned char *bytes = calloc(1, sizeof(*core) + sizeof(section));
	assert_non_null(bytes);
	core->header.e_shoff = sizeof(*core);
	memcpy(bytes, core, sizeof(*core));
	memcpy(bytes + sizeof(*core), &section, sizeof(section));
	free(core);
	struct weft__runs_image image;
	assert_true(open_bytes(bytes, sizeof(struct core) + sizeof(section), &image));
	assert_int_equal(image.count, 2);
	assert_int_equal(weft__runs_image_search(&image, found), 1);
	weft__runs_image_close(&image);
}

/* Two mappings of one memory are one ring. */
static void test_memory_that_two_segments_name_is_searched_once(void **state)
{
	(void)state;
	struct core *core = make_core();
	core->segments[0] = core->segments[1];
	core->segments[0].p_vaddr += (uint64_t)1 << 30;
	struct weft__runs_image image;
	assert_true(open_bytes(core, sizeof(*core), &image));
	assert_int_equal(weft__runs_image_search(&image, found), 1);
	assert_int_equal(found[0].size, PART_BYTES); /* the rest of the ring is not there */
	weft__runs_image_close(&image);
}

static void test_what_a_core_lacks_is_counted(void **state)
{
	(void)state;
	struct core *core = make_core();
	core->segments[1].p_filesz = 0;
	core->segments[0].p_offset = UINT64_MAX - 7;
	struct weft__runs_image image;
	assert_true(open_bytes(core, sizeof(*core), &image));
	assert_int_equal(weft__runs_image_search(&image, found), 0);
	assert_int_equal(image.missing, RING_BYTES);
	weft__runs_image_close(&image);
}

static void test_impossible_sizes_are_bounded(void **state)
{
	(void)state;
	struct core *core = make_core();
	core->header.e_phnum = 60000;
	for (int i = 0; i < 2; i++)
		core->segments[i].p_filesz = core->segments[i].p_memsz = UINT64_MAX;
	core->segments[0].p_vaddr = UINT64_MAX - 4096;
	struct weft__runs_image image;
	assert_true(open_bytes(core, sizeof(*core), &image));
	assert_int_equal(weft__runs_image_search(&image, found), 1);
	assert_true(found[0].size <= sizeof(struct core));
	weft__runs_image_close(&image);
}

static void test_other_files_are_images(void **state)
{
	(void)state;
	struct weft__runs_image image;
	unsigned char *bytes = calloc(1, RING_BYTES + 64);
	assert_non_null(bytes);
	memcpy(bytes + 64, ring, RING_BYTES);
	assert_true(open_bytes(bytes, RING_BYTES + 64, &image));
	assert_int_equal(weft__runs_image_search(&image, found), 1);
	assert_int_equal(found[0].address, 64);
	check_copy(&image, &found[0], ring, RING_BYTES);
	assert_false(weft__runs_image_has_ring(&image, 0, &found[0]));
	assert_false(weft__runs_image_has_ring(&image, UINT64_MAX - 63, &found[0]));
	weft__runs_image_close(&image);
}

/* ---- A process ---- */

static struct weft_abi_packet *packet(uint32_t index)
{
	struct weft_abi_buffer *header = (void *)ring;
	return (void *)(ring + header->packets_offset + (uint64_t)index * header->packet_bytes);
}

static void check_own_memory(void)
{
	char reason[WEFT__RUNS_IMAGE_REASON_BYTES];
	struct weft__runs_image image;
	struct weft__runs_image_ring here;
	unsigned char *expected = calloc(1, RING_BYTES);
	assert_non_null(expected);
	assert_int_equal(weft_buffer_copy(expected, ring, RING_BYTES), 0);
	assert_true(weft__runs_image_open_process(getpid(), &image, reason));
	assert_true(weft__runs_image_has_ring(&image, (uintptr_t)ring, &here));
	check_copy(&image, &here, expected, RING_BYTES);
	weft__runs_image_close(&image);
	free(expected);
}

static void test_a_process_is_copied_as_a_buffer_is(void **state)
{
	(void)state;
	check_own_memory();
}

static void test_a_packet_that_is_being_replaced_is_left_out(void **state)
{
	(void)state;
	const struct weft_abi_packet kept = *packet(3);
	packet(3)->state = (kept.state & ~(uint64_t)WEFT_ABI_PACKET_STATE) | WEFT_ABI_PACKET_OPENING;
	check_own_memory();
	*packet(3) = kept;
}

static void test_a_packet_that_was_claimed_later_is_left_out(void **state)
{
	(void)state;
	const struct weft_abi_packet kept = *packet(5);
	packet(5)->state += (uint64_t)1000 << 2;
	check_own_memory();
	*packet(5) = kept;
}

static void test_of_a_damaged_packet_the_header_is_copied(void **state)
{
	(void)state;
	const struct weft_abi_packet kept = *packet(2);
	packet(2)->committed = UINT32_MAX - 7;
	check_own_memory();
	packet(2)->committed = kept.committed - 1;
	check_own_memory();
	*packet(2) = kept;
}

static void test_the_search_finds_the_ring_of_a_process(void **state)
{
	(void)state;
	char reason[WEFT__RUNS_IMAGE_REASON_BYTES];
	struct weft__runs_image image;
	bool is_found = false;
	assert_true(weft__runs_image_open_process(getpid(), &image, reason));
	for (size_t i = weft__runs_image_search(&image, found); i-- > 0;)
		is_found = is_found || found[i].address == (uintptr_t)ring;
	assert_true(is_found);
	weft__runs_image_close(&image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_segments_need_not_be_in_order),
		cmocka_unit_test(test_without_paging_the_addresses_are_physical),
		cmocka_unit_test(test_a_segment_may_begin_at_0),
		cmocka_unit_test(test_a_file_may_be_named_like_an_address),
		cmocka_unit_test(test_segments_may_begin_at_one_address),
		cmocka_unit_test(test_a_core_may_have_more_segments_than_its_header_can_count),
		cmocka_unit_test(test_memory_that_two_segments_name_is_searched_once),
		cmocka_unit_test(test_what_a_core_lacks_is_counted),
		cmocka_unit_test(test_impossible_sizes_are_bounded),
		cmocka_unit_test(test_other_files_are_images),
		cmocka_unit_test(test_a_process_is_copied_as_a_buffer_is),
		cmocka_unit_test(test_a_packet_that_is_being_replaced_is_left_out),
		cmocka_unit_test(test_a_packet_that_was_claimed_later_is_left_out),
		cmocka_unit_test(test_of_a_damaged_packet_the_header_is_copied),
		cmocka_unit_test(test_the_search_finds_the_ring_of_a_process),
	};
	return cmocka_run_group_tests(tests, record, NULL);
}
