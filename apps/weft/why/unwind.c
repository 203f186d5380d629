/* SPDX-License-Identifier: ISC
 *
 * Unwinds copies of stacks by libdw. /proc shows the stack pointer and the program counter of a
 * thread that waits, and no other register. That is enough for optimised code; functions that
 * address their frame by the frame pointer need its value too, which is then searched in the stack:
 * the first value with which the stack is whole to its outermost frame. Such stacks are marked.
 */
#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "code_map.h"
#include "record/function_name.h"
#include "record/inlined.h"
#include "record/libdw.h"
#include "record/lines.h"
#include "stacks.h"

/* The functions of libdw that are used here. */
#define FUNCTIONS(F)                \
	F(dwarf_cfi_addrframe)          \
	F(dwarf_frame_register)         \
	F(dwfl_addrmodule)              \
	F(dwfl_attach_state)            \
	F(dwfl_begin)                   \
	F(dwfl_frame_pc)                \
	F(dwfl_getmodules)              \
	F(dwfl_getthread_frames)        \
	F(dwfl_module_addrinfo)         \
	F(dwfl_module_build_id)         \
	F(dwfl_module_eh_cfi)           \
	F(dwfl_module_getsym_info)      \
	F(dwfl_module_getsymtab)        \
	F(dwfl_module_info)             \
	F(dwfl_offline_section_address) \
	F(dwfl_report_begin)            \
	F(dwfl_report_elf)              \
	F(dwfl_report_end)              \
	F(dwfl_thread_state_registers)  \
	F(dwfl_thread_state_register_pc)

static struct {
	FUNCTIONS(LIBDW_POINTER)
} dw;

enum {
	TRIES = 256,          /* values of the frame pointer */
	SEARCHED = 256 << 10, /* bytes of the stack */
	DEPTH_MAX = 256,      /* frames that are walked */
	KEPT = 4096,          /* addresses whose frames are kept: libdw searches all symbols for each */
	KEPT_FRAMES = 2 * KEPT,
};

/* The frames of an address: of its function, and of those that were put into that. */
struct kept_frames {
	Dwarf_Addr at; /* 0: none */
	uint64_t return_to;
	uint32_t first, count;
};

/* Without memory, frames are found anew. */
static struct {
	struct kept_frames *list;
	struct weft__outside_frame *frames;
	uint32_t count; /* of these */
} kept;

/* One walk; the callbacks of libdw get it. The process has one, because libdw is used by one thread
 * only. */
static struct {
	Dwfl *dwfl;
	const struct stack_files *files;
	pid_t tid;
	const struct weft__outside_stack *stack;
	uint64_t frame_pointer; /* 0: unknown */
	uint32_t depth;
	uint64_t last;               /* the address in its outermost frame */
	struct stack_result *result; /* NULL: only count */
} walk;

bool stack_unwind_load(void)
{
	static const char *const names[] = {FUNCTIONS(LIBDW_NAME)};
	function_names_load();
	void *functions[sizeof(names) / sizeof(*names)];
	if (!inlined_load() || !libdw_find(names, sizeof(names) / sizeof(*names), functions))
		return false;
	memcpy(&dw, functions, sizeof(dw));
	return true;
}

/* ---- Callbacks ---- */

static int find_elf(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
	char **ret_file, Elf **ret_elf)
{
	(void)module, (void)data, (void)name, (void)base, (void)ret_file, (void)ret_elf;
	return -1;
}

/* The C library's own lines help no one, and reading them takes longer than all the rest. */
static bool is_system(const char *name)
{
	static const char *const names[] = {"libc.so", "libc-", "ld-linux", "ld-2", "libpthread", NULL};
	const char *slash = strrchr(name, '/');
	name = slash ? slash + 1 : name;
	for (const char *const *known = names; *known; known++)
		if (strncmp(name, *known, strlen(*known)) == 0)
			return true;
	return false;
}

static int find_debuginfo(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
	const char *file, const char *link, GElf_Word checksum, char **ret_file)
{
	struct debug_files_wanted wanted = {
		.file = file ? file : "", .link = link, .checksum = checksum};
	GElf_Addr address;
	(void)data, (void)base, (void)ret_file;
	if (is_system(name))
		return -1;
	int size = dw.dwfl_module_build_id(module, &wanted.build_id, &address);
	wanted.build_id_size = size > 0 ? (size_t)size : 0;
	return debug_files_find(&wanted);
}

