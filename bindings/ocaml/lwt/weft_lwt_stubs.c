/* SPDX-License-Identifier: ISC
 *
 * The calls that are made for each promise: the same as in weft_stubs.c with the category "lwt". An
 * idle band ends with the first event after it, because Lwt has no hook between the end of its poll
 * and the callbacks.
 */
#define CAML_NAME_SPACE
#include <caml/mlvalues.h>
#include <signal.h>
#include <sys/socket.h>

#include <weft/weft_ffi.h>

static struct weft_category *lwt;
static uint64_t poll_cache;
static bool is_idle;

static void wake(void)
{
	is_idle = false;
	weft_ffi_band_end(0, "poll", 4, &poll_cache);
}

static inline void look(void)
{
	if (__builtin_expect(is_idle, 0))
		wake();
}

value weft_lwt_init(value unit)
{
	lwt = weft_ffi_category("lwt", 3, "promises of Lwt", 15);
	return unit;
}

intnat weft_lwt_category(value unit)
{
	(void)unit;
	return (intnat)lwt;
}

value weft_lwt_category_byte(value unit)
{
	return Val_long(weft_lwt_category(unit));
}

/* The loop waits for its next event. */
value weft_lwt_idle(value unit)
{
	look();
	is_idle = weft_ffi_is_recording();
	weft_ffi_band_begin(0, "poll", 4, &poll_cache);
	return unit;
}

value weft_lwt_awake(value unit)
{
	look();
	return unit;
}

intnat weft_lwt_create(intnat kind)
{
	look();
	return (intnat)weft_ffi_create(lwt, 0, WEFT_TASK_CURRENT, (uint16_t)kind);
}

value weft_lwt_create_byte(value kind)
{
	return Val_long(weft_lwt_create(Long_val(kind)));
}

value weft_lwt_enter(intnat task)
{
	look();
	weft_ffi_enter((uint64_t)task);
	return Val_unit;
}

value weft_lwt_enter_byte(value task)
{
	return weft_lwt_enter(Long_val(task));
}

#define EDGE(name)                                                \
	value weft_lwt_##name(intnat task, intnat other)              \
	{                                                             \
		look();                                                   \
		weft_ffi_##name(lwt, 0, (uint64_t)task, (uint64_t)other); \
		return Val_unit;                                          \
	}                                                             \
	value weft_lwt_##name##_byte(value task, value other)         \
	{                                                             \
		return weft_lwt_##name(Long_val(task), Long_val(other));  \
	}
EDGE(read)
EDGE(try_read)
EDGE(resolve)
EDGE(cancel)
EDGE(time_out)
EDGE(become)

value weft_lwt_fail(value target, value message)
{
	look();
	weft_ffi_fail(lwt, 0, WEFT_TASK_CURRENT, (uint64_t)Long_val(target), String_val(message),
		caml_string_length(message));
	return Val_unit;
}

/* True if a handler of the program could wake the loop. Ctrl-C comes from outside, SIGCHLD is
 * awaited by Lwt, and OCaml itself handles SIGSEGV and SIGVTALRM. */
static bool may_wake(int number)
{
	struct sigaction action;
	return number != SIGINT && number != SIGCHLD && number != SIGSEGV && number != SIGVTALRM &&
		   sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_DFL &&
		   action.sa_handler != SIG_IGN;
}

value weft_lwt_may_be_signalled(value unit)
{
	(void)unit;
	for (int number = 1; number <= SIGRTMAX; number++)
		if (may_wake(number))
			return Val_true;
	return Val_false;
}

/* The first descriptors of a program. */
#define LOOKED_MAX 64

/* True if the program listens for connections, as far as its first descriptors tell. */
value weft_lwt_listens(value unit)
{
	(void)unit;
	for (int descriptor = 3; descriptor < LOOKED_MAX; descriptor++) {
		int listens = 0;
		socklen_t size = sizeof(listens);
		if (getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens)
			return Val_true;
	}
	return Val_false;
}
