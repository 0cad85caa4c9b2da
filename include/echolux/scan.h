/* Scans: how spectra were recorded and how to process them; their settings, and functions of the caller in their
 * pipeline. */
#ifndef ECHOLUX_SCAN_H
#define ECHOLUX_SCAN_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

ECHOLUX_API echolux_status echolux_scan_free(echolux_scan* scan);

/* ---- scans ------------------------------------------------------------------------------------------------------ */

/* A scan's TOML file (recordings too), or a raw file of a format that describes itself. `assignments`:
 * "recipe.window=hann"; they override the file. */
ECHOLUX_API echolux_status echolux_scan_open(const char* path, const char* const* assignments, size_t count,
                                             echolux_scan** scan, echolux_error* error);

typedef struct echolux_layout {
    size_t size;
    int64_t samples;           /* of a spectrum */
    int64_t a_scans;           /* of a B-scan */
    int64_t b_scans;           /* of a volume */
    const char* sample_format; /* u8, u16, u32, i16, f32, packed12; NULL: u16 */
} echolux_layout;

/* A scan without a file: its spectra are submitted in blocks. */
ECHOLUX_API echolux_status echolux_scan_create(const echolux_layout* layout, const char* const* assignments,
                                               size_t count, echolux_scan** scan, echolux_error* error);

typedef struct echolux_scan_shape {
    size_t size;
    int64_t samples, a_scans, b_scans, volumes, a_repeats, b_repeats;
    int64_t line_bytes;   /* from one line to the next */
    int64_t b_scan_bytes; /* of one B-scan position, all its repeats, flyback left out */
    int32_t has_spectra;  /* there is a file behind it */
    int32_t was_recorded; /* by Echolux: a recording */
} echolux_scan_shape;

ECHOLUX_API echolux_status echolux_scan_describe(const echolux_scan* scan, echolux_scan_shape* shape,
                                                 echolux_error* error);

/* Calibration that is usually in files, replacing what was set before; count 0: none. `name` and length: "background",
 * "dark", "k_positions", "wavelengths_nm", "dispersion_rad", "mask" [samples], "k_polynomial" [any], "noise_floor"
 * [depth bins], "fast_axis" [lines of a B-scan], "k_jitter" [rows][2]. NaN is refused here, lengths when a
 * reconstructor is made. */
ECHOLUX_API echolux_status echolux_scan_set_calibration(echolux_scan* scan, const char* name, const double* values,
                                                        size_t count, echolux_error* error);

/* `*count` is how many there are; as many as `capacity` allows are copied. `values` may be NULL with 0. */
ECHOLUX_API echolux_status echolux_scan_get_calibration(const echolux_scan* scan, const char* name, double* values,
                                                        size_t capacity, size_t* count, echolux_error* error);

/* Raw spectra of B-scan positions [first, first + b_scans) of a volume, b_scans * b_scan_bytes, of a scan with a file.
 */
ECHOLUX_API echolux_status echolux_scan_read(const echolux_scan* scan, int64_t volume, int64_t first, int64_t b_scans,
                                             void* spectra, size_t bytes, echolux_error* error);

/* ---- settings --------------------------------------------------------------------------------------------------- */

enum { ECHOLUX_FLAG = 0, ECHOLUX_INTEGER = 1, ECHOLUX_NUMBER = 2, ECHOLUX_TEXT = 3, ECHOLUX_NUMBERS = 4 };

/* What has to be recomputed when a setting changes: everything; buffers and tables; tables only; the picture. */
enum { ECHOLUX_EFFECT_FILE = 0, ECHOLUX_EFFECT_PLAN = 1, ECHOLUX_EFFECT_TABLE = 2, ECHOLUX_EFFECT_VIEW = 3 };

typedef struct echolux_setting {
    size_t size;
    const char* key; /* "recipe.window" */
    const char* unit;
    const char* help;
    const char* default_text;
    int32_t type;               /* ECHOLUX_FLAG ... */
    int32_t effect;             /* ECHOLUX_EFFECT_... */
    double low, high;           /* of numbers, inclusive */
    const char* const* choices; /* of a text that is one of these; NULL: any */
    size_t choice_count;
} echolux_setting;

