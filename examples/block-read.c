/* SPDX-License-Identifier: ISC
 *
 * Reads a file block by block in a tight loop, as a program with promises would:
 *
 *     read_from(n) = bind(read_block(n), then: use the block, read_from(n + 1))
 *
 * The same experiment on a unikernel, whose picture was full of short waits, is why tools like weft
 * exist. Look for this: how long the disk takes for a block, how long the program takes to ask
 * for the next one, and that the two never overlap.
 *
 *     weft record -o block-read.weft build/examples/block-read [FILE]
 *
 * Without FILE it makes a file, and drops it from the page cache, so that blocks come from the
 * disk.
 */
#define _GNU_SOURCE /* posix_fadvise */
#include <aio.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <weft/weft.h>

enum {
	BLOCK_BYTES = 64 << 10,
	BLOCKS = 24,
};

/* A block that was requested: the promise for it, and the task that continues with it. */
struct block {
	uint64_t arrives, then;
	struct aiocb io;
	char bytes[BLOCK_BYTES];
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static int open_file(int argc, char **argv)
{
	static const char content[BLOCK_BYTES] = "to be read again";
	char path[] = "/var/tmp/block-read-XXXXXX";
	int fd = argc > 1 ? open(argv[1], O_RDONLY) : mkstemp(path);
	if (fd < 0)
		die(argc > 1 ? argv[1] : path);
	if (argc == 1) {
		unlink(path);
		for (unsigned i = 0; i < BLOCKS; i++)
			if (write(fd, content, sizeof(content)) != sizeof(content))
				die(path);
		fdatasync(fd);
	}
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	return fd;
}

/* Asks the disk for block number `n`. The continuation waits for it. */
static void start_read(struct block *block, int fd, unsigned n)
{
	char name[32];
	snprintf(name, sizeof(name), "block %u", n);
	block->arrives = weft_create(WEFT_KIND_PROMISE);
	weft_label_as(block->arrives, name);
	block->io = (struct aiocb){
		.aio_fildes = fd,
		.aio_offset = (off_t)n * BLOCK_BYTES,
		.aio_buf = block->bytes,
		.aio_nbytes = BLOCK_BYTES,
		.aio_sigevent.sigev_notify = SIGEV_NONE,
	};
	if (aio_read(&block->io) != 0)
		die("aio_read");
	block->then = weft_create(WEFT_KIND_BIND);
	weft_try_read_as(block->then, block->arrives);
}

/* Stands for the event loop: nothing else can run, so the thread is idle until the block has
 * arrived. Then the driver resolves the promise, which wakes the continuation. */
static size_t finish_read(struct block *block, uint64_t driver)
{
	const struct aiocb *const pending[] = {&block->io};
	weft_band_begin(WEFT_BAND_IDLE, "disk");
	while (aio_error(&block->io) != 0)
		if (aio_suspend(pending, 1, NULL) != 0)
			die("aio_suspend");
	weft_band_end(WEFT_BAND_IDLE, "disk");
	weft_switch(driver);
	ssize_t size = aio_return(&block->io);
	if (size < 0)
		die("read");
	weft_resolve(block->arrives);
	weft_read_as(block->then, block->arrives);
	return (size_t)size;
}

static unsigned add_up(const char *bytes, size_t size, unsigned sum)
{
	for (size_t i = 0; i < size; i++)
		sum = sum * 31 + (unsigned char)bytes[i];
	return sum;
}

int main(int argc, char **argv)
{
	static struct block blocks[2]; /* the one in use, and the next one */
	int fd = open_file(argc, argv);

	uint64_t driver = weft_create(WEFT_KIND_TASK);
	weft_label_as(driver, "disk driver");
	uint64_t file = weft_create(WEFT_KIND_TASK);
	weft_label_as(file, "read the file");
	weft_switch(file);
	weft_expect();

	unsigned sum = 0, n = 0;
	start_read(&blocks[0], fd, 0);
	uint64_t first = blocks[0].then;
	weft_try_read_as(file, first);
	for (;; n++) {
		struct block *block = &blocks[n % 2], *next = &blocks[(n + 1) % 2];
		size_t size = finish_read(block, driver);
		sum = add_up(block->bytes, size, sum);
		weft_counter_add("bytes", (int64_t)size);
		if (size < BLOCK_BYTES || n + 1 == BLOCKS) {
			weft_resolve(block->then);
			break;
		}
		start_read(next, fd, n + 1);
		weft_become_as(block->then, next->then);
	}
	weft_read_as(file, first);
	weft_resolve(file);
	weft_switch(driver);
	weft_resolve(driver);
	weft_switch(WEFT_TASK_NONE);

	printf("%u blocks, checksum %08x\n", n + 1, sum);
	close(fd);
}
