/* Pictures and movies of volumes. */
#ifndef ECHOLUX_PICTURE_H
#define ECHOLUX_PICTURE_H

#include "volume.h"

#ifdef __cplusplus
extern "C" {
#endif

ECHOLUX_API echolux_status echolux_view_free(echolux_view* view);
ECHOLUX_API echolux_status echolux_renderer_free(echolux_renderer* renderer);

/* ---- pictures --------------------------------------------------------------------------------------------------- */

/* ECHOLUX_UNSUPPORTED in a build without the renderer. Settings: section view; view.width and view.height are the size.
 */
ECHOLUX_API echolux_status echolux_view_create(echolux_view** view, echolux_error* error);

ECHOLUX_API echolux_status echolux_view_settings(echolux_view* view, echolux_settings** settings, echolux_error* error);

/* `device`: a part of the Vulkan device's name; NULL: the best. */
ECHOLUX_API echolux_status echolux_renderer_create(const char* device, echolux_renderer** renderer,
                                                   echolux_error* error);

/* RGBA, 8 bits each, straight alpha, rows from the top: width * height * 4 bytes. `flow` may be NULL. */
ECHOLUX_API echolux_status echolux_render(echolux_renderer* renderer, const echolux_volume* volume,
                                          const echolux_volume* flow, const echolux_view* view, void* pixels,
                                          size_t bytes, echolux_error* error);

typedef struct echolux_movie {
    size_t size;
    const char* path;   /* turntable, time, sweep, a file of key frames, several joined by +; NULL: turntable */
    int64_t frames;     /* 0: follows from seconds, or from the path */
    double seconds;     /* 0: follows from frames */
    const char* fps;    /* "25", "30000/1001"; NULL: 30, or what frames and seconds say */
    const char* device; /* as echolux_renderer_create() */
    int32_t overwrite;  /* whatever is there, whoever made it */
    int32_t reserved;
    echolux_progress progress;
    void* user;
    int64_t first_frame; /* only the pictures [first_frame, end_frame) of the movie; 0, 0: all */
    int64_t end_frame;
    const char* drawn; /* "frame_%06d.png": all pictures of this movie, drawn elsewhere; NULL: they are drawn */
} echolux_movie;

/* The ending decides the format (.mp4, .webm, .gif, frame_%04d.png ...); where FFmpeg's libraries are missing, GIF and
 * PNG are left. Either a `volume`, or `input`: a volume's file, a series, a scan. `movie` may be NULL. */
ECHOLUX_API echolux_status echolux_write_movie(const echolux_volume* volume, const char* input,
                                               const echolux_view* view, const echolux_movie* movie, const char* output,
                                               echolux_error* error);

#ifdef __cplusplus
}
#endif
#endif
