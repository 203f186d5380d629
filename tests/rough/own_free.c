/* SPDX-License-Identifier: ISC
 *
 * Rule: hooks work while the library that has them begins. The program's free() calls a function
 * that has a hook, and the dynamic linker calls that free() while the library looks for functions.
 */
#include <stddef.h>
#include <string.h>
#include <unistd.h>

void *malloc(size_t size);
void free(void *block);
void *calloc(size_t count, size_t size);
void *realloc(void *block, size_t size);

static _Alignas(16) char heap[16 << 20];
static size_t used;
static char line[] = "freed\n";

void *malloc(size_t size)
{
	size_t *block = (size_t *)(void *)(heap + used);
	used += 16 + ((size + 15) & ~(size_t)15);
	*block = size;
	return used <= sizeof(heap) ? (char *)block + 16 : NULL;
}

void free(void *block)
{
	if (block)
		line[sizeof(line) - 2] = write(-1, line, 0) < 0 ? '\n' : '?';
}

void *calloc(size_t count, size_t size)
{
	return memset(malloc(count * size), 0, count * size);
}

void *realloc(void *block, size_t size)
{
	void *copy = malloc(size);
	size_t before = block ? *(size_t *)(void *)((char *)block - 16) : 0;
	return before ? memcpy(copy, block, before < size ? before : size) : copy;
}

int main(void)
{
	void *volatile block = malloc(10);
	free(block);
	return write(STDOUT_FILENO, line, sizeof(line) - 1) < 0;
}
