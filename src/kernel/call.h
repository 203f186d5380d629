/* SPDX-License-Identifier: ISC
 *
 * System calls, made directly. The recorder and the adapters are guests in a program: other
 * libraries in it, or the program itself, may have functions called clock_gettime, open or getpid,
 * which the dynamic linker would find instead of libc's.
 *
 * Each returns what the kernel does: -errno at an error. errno stays. On machines that are not
 * listed here libc makes the call.
 */
#ifndef WEFT_KERNEL_CALL_H
#define WEFT_KERNEL_CALL_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

/* clang warns about functions that a file does not use, in the recorder as one file. */
#define WEFT__KERNEL_INLINE static inline __attribute__((unused))

#if defined(__x86_64__) && !defined(__ILP32__)
#define WEFT__KERNEL_IS_DIRECT 1
WEFT__KERNEL_INLINE long weft__kernel_call(
	long number, long a, long b, long c, long d, long e, long f)
{
	long result;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	__asm__ volatile("syscall"
					 : "=a"(result)
					 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
					 : "rcx", "r11", "memory");
	return result;
}
#elif defined(__aarch64__)
#define WEFT__KERNEL_IS_DIRECT 1
WEFT__KERNEL_INLINE long weft__kernel_call(
	long number, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;
	__asm__ volatile("svc 0"
					 : "+r"(x0)
					 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
					 : "memory");
	return x0;
}
#else
#define WEFT__KERNEL_IS_DIRECT 0
WEFT__KERNEL_INLINE long weft__kernel_call(
	long number, long a, long b, long c, long d, long e, long f)
{
	int saved = errno;
	long result = syscall(number, a, b, c, d, e, f);
	if (result == -1)
		result = -errno;
	errno = saved;
	return result;
}
#endif

/* ---- Files ---- */

WEFT__KERNEL_INLINE int weft__kernel_open(const char *path, int flags, mode_t mode)
{
	return (int)weft__kernel_call(
		SYS_openat, AT_FDCWD, (long)path, flags | O_LARGEFILE, (long)mode, 0, 0);
}

WEFT__KERNEL_INLINE void weft__kernel_close(int fd)
{
	weft__kernel_call(SYS_close, fd, 0, 0, 0, 0, 0);
}

WEFT__KERNEL_INLINE long weft__kernel_read(int fd, void *bytes, size_t size)
{
	return weft__kernel_call(SYS_read, fd, (long)bytes, (long)size, 0, 0, 0);
}

WEFT__KERNEL_INLINE long weft__kernel_write(int fd, const void *bytes, size_t size)
{
	return weft__kernel_call(SYS_write, fd, (long)bytes, (long)size, 0, 0, 0);
}

WEFT__KERNEL_INLINE int weft__kernel_symlink(const char *target, const char *path)
{
	return (int)weft__kernel_call(SYS_symlinkat, (long)target, AT_FDCWD, (long)path, 0, 0, 0);
}

WEFT__KERNEL_INLINE long weft__kernel_readlink(const char *path, char *bytes, size_t size)
{
	return weft__kernel_call(SYS_readlinkat, AT_FDCWD, (long)path, (long)bytes, (long)size, 0, 0);
}

WEFT__KERNEL_INLINE int weft__kernel_unlink(const char *path)
{
	return (int)weft__kernel_call(SYS_unlinkat, AT_FDCWD, (long)path, 0, 0, 0, 0);
}

WEFT__KERNEL_INLINE int weft__kernel_lock(int fd, int operation)
{
	return (int)weft__kernel_call(SYS_flock, fd, operation, 0, 0, 0, 0);
}

/* The kernel's form of offsets and times is certain only where calls are direct. */

WEFT__KERNEL_INLINE long weft__kernel_read_at(int fd, void *bytes, size_t size, off_t at)
{
#if WEFT__KERNEL_IS_DIRECT
	return weft__kernel_call(SYS_pread64, fd, (long)bytes, (long)size, at, 0, 0);
#else
	return pread(fd, bytes, size, at);
#endif
}

WEFT__KERNEL_INLINE long weft__kernel_write_at(int fd, const void *bytes, size_t size, off_t at)
{
#if WEFT__KERNEL_IS_DIRECT
	return weft__kernel_call(SYS_pwrite64, fd, (long)bytes, (long)size, at, 0, 0);
#else
	return pwrite(fd, bytes, size, at);
#endif
}

