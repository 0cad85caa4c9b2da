// Measures the values of [geometry]: the optical path from a flat mirror, the lens from a grid of dots, and the delay
// of a galvanometer from a bidirectional scan. Every measurement reports what it leaves, and refuses data that do not
// support it.
#pragma once

#include <cstdint>
#include <vector>

#include "compute/plan/params.h"
#include "engine/geometry/beam_geometry.h"
#include "engine/io/volume_file.h"
#include "engine/progress.h"

namespace echolux {

// ---- Optical path

struct FieldCalibrationOptions {
    std::int64_t order = 4;     // of the polynomial, 2 to 4
    double min_snr_db = 15;     // of the mirror over the median of its A-scan
    bool keeps_tilt = false;    // the constant and the slopes, which are those of the mirror too
    double min_radius_mm = 12;  // a surface that is curved more and slopes by more than a tenth is that of a sphere
};

// Maps are [b_scan][a_scan] in rows; NaN without a mirror.
struct FieldCalibration {
    std::vector<double> path_um;         // as in BeamGeometry
    std::vector<float> rows, residuals;  // of the mirror, and from the fit
    double rms_rows = 0;                 // of the residuals of A-scans that count
    double used = 0;                     // share of all A-scans
    double snr_db = 0;                   // median
    double span_um = 0;                  // of the fitted surface over the field, in air
    double tilt_x = 0, tilt_y = 0;       // um per mm
};

// The position of the mirror is the top of a parabola through the logarithms of three rows. The polynomial is fitted by
// least squares without outliers, in coordinates of the scan. `progress` advances by 1 per B-scan. Throws
// Error{bad_setting} for a volume without a known size, and for data that are not a mirror.
FieldCalibration calibrated_field(const Volume& volume, const ScanGeometry& scan,
                                  const FieldCalibrationOptions& options, Progress& progress);

// ---- Lens

struct GridCalibrationOptions {
    double pitch_mm = 0;  // distance between the dots
    bool dots_are_dark = false;
    double max_scale = 1.3;  // between the pitch and the spacing of the dots in mm of the scan
};

struct GridDot {
    double a_scan = 0, b_scan = 0;
    std::int64_t column = 0, row = 0;   // in the grid
    double off_x_mm = 0, off_y_mm = 0;  // from its place, after correction
    bool counts = true;                 // false: an outlier
};

struct GridCalibration {
    BeamGeometry lens;  // only the values of the lens
    std::vector<GridDot> dots;
    std::int64_t found = 0;                   // dots, also those that fit no grid
    double rms_a_scans = 0, rms_b_scans = 0;  // of the dots that count, after correction
    double before_a_scans = 0;                // rms along A-scans with a scale alone
    double angle_deg = 0;                     // of the grid
    std::vector<float> image;                 // [b_scan][a_scan], brightness relative to its surroundings
};

// Dots are maxima of the mean over depth, at Gaussian-weighted centroids. They are numbered from the middle outwards.
// The lens, the angle and the position of the grid are fitted together by Gauss-Newton steps. `progress` advances by 1
// per B-scan. Throws Error{bad_setting} as above.
GridCalibration calibrated_grid(const Volume& volume, const ScanGeometry& scan, const GridCalibrationOptions& options,
                                Progress& progress);

// ---- Galvanometers

struct GalvoCalibrationOptions {
    std::int64_t max_a_scans = 32;  // largest distance between the two directions
};

struct GalvoCalibration {
    double delay_us = 0;
    double delay_a_scans = 0;                  // in periods of an A-scan
    double error_a_scans = 0;                  // standard error of the mean of groups of B-scans
    double correlation = 0;                    // of neighbouring B-scans at this delay
    bool is_y = false;                         // of the axis y
    std::vector<double> shifts, correlations;  // curve for a figure: distance in lines
};

// Neighbouring B-scans pass the same tissue in opposite directions, and are apart by twice the delay. The maximum of
// their normalised correlation along lines is found between whole lines by band-limited interpolation. `progress`
// advances by 1 per B-scan. Throws Error{bad_setting} as above.
GalvoCalibration calibrated_galvo(const Volume& volume, const ScanGeometry& scan,
                                  const GalvoCalibrationOptions& options, Progress& progress);

}  // namespace echolux
