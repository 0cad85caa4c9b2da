// Where the beam is at each line of a volume: B-scans side by side (raster), two at right angles (cross), three side by
// side and one across (four slices); M. Sylwestrzak et al., JBO 17(10), 2012; and rasters by which motion in depth is
// told from the tissue's slope: after a few B-scans across (raster_cross), or with B-scans along y (raster_y), one of
// each making a pair (M. F. Kraus et al., Biomed. Opt. Express 3(6), 2012). Simulator, galvanometers and display take
// it from here. Micrometres from the centre of the field: x along the A-scans of a raster's B-scans, y across them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compute/plan/params.h"

namespace echolux {

// Of the field: so many A-scans (or B-scans) of a spacing side by side.
struct FieldSize {
    double x_um = 0;
    double y_um = 0;
};

// From the spacings; an unknown one counts as that of a field of one millimetre.
FieldSize field_size(const ScanGeometry& geometry);

// Lines of the field along x and y: a raster's A-scans and B-scans.
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

// Where the A-scans of one B-scan position lie: evenly from `first` to `last`.
struct ScanPlane {
    FieldPoint first;
    FieldPoint last;
};

// One for each B-scan position of a volume.
std::vector<ScanPlane> scan_planes(const ScanGeometry& geometry, const FieldSize& size);
std::vector<ScanPlane> scan_planes(const ScanGeometry& geometry);

// Whether some of the B-scans lie side by side as the protocol says: not those of cross and four_slices, nor of a
// raster_cross that has no more than its crosses.
bool has_raster(const ScanGeometry& geometry);

// Throws Error{bad_setting} naming `where` and scan.b_scans: cross has 2, four_slices 4; fewer where a recording was
// cut; raster_cross more than its crosses.
void check_protocol(const ScanGeometry& geometry, const std::string& where);

struct PatternLine {
    FieldPoint beam;
    std::int64_t frame = 0;   // acquired B-scan of the volume, flyback frames included
    std::int64_t line = 0;    // of the frame, flyback lines included
    bool is_flyback = false;  // on a smooth way to the next line that is none, or to the next volume
};

class ScanPattern {
  public:
    // `fast_axis`: Calibration::fast_axis, for FastAxis::file. Throws Error{bad_setting}.
    ScanPattern(const ScanGeometry& geometry, const FieldSize& size, std::span<const double> fast_axis = {});

    std::int64_t frames() const { return frames_; }                    // acquired B-scans of a volume
    std::int64_t lines_per_frame() const { return lines_per_frame_; }  // of all of them
    std::int64_t lines() const { return frames_ * lines_per_frame_; }

    PatternLine at(std::int64_t frame, std::int64_t line) const;

    // Of a B-scan position; `a_scan` counts from 0, also between A-scans.
    FieldPoint point(std::int64_t b_scan, double a_scan) const;

  private:
    double a_scan_of(std::int64_t frame, std::int64_t line) const;
    FieldPoint on_the_way(std::int64_t frame, std::int64_t line) const;

    ScanGeometry geometry_;
    std::vector<ScanPlane> planes_;
    std::vector<double> a_scans_;  // of each line of a frame that runs forwards
    std::int64_t frames_ = 0;
    std::int64_t lines_per_frame_ = 0;
};

// All lines of a volume in the order in which they are acquired.
std::vector<PatternLine> scan_pattern(const ScanGeometry& geometry, const FieldSize& size,
                                      std::span<const double> fast_axis = {});

}  // namespace echolux
