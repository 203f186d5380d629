/* SPDX-License-Identifier: ISC
 *
 * The input is the memory of a process that is seen from outside: locks, and the frames of Python.
 * The process is this one. In the input, a word 0x5eed00000000NNNN is the address of its byte NNNN.
 * It begins with: the addresses of Python's variables, a call with its arguments, which functions
 * the thread has called; the addresses of a context of OpenTelemetry, of a file that is loaded, and
 * of a thread's pointer.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "outside/parts.h"
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum {
	MEMORY = 1 << 16,
	ARGUMENTS = 4,
	THREADS = 3,
};

#define ADDRESS UINT64_C(0x5eed000000000000)

/* The numbers are those of the calls, too. */
static const char *const calls[] = {"futex", "nanosleep", "clock_nanosleep", "pause"};

static const char *name_of(uint64_t number)
{
	return calls[number % (sizeof(calls) / sizeof(*calls))];
}

/* Copies the input, and makes its addresses those of the copy. */
static uint64_t *make_memory(const uint8_t *bytes, size_t size)
{
	uint64_t *memory = calloc(1, MEMORY);
	require(memory != NULL);
	if (size)
		memcpy(memory, bytes, size < MEMORY ? size : MEMORY);
	for (size_t i = 0; i < MEMORY / sizeof(*memory); i++)
		if (memory[i] >> 16 == ADDRESS >> 16)
			memory[i] = (uint64_t)(uintptr_t)memory + (memory[i] & 0xffff);
	return memory;
}

/* The frames name the functions of libc that bits of the input choose. */
static void make_frames(struct weft__outside_thread *thread, uint64_t chosen)
{
	static const char *const functions[] = {"", "pthread_mutex_lock", "pthread_rwlock_rdlock",
		"pthread_cond_wait", "sem_wait", "pthread_join", "main"};
	thread->frames = calloc(WEFT__OUTSIDE_FRAMES, sizeof(*thread->frames));
	require(thread->frames != NULL);
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		if (!(chosen >> i & 1))
			continue;
		struct weft__outside_frame *frame = &thread->frames[thread->frame_count++];
		strcpy(frame->function, functions[i]);
		strcpy(frame->module, "libc.so.6");
	}
}

static bool is_text(const char *text, size_t room)
{
	return memchr(text, '\0', room) != NULL;
}

static void check(const struct weft__outside_process *process)
{
	for (uint32_t i = 0; i < process->count; i++) {
		const struct weft__outside_thread *thread = &process->threads[i];
		require(thread->other_count <= WEFT__OUTSIDE_OTHERS);
		require(is_text(thread->about, sizeof(thread->about)));
		require(thread->script_count <= WEFT__OUTSIDE_FRAMES);
		for (uint32_t k = 0; k < thread->script_count; k++) {
			const struct weft__outside_frame *frame = &thread->script[k];
			require(is_text(frame->function, sizeof(frame->function)) && frame->function[0]);
			require(is_text(frame->file, sizeof(frame->file)) && frame->file[0]);
			require(frame->line <= INT32_MAX);
		}
	}
}

static void read_contexts(struct weft__outside_process *process, const uint64_t *addresses)
{
	struct weft__outside_local local = {0};
	struct weft__outside_context context;
	bool shows_threads;
	(void)weft__outside_read_process_context(process, addresses[0], &shows_threads);
	require(is_text(process->service, sizeof(process->service)));
	for (int is_program = 0; is_program < 2; is_program++)
		if (weft__outside_find_local(
				process->pid, addresses[1], is_program, "otel_thread_ctx_v1", &local))
			weft__outside_read_thread_context(process->pid, addresses[2], &local, &context);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	uint64_t *memory = make_memory(bytes, size);
	struct weft__outside_host host = {.processes = calloc(1, sizeof(*host.processes)), .count = 1};
	require(host.processes != NULL);
	struct weft__outside_process *process = host.processes;
	process->pid = getpid();
	process->threads = calloc(THREADS, sizeof(*process->threads));
	require(process->threads != NULL);
	process->count = THREADS;
	for (uint32_t i = 0; i < THREADS; i++) {
		struct weft__outside_thread *thread = &process->threads[i];
		thread->tid = thread->inner = (pid_t)i + 1;
		thread->kernel.state = i ? 'R' : 'S';
		thread->kernel.has_call = i == 0;
	}
	weft__outside_read_python(process, memory[0], memory[1], false);
	process->threads[0].kernel.number = memory[2];
	memcpy(process->threads[0].kernel.arguments, memory + 3, ARGUMENTS * sizeof(*memory));
	make_frames(&process->threads[0], memory[3 + ARGUMENTS]);
	read_contexts(process, memory + 4 + ARGUMENTS);
	weft__outside_resolve(&host, process, name_of);
	check(process);
	weft__outside_finish(&host);
	free(memory);
	return 0;
}