static pid_t next_thread(Dwfl *dwfl, void *context, void **thread)
{
	(void)dwfl, (void)context;
	if (*thread)
		return 0;
	*thread = &walk;
	return walk.tid;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *context, void **ret_thread)
{
	(void)dwfl, (void)tid, (void)context;
	*ret_thread = &walk;
	return true;
}

/* Only the copy of the stack is read. */
static bool read_memory(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *ret_word, void *context)
{
	const struct weft__outside_stack *stack = walk.stack;
	const uint64_t start = stack->registers[WEFT__OUTSIDE_STACK], at = address - start;
	(void)dwfl, (void)context;
	if (address < start || stack->size < sizeof(*ret_word) || at > stack->size - sizeof(*ret_word))
		return false;
	memcpy(ret_word, stack->bytes + at, sizeof(*ret_word));
	return true;
}

static bool set_registers(Dwfl_Thread *thread, void *context)
{
	const Dwarf_Word *registers = walk.stack->registers, frame = walk.frame_pointer;
	(void)context;
	dw.dwfl_thread_state_register_pc(thread, registers[WEFT__OUTSIDE_CODE]);
	if (walk.stack->has_all)
		return dw.dwfl_thread_state_registers(thread, 0, WEFT__OUTSIDE_REGISTERS, registers);
	/* vfork() keeps its return address in a register, in which the call has no argument. */
	if (walk.stack->has_argument && !dw.dwfl_thread_state_registers(thread, WEFT__OUTSIDE_ARGUMENT,
										1, &registers[WEFT__OUTSIDE_ARGUMENT]))
		return false;
	return (!frame || dw.dwfl_thread_state_registers(thread, WEFT__OUTSIDE_FRAME, 1, &frame)) &&
		   dw.dwfl_thread_state_registers(
			   thread, WEFT__OUTSIDE_STACK, 1, &registers[WEFT__OUTSIDE_STACK]) &&
		   dw.dwfl_thread_state_registers(
			   thread, WEFT__OUTSIDE_CODE, 1, &registers[WEFT__OUTSIDE_CODE]);
}

/* ---- Names ---- */

static void add_frame(struct weft__outside_frame frame, const struct debug_call *call)
{
	struct stack_result *result = walk.result;
	if (result->frame_count == WEFT__OUTSIDE_FRAMES)
		return;
	if (call->symbol)
		function_name(frame.function, sizeof(frame.function), call->symbol);
	if (call->file) {
		snprintf(frame.file, sizeof(frame.file), "%s", call->file);
		frame.line = (uint32_t)call->line;
	}
	frame.is_system = call->is_system;
	result->frames[result->frame_count++] = frame;
}

/* Code that is in no file may be a function that the process has made. Their list is read when it
 * is needed first: most processes have none. */
static void name_made(struct weft__outside_frame *frame, uint64_t code)
{
	static struct code_map *map;
	static bool is_read;
	struct code_map_function it;
	if (!is_read && walk.files->code_map >= 0)
		map = code_map_read(walk.files->code_map);
	is_read = true;
	if (!map || !code_map_find(map, code, &it))
		return;
	memcpy(frame->function, it.function, sizeof(it.function));
	memcpy(frame->file, it.file, sizeof(it.file));
	frame->line = it.line;
}

/* Adds the frame, and those of functions that were inlined there. `code`: in the instruction that
 * calls the next one. */
static void add_frames(uint64_t return_to, Dwarf_Addr code)
{
	Dwfl_Module *module = dw.dwfl_addrmodule(walk.dwfl, code);
	struct weft__outside_frame frame = {.code = return_to};
	struct debug_call calls[DEBUG_CALLS_MAX] = {{.symbol = NULL}};
	GElf_Off offset = 0;
	GElf_Sym symbol;
	Dwarf_Addr start = 0;
	size_t count = 1;
	if (module) {
		const char *path = dw.dwfl_module_info(module, NULL, &start, NULL, NULL, NULL, NULL, NULL);
		const char *slash = path ? strrchr(path, '/') : NULL;
		const char *name =
			dw.dwfl_module_addrinfo(module, code, &offset, &symbol, NULL, NULL, NULL);
		frame.offset = frame.code - start;
		snprintf(frame.module, sizeof(frame.module), "%s", slash ? slash + 1 : path ? path : "");
		if (name)
			function_name(frame.function, sizeof(frame.function), name);
		if (path && !is_system(path))
			count = inlined_find(module, code, calls);
	} else {
		name_made(&frame, code);
	}
	for (size_t i = 0; i < count; i++)
		add_frame(frame, &calls[i]);
}

