/* Scans: the layout of recorded spectra and how to process them, their settings, and callbacks in their pipeline. */
#ifndef ECHOLUX_SCAN_H
#define ECHOLUX_SCAN_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Frees the scan and its settings handle. Reconstructors created from it stay valid. */
ECHOLUX_API echolux_status echolux_scan_free(echolux_scan* scan);

/* ---- scans ------------------------------------------------------------------------------------------------------ */

/* Opens the scan from its TOML file (recordings included) or from a raw file in a self-describing format.
 * `assignments`, such as "recipe.window=hann", override the file. */
ECHOLUX_API echolux_status echolux_scan_open(const char* path, const char* const* assignments, size_t count,
                                             echolux_scan** scan, echolux_error* error);

/* Layout of a scan that is not in a file. */
typedef struct echolux_layout {
    size_t size;
    int64_t samples;           /* per spectrum */
    int64_t a_scans;           /* per B-scan */
    int64_t b_scans;           /* per volume */
    const char* sample_format; /* u8, u16, u32, i16, f32 or packed12; NULL: u16 */
} echolux_layout;

/* Creates a new scan without a file. Its spectra are submitted in blocks. */
ECHOLUX_API echolux_status echolux_scan_create(const echolux_layout* layout, const char* const* assignments,
                                               size_t count, echolux_scan** scan, echolux_error* error);

typedef struct echolux_scan_shape {
    size_t size;
    int64_t samples, a_scans, b_scans, volumes, a_repeats, b_repeats;
    int64_t line_bytes;   /* distance between the starts of two lines */
    int64_t b_scan_bytes; /* one B-scan position with all its repeats, without flyback */
    int32_t has_spectra;  /* 1 if a file with spectra belongs to the scan */
    int32_t was_recorded; /* 1 if it is a recording made by Echolux */
} echolux_scan_shape;

/* Fills `shape` with the sizes of the scan. */
ECHOLUX_API echolux_status echolux_scan_describe(const echolux_scan* scan, echolux_scan_shape* shape,
                                                 echolux_error* error);

/* Sets calibration data that usually comes from files, replacing earlier data. `count` 0 removes it. Names and lengths:
 * "background", "dark", "k_positions", "wavelengths_nm", "dispersion_rad", "mask" [samples], "k_polynomial" [any],
 * "noise_floor" [depth bins], "fast_axis" [lines per B-scan], "k_jitter" [rows][2]. NaN is rejected here; lengths are
 * checked when a reconstructor is created. */
ECHOLUX_API echolux_status echolux_scan_set_calibration(echolux_scan* scan, const char* name, const double* values,
                                                        size_t count, echolux_error* error);

/* Copies up to `capacity` values of calibration data and sets `*count` to the number available. `values` may be NULL if
 * `capacity` is 0. */
ECHOLUX_API echolux_status echolux_scan_get_calibration(const echolux_scan* scan, const char* name, double* values,
                                                        size_t capacity, size_t* count, echolux_error* error);

/* Reads the raw spectra of B-scan positions [first, first + b_scans) of a volume: b_scans * b_scan_bytes bytes. The
 * scan must have a file. */
ECHOLUX_API echolux_status echolux_scan_read(const echolux_scan* scan, int64_t volume, int64_t first, int64_t b_scans,
                                             void* spectra, size_t bytes, echolux_error* error);

/* ---- settings --------------------------------------------------------------------------------------------------- */

enum { ECHOLUX_FLAG = 0, ECHOLUX_INTEGER = 1, ECHOLUX_NUMBER = 2, ECHOLUX_TEXT = 3, ECHOLUX_NUMBERS = 4 };

/* Parts to recompute when a setting changes: everything (FILE), buffers and tables (PLAN), only tables (TABLE)
 * or only the picture (VIEW). */
enum { ECHOLUX_EFFECT_FILE = 0, ECHOLUX_EFFECT_PLAN = 1, ECHOLUX_EFFECT_TABLE = 2, ECHOLUX_EFFECT_VIEW = 3 };

/* Describes one setting. Texts are owned by the scan or view. */
typedef struct echolux_setting {
    size_t size;
    const char* key; /* "recipe.window" */
    const char* unit;
    const char* help;
    const char* default_text;
    int32_t type;               /* ECHOLUX_FLAG ... */
    int32_t effect;             /* ECHOLUX_EFFECT_... */
    double low, high;           /* inclusive limits of numbers */
    const char* const* choices; /* allowed values of a text; NULL: any */
    size_t choice_count;
} echolux_setting;

/* Returns the settings of the scan; the handle is owned by the scan. Sections: scan, calibration, recipe, flow, nufft,
 * defr, compressive. Section scan is read-only if there is a file with spectra. */
