// Surfaces between layers, found or set manually. Each has per A-scan a depth, its quality, and the reason if it is
// missing.
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
    std::vector<float> rows;      // [b_scan][a_scan]: depth rows, voxel centres at integers; NaN: missing
    std::vector<float> quality;   // in nats: log likelihood ratio to the next best position
    std::vector<Reason> reasons;  // see has_place()
};

struct Surfaces {
    std::int64_t a_scans = 0, b_scans = 0;
    std::vector<Surface> all;  // from the top; they may touch but never cross
    std::int64_t moved = 0;    // number of positions moved down to the surface above
    ProcessorUsed searched_on{};

    std::int64_t lines() const { return a_scans * b_scans; }
};

// Returns the share, 0 to 1, of all positions of all surfaces that have this reason.
double share_of(const Surfaces& surfaces, Reason reason);

// Returns the share, 0 to 1, of positions with a row.
double share_found(const Surfaces& surfaces);

// Moves positions that are above a higher surface down to it and counts them. Looks across surfaces without a position.
void put_in_order(Surfaces& surfaces);

// Returns the index of a surface by name. Throws Error{bad_setting} that suggests the nearest name and lists all.
std::size_t index_of(const Surfaces& surfaces, const std::string& name);

// Converts rows to micrometres from zero delay, or keeps rows if the spacing is unknown.
class DepthScale {
  public:
    explicit DepthScale(const VolumeGrid& grid);

    bool is_known() const { return is_known_; }
    const char* unit() const { return is_known_ ? "um" : "rows"; }
    // Conversions between rows and depths; thickness() converts a distance in rows.
    double depth(float row) const { return first_ + static_cast<double>(row) * row_; }
    double row(double depth) const { return (depth - first_) / row_; }
    double thickness(float rows) const { return static_cast<double>(rows) * row_; }

  private:
    bool is_known_;
    double first_, row_;
};

// Returns the distance from one surface down to another along the A-scan, [b_scan][a_scan] in um, or rows if the
// spacing is unknown; NaN if one of them is missing.
std::vector<float> thickness_between(const Surfaces& surfaces, std::size_t upper, std::size_t lower,
                                     const VolumeGrid& grid);

}  // namespace echolux