/* The same, but frames that were found before are copied. */
static void find_frames(uint64_t return_to, Dwarf_Addr code)
{
	struct stack_result *result = walk.result;
	const uint32_t before = result->frame_count;
	struct kept_frames *it = kept.list ? &kept.list[(code ^ code >> 12) % KEPT] : NULL;
	if (it && it->at == code && it->return_to == return_to &&
		it->count <= WEFT__OUTSIDE_FRAMES - before) {
		memcpy(&result->frames[before], &kept.frames[it->first], it->count * sizeof(*kept.frames));
		result->frame_count += it->count;
		return;
	}
	add_frames(return_to, code);
	const uint32_t count = result->frame_count - before;
	if (!it || result->frame_count == WEFT__OUTSIDE_FRAMES || count > KEPT_FRAMES - kept.count)
		return;
	*it = (struct kept_frames){code, return_to, kept.count, count};
	memcpy(&kept.frames[kept.count], &result->frames[before], count * sizeof(*kept.frames));
	kept.count += count;
}

static void name_object(const struct weft__outside_thread *thread, struct stack_result *result)
{
	const uint64_t address = thread->kernel.arguments[0];
	Dwfl_Module *module = thread->kernel.has_call ? dw.dwfl_addrmodule(walk.dwfl, address) : NULL;
	GElf_Off offset = 0;
	GElf_Sym symbol;
	const char *name =
		module ? dw.dwfl_module_addrinfo(module, address, &offset, &symbol, NULL, NULL, NULL)
			   : NULL;
	if (!name || GELF_ST_TYPE(symbol.st_info) != STT_OBJECT || offset >= symbol.st_size)
		return;
	function_name(result->object, sizeof(result->object), name);
	result->object_offset = offset;
}

/* The variable that is searched. */
struct wanted_variable {
	const char *file, *name;
	uint64_t address;
};

static int search_module(
	Dwfl_Module *module, void **data, const char *path, Dwarf_Addr start, void *context)
{
	struct wanted_variable *wanted = context;
	const char *slash = strrchr(path, '/');
	GElf_Sym symbol;
	GElf_Addr address;
	(void)data, (void)start;
	if (strncmp(slash ? slash + 1 : path, wanted->file, strlen(wanted->file)) != 0)
		return DWARF_CB_OK;
	for (int i = 1, count = dw.dwfl_module_getsymtab(module); i < count; i++) {
		const char *name =
			dw.dwfl_module_getsym_info(module, i, &symbol, &address, NULL, NULL, NULL);
		if (!name || strcmp(name, wanted->name) != 0 || symbol.st_shndx == SHN_UNDEF)
			continue;
		wanted->address = address;
		return DWARF_CB_ABORT;
	}
	return DWARF_CB_OK;
}

uint64_t stack_unwind_find_variable(const char *file, const char *name)
{
	struct wanted_variable wanted = {.file = file, .name = name};
	(void)dw.dwfl_getmodules(walk.dwfl, search_module, &wanted, 0);
	return wanted.address;
}

static int take_frame(Dwfl_Frame *state, void *context)
{
	Dwarf_Addr code;
	bool is_interrupted;
	(void)context;
	if (!dw.dwfl_frame_pc(state, &code, &is_interrupted))
		return DWARF_CB_ABORT;
	walk.last = code - !is_interrupted;
	/* A return address may be the first of the next function. */
	if (walk.result)
		find_frames(code, walk.last);
	return ++walk.depth < DEPTH_MAX ? DWARF_CB_OK : DWARF_CB_ABORT;
}

/* ---- Walks ---- */

bool stack_unwind_begin(
	const struct stack_files *files, const struct weft__outside_process *process)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = find_elf, .find_debuginfo = find_debuginfo};
	static const Dwfl_Thread_Callbacks threads = {.next_thread = next_thread,
		.get_thread = get_thread,
		.memory_read = read_memory,
		.set_initial_registers = set_registers};
	walk.files = files;
	kept.frames = malloc(KEPT_FRAMES * sizeof(*kept.frames));
	kept.list = kept.frames ? calloc(KEPT, sizeof(*kept.list)) : NULL;
	walk.dwfl = dw.dwfl_begin(&callbacks);
	if (!walk.dwfl)
		return false;
	dw.dwfl_report_begin(walk.dwfl);
	for (uint32_t i = 0; i < files->count; i++) {
		const struct stack_file *file = &files->files[i];
		/* libdw closes the descriptor that it gets; ours is used to find calls. */
		const int fd = file->fd >= 0 ? fcntl(file->fd, F_DUPFD_CLOEXEC, 0) : -1;
		if (fd >= 0 &&
			!dw.dwfl_report_elf(walk.dwfl, file->path, file->path, fd, file->start, false))
			close(fd);
	}
	dw.dwfl_report_end(walk.dwfl, NULL, NULL);
	return dw.dwfl_attach_state(walk.dwfl, NULL, process->pid, &threads, NULL);
}

