/* SPDX-License-Identifier: ISC
 *
 * Where a process makes its buffer when another one has asked for it: in a run directory of its own
 * user, as `weft record` makes them (src/runs/directory/directory.c), in XDG_RUNTIME_DIR/weft or
 * /dev/shm/weft-UID. The other process has no say in it.
 *
 * Every user can write to /dev/shm, and may have made an entry of that name. So the folder has to
 * be a directory of ours that no other user can write to.
 *
 * This may run in a signal handler, so nothing here allocates.
 */
#include "platform/linux.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* True if it is a directory of ours, not a link to one, and nobody else can write there. */
static bool is_ours(const char *path)
{
	struct stat status;
	return lstat(path, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
		   !(status.st_mode & 022);
}

/* A path of bounded size. */
struct path {
	char bytes[WEFT__RUN_BYTES];
	size_t size;
};

static bool append(struct path *path, const char *text)
{
	size_t length = strlen(text);
	if (length >= sizeof(path->bytes) - path->size)
		return false;
	memcpy(path->bytes + path->size, text, length + 1);
	path->size += length;
	return true;
}

static bool append_number(struct path *path, unsigned number)
{
	char digits[11];
	size_t at = sizeof(digits) - 1;
	digits[at] = '\0';
	do
		digits[--at] = (char)('0' + number % 10);
	while (number /= 10);
	return append(path, digits + at);
}

/* Other users can pass through root's folder, because its programs may become other users. The
 * mode that mkdir sets depends on the umask. */
static bool make_folder(const char *path)
{
	if (mkdir(path, 0700) == 0)
		return chmod(path, geteuid() == 0 ? 0711 : 0700) == 0;
	return errno == EEXIST && is_ours(path);
}

/* Makes a run directory in the folder. Children that give up root's rights make their buffers
 * there, but cannot list it. */
static bool make_in(struct path *folder)
{
	if (!append(folder, "/record-XXXXXX") || !mkdtemp(folder->bytes))
		return false;
	if (chmod(folder->bytes, geteuid() == 0 ? 01733 : 0700) == 0 && append(folder, "/"))
		return true;
	rmdir(folder->bytes);
	return false;
}

static bool make_in_runtime(struct path *path)
{
	const char *runtime = secure_getenv("XDG_RUNTIME_DIR");
	path->size = 0;
	return runtime && runtime[0] == '/' && is_ours(runtime) && append(path, runtime) &&
		   append(path, "/weft") && make_folder(path->bytes) && make_in(path);
}

static bool make_in_shared(struct path *path)
{
	path->size = 0;
	append(path, "/dev/shm/weft-");
	append_number(path, (unsigned)geteuid());
	if (make_folder(path->bytes))
		return make_in(path);
	return errno == EEXIST && append(path, "-XXXXXX") && mkdtemp(path->bytes) && make_in(path);
}

/* While a process has the rights of two users, a file of one would hold what belongs to the other.
 */
static bool has_one_user(void)
{
	uid_t real, effective, saved;
	return getresuid(&real, &effective, &saved) == 0 && real == effective && effective == saved;
}

const char *weft__platform_run_make(char ret_directory[WEFT__RUN_BYTES])
{
	static struct path path; /* too big for an alternate stack */
	if (!has_one_user())
		return "it acts for another user just now; ask again later";
	if (!make_in_runtime(&path) && !make_in_shared(&path))
		return "it can make a run directory neither in XDG_RUNTIME_DIR nor in /dev/shm; start it "
			   "with an XDG_RUNTIME_DIR that its user owns and may write to (systemd: "
			   "RuntimeDirectory=, Environment=XDG_RUNTIME_DIR=/run/..., or BindPaths=/dev/shm)";
	memcpy(ret_directory, path.bytes, path.size + 1);
	return NULL;
}
