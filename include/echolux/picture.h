/* Pictures and movies of volumes. Without the renderer in this build, creating a view or renderer returns
 * ECHOLUX_UNSUPPORTED. */
#ifndef ECHOLUX_PICTURE_H
#define ECHOLUX_PICTURE_H

#include "volume.h"

#ifdef __cplusplus
extern "C" {
#endif

ECHOLUX_API echolux_status echolux_view_free(echolux_view* view);
ECHOLUX_API echolux_status echolux_renderer_free(echolux_renderer* renderer);

/* ---- pictures --------------------------------------------------------------------------------------------------- */

/* Creates a view with default settings (section view). view.width and view.height are the picture size in pixels. */
ECHOLUX_API echolux_status echolux_view_create(echolux_view** view, echolux_error* error);

/* Returns the settings of the view; the handle is owned by the view. */
ECHOLUX_API echolux_status echolux_view_settings(echolux_view* view, echolux_settings** settings, echolux_error* error);

/* Creates a renderer. `device`: part of the Vulkan device's name; NULL: the best device. */
ECHOLUX_API echolux_status echolux_renderer_create(const char* device, echolux_renderer** renderer,
                                                   echolux_error* error);

/* Renders a picture: RGBA with 8 bits per channel, straight alpha, rows from the top, width * height * 4 bytes. `flow`
 * may be NULL. */
ECHOLUX_API echolux_status echolux_render(echolux_renderer* renderer, const echolux_volume* volume,
                                          const echolux_volume* flow, const echolux_view* view, void* pixels,
                                          size_t bytes, echolux_error* error);

/* Options of a movie. All zeros selects the defaults. */
typedef struct echolux_movie {
    size_t size;
    const char* path;   /* turntable, time, sweep, a key frame file, or several joined by +; NULL: turntable */
    int64_t frames;     /* if 0, derived from seconds or from the path */
    double seconds;     /* if 0, derived from frames */
    const char* fps;    /* "25", "30000/1001"; NULL: 30, or derived from frames and seconds */
    const char* device; /* as in echolux_renderer_create() */
    int32_t overwrite;  /* replace any existing file, even one not made by Echolux */
    echolux_progress progress;
    void* user;
    int64_t first_frame; /* render only frames [first_frame, end_frame) of the movie; 0, 0: all */
    int64_t end_frame;
    const char* drawn; /* "frame_%06d.png": encode these existing frames; NULL: render them */
} echolux_movie;

/* Writes a movie. The file name extension selects the format (.mp4, .webm, .gif, frame_%04d.png ...). Without FFmpeg's
 * libraries only GIF and PNG are available. Pass either `volume` or `input`: a volume file, a series or a scan. `movie`
 * may be NULL. */
ECHOLUX_API echolux_status echolux_write_movie(const echolux_volume* volume, const char* input,
                                               const echolux_view* view, const echolux_movie* movie, const char* output,
                                               echolux_error* error);

#ifdef __cplusplus
}
#endif
#endif