ECHOLUX_API echolux_status echolux_scan_settings(echolux_scan* scan, echolux_settings** settings, echolux_error* error);

/* Sets `*count` to the number of settings. */
ECHOLUX_API echolux_status echolux_settings_count(const echolux_settings* settings, size_t* count,
                                                  echolux_error* error);

/* Describes setting `index`, from 0 to count - 1. */
ECHOLUX_API echolux_status echolux_settings_describe(const echolux_settings* settings, size_t index,
                                                     echolux_setting* setting, echolux_error* error);

/* Sets `*index` to the index of the setting `key`. */
ECHOLUX_API echolux_status echolux_settings_find(const echolux_settings* settings, const char* key, size_t* index,
                                                 echolux_error* error);

/* Sets a setting from text. An invalid value is rejected and the old one kept. Flags are "true" and "false" as text, 1
 * and 0 as numbers. */
ECHOLUX_API echolux_status echolux_settings_set_text(echolux_settings* settings, const char* key, const char* value,
                                                     echolux_error* error);

/* Writes the value of a setting as text to `buffer`; see echolux.h for `size` and `needed`. */
ECHOLUX_API echolux_status echolux_settings_get_text(const echolux_settings* settings, const char* key, char* buffer,
                                                     size_t size, size_t* needed, echolux_error* error);

/* Sets a flag, integer or number. Same rules as echolux_settings_set_text(). */
ECHOLUX_API echolux_status echolux_settings_set_number(echolux_settings* settings, const char* key, double value,
                                                       echolux_error* error);

/* Reads a flag, integer or number. */
ECHOLUX_API echolux_status echolux_settings_get_number(const echolux_settings* settings, const char* key, double* value,
                                                       echolux_error* error);

/* Writes the settings that differ from their defaults as TOML; with `all` other than 0, all settings. */
ECHOLUX_API echolux_status echolux_settings_toml(const echolux_settings* settings, int all, char* buffer, size_t size,
                                                 size_t* needed, echolux_error* error);

/* ---- stages ----------------------------------------------------------------------------------------------------- */

/* A stage is a callback that may inspect and change data in the pipeline in place, in host memory. Stages run on the
 * CPU: with stages, ECHOLUX_DEVICE_AUTO selects the CPU and ECHOLUX_DEVICE_CUDA is refused (ECHOLUX_DEVICE).
 * Measurements of calibration and of the noise floor bypass stages.
 * SPECTRA: f32, in counts, for the reconstructed channel, before any subtraction.
 * BINS: complex64 depth bins after recipe.fixed_pattern, before repeats are combined and flow is computed;
 * value * scale is in counts. Spectra and bins are in recording order: B-scans of the backward sweep are reversed.
 * VOXELS: structure voxels in their final type, at their destination. */
enum { ECHOLUX_STAGE_SPECTRA = 0, ECHOLUX_STAGE_BINS = 1, ECHOLUX_STAGE_VOXELS = 2 };

/* Data passed to a stage. It is valid during the callback. */
typedef struct echolux_staged {
    size_t size;
    void* values;     /* value (i, j, k, l, m) is at values + i * stride_bytes[0] + ... in bytes */
    int32_t stage;    /* ECHOLUX_STAGE_... */
    int32_t voxel;    /* type of a value: ECHOLUX_F32, ECHOLUX_COMPLEX64, or the volume's voxel type */
    int64_t shape[5]; /* B-scans, B-scan repeats, A-scans, A-scan repeats, samples or depths; repeats are 1 for
                       * voxels */
    int64_t stride_bytes[5];
    int64_t volume;       /* volume number of the block */
    int64_t first_b_scan; /* within the volume */
    double scale, offset; /* value = code * scale + offset */
} echolux_staged;

/* Stage callback. A return value other than 0 ends the block with ECHOLUX_CANCELLED. It runs on the thread that submits
 * the block, or on the reconstruction thread of a live session. It is never called concurrently for one reconstructor
 * or session. */
typedef int (*echolux_stage)(void* user, const echolux_staged* staged);

/* Set of stages; a NULL callback is skipped. `release` (may be NULL) is called with `user`, on any thread, once no
 * stage can be called again. If the call that registers the stages fails, `user` remains owned by the caller. */
typedef struct echolux_stages {
    size_t size;
    echolux_stage spectra, bins, voxels;
    void* user;
    void (*release)(void* user);
} echolux_stages;

/* Sets the stages of reconstructors, whole-scan calls and sessions created from this scan afterwards. NULL removes
 * them. */
ECHOLUX_API echolux_status echolux_scan_set_stages(echolux_scan* scan, const echolux_stages* stages,
                                                   echolux_error* error);

#ifdef __cplusplus
}
#endif
#endif
