/* SPDX-License-Identifier: ISC
 *
 * Functions that a program makes while it runs. Runtimes list them for perf, if they are asked to:
 * in /tmp/perf-PID.map, a line for each with its address, its size, both in hexadecimal, and its
 * name. The process may have written anything there.
 */
#ifndef WEFT_APPS_WHY_CODE_MAP_H
#define WEFT_APPS_WHY_CODE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Opens the list of a process. The file must belong to that user, and must not be older than
 * `since`, in seconds since 1970. -1: there is no such file. */
int code_map_open(pid_t pid, uid_t user, double since);

struct code_map;

/* Reads an open list; only the end of a very long one. NULL: memory is short. */
struct code_map *code_map_read(int fd);
struct code_map *code_map_make(const char *text, size_t size); /* copies the text */
void code_map_destroy(struct code_map *map);

/* A function: "inner", and where its source begins. */
struct code_map_function {
	char function[96], file[48];
	uint32_t line; /* 0: unknown; then there is no file either */
};

/* Finds the function that contains an address. If there are several, memory was used again, and the
 * one that was added last is found. False if there is none. */
bool code_map_find(
	const struct code_map *map, uint64_t address, struct code_map_function *ret_function);

#endif
