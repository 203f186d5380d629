/* SPDX-License-Identifier: ISC
 *
 * The hooks of libuv: their common declarations.
 *
 * libuv has no place for a tracer: a hook passes a function of its own, a trampoline, instead of
 * the program's callback (hooks/callbacks.h). A request is a task from the call that makes it until
 * its callback returns. A handle that is started is a task until it is stopped or closed.
 *
 * libuv calls many of its functions through the dynamic linker, so that these calls reach the hooks
 * too. They belong to handles that the program does not know, and are passed on.
 *
 * The same files make libweft-uv.a, with WEFT_UV_LINKED: for programs that contain libuv.
 */
#ifndef WEFT_ADAPTERS_UV_ADAPTER_H
#define WEFT_ADAPTERS_UV_ADAPTER_H

#include <uv.h>

#define WEFT_CATEGORY uv
#define HOOKS_OF      HOOKS_UV
#include "hooks/callbacks.h"
#ifdef WEFT_UV_LINKED

/* The linker passes calls of uv_run to __wrap_uv_run, and those of __real_uv_run to libuv. */
#define UV_HOOK(name)  __attribute__((visibility("default")))
#define UV_NAME(name)  UV__WRAP(name)
#define UV__WRAP(name) __wrap_##name
#define UV__REAL(name) __real_##name
#define UV_NEXT(name)                           \
	__extension__({                             \
		extern __typeof__(name) UV__REAL(name); \
		UV__REAL(name);                         \
	})
#define UV_PLAIN(name) name
#define UV_IS_INTERNAL false

#else

#include "hooks/library.h"

extern struct weft__hooks_library weft__uv_library __attribute__((visibility("hidden")));

/* The function of libuv that a hook stands in front of; and one that has no hook. Nothing here is
 * linked to libuv. */
#define UV_HOOK(name)  HOOK(name)
#define UV_NAME(name)  name
#define UV_NEXT(name)  LIBRARY_NEXT(weft__uv_library, name)
#define UV_PLAIN(name) UV_NEXT(name)

/* True if libuv itself calls the hook. */
#define UV_IS_INTERNAL weft__hooks_library_has(&weft__uv_library, __builtin_return_address(0))

#endif

/* True if a hook should record this call. */
#define UV_RECORD (HOOKS_RECORD && !UV_IS_INTERNAL)

/* ---- Tasks (tasks.c) ---- */

/* An error ends a task as failed, but UV_ECANCELED as cancelled. */
struct weft__hooks_end weft__uv_end_of(int status);

/* libuv has taken the request, or refused it with `result` below 0. Returns `result`. */
int weft__uv_asked(const void *request, int result);

/* The callback of a request begins. */
struct weft__hooks_run weft__uv_begin_request(const void *request, int status);

/* The callback of a handle, which may be called again; and the last one of its task. `word` names a
 * task whose begin was not recorded. */
#define UV_BEGIN_HANDLE(handle, word) weft__hooks_begin_handle(handle, UV__IF_RECORDED(word))
#define UV_BEGIN_LAST(handle, word)   weft__hooks_begin_last(handle, UV__IF_RECORDED(word))
#define UV__IF_RECORDED(word)         (weft_enabled(WEFT_LEVEL_INFO) ? (word) : NULL)

/* The bytes of all buffers that can be read. */
size_t weft__uv_size(const uv_buf_t buffers[], unsigned count);

/* The current task has written that much. With a recording part around it. */
void weft__uv_count_written(size_t size);

/* ---- Names (names.c) ---- */

/* "connection refused (ECONNREFUSED)" */
void weft__uv_append_error(struct weft__hooks_text *text, int status);

/* The same for an address that the program passes to libuv; it may be NULL. */
void weft__uv_append_destination(struct weft__hooks_text *text, const struct sockaddr *address);

/* The word, and the address of the socket: of this side, or of the other one. */
void weft__uv_append_socket(struct weft__hooks_text *text, const char *word, int fd, bool is_own);

/* "timer", "tcp" */
const char *weft__uv_type_name(const uv_handle_t *handle);

#endif