WEFT__KERNEL_INLINE off_t weft__kernel_seek(int fd, off_t by, int from)
{
#if WEFT__KERNEL_IS_DIRECT
	return weft__kernel_call(SYS_lseek, fd, by, from, 0, 0, 0);
#else
	return lseek(fd, by, from);
#endif
}

/* Without waiting. */
WEFT__KERNEL_INLINE int weft__kernel_poll(struct pollfd *files, unsigned count)
{
#if WEFT__KERNEL_IS_DIRECT
	const struct timespec now = {0, 0};
	return (int)weft__kernel_call(SYS_ppoll, (long)files, (long)count, (long)&now, 0, 0, 0);
#else
	return poll(files, count, 0);
#endif
}

/* `folder`: as for openat. */
WEFT__KERNEL_INLINE int weft__kernel_stat_at(int folder, const char *path, struct stat *ret_status)
{
#if WEFT__KERNEL_IS_DIRECT
	return (int)weft__kernel_call(SYS_newfstatat, folder, (long)path, (long)ret_status, 0, 0, 0);
#else
	return fstatat(folder, path, ret_status, 0);
#endif
}

WEFT__KERNEL_INLINE int weft__kernel_stat_path(const char *path, struct stat *ret_status)
{
	return weft__kernel_stat_at(AT_FDCWD, path, ret_status);
}

/* The library's struct is the kernel's where calls are direct. */
WEFT__KERNEL_INLINE int weft__kernel_stat(int fd, struct stat *ret_status)
{
#if WEFT__KERNEL_IS_DIRECT
	return (int)weft__kernel_call(SYS_fstat, fd, (long)ret_status, 0, 0, 0, 0);
#else
	int saved = errno, error = fstat(fd, ret_status) ? -errno : 0;
	errno = saved;
	return error;
#endif
}

/* ---- Memory ---- */

WEFT__KERNEL_INLINE int weft__kernel_map(
	size_t size, int protection, int flags, int fd, void **ret_memory)
{
#if WEFT__KERNEL_IS_DIRECT
	long it = weft__kernel_call(SYS_mmap, 0, (long)size, protection, flags, fd, 0);
	if (it < 0 && it >= -4095)
		return (int)it;
	*ret_memory = (void *)it;
#else
	int saved = errno, error;
	void *it = mmap(NULL, size, protection, flags, fd, 0);
	error = errno;
	errno = saved;
	if (it == MAP_FAILED)
		return -error;
	*ret_memory = it;
#endif
	return 0;
}

WEFT__KERNEL_INLINE void weft__kernel_unmap(void *memory, size_t size)
{
	weft__kernel_call(SYS_munmap, (long)memory, (long)size, 0, 0, 0, 0);
}

WEFT__KERNEL_INLINE int weft__kernel_advise(void *memory, size_t size, int advice)
{
	return (int)weft__kernel_call(SYS_madvise, (long)memory, (long)size, advice, 0, 0, 0);
}

/* ---- Processes and threads ---- */

WEFT__KERNEL_INLINE pid_t weft__kernel_process(void)
{
	return (pid_t)weft__kernel_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

WEFT__KERNEL_INLINE pid_t weft__kernel_parent(void)
{
	return (pid_t)weft__kernel_call(SYS_getppid, 0, 0, 0, 0, 0, 0);
}

WEFT__KERNEL_INLINE pid_t weft__kernel_thread(void)
{
	return (pid_t)weft__kernel_call(SYS_gettid, 0, 0, 0, 0, 0, 0);
}

/* prctl(PR_GET_NAME), which cannot fail: names have less than 16 bytes. */
WEFT__KERNEL_INLINE void weft__kernel_thread_name(char ret_name[16])
{
	weft__kernel_call(SYS_prctl, 16, (long)ret_name, 0, 0, 0, 0);
}

WEFT__KERNEL_INLINE long weft__kernel_futex(
	uint32_t *word, int operation, uint32_t value, const struct timespec *time)
{
	return weft__kernel_call(SYS_futex, (long)word, operation, (long)value, (long)time, 0, 0);
}

/* The thread's mask: 64 signals on all machines but MIPS. `ret_before` may be NULL. */
WEFT__KERNEL_INLINE void weft__kernel_signal_mask(const uint64_t *mask, uint64_t *ret_before)
{
	weft__kernel_call(
		SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, (long)mask, (long)ret_before, sizeof(*mask), 0, 0);
}

WEFT__KERNEL_INLINE void weft__kernel_yield(void)
{
	weft__kernel_call(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
}

#endif
