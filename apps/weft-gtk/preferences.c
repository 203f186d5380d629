/* SPDX-License-Identifier: ISC
 *
 * See preferences.h. The file is a key file of GLib, whose other keys stay.
 */
#include "preferences.h"

#include <glib.h>
#include <glib/gstdio.h>

static char *path_of_file(void)
{
	return g_build_filename(g_get_user_config_dir(), "weft", "viewer.ini", NULL);
}

static GKeyFile *load(void)
{
	char *path = path_of_file();
	GKeyFile *file = g_key_file_new();
	g_key_file_load_from_file(file, path, G_KEY_FILE_KEEP_COMMENTS, NULL);
	g_free(path);
	return file;
}

bool preferences_have_wasd(void)
{
	GKeyFile *file = load();
	bool has_wasd = g_key_file_get_boolean(file, "keys", "wasd", NULL);
	g_key_file_unref(file);
	return has_wasd;
}

void preferences_set_wasd(bool has_wasd)
{
	char *path = path_of_file(), *directory = g_path_get_dirname(path);
	GKeyFile *file = load();
	g_key_file_set_boolean(file, "keys", "wasd", has_wasd);
	g_mkdir_with_parents(directory, 0700);
	g_key_file_save_to_file(file, path, NULL);
	g_key_file_unref(file);
	g_free(directory);
	g_free(path);
}
