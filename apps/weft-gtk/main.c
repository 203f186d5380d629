/* SPDX-License-Identifier: ISC
 *
 * weft-gtk: windows that show traces. `weft view` starts it, or the desktop does.
 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include <weft/source.h>

#include "window.h"

static const char usage[] =
	"usage: weft-gtk [OPTION]... [FILE]...\n"
	"\n"
	"Shows traces in windows; `weft view` is how it is started from a terminal.\n"
	"\n"
	"  --theme NAME     light, dark, safe or safe-dark, instead of what the desktop has\n"
	"  --command WORDS  what the viewer does first, as it is written in links\n"
	"  --check          a file that cannot be read is a message and exit status 3, no window\n"
	"  --help           this text\n"
	"  --version        which weft it belongs to\n";

enum {
	EXIT_USAGE = 2,
	EXIT_UNREADABLE = 3,
	EXIT_NO_DISPLAY = 4, /* weft view has words for it */
};

/* What cannot be read is mostly known by then. */
#define CHECK_US 250000

struct arguments {
	char **files;
	struct loading **loadings; /* of each file */
	int file_count;
	enum weft_theme theme;
	bool has_theme, checks;
	const char *command;
};

static bool parse_theme(struct arguments *a, const char *name)
{
	for (int theme = 0; theme < WEFT_THEMES; theme++)
		if (strcmp(weft_theme_name((enum weft_theme)theme), name) == 0) {
			a->theme = (enum weft_theme)theme;
			return a->has_theme = true;
		}
	fprintf(stderr, "weft-gtk: no theme \"%s\"\n", name);
	return false;
}

/* -1 to go on, or an exit status. */
static int parse(int argc, char **argv, struct arguments *a)
{
	static const struct option options[] = {
		{"check", no_argument, NULL, 'k'},
		{"command", required_argument, NULL, 'c'},
		{"help", no_argument, NULL, 'h'},
		{"theme", required_argument, NULL, 't'},
		{"version", no_argument, NULL, 'v'},
		{NULL, 0, NULL, 0},
	};
	for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
		if (option == 'h')
			return fputs(usage, stdout) < 0;
		if (option == 'v')
			return puts("weft-gtk " WEFT_VERSION) < 0;
		if (option == '?' || (option == 't' && !parse_theme(a, optarg)))
			return EXIT_USAGE;
		a->checks |= option == 'k';
		if (option == 'c')
			a->command = optarg;
	}
	a->files = argv + optind;
	a->file_count = argc - optind;
	return -1;
}

static enum weft_theme system_theme(void)
{
	gboolean prefers_dark = FALSE;
	char *name = NULL;
	g_object_get(gtk_settings_get_default(), "gtk-application-prefer-dark-theme", &prefers_dark,
		"gtk-theme-name", &name, NULL);
	bool is_dark = prefers_dark || (name && g_str_has_suffix(name, "-dark"));
	g_free(name);
	return is_dark ? WEFT_THEME_DARK : WEFT_THEME_LIGHT;
}

static void open_windows(GtkApplication *application, void *context)
{
	const struct arguments *a = context;
	struct window_options options = {
		.theme = a->has_theme ? a->theme : system_theme(),
		.command = a->command,
	};
	for (int i = 0; i < a->file_count; i++) {
		if (!a->loadings[i])
			continue;
		options.path = a->files[i];
		options.loading = a->loadings[i];
		window_open(application, &options);
	}
	if (a->file_count == 0)
		window_open(application, &options);
}

static void quit(GSimpleAction *action, GVariant *parameter, void *application)
{
	(void)action, (void)parameter;
	g_application_quit(G_APPLICATION(application));
}

static void add_keys(GtkApplication *application, void *context)
{
	static const GActionEntry actions[] = {{.name = "quit", .activate = quit}};
	static const struct {
		const char *action, *keys[3];
	} keys[] = {
		{"app.quit", {"<Control>q", NULL}},
		{"window.close", {"<Control>w", NULL}},
	};
	(void)context;
	g_action_map_add_action_entries(
		G_ACTION_MAP(application), actions, G_N_ELEMENTS(actions), application);
	for (size_t i = 0; i < G_N_ELEMENTS(keys); i++)
		gtk_application_set_accels_for_action(application, keys[i].action, keys[i].keys);
}

/* How many are worth a window. */
static int begin(struct arguments *a)
{
	int good = 0;
	a->loadings = g_new0(struct loading *, a->file_count);
	for (int i = 0; i < a->file_count; i++)
		a->loadings[i] = loading_start(a->files[i]);
	for (int i = 0; i < a->file_count; i++) {
		if (a->checks && loading_wait(a->loadings[i], CHECK_US) && loading_error(a->loadings[i])) {
			fprintf(stderr, "%s\n", loading_error(a->loadings[i]));
			g_clear_pointer(&a->loadings[i], loading_abandon);
			continue;
		}
		good++;
	}
	return good;
}

int main(int argc, char **argv)
{
	struct arguments arguments = {.theme = WEFT_THEME_LIGHT};
	int status = parse(argc, argv, &arguments);
	if (status >= 0)
		return status;
	weft_source_survive_truncation();
	if (begin(&arguments) == 0 && arguments.file_count)
		return EXIT_UNREADABLE;
	if (!gtk_init_check()) {
		if (!arguments.checks)
			fputs("weft-gtk: no display\n", stderr);
		return EXIT_NO_DISPLAY;
	}
	/* Each start is a process of its own: one trace that takes it down takes no other window. */
	GtkApplication *application = gtk_application_new("org.weft.Viewer", G_APPLICATION_NON_UNIQUE);
	g_signal_connect(application, "startup", G_CALLBACK(add_keys), NULL);
	g_signal_connect(application, "activate", G_CALLBACK(open_windows), &arguments);
	status = g_application_run(G_APPLICATION(application), 0, NULL);
	g_object_unref(application);
	g_free(arguments.loadings);
	return status;
}
