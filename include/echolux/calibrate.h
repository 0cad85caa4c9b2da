/* Calibration from spectra of mirrors, of no light, and of a sample. */
#ifndef ECHOLUX_CALIBRATE_H
#define ECHOLUX_CALIBRATE_H

#include "reconstruct.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- calibration ------------------------------------------------------------------------------------------------ */

/* Blocks in this header are in host memory and have the layout of the scan, whose settings apply. */

/* Computes the mean of all lines in counts [samples]: a background, a dark spectrum or a mirror spectrum. */
ECHOLUX_API echolux_status echolux_mean_spectrum(const echolux_scan* scan, const echolux_block* block, double* mean,
                                                 size_t samples, echolux_error* error);

/* Measures the noise floor in dB that recipe.noise_floor_db = 0 requires. */
ECHOLUX_API echolux_status echolux_measure_noise_floor(const echolux_scan* scan, const echolux_block* block, double* db,
                                                       echolux_error* error);

/* Computes the mean amplitude of each depth bin without a sample, for calibration "noise_floor". `*count` as in
 * echolux_scan_get_calibration(). */
ECHOLUX_API echolux_status echolux_noise_profile(const echolux_scan* scan, const echolux_block* block,
                                                 double* amplitude, size_t capacity, size_t* count,
                                                 echolux_error* error);

/* Mean spectra of two mirrors in counts [samples]. Zero delay is on the same side of both unless `opposite_sides` is
 * set. */
typedef struct echolux_mirrors {
    size_t size;
    int64_t samples;
    const double* mirror_1; /* on the side of zero delay where the sample will be */
    const double* mirror_2;
    const double* background; /* spectrum without the mirror */
    const double* dark;       /* NULL: unknown */
    int32_t opposite_sides;
    int32_t k_falls;             /* wavenumber decreases along the samples */
    double displacement_um;      /* distance between the mirrors, in air; 0: unknown */
    double centre_wavelength_nm; /* 0 if unknown */
} echolux_mirrors;

/* Calibration found from two mirrors. */
typedef struct echolux_mirrors_found {
    size_t size;
    double* k_positions;    /* [samples], allocated by the caller; NULL: not needed */
    double* dispersion_rad; /* [samples], allocated by the caller; NULL: not needed */
    double a2_rad, a3_rad;
    double depth_pitch_um; /* 0 if the displacement is unknown */
    double bin[2];         /* depth of each mirror */
    double fwhm_before[2]; /* bins */
    double fwhm[2];        /* with k map and dispersion applied */
} echolux_mirrors_found;

/* Computes the k map and the dispersion from two mirrors. */
ECHOLUX_API echolux_status echolux_calibrate_mirrors(const echolux_mirrors* mirrors, echolux_mirrors_found* found,
                                                     echolux_error* error);

/* Options of the dispersion search. All zeros selects the defaults. */
typedef struct echolux_dispersion_search {
    size_t size;
    double range_rad;               /* limit of |a2| and |a3|; 0: 80 */
    int64_t lines;                  /* maximum number of A-scans evaluated; 0: 64 */
    int64_t depth_begin, depth_end; /* bins; 0: from beyond zero delay to the end */
    int64_t line_begin, line_end;   /* A-scans of the block; 0: all */
    echolux_progress progress;
    void* user;
} echolux_dispersion_search;

/* Result of the dispersion search. */
typedef struct echolux_dispersion_found {
    size_t size;
    double a2_rad, a3_rad; /* for recipe.a2_rad, recipe.a3_rad */
    double entropy_before, entropy;
    int32_t is_sharp; /* 0 if no reflector gets sharper with a single phase; do not use the numbers then */
} echolux_dispersion_found;

/* Searches the a2 and a3 with the lowest entropy. `search` and `device` may be NULL. */
ECHOLUX_API echolux_status echolux_search_dispersion(const echolux_scan* scan, const echolux_block* block,
                                                     const echolux_dispersion_search* search,
                                                     const echolux_device* device, echolux_dispersion_found* found,
                                                     echolux_error* error);

/* Position, level and width of a mirror peak. Bins are counted without zero padding. */
typedef struct echolux_mirror_reading {
    size_t size;
    double bin;          /* depth of the mirror */
    double bin_um;       /* size of a bin, in air; 0: unknown */
    double level_db;     /* 20 log10 of |A| in counts */
    double snr_db;       /* peak power over mean noise power of one A-scan */
    double fwhm_bins;    /* of |A| */
    int64_t lines;       /* number of lines averaged in power */
    int64_t bins;        /* number of bins in the one-sided range */
    int32_t is_opposite; /* the mirror is beyond zero delay; its dispersion has the opposite sign */
} echolux_mirror_reading;

/* Measures the mirror in a block, with the scan's calibration and recipe. The peak is searched in bins [depth_begin,
 * depth_end); 0, 0: beyond the first 5 % of the range. `background`: spectrum without the mirror [samples]; NULL: that
 * of the scan's calibration, or none. ECHOLUX_BAD_FILE: no peak is 13 dB above the noise. */
ECHOLUX_API echolux_status echolux_read_mirror(const echolux_scan* scan, const echolux_block* block,
                                               const double* background, int64_t depth_begin, int64_t depth_end,
                                               echolux_mirror_reading* reading, echolux_error* error);

/* Sensitivity roll-off of a spectrometer. */
typedef struct echolux_roll_off {
    size_t size;
    double at_zero_db; /* level of |A|, extrapolated to zero delay */
    double six_db_bin; /* depth at which 6 dB are lost; 0: beyond the range */
    double resolution; /* spectral resolution in units of the sample spacing */
    double rms_db;     /* deviation of the levels from the fit */
} echolux_roll_off;

/* Fits the roll-off of a spectrometer to mirror levels at `count` depths, at least two. `bins`: number of bins in the
 * one-sided range. */
ECHOLUX_API echolux_status echolux_fit_roll_off(const double* depth_bins, const double* levels_db, size_t count,
                                                int64_t bins, echolux_roll_off* found, echolux_error* error);

#ifdef __cplusplus
}
#endif
#endif
