// Beam position at each line of a volume, shared by simulator, galvanometers and display. Coordinates are micrometres
// from the centre of the field: x along the A-scans of raster B-scans, y across them. Protocols:
// - raster: parallel B-scans along x.
// - raster_y: parallel B-scans along y. Paired with a raster, it separates axial motion from the tissue's slope
//   (M. F. Kraus et al., Biomed. Opt. Express 3(6), 2012).
// - raster_cross: some B-scans along y before the raster, for the same purpose.
// - cross: two perpendicular B-scans.
// - four_slices: three parallel B-scans and one across (M. Sylwestrzak et al., JBO 17(10), 2012).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compute/plan/params.h"

namespace echolux {

// Size of the field: number of A-scans (or B-scans) times their spacing.
struct FieldSize {
    double x_um = 0;
    double y_um = 0;
};

// Returns the size from the spacings. An unknown spacing is chosen so that the field is 1 mm wide.
FieldSize field_size(const ScanGeometry& geometry);

// Number of lines along x and y: a raster's A-scans and B-scans.
struct FieldLines {
    std::int64_t x = 0;
    std::int64_t y = 0;
};
FieldLines field_lines(const ScanGeometry& geometry);

struct FieldPoint {
    double x_um = 0;
    double y_um = 0;

    bool operator==(const FieldPoint&) const = default;
};

// Positions of one B-scan's A-scans: evenly spaced from `first` to `last`.
struct ScanPlane {
    FieldPoint first;
    FieldPoint last;
};

// Returns one plane per B-scan position of a volume.
std::vector<ScanPlane> scan_planes(const ScanGeometry& geometry, const FieldSize& size);
std::vector<ScanPlane> scan_planes(const ScanGeometry& geometry);

// Returns whether B-scans form a raster. False for cross and four_slices, and for a raster_cross that has only its
// crosses.
bool has_raster(const ScanGeometry& geometry);

// Throws Error{bad_setting}, naming `where` and scan.b_scans, if the protocol does not allow this number of B-scans:
// cross has up to 2 and four_slices up to 4 (fewer in cut recordings), raster_cross more than its crosses.
void check_protocol(const ScanGeometry& geometry, const std::string& where);

struct PatternLine {
    FieldPoint beam;
    std::int64_t frame = 0;   // acquired B-scan of the volume, including flyback frames
    std::int64_t line = 0;    // within the frame, including flyback lines
    bool is_flyback = false;  // on a smooth path to the next line that is used, or to the next volume
};

// Computes beam positions on demand.
class ScanPattern {
  public:
    // `fast_axis` is Calibration::fast_axis, needed for FastAxis::file. Throws Error{bad_setting}.
    ScanPattern(const ScanGeometry& geometry, const FieldSize& size, std::span<const double> fast_axis = {});

    std::int64_t frames() const { return frames_; }                    // acquired B-scans per volume, including flyback
    std::int64_t lines_per_frame() const { return lines_per_frame_; }  // including flyback
    std::int64_t lines() const { return frames_ * lines_per_frame_; }

    // Returns the beam position at one line.
    PatternLine at(std::int64_t frame, std::int64_t line) const;

    // Returns the point of an A-scan of a B-scan position. `a_scan` counts from 0 and may be fractional.
    FieldPoint point(std::int64_t b_scan, double a_scan) const;

  private:
    double a_scan_of(std::int64_t frame, std::int64_t line) const;
    FieldPoint on_the_way(std::int64_t frame, std::int64_t line) const;

    ScanGeometry geometry_;
    std::vector<ScanPlane> planes_;
    std::vector<double> a_scans_;  // per line of a forward frame
    std::int64_t frames_ = 0;
    std::int64_t lines_per_frame_ = 0;
};

// Returns all lines of a volume in acquisition order.
std::vector<PatternLine> scan_pattern(const ScanGeometry& geometry, const FieldSize& size,
                                      std::span<const double> fast_axis = {});

}  // namespace echolux
