/* SPDX-License-Identifier: ISC
 *
 * A window from which view.py drags a file; the argument is the file's path.
 */
#include <gtk/gtk.h>

static GdkContentProvider *offer(GtkDragSource *source, double x, double y, void *context)
{
	GFile *file = g_file_new_for_path(context);
	GSList *files = g_slist_append(NULL, file);
	(void)source, (void)x, (void)y;
	return gdk_content_provider_new_typed(GDK_TYPE_FILE_LIST, gdk_file_list_new_from_list(files));
}

static void activate(GtkApplication *application, void *context)
{
	GtkWidget *window = gtk_application_window_new(application);
	GtkWidget *label = gtk_label_new("Drag me");
	GtkDragSource *source = gtk_drag_source_new();
	gtk_drag_source_set_actions(source, GDK_ACTION_COPY);
	g_signal_connect(source, "prepare", G_CALLBACK(offer), context);
	gtk_widget_add_controller(label, GTK_EVENT_CONTROLLER(source));
	gtk_window_set_title(GTK_WINDOW(window), "a file to drag");
	gtk_window_set_default_size(GTK_WINDOW(window), 200, 150);
	gtk_window_set_child(GTK_WINDOW(window), label);
	gtk_window_present(GTK_WINDOW(window));
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	GtkApplication *application =
		gtk_application_new("org.weft.DragSource", G_APPLICATION_NON_UNIQUE);
	g_signal_connect(application, "activate", G_CALLBACK(activate), argv[1]);
	int status = g_application_run(G_APPLICATION(application), 1, argv);
	g_object_unref(application);
	return status;
}
