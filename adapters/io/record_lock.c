/* SPDX-License-Identifier: ISC
 *
 * See record_lock.h. The table has the files of which the process has a lock, with the object by
 * which it took it: a copy of that descriptor is closed on purpose. A lock that is given back in
 * part counts as given back, and files that find no room are not watched.
 */
#include "io/plain.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "io/record_lock.h"

#include "kernel/call.h"

enum {
	LOCKED = 16
};

static struct locked {
	uint64_t device, inode;
	const struct weft__io_object *object; /* NULL: an empty entry */
	pid_t process; /* a forked child has no locks, and one of vfork shares this memory */
} table[LOCKED];

unsigned weft__io_record_locks; /* how many entries have been used since the process began */

struct file {
	struct stat status;
	pid_t process;
};

static bool find_file(int fd, struct file *ret)
{
	if (!weft__hooks_system_begin())
		return false;
	const long error = weft__kernel_stat(fd, &ret->status);
	ret->process = (pid_t)weft__kernel_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
	weft__hooks_system_end();
	return error == 0;
}

static struct locked *find_entry(const struct file *file)
{
	for (unsigned i = 0; i < LOCKED; i++) {
		struct locked *entry = &table[i];
		if (__atomic_load_n(&entry->object, __ATOMIC_ACQUIRE) && entry->process == file->process &&
			entry->device == file->status.st_dev && entry->inode == file->status.st_ino)
			return entry;
	}
	return NULL;
}

static void forget(struct locked *entry)
{
	__atomic_store_n(&entry->object, NULL, __ATOMIC_RELEASE);
}

void weft__io_record_lock_took(int fd)
{
	const struct weft__io_object *object = weft__io_object(fd);
	struct file file;
	if (!object || !find_file(fd, &file) || find_entry(&file))
		return;
	for (unsigned i = 0; i < LOCKED; i++) {
		struct locked *entry = &table[i];
		if (__atomic_load_n(&entry->object, __ATOMIC_RELAXED) && entry->process == file.process)
			continue;
		entry->device = file.status.st_dev;
		entry->inode = file.status.st_ino;
		entry->process = file.process;
		__atomic_store_n(&entry->object, object, __ATOMIC_RELEASE);
		__atomic_store_n(&weft__io_record_locks, 1, __ATOMIC_RELAXED);
		return;
	}
}

void weft__io_record_lock_gave(int fd)
{
	struct file file;
	struct locked *entry = find_file(fd, &file) ? find_entry(&file) : NULL;
	if (entry)
		forget(entry);
}

void weft__io_record_lock_set(int fd, long lock)
{
	struct flock copy;
	if (!weft__hooks_copy(&copy, (const void *)lock, sizeof(copy)))
		return;
	if (copy.l_type == F_UNLCK)
		weft__io_record_lock_gave(fd);
	else
		weft__io_record_lock_took(fd);
}

static WEFT__OWN_FRAME void record(int fd)
{
	struct weft__hooks_text text = {0};
	const int saved = weft__hooks_begin();
	weft__hooks_thread_task();
	weft__hooks_append(&text, "lost lock of ");
	weft__io_append_path(&text, fd);
	weft_note_n(text.bytes, text.size);
	weft__hooks_end(saved);
}

void weft__io_record_lock_closing(int fd)
{
	struct file file;
	const int saved = errno;
	struct locked *entry = find_file(fd, &file) ? find_entry(&file) : NULL;
	if (entry) {
		if (weft_enabled(WEFT_LEVEL_INFO) && entry->object != weft__io_object(fd))
			record(fd);
		forget(entry);
	}
	errno = saved;
}
