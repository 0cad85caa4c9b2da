// Formats shifts as CSV.
#include <fmt/format.h>

#include "engine/registration/registration.h"

namespace echolux {
namespace {

// Returns an empty cell for unknown values.
std::string cell(double value, bool is_known) {
    return is_known ? fmt::format("{:.4f}", value) : std::string();
}

std::string row_of(std::int64_t volume, std::size_t b_scan, const RowShift& row, const VolumeGrid& grid) {
    const auto& [dz, dx, dy] = grid.spacing_um;
    const bool known = row.is_valid();
    return fmt::format("{},{},{},{},{},{},{},{},{:.4f},{},{}\n", volume, b_scan, cell(row.z, known), cell(row.x, known),
                       cell(row.y, known), cell(row.z * dz, known && dz > 0), cell(row.x * dx, known && dx > 0),
                       cell(row.y * dy, known && dy > 0), row.quality, name_of(row.reason), row.is_saccade ? 1 : 0);
}

}  // namespace

std::string csv_heading() {
    return std::string(registration_heading) +
           ": sample (depth, A-scan) of a B-scan lies at (depth + z, A-scan + x) of B-scan b_scan + y of "
           "the reference\n"
           "volume,b_scan,z,x,y,z_um,x_um,y_um,quality,reason,saccade\n";
}

std::string csv_rows(std::int64_t volume, const std::vector<RowShift>& rows, const VolumeGrid& grid) {
    std::string text;
    for (std::size_t b = 0; b < rows.size(); ++b) text += row_of(volume, b, rows[b], grid);
    return text;
}

std::string csv_of(const std::vector<std::vector<RowShift>>& volumes, const VolumeGrid& grid) {
    std::string text = csv_heading();
    for (std::size_t volume = 0; volume < volumes.size(); ++volume)
        text += csv_rows(static_cast<std::int64_t>(volume), volumes[volume], grid);
    return text;
}

}  // namespace echolux
