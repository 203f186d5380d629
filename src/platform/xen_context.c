/* SPDX-License-Identifier: ISC
 *
 * Writes trace contexts into Xen's own trace, by the hypercall HVMOP_xentrace, which any domain may
 * make. libxencall is loaded when the function is called.
 */
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <unistd.h>

#include <weft/context.h>
#include <weft/error.h>
#include <weft/xen.h>

#include "abi/xen_abi.h"
#include "platform/linux.h"
#include "record/atomics.h"
#include "record/recorder.h"

#define HYPERCALL_HVM_OP 34
#define HVMOP_XENTRACE   11

/* As struct xen_hvm_xentrace. */
struct trace_call {
	uint16_t event, bytes;
	uint32_t words[WEFT_ABI_XEN_CONTEXT_WORDS];
};

static struct {
	void *(*open)(void *logger, unsigned flags);
	void *(*alloc_buffer)(void *calls, size_t size);
	int (*call)(void *calls, unsigned number, uint64_t first, uint64_t second);
	void *calls;
	struct trace_call *buffer; /* memory that Xen may read */
	pid_t pid;                 /* whose these are: a forked child has neither */
} xen;

/* The pid of the process whose thread is in here. A forked child may find its parent's. */
static uint32_t holder;

static void lock(void)
{
	const uint32_t own = (uint32_t)getpid();
	uint32_t found;
	while (!weft__compare_exchange(&holder, 0, own)) {
		found = weft__load(&holder);
		if (found && found != own)
			(void)weft__compare_exchange(&holder, found, 0);
		else
			sched_yield();
	}
}

static bool load(void)
{
	void *library = xen.call ? NULL : dlopen("libxencall.so.1", RTLD_NOW | RTLD_LOCAL);
	if (library) {
		*(void **)&xen.open = dlsym(library, "xencall_open");
		*(void **)&xen.alloc_buffer = dlsym(library, "xencall_alloc_buffer");
		*(void **)&xen.call = dlsym(library, "xencall2");
	}
	return xen.open && xen.alloc_buffer && xen.call;
}

static int prepare(void)
{
	if (!load())
		return WEFT_ERROR_UNSUPPORTED;
	if (!xen.calls || xen.pid != getpid()) {
		xen.buffer = NULL;
		xen.calls = xen.open(weft__platform_xen_quiet(), 0);
		xen.pid = getpid();
	}
	if (xen.calls && !xen.buffer)
		xen.buffer = xen.alloc_buffer(xen.calls, sizeof(*xen.buffer));
	return xen.buffer ? 0 : WEFT_ERROR_SYSTEM;
}

static int write_context(const struct weft_context *context)
{
	*xen.buffer = (struct trace_call){
		.event = WEFT_ABI_XEN_CONTEXT,
		.bytes = sizeof(xen.buffer->words),
		.words = {(uint32_t)context->trace_high, (uint32_t)(context->trace_high >> 32),
			(uint32_t)context->trace_low, (uint32_t)(context->trace_low >> 32),
			(uint32_t)context->span, (uint32_t)(context->span >> 32),
			context->flags | WEFT_ABI_XEN_CONTEXT_NAME << 8},
	};
	return xen.call(xen.calls, HYPERCALL_HVM_OP, HVMOP_XENTRACE, (uintptr_t)xen.buffer)
			   ? WEFT_ERROR_SYSTEM
			   : 0;
}

WEFT__EXPORT int weft_xen_context(void)
{
	struct weft_context context;
	(void)weft_context_current(&context);
	lock();
	int error = prepare();
	if (!error)
		error = write_context(&context);
	weft__store_release(&holder, 0);
	return error;
}