/* Valid as long as the scan or the view. Those of a scan: sections scan, calibration, recipe, flow, nufft, defr,
 * compressive; [scan] of a scan with a file cannot be changed after opening. */
ECHOLUX_API echolux_status echolux_scan_settings(echolux_scan* scan, echolux_settings** settings, echolux_error* error);

ECHOLUX_API echolux_status echolux_settings_count(const echolux_settings* settings, size_t* count,
                                                  echolux_error* error);
ECHOLUX_API echolux_status echolux_settings_describe(const echolux_settings* settings, size_t index,
                                                     echolux_setting* setting, echolux_error* error);
ECHOLUX_API echolux_status echolux_settings_find(const echolux_settings* settings, const char* key, size_t* index,
                                                 echolux_error* error);

/* An invalid value is rejected and the old one kept. Flags are true and false as texts, 1 and 0 as numbers. */
ECHOLUX_API echolux_status echolux_settings_set_text(echolux_settings* settings, const char* key, const char* value,
                                                     echolux_error* error);
ECHOLUX_API echolux_status echolux_settings_get_text(const echolux_settings* settings, const char* key, char* buffer,
                                                     size_t size, size_t* needed, echolux_error* error);
ECHOLUX_API echolux_status echolux_settings_set_number(echolux_settings* settings, const char* key, double value,
                                                       echolux_error* error);
ECHOLUX_API echolux_status echolux_settings_get_number(const echolux_settings* settings, const char* key, double* value,
                                                       echolux_error* error);

/* Settings that differ from their defaults (`all`: all of them) as TOML. */
ECHOLUX_API echolux_status echolux_settings_toml(const echolux_settings* settings, int all, char* buffer, size_t size,
                                                 size_t* needed, echolux_error* error);

/* ---- stages ----------------------------------------------------------------------------------------------------- */

/* A stage is a function of the caller that sees what is on its way through the pipeline, and may change it in place, in
 * host memory. Stages work on the CPU: with them ECHOLUX_DEVICE_AUTO takes it, and ECHOLUX_DEVICE_CUDA is refused
 * (ECHOLUX_DEVICE). Measurements of calibration and of the noise floor are made without them.
 * SPECTRA: f32, counts of the channel that is reconstructed, before anything is subtracted.
 * BINS: complex64, depth bins behind recipe.fixed_pattern, before repeats are joined and flow is found; value * scale
 * are counts. Spectra and bins are as they were recorded: B-scans that ran backwards are backwards.
 * VOXELS: of the structure, as they were asked for, where they were asked for. */
enum { ECHOLUX_STAGE_SPECTRA = 0, ECHOLUX_STAGE_BINS = 1, ECHOLUX_STAGE_VOXELS = 2 };

typedef struct echolux_staged {
    size_t size;
    void* values;     /* value (i, j, k, l, m) lies i * stride_bytes[0] + ... bytes behind */
    int32_t stage;    /* ECHOLUX_STAGE_... */
    int32_t voxel;    /* type of a value: ECHOLUX_F32, ECHOLUX_COMPLEX64, or that of the volume */
    int64_t shape[5]; /* B-scans, their repeats, A-scans, their repeats, samples or depths; of voxels repeats are 1 */
    int64_t stride_bytes[5];
    int64_t volume;       /* of the block */
    int64_t first_b_scan; /* of the volume */
    double scale, offset; /* value = code * scale + offset */
} echolux_staged;

/* A result other than 0 ends the block with ECHOLUX_CANCELLED. On the thread that submits the block, or reconstructs
 * it live; never on two at a time for one reconstructor or session. */
typedef int (*echolux_stage)(void* user, const echolux_staged* staged);

/* NULL: none. `release` (may be NULL) gets `user` when nothing can call the stages any more, on any thread; where the
 * call that takes them fails, `user` stays the caller's. */
typedef struct echolux_stages {
    size_t size;
    echolux_stage spectra, bins, voxels;
    void* user;
    void (*release)(void* user);
} echolux_stages;

/* For reconstructors, whole scans and sessions that are made of this scan afterwards. NULL: none any more. */
ECHOLUX_API echolux_status echolux_scan_set_stages(echolux_scan* scan, const echolux_stages* stages,
                                                   echolux_error* error);

#ifdef __cplusplus
}
#endif
#endif
