/* Volumes (voxels and their metadata) and series of volumes in files. */
#ifndef ECHOLUX_VOLUME_H
#define ECHOLUX_VOLUME_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

ECHOLUX_API echolux_status echolux_volume_free(echolux_volume* volume);
ECHOLUX_API echolux_status echolux_series_free(echolux_series* series);

/* ---- volumes ---------------------------------------------------------------------------------------------------- */

enum { ECHOLUX_U8, ECHOLUX_U16, ECHOLUX_I16, ECHOLUX_F16, ECHOLUX_F32, ECHOLUX_COMPLEX64, ECHOLUX_PHASOR8 };

/* Shape and meaning of a volume: value = code * scale + offset. */
typedef struct echolux_grid {
    size_t size;
    int64_t depth, a_scans, b_scans;
    int32_t voxel;         /* ECHOLUX_U8 ... */
    int32_t voxel_bytes;   /* bytes per voxel */
    int64_t bytes;         /* all voxels, contiguous */
    double spacing_um[3];  /* along depth, A-scans and B-scans; 0: unknown */
    double first_depth_um; /* depth of the first row from zero delay */
    double scale, offset;
    double v_max_mm_s; /* for phasors: axial velocity at phase pi; 0: unknown */
    char quantity[32]; /* spelled as in recipe.quantity or flow.method; may be empty */
    char unit[64];     /* of the value */
} echolux_grid;

/* Opens the volume of a file in any format that `echolux convert` reads. Of several time points, the first is opened.
 */
ECHOLUX_API echolux_status echolux_volume_open(const char* path, echolux_volume** volume, echolux_error* error);

/* Metadata of a volume in addition to its grid. Texts are copied. */
typedef struct echolux_volume_facts {
    size_t size;
    double time_s;          /* seconds since the start of its source or series */
    int64_t number;         /* volume number within the source or series, from 0 */
    const char* provenance; /* how it was made: lines such as "recipe.window = \"hann\"", where \n means a line
                             * break within a value and \\ a backslash; NULL: unknown */
    const char* warnings;   /* quality warnings, one per line; NULL: none */
} echolux_volume_facts;

/* Creates a new volume from a copy of the caller's voxels. Strides are as in echolux_place; 0: contiguous. Of `grid`,
 * only the sizes, voxel type, spacing, scale (0 counts as 1), offset, quantity and unit are read. `facts` (may be NULL)
 * are also written to files. */
ECHOLUX_API echolux_status echolux_volume_create(const echolux_grid* grid, const void* voxels, size_t bytes,
                                                 int64_t a_scan_bytes, int64_t b_scan_bytes,
                                                 const echolux_volume_facts* facts, echolux_volume** volume,
                                                 echolux_error* error);

/* Returns the shape and meaning of the volume. */
ECHOLUX_API echolux_status echolux_volume_grid(const echolux_volume* volume, echolux_grid* grid, echolux_error* error);

/* Returns a pointer to the contiguous voxels, valid for the lifetime of the volume. */
ECHOLUX_API echolux_status echolux_volume_data(const echolux_volume* volume, const void** voxels, size_t* bytes,
                                               echolux_error* error);

/* Returns the time in seconds since the start of the source or series, and the volume number. Both may be NULL. */
ECHOLUX_API echolux_status echolux_volume_time(const echolux_volume* volume, double* time_s, int64_t* number,
                                               echolux_error* error);

/* Writes the provenance, one line per entry such as "recipe.window = \"hann\"". Line breaks and backslashes within a
 * value are written as \n and \\. */
ECHOLUX_API echolux_status echolux_volume_provenance(const echolux_volume* volume, char* buffer, size_t size,
                                                     size_t* needed, echolux_error* error);

/* Writes quality warnings, one per line. */
ECHOLUX_API echolux_status echolux_volume_warnings(const echolux_volume* volume, char* buffer, size_t size,
                                                   size_t* needed, echolux_error* error);

/* Converts the values to another voxel type. Integer types cover [low, high]; float types ignore the limits. */
ECHOLUX_API echolux_status echolux_volume_convert(const echolux_volume* volume, int32_t voxel, double low, double high,
                                                  echolux_volume** converted, echolux_error* error);

/* Converts a flow volume to axial velocities in mm/s, f32. Without known velocities the result is the phase in rad. */
ECHOLUX_API echolux_status echolux_volume_velocities(const echolux_volume* flow, echolux_volume** velocities,
                                                     echolux_error* error);

/* Writes the volume; the file name extension selects the format (.nrrd, .tiff, .h5, .ome.zarr ...). The file appears
 * under its name once it is complete. Existing files that are not volumes of Echolux are replaced only with `overwrite`
 * (.npy files cannot be recognised). `progress` (may be NULL) counts bytes. A cancelled call leaves no file. */
ECHOLUX_API echolux_status echolux_volume_write(const echolux_volume* volume, const char* path, int32_t overwrite,
                                                echolux_progress progress, void* user, echolux_error* error);

/* Opens a series: a file or folder with several time points, a folder of volumes, or a pattern (scan_*.nrrd). */
ECHOLUX_API echolux_status echolux_series_open(const char* path, echolux_series** series, echolux_error* error);

/* Returns the number of time points and the interval between them in seconds (0: unknown). Both may be NULL. */
ECHOLUX_API echolux_status echolux_series_describe(const echolux_series* series, int64_t* count, double* step_s,
                                                   echolux_error* error);

/* Reads a whole time point as a new volume. */
ECHOLUX_API echolux_status echolux_series_read(const echolux_series* series, int64_t time_point,
                                               echolux_volume** volume, echolux_error* error);

/* Returns the grid of a time point without reading voxels. `level` 0 is full resolution; higher levels are coarser, if
 * the file has them. `*levels` (may be NULL) is the number of levels. */
ECHOLUX_API echolux_status echolux_series_grid(const echolux_series* series, int64_t time_point, int64_t level,
                                               echolux_grid* grid, int64_t* levels, echolux_error* error);

/* Returns the time in seconds since the start of the series; 0 if the file does not contain times. */
ECHOLUX_API echolux_status echolux_series_time(const echolux_series* series, int64_t time_point, double* time_s,
                                               echolux_error* error);

/* Writes the provenance of a time point, in the format of echolux_volume_provenance(). */
ECHOLUX_API echolux_status echolux_series_provenance(const echolux_series* series, int64_t time_point, char* buffer,
                                                     size_t size, size_t* needed, echolux_error* error);

/* Voxels [begin, end) along each axis. An `end` of 0 means up to the last voxel. */
typedef struct echolux_region {
    size_t size;
    int64_t level; /* resolution level in whose voxels the limits are counted */
    int64_t depth_begin, depth_end;
    int64_t a_scan_begin, a_scan_end;
    int64_t b_scan_begin, b_scan_end;
} echolux_region;

/* Reads a region into `voxels`, contiguous with depth fastest. `bytes` must be its exact size. Reads little beyond the
 * region: chunks of chunked formats, whole B-scans of others. `region` may be NULL: the whole volume. */
ECHOLUX_API echolux_status echolux_series_read_region(const echolux_series* series, int64_t time_point,
                                                      const echolux_region* region, void* voxels, size_t bytes,
                                                      echolux_error* error);

#ifdef __cplusplus
}
#endif
#endif