/* True if the unwind table says that nothing has called the function at an address. */
static bool is_outermost(Dwarf_Addr code)
{
	Dwfl_Module *module = dw.dwfl_addrmodule(walk.dwfl, code);
	Dwarf_Addr bias = 0;
	Dwarf_Op memory[3], *operations = NULL;
	Dwarf_Frame *frame;
	size_t count = 1;
	Dwarf_CFI *table = module ? dw.dwfl_module_eh_cfi(module, &bias) : NULL;
	if (!table || dw.dwarf_cfi_addrframe(table, code - bias, &frame) != 0)
		return false;
	const int error =
		dw.dwarf_frame_register(frame, WEFT__OUTSIDE_CODE, memory, &operations, &count);
	free(frame);
	return error == 0 && count == 0 && operations == memory;
}

/* True if the walk comes to the outermost frame. libdw ends without an error, too, where it does
 * not know a register that it needs. */
static bool go(uint64_t frame_pointer, struct stack_result *result)
{
	walk.frame_pointer = frame_pointer;
	walk.result = result;
	walk.depth = 0;
	if (result)
		result->frame_count = 0;
	return dw.dwfl_getthread_frames(walk.dwfl, walk.tid, take_frame, NULL) == 0 && walk.depth &&
		   is_outermost(walk.last);
}

static uint64_t word_at(const struct weft__outside_stack *stack, size_t at)
{
	uint64_t word;
	memcpy(&word, stack->bytes + at, sizeof(word));
	return word;
}

/* How well a value must fit to be tried: the code that calls the function of the innermost frame
 * that is not kept; a frame, to which a call returns; any code to which a call returns. */
enum frame_fit {
	FIT_CALLER,
	FIT_FRAME,
	FIT_RETURN,
	FITS,
};

/* The first address of the function in which an address is; 0: unknown. */
static uint64_t function_of(uint64_t code)
{
	GElf_Off offset = 0;
	GElf_Sym symbol;
	Dwfl_Module *module = dw.dwfl_addrmodule(walk.dwfl, code);
	return module && dw.dwfl_module_addrinfo(module, code, &offset, &symbol, NULL, NULL, NULL)
			   ? code - offset
			   : 0;
}

static bool fits(
	const struct weft__outside_stack *stack, size_t at, enum frame_fit fit, uint64_t function)
{
	const uint64_t next = word_at(stack, at), start = stack->registers[WEFT__OUTSIDE_STACK];
	uint64_t called;
	if (!stack_files_is_return(walk.files, word_at(stack, at + 8), &called))
		return false;
	if (fit == FIT_CALLER)
		return function && called == function;
	return fit == FIT_RETURN || (next > start + at && next < start + stack->size);
}

/* The value of the frame pointer with which the stack is whole; 0: there is none. It points to the
 * caller's, with a return address behind it. `function` needs it. */
static uint64_t guess(const struct weft__outside_stack *stack, uint64_t function)
{
	unsigned tries = 0;
	for (enum frame_fit fit = FIT_CALLER; fit < FITS; fit++)
		for (size_t at = 0; at + 16 <= stack->size && at < SEARCHED && tries < TRIES; at += 8) {
			if (!fits(stack, at, fit, function))
				continue;
			tries++;
			if (go(stack->registers[WEFT__OUTSIDE_STACK] + at, NULL))
				return stack->registers[WEFT__OUTSIDE_STACK] + at;
		}
	return 0;
}

void stack_unwind(
	const struct weft__outside_thread *thread, uint32_t index, struct stack_result *ret_result)
{
	uint64_t frame_pointer = 0;
	walk.tid = thread->tid;
	walk.stack = &thread->stacks[index];
	name_object(thread, ret_result);
	if (walk.stack->has_all) {
		ret_result->is_whole = go(0, ret_result);
		return;
	}
	if (!go(0, NULL))
		frame_pointer = guess(walk.stack, function_of(walk.last));
	ret_result->is_guessed = frame_pointer != 0;
	(void)go(frame_pointer, ret_result);
}
