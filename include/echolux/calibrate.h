/* Calibration: functions on spectra of mirrors, of no light, of a sample. */
#ifndef ECHOLUX_CALIBRATE_H
#define ECHOLUX_CALIBRATE_H

#include "reconstruct.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- calibration ------------------------------------------------------------------------------------------------ */

/* Blocks here lie in host memory and are of the scan, whose settings count. */

/* Mean of all lines, counts [samples]: a background, a dark spectrum, a mirror. */
ECHOLUX_API echolux_status echolux_mean_spectrum(const echolux_scan* scan, const echolux_block* block, double* mean,
                                                 size_t samples, echolux_error* error);

/* What recipe.noise_floor_db = 0 asks for, in dB. */
ECHOLUX_API echolux_status echolux_measure_noise_floor(const echolux_scan* scan, const echolux_block* block, double* db,
                                                       echolux_error* error);

/* Mean amplitude of each depth bin without a sample, for calibration "noise_floor"; `*count` as in get_calibration. */
ECHOLUX_API echolux_status echolux_noise_profile(const echolux_scan* scan, const echolux_block* block,
                                                 double* amplitude, size_t capacity, size_t* count,
                                                 echolux_error* error);

/* Mean spectra of two mirrors in counts [samples]; zero delay lies on the same side of both unless said otherwise. */
typedef struct echolux_mirrors {
    size_t size;
    int64_t samples;
    const double* mirror_1; /* on the side of zero delay where samples will be */
    const double* mirror_2;
    const double* background; /* without the mirror */
    const double* dark;       /* NULL: unknown */
    int32_t opposite_sides;
    int32_t k_falls;             /* along the samples */
    double displacement_um;      /* between the two, in air; 0: unknown */
    double centre_wavelength_nm; /* 0: unknown */
} echolux_mirrors;

typedef struct echolux_mirrors_found {
    size_t size;
    double* k_positions;    /* [samples], from the caller; NULL: not wanted */
    double* dispersion_rad; /* the same */
    double a2_rad, a3_rad;
    double depth_pitch_um; /* 0: no displacement was given */
    double bin[2];         /* depth of each mirror */
    double fwhm_before[2]; /* bins */
    double fwhm[2];        /* with map and dispersion */
} echolux_mirrors_found;

ECHOLUX_API echolux_status echolux_calibrate_mirrors(const echolux_mirrors* mirrors, echolux_mirrors_found* found,
                                                     echolux_error* error);

typedef struct echolux_dispersion_search {
    size_t size;
    double range_rad;               /* of a2 and a3, on either side of zero; 0: 80 */
    int64_t lines;                  /* maximum number of A-scans evaluated; 0: 64 */
    int64_t depth_begin, depth_end; /* bins; 0: past zero delay, to the end */
    int64_t line_begin, line_end;   /* A-scans of the block; 0: all */
    echolux_progress progress;
    void* user;
} echolux_dispersion_search;

typedef struct echolux_dispersion_found {
    size_t size;
    double a2_rad, a3_rad; /* for recipe.a2_rad, recipe.a3_rad */
    double entropy_before, entropy;
    int32_t is_sharp; /* 0: no reflector that one phase alone makes sharper; do not use the numbers then */
    int32_t reserved;
} echolux_dispersion_found;

/* `search`, `device` may be NULL. */
ECHOLUX_API echolux_status echolux_search_dispersion(const echolux_scan* scan, const echolux_block* block,
                                                     const echolux_dispersion_search* search,
                                                     const echolux_device* device, echolux_dispersion_found* found,
                                                     echolux_error* error);

/* Bins are those without zero padding. */
typedef struct echolux_mirror_reading {
    size_t size;
    double bin;          /* depth of the mirror */
    double bin_um;       /* one bin, in air; 0: unknown */
    double level_db;     /* 20 log10 of |A| in counts */
    double snr_db;       /* the peak's power over the mean power of the noise of one A-scan */
    double fwhm_bins;    /* of |A| */
    int64_t lines;       /* whose power was averaged */
    int64_t bins;        /* of the one-sided range */
    int32_t is_opposite; /* the mirror lies beyond zero delay; its dispersion has the opposite sign */
    int32_t reserved;
} echolux_mirror_reading;

/* The mirror in a block of its lines, by the scan's calibration and recipe. It is looked for in bins [depth_begin,
 * depth_end); 0, 0: beyond the first 5 % of the range. `background`: spectrum without the mirror [samples]; NULL: that
 * of the scan's calibration, or none. ECHOLUX_BAD_FILE: no peak stands 13 dB above the noise. */
ECHOLUX_API echolux_status echolux_read_mirror(const echolux_scan* scan, const echolux_block* block,
                                               const double* background, int64_t depth_begin, int64_t depth_end,
                                               echolux_mirror_reading* reading, echolux_error* error);

typedef struct echolux_roll_off {
    size_t size;
    double at_zero_db; /* level of |A|, extrapolated to zero delay */
    double six_db_bin; /* where 6 dB are lost; 0: not within the range */
    double resolution; /* spectral resolution in units of the sample spacing */
    double rms_db;     /* how far the levels lie from the fit */
} echolux_roll_off;

/* The fall-off of a spectrometer through the levels of a mirror at `count` depths, at least two. `bins`: of the
 * one-sided range. */
ECHOLUX_API echolux_status echolux_fit_roll_off(const double* depth_bins, const double* levels_db, size_t count,
                                                int64_t bins, echolux_roll_off* found, echolux_error* error);

#ifdef __cplusplus
}
#endif
#endif
