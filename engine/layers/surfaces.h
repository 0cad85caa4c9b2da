// Surfaces between layers, as they were found or as somebody set them: for each A-scan a depth, how sure it is, and why
// there is none where there is none.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compute/chosen_processor.h"
#include "compute/reason.h"
#include "engine/io/volume_file.h"

namespace echolux {

struct Surface {
    std::string name;
    std::vector<float> rows;      // [b_scan][a_scan]: depth rows, voxel centres whole; NaN: none
    std::vector<float> quality;   // in nats: by how much the next best place is less likely
    std::vector<Reason> reasons;  // see has_place()
};

struct Surfaces {
    std::int64_t a_scans = 0, b_scans = 0;
    std::vector<Surface> all;  // from above; they touch, but never cross
    std::int64_t moved = 0;    // places that were moved down to where the surface above them lies
    ProcessorUsed searched_on{};

    std::int64_t lines() const { return a_scans * b_scans; }
};

// Share of the places of all surfaces that have this reason: 0 to 1.
double share_of(const Surfaces& surfaces, Reason reason);

// Of all places that have a row: 0 to 1.
double share_found(const Surfaces& surfaces);

// Moves surfaces that cross the one above down to it, across those that have no place too, and counts that.
void put_in_order(Surfaces& surfaces);

// Index of a surface by its name. Throws Error{bad_setting} with the nearest name, and all of them.
std::size_t index_of(const Surfaces& surfaces, const std::string& name);

// Micrometres from zero delay, or rows where the spacing is unknown.
class DepthScale {
  public:
    explicit DepthScale(const VolumeGrid& grid);

    bool is_known() const { return is_known_; }
    const char* unit() const { return is_known_ ? "um" : "rows"; }
    double depth(float row) const { return first_ + static_cast<double>(row) * row_; }
    double row(double depth) const { return (depth - first_) / row_; }
    double thickness(float rows) const { return static_cast<double>(rows) * row_; }

  private:
    bool is_known_;
    double first_, row_;
};

// Distance from one surface down to another along the A-scan, [b_scan][a_scan] in um (rows where the spacing is
// unknown); NaN where one of them is missing.
std::vector<float> thickness_between(const Surfaces& surfaces, std::size_t upper, std::size_t lower,
                                     const VolumeGrid& grid);

}  // namespace echolux
