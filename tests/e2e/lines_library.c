/* SPDX-License-Identifier: ISC
 *
 * Takes the place of libdw, as if hostile debug information had taken control of it. With
 * -DCRASHES it crashes; otherwise it tries what a confined process must not do, and crashes if that
 * succeeds.
 */
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static int module;

Dwfl *dwfl_begin(const Dwfl_Callbacks *callbacks)
{
	(void)callbacks;
	return (Dwfl *)&module;
}

void dwfl_report_begin_add(Dwfl *dwfl)
{
	(void)dwfl;
}

int dwfl_report_end(Dwfl *dwfl,
	int (*removed)(Dwfl_Module *, void *, const char *, Dwarf_Addr, void *), void *context)
{
	(void)dwfl, (void)removed, (void)context;
	return 0;
}

Dwfl_Module *dwfl_report_offline(Dwfl *dwfl, const char *name, const char *file, int fd)
{
	(void)dwfl, (void)name, (void)file, (void)fd;
	return (Dwfl_Module *)&module;
}

Elf *dwfl_module_getelf(Dwfl_Module *of, GElf_Addr *bias)
{
	(void)of;
	*bias = 0;
	return (Elf *)&module;
}

static void expect_refused(long result)
{
	if (result >= 0)
		abort();
}

Dwfl_Line *dwfl_module_getsrc(Dwfl_Module *of, Dwarf_Addr address)
{
	static const char *const environment[] = {NULL};
	(void)of, (void)address;
#ifdef CRASHES
	raise(SIGSEGV);
	*(volatile int *)16 = 0;
#endif
	expect_refused(open("/etc/passwd", O_RDONLY));
	expect_refused(open("/dev/null", O_RDWR));
	expect_refused(open("/tmp/weft-lines-test", O_WRONLY | O_CREAT, 0600));
	expect_refused(syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR | O_NONBLOCK | O_CLOEXEC));
	expect_refused(socket(AF_INET, SOCK_STREAM, 0));
	expect_refused(syscall(SYS_kill, getppid(), 0));
	expect_refused(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
	expect_refused(execve("/bin/true", (char *const *)environment, (char *const *)environment));
	expect_refused(setuid(0) == 0 && setgid(12345) == 0 ? 0 : -1);
	return (Dwfl_Line *)&module;
}

const char *dwfl_lineinfo(Dwfl_Line *line, Dwarf_Addr *address, int *number, int *column,
	Dwarf_Word *modified, Dwarf_Word *length)
{
	(void)line, (void)address, (void)column, (void)modified, (void)length;
	*number = 1;
	return "refused.c";
}

const char *dwfl_module_addrname(Dwfl_Module *of, GElf_Addr address)
{
	(void)of, (void)address;
	return NULL;
}

int dwfl_module_build_id(Dwfl_Module *of, const unsigned char **bits, GElf_Addr *address)
{
	(void)of, (void)bits, (void)address;
	return 0;
}

int dwfl_offline_section_address(Dwfl_Module *of, void **data, const char *name, Dwarf_Addr base,
	const char *section, GElf_Word index, const GElf_Shdr *header, Dwarf_Addr *ret)
{
	(void)of, (void)data, (void)name, (void)base, (void)section, (void)index, (void)header;
	*ret = 0;
	return 0;
}

/* ---- No function was inlined ---- */

Dwarf_Die *dwfl_module_addrdie(Dwfl_Module *of, Dwarf_Addr address, Dwarf_Addr *bias)
{
	(void)of, (void)address, (void)bias;
	return NULL;
}

int dwarf_getscopes(Dwarf_Die *unit, Dwarf_Addr address, Dwarf_Die **scopes)
{
	(void)unit, (void)address, (void)scopes;
	return -1;
}

int dwarf_getscopes_die(Dwarf_Die *die, Dwarf_Die **scopes)
{
	(void)die, (void)scopes;
	return -1;
}

int dwarf_child(Dwarf_Die *die, Dwarf_Die *child)
{
	(void)die, (void)child;
	return -1;
}

int dwarf_siblingof(Dwarf_Die *die, Dwarf_Die *sibling)
{
	(void)die, (void)sibling;
	return -1;
}

int dwarf_haspc(Dwarf_Die *die, Dwarf_Addr address)
{
	(void)die, (void)address;
	return -1;
}

int dwarf_getsrcfiles(Dwarf_Die *unit, Dwarf_Files **files, size_t *count)
{
	(void)unit, (void)files, (void)count;
	return -1;
}

const char *dwarf_filesrc(
	Dwarf_Files *files, size_t number, Dwarf_Word *modified, Dwarf_Word *length)
{
	(void)files, (void)number, (void)modified, (void)length;
	return NULL;
}

int dwarf_tag(Dwarf_Die *die)
{
	(void)die;
	return -1;
}

const char *dwarf_diename(Dwarf_Die *die)
{
	(void)die;
	return NULL;
}

Dwarf_Attribute *dwarf_attr(Dwarf_Die *die, unsigned name, Dwarf_Attribute *attribute)
{
	(void)die, (void)name, (void)attribute;
	return NULL;
}

Dwarf_Attribute *dwarf_attr_integrate(Dwarf_Die *die, unsigned name, Dwarf_Attribute *attribute)
{
	return dwarf_attr(die, name, attribute);
}

const char *dwarf_formstring(Dwarf_Attribute *attribute)
{
	(void)attribute;
	return NULL;
}

int dwarf_formudata(Dwarf_Attribute *attribute, Dwarf_Word *value)
{
	(void)attribute, (void)value;
	return -1;
}
