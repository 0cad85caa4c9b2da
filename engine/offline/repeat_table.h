// What aligning repeats found, as a table and in a sentence.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compute/repeat_report.h"
#include "compute/types.h"

namespace echolux {

inline constexpr std::string_view repeats_heading = "# echolux repeats";

// Of one volume's part: [B-scans from `first_b_scan` on][b_repeats].
struct RepeatsOfVolume {
    std::int64_t volume = 0, first_b_scan = 0, b_repeats = 1;
    std::span<const RepeatReport> reports;
};

// The lines of a table: the first two, and one for each repeat: volume, b_scan, repeat, z, x (rows, A-scans), z_um,
// x_um, match, bulk_decorrelation, reason. Shifts of repeats that are left out are empty.
std::string repeats_table_heading();
std::string repeats_table_rows(const RepeatsOfVolume& repeats, const VolumeGrid& grid);

bool is_own_repeats_table(const std::filesystem::path& path);

// What should be known of repeats that were left out: a line, or none.
std::string left_out_of(std::span<const RepeatReport> reports, std::int64_t b_repeats, bool aligns);

}  // namespace echolux
