/* SPDX-License-Identifier: ISC
 *
 * Colours and sizes: passes the desktop's to the viewer, and the viewer's to the widgets around it.
 */
#include "window.h"

/* Themes whose style sheet the display has. A window has its theme's class; the style sheet is
 * installed once for each theme. */
static GHashTable *installed;

/* Words in capitals are placeholders. */
static const char rules[] =
	"window.THEME .weft-header, window.THEME .weft-panel, window.THEME .weft-prompt {"
	" background: BACKGROUND; color: TEXT; box-shadow: none; }\n"
	"window.THEME .weft-header { border: none; border-bottom: 1px solid GRID; padding: 0 4px;"
	" min-height: 32px; }\n"
	"window.THEME .weft-header button { padding: 0 5px; min-height: 26px; min-width: 22px; margin: 2px 0;"
	" border: none; background: none; box-shadow: none; color: TEXT; }\n"
	"window.THEME .weft-header.weft-touch button { min-height: 40px; min-width: 34px; }\n"
	"window.THEME .weft-header button:hover { background: GRID; }\n"
	"window.THEME .weft-header button.weft-on, window.THEME .weft-header button:active,"
	" window.THEME .weft-header menubutton > button:checked { background: alpha(SELECTION, 0.22); }\n"
	"window.THEME .weft-header button:focus-visible { outline: 2px solid SELECTION; outline-offset: -2px; }\n"
	"window.THEME .weft-header windowcontrols, window.THEME .weft-header menubutton {"
	" margin: 0; padding: 0; }\n"
	"window.THEME .weft-header windowcontrols image { padding: 0; margin: 0; min-height: 0; }\n"
	"window.THEME .weft-name { font-weight: bold; }\n"
	"window.THEME .weft-panel { border-left: 1px solid GRID; border-top: 1px solid GRID; }\n"
	"window.THEME .weft-dim, window.THEME .weft-heading { color: DIM; }\n"
	"window.THEME .weft-title { font-weight: bold; padding: 7px 12px; }\n"
	"window.THEME .weft-heading { font-size: 85%; font-weight: bold; padding: 10px 12px 2px 12px; }\n"
	"window.THEME .weft-text, window.THEME .weft-fact { padding: 3px 12px; }\n"
	"window.THEME button.weft-link { font-weight: normal; padding: 3px 9px; min-height: 0;"
	" border: none; border-left: 3px solid transparent; border-radius: 0; box-shadow: none;"
	" outline-offset: -2px; color: TEXT; background: none; text-shadow: none; }\n"
	"window.THEME button.weft-link:hover { background: alpha(TEXT, 0.07); }\n"
	"window.THEME button.weft-current { background: alpha(SELECTION, 0.16); }\n"
	"window.THEME checkbutton.weft-toggle { padding: 3px 12px; color: TEXT; }\n"
	"window.THEME button.weft-button { margin: 4px 12px; padding: 2px 10px; min-height: 22px; }\n"
	"window.THEME button.weft-control { padding: 0; margin: 0; min-width: 0; min-height: 0; border: none;"
	" background: none; box-shadow: none; }\n"
	"window.THEME button.weft-control:focus-visible { outline: 2px solid SELECTION; outline-offset: -2px; }\n"
	"window.THEME button.weft-close { color: DIM; margin: 2px 4px; }\n"
	"window.THEME .weft-numbers { font-feature-settings: \"tnum\"; }\n"
	"window.THEME .weft-prompt { border: 1px solid GRID; border-radius: 6px; padding: 3px 6px 3px 12px;"
	" box-shadow: 0 2px 6px alpha(black, 0.25); }\n"
	"window.THEME .weft-error { color: FAILED; }\n";

static char *css_color(uint32_t color)
{
	return g_strdup_printf("#%06x", color >> 8);
}

static void add_roles(struct window *window, const char *class, GString *css)
{
	for (unsigned role = 1; role < LOOK_ROLES; role++) {
		char *color = css_color(weft_viewer_role_color(window->viewer, role));
		bool is_dim = role == WEFT_VIEWER_ROLE_DIM;
		g_string_append_printf(css,
			"window.%s button.weft-link.weft-role-%u { border-left-color: %s; %s%s%s }\n"
			"window.%s .weft-text.weft-role-%u, window.%s .weft-fact.weft-role-%u .weft-value"
			" { color: %s; }\n",
			class, role, color, is_dim ? "color: " : "", is_dim ? color : "", is_dim ? ";" : "",
			class, role, class, role, color);
		g_free(color);
	}
}

static void replace(GString *css, const char *word, uint32_t color)
{
	char *text = css_color(color);
	g_string_replace(css, word, text, 0);
	g_free(text);
}

static void install_style(struct window *window, const char *class)
{
	struct weft_viewer_colors colors;
	weft_viewer_colors(window->viewer, &colors);
	GString *css = g_string_new(rules);
	g_string_replace(css, "THEME", class, 0);
	replace(css, "BACKGROUND", colors.background);
	replace(css, "TEXT", colors.text);
	replace(css, "DIM", colors.dim);
	replace(css, "GRID", colors.grid);
	replace(css, "SELECTION", colors.selection);
	replace(css, "FAILED", colors.failed);
	add_roles(window, class, css);
	GtkCssProvider *provider = gtk_css_provider_new();
	gtk_css_provider_load_from_data(provider, css->str, -1);
	gtk_style_context_add_provider_for_display(gdk_display_get_default(),
		GTK_STYLE_PROVIDER(provider), GTK_STYLE_PROVIDER_PRIORITY_APPLICATION);
	g_object_unref(provider);
	g_string_free(css, TRUE);
}

void look_apply(struct window *window, const char *theme)
{
	char *class = g_strconcat("weft-", theme, NULL);
	if (!installed)
		installed = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	if (!g_hash_table_contains(installed, class)) {
		install_style(window, class);
		g_hash_table_add(installed, g_strdup(class));
	}
	if (window->theme_class)
		gtk_widget_remove_css_class(window->widget, window->theme_class);
	gtk_widget_add_css_class(window->widget, class);
	g_free(window->theme_class);
	window->theme_class = class;
	/* For everything that GTK draws itself, in all windows: menus, entries. */
	g_object_set(gtk_settings_get_default(), "gtk-application-prefer-dark-theme",
		g_str_has_suffix(theme, "dark"), NULL);
}

enum weft_theme look_system_theme(void)
{
	gboolean prefers_dark = FALSE;
	char *name = NULL;
	g_object_get(gtk_settings_get_default(), "gtk-application-prefer-dark-theme", &prefers_dark,
		"gtk-theme-name", &name, NULL);
	bool is_dark = prefers_dark || (name && g_str_has_suffix(name, "-dark"));
	g_free(name);
	return is_dark ? WEFT_THEME_DARK : WEFT_THEME_LIGHT;
}

double look_text_scale(void)
{
	int dpi = -1; /* in 1024ths */
	g_object_get(gtk_settings_get_default(), "gtk-xft-dpi", &dpi, NULL);
	return dpi > 0 ? CLAMP(dpi / 1024.0 / 96, 0.5, 4) : 1;
}
