// Thickness of the retina in the sectors of eye clinics: the grid of the Early Treatment Diabetic Retinopathy Study
// (ETDRS Research Group, Report 10, Ophthalmology 98, 786, 1991) around the fovea, and quadrants, sectors and clock
// hours of circles around the optic disc.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace echolux {

enum class Eye { right, left };  // OD, OS

// Thickness over a field as on the fundus: x to the right, y to the head, in mm from the centre of the field.
class FundusMap {
  public:
    // `um` is [b_scan][a_scan], NaN: unknown. The first A-scan is at the right if `is_mirrored`, the first B-scan at
    // the top if `first_on_top`.
    FundusMap(std::vector<float> um, std::int64_t a_scans, std::int64_t b_scans, std::array<double, 2> spacing_mm,
              bool is_mirrored, bool first_on_top);

    // Interpolates linearly between A-scans and B-scans. Where a neighbour is unknown, returns the nearest one. NaN
    // outside the field and where that is unknown.
    double at(double x_mm, double y_mm) const;

    // Half of the width and height between the centres of the outermost A-scans and B-scans.
    double half_width_mm() const { return half_[0]; }
    double half_height_mm() const { return half_[1]; }

  private:
    float value(std::int64_t a, std::int64_t b) const;

    std::vector<float> um_;
    std::int64_t a_scans_, b_scans_;
    std::array<double, 2> spacing_mm_, half_;
    bool is_mirrored_, first_on_top_;
};

// Returns the point of minimum thickness, as a mean over a disc of 0.2 mm, within 1.5 mm of the centre of the field.
// nullopt if it is at the edge of that disc, so that there is no foveal pit, or if nothing is known.
std::optional<std::array<double, 2>> foveal_minimum(const FundusMap& map);

// A part of the grid. Angles are counterclockwise from the right.
struct ThicknessSector {
    std::string name;  // "centre", "inner nasal", "outer superior" ...
    double from_mm = 0, to_mm = 0;
    double from_deg = 0, to_deg = 360;
    double area_mm2 = 0;                         // of the whole sector
    double mean_um = 0, min_um = 0, max_um = 0;  // NaN if less than half is known
    double volume_mm3 = 0;                       // mean times area
    double known = 0;                            // share of the area
};

// Returns the nine sectors: the disc of 1 mm, and four in each ring of 3 mm and 6 mm. Means are integrals over a polar
// grid in steps of 0.01 mm.
std::vector<ThicknessSector> etdrs_sectors(const FundusMap& map, const std::array<double, 2>& centre_mm, Eye eye);

// ---- Circles around the optic disc. Angles run from temporal over superior, nasal and inferior (TSNIT).

struct CircleSector {
    std::string kind;  // "global", "quadrant", "sector", "clock hour"
    std::string name;
    double from_deg = 0, to_deg = 360;
    double mean_um = 0;  // NaN if less than half is known
    double known = 0;
};

// Returns the angle of each of `count` A-scans of a whole circle. `start_deg` is that of the first one.
std::vector<double> circle_angles(std::int64_t count, double start_deg, bool is_reversed);

// Six sectors: temporal and nasal 90 degrees wide, the others 45. Clock hours as seen from in front of the fundus
// picture: 12 is superior, 3 is nasal of a right and temporal of a left eye.
std::vector<CircleSector> circle_sectors(const std::vector<float>& um, const std::vector<double>& angles_deg, Eye eye);

}  // namespace echolux
