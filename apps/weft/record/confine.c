/* SPDX-License-Identifier: ISC
 *
 * Confines the process that reads debug information, which a hostile program may have written: it
 * has no rights of root, little memory and time, and can only read files that it opens by the flags
 * of debug_files.c. So what libdw would open by itself, for example a path in split debug
 * information, stays closed.
 *
 * The filter answers other system calls by an error instead of killing, so that a call that libdw
 * makes in some version and the list lacks does not cost the lines.
 */
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <errno.h>
#include <unistd.h>

#include "lines.h"

#define MEMORY_MAX ((rlim_t)4 << 30) /* libdw maps files as a whole */
#define WAIT_MAX   60                /* seconds: a file system may not answer */

void confine_limit(void)
{
	const struct rlimit memory = {MEMORY_MAX, MEMORY_MAX}, none = {0, 0};
	const struct rlimit time = {CONFINE_SECONDS, CONFINE_SECONDS + 1};
	sigset_t all;
	setrlimit(RLIMIT_AS, &memory);
	setrlimit(RLIMIT_CPU, &time);
	setrlimit(RLIMIT_CORE, &none);
	setrlimit(RLIMIT_FSIZE, &none);
	signal(SIGALRM, SIG_DFL);
	signal(SIGXCPU, SIG_DFL);
	sigfillset(&all);
	sigprocmask(SIG_UNBLOCK, &all, NULL);
	alarm(WAIT_MAX);
	/* Otherwise libdw would ask servers. */
	unsetenv("DEBUGINFOD_URLS");
}

/* In a user namespace without other users this fails; then root there is the user outside. */
void confine_become(uid_t user)
{
	if (geteuid() != 0 || user == 0)
		return;
	(void)!setgroups(0, NULL);
	(void)!setresgid(CONFINE_NOBODY, CONFINE_NOBODY, CONFINE_NOBODY);
	(void)!setresuid(user, user, user);
}

static void drop_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	const struct __user_cap_data_struct none[2] = {{0}, {0}};
	syscall(SYS_capset, &header, none);
}

/* ---- The filter ---- */

#if defined(__x86_64__)
#define MACHINE AUDIT_ARCH_X86_64
#elif defined(__i386__)
#define MACHINE AUDIT_ARCH_I386
#elif defined(__aarch64__)
#define MACHINE AUDIT_ARCH_AARCH64
#endif

#ifdef MACHINE
static const uint32_t allowed[] = {
	SYS_read,
	SYS_pread64,
	SYS_lseek,
	SYS_mmap,
	SYS_munmap,
	SYS_mprotect,
	SYS_mremap,
	SYS_madvise,
	SYS_brk,
	SYS_fstat,
	SYS_fstatfs,
	SYS_statx,
	SYS_readlinkat,
	SYS_close,
	SYS_fcntl,
	SYS_futex,
	SYS_getrandom,
	SYS_clock_gettime,
	SYS_sched_yield,
	SYS_rt_sigreturn,
	SYS_rt_sigprocmask,
	SYS_exit,
	SYS_exit_group,
#ifdef SYS_newfstatat
	SYS_newfstatat,
#endif
#ifdef SYS_readlink
	SYS_readlink,
#endif
#ifdef SYS_mmap2
	SYS_mmap2,
#endif
#ifdef SYS_fstat64
	SYS_fstat64,
	SYS_fstatat64,
	SYS_fstatfs64,
	SYS_fcntl64,
	SYS__llseek,
#endif
};
#define ALLOWED (sizeof(allowed) / sizeof(allowed[0]))

/* The low half of an argument: all machines here are little-endian. */
#define FLAGS_OF_OPENAT offsetof(struct seccomp_data, args[2])

static bool install_filter(void)
{
	struct sock_filter code[ALLOWED * 2 + 16];
	unsigned short size = 0;
#define ADD(statement) code[size++] = (struct sock_filter)statement
	ADD(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)));
	ADD(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MACHINE, 1, 0));
	ADD(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
	ADD(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)));
	for (size_t i = 0; i < ALLOWED; i++) {
		ADD(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, allowed[i], 0, 1));
		ADD(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
	}
	ADD(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3));
	ADD(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, FLAGS_OF_OPENAT));
	ADD(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, DEBUG_FILES_FIND, 2, 0));
	ADD(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, DEBUG_FILES_READ, 1, 0));
	ADD(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
	ADD(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
#undef ADD
	const struct sock_fprog program = {size, code};
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}
#else
static bool install_filter(void)
{
	return false;
}
#endif

bool confine(void)
{
	drop_capabilities();
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && install_filter();
}
