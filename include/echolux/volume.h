/* Volumes: voxels, and what they mean; series of them in files. */
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

/* What a volume is. value = code * scale + offset. */
typedef struct echolux_grid {
    size_t size;
    int64_t depth, a_scans, b_scans;
    int32_t voxel;         /* ECHOLUX_U8 ... */
    int32_t voxel_bytes;   /* of one */
    int64_t bytes;         /* of all, without gaps */
    double spacing_um[3];  /* along depth, A-scans, B-scans; 0: unknown */
    double first_depth_um; /* of the first row, from zero delay */
    double scale, offset;
    double v_max_mm_s; /* of phasors: the axial velocity at phase pi; 0: unknown */
    char quantity[32]; /* as recipe.quantity or flow.method spells it; may be empty */
    char unit[64];     /* of the value */
} echolux_grid;

/* In any format that `echolux convert` reads; of several time points the first. */
ECHOLUX_API echolux_status echolux_volume_open(const char* path, echolux_volume** volume, echolux_error* error);

/* A copy of the caller's voxels; strides as in echolux_place, 0: without gaps. Of `grid`, size, voxel, spacing, scale
 * (0 counts as 1), offset, quantity and unit are read. */
ECHOLUX_API echolux_status echolux_volume_create(const echolux_grid* grid, const void* voxels, size_t bytes,
                                                 int64_t a_scan_bytes, int64_t b_scan_bytes, echolux_volume** volume,
                                                 echolux_error* error);

/* What is known of a volume beside its voxels. Texts are copied. */
typedef struct echolux_volume_facts {
    size_t size;
    double time_s;          /* seconds since the start of its source or series */
    int64_t number;         /* which volume of it this is, from 0 */
    const char* provenance; /* how it was made: lines "recipe.window = \"hann\"", within a value \n for a line break and
                               \\ for a backslash; NULL: unknown */
    const char* warnings;   /* of its quality, a line each; NULL: none */
} echolux_volume_facts;

/* As echolux_volume_create(), with what else is known of it; it is written with that. `facts` may be NULL. */
ECHOLUX_API echolux_status echolux_volume_create_with(const echolux_grid* grid, const void* voxels, size_t bytes,
                                                      int64_t a_scan_bytes, int64_t b_scan_bytes,
                                                      const echolux_volume_facts* facts, echolux_volume** volume,
                                                      echolux_error* error);
ECHOLUX_API echolux_status echolux_volume_grid(const echolux_volume* volume, echolux_grid* grid, echolux_error* error);

/* Without gaps; valid as long as the volume. */
ECHOLUX_API echolux_status echolux_volume_data(const echolux_volume* volume, const void** voxels, size_t* bytes,
                                               echolux_error* error);

/* Seconds since the start of its source or series, and which volume of it this is; both may be NULL. */
ECHOLUX_API echolux_status echolux_volume_time(const echolux_volume* volume, double* time_s, int64_t* number,
                                               echolux_error* error);

/* How it was made, and warnings about its quality: one line each, "recipe.window = \"hann\"". Of provenance, line
 * breaks and backslashes within a value are written \n and \\. */
ECHOLUX_API echolux_status echolux_volume_provenance(const echolux_volume* volume, char* buffer, size_t size,
                                                     size_t* needed, echolux_error* error);
ECHOLUX_API echolux_status echolux_volume_warnings(const echolux_volume* volume, char* buffer, size_t size,
                                                   size_t* needed, echolux_error* error);

/* The same values in voxels of another type; integers span [low, high], floats ignore it. */
ECHOLUX_API echolux_status echolux_volume_convert(const echolux_volume* volume, int32_t voxel, double low, double high,
                                                  echolux_volume** converted, echolux_error* error);

/* Of a flow volume: axial velocities in mm/s, phases in rad where none are known, f32. */
ECHOLUX_API echolux_status echolux_volume_velocities(const echolux_volume* flow, echolux_volume** velocities,
                                                     echolux_error* error);

/* The ending decides the format (.nrrd, .tiff, .h5, .ome.zarr ...). The file appears when it is complete. */
ECHOLUX_API echolux_status echolux_volume_write(const echolux_volume* volume, const char* path, echolux_error* error);

/* As echolux_volume_write(), with progress in bytes; what is stopped leaves nothing behind. `progress` may be NULL. */
ECHOLUX_API echolux_status echolux_volume_write_with(const echolux_volume* volume, const char* path,
                                                     echolux_progress progress, void* user, echolux_error* error);

/* A file or folder of several time points, a folder of volumes, or a pattern (scan_*.nrrd). */
ECHOLUX_API echolux_status echolux_series_open(const char* path, echolux_series** series, echolux_error* error);
ECHOLUX_API echolux_status echolux_series_describe(const echolux_series* series, int64_t* count, double* step_s,
                                                   echolux_error* error); /* step_s 0: unknown */
ECHOLUX_API echolux_status echolux_series_read(const echolux_series* series, int64_t time_point,
                                               echolux_volume** volume, echolux_error* error);

/* What a time point is without reading its voxels. `level`: 0 is the whole, others ever coarser, where the file has
 * them; `*levels` (may be NULL) is how many there are. */
ECHOLUX_API echolux_status echolux_series_grid(const echolux_series* series, int64_t time_point, int64_t level,
                                               echolux_grid* grid, int64_t* levels, echolux_error* error);

/* Seconds since the start of the series; 0 where the file knows no times. */
ECHOLUX_API echolux_status echolux_series_time(const echolux_series* series, int64_t time_point, double* time_s,
                                               echolux_error* error);

/* As echolux_volume_provenance(), of one time point. */
ECHOLUX_API echolux_status echolux_series_provenance(const echolux_series* series, int64_t time_point, char* buffer,
                                                     size_t size, size_t* needed, echolux_error* error);

/* Voxels [begin, end) along each direction; end 0: to the last. */
typedef struct echolux_region {
    size_t size;
    int64_t level; /* whose voxels are counted */
    int64_t depth_begin, depth_end;
    int64_t a_scan_begin, a_scan_end;
    int64_t b_scan_begin, b_scan_end;
} echolux_region;

/* Reads little more than the region: chunks of formats that have them, whole B-scans of others. `voxels` gets it
 * without gaps, depth fastest; `bytes` is its exact size. `region` may be NULL: everything. */
ECHOLUX_API echolux_status echolux_series_read_region(const echolux_series* series, int64_t time_point,
                                                      const echolux_region* region, void* voxels, size_t bytes,
                                                      echolux_error* error);

#ifdef __cplusplus
}
#endif
#endif
