/* SPDX-License-Identifier: ISC
 *
 * Reads a file block by block in a tight loop, as one would write it with promises:
 *
 *     read_from(n) = bind(read_block(n), then: use the block, read_from(n + 1))
 *
 * The same experiment on a unikernel, with its picture full of short waits, is why tools like weft
 * exist. What to look for: how long the disk takes for a block, how long we take to ask for the
 * next one, and that the two never overlap.
 *
 *     weft record -o block-read.weft build/examples/block-read [FILE]
 */
#include <aio.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <weft/weft.h>

enum {
	BLOCK_BYTES = 4096,
	BLOCKS_MAX = 24,
};

/* A block on its way: the promise that it comes, and what is done then. */
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

/* The event loop of this program: nothing else can run, so the thread is idle until the block is
 * there. Then the driver resolves its promise, which wakes the continuation. */
static size_t finish_read(struct block *block, uint64_t driver)
{
	const struct aiocb *const pending[] = {&block->io};
	weft_switch(WEFT_TASK_NONE);
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
	const char *path = argc > 1 ? argv[1] : "/proc/self/exe";
	int fd = open(path, O_RDONLY);
	if (fd < 0)
		die(path);

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
		if (size < BLOCK_BYTES || n + 1 == BLOCKS_MAX) {
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
