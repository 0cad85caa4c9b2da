// Results of aligning repeats, as a table and as a sentence.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compute/reason.h"
#include "compute/types.h"

namespace echolux {

inline constexpr std::string_view repeats_heading = "# echolux repeats";

// Reports of a part of one volume, [B-scans from `first_b_scan` on][b_repeats].
struct RepeatsOfVolume {
    std::int64_t volume = 0, first_b_scan = 0, b_repeats = 1;
    std::span<const RepeatReport> reports;
};

// Return the parts of a table: two heading lines, and a row per repeat with volume, b_scan, repeat, z, x (rows,
// A-scans), z_um, x_um, match, bulk_decorrelation, reason. Shifts of excluded repeats are empty.
std::string repeats_table_heading();
std::string repeats_table_rows(const RepeatsOfVolume& repeats, const VolumeGrid& grid);

// Returns whether the file at `path` is such a table, by its heading.
bool is_own_repeats_table(const std::filesystem::path& path);

// Returns one line about excluded repeats, empty if there is nothing to report.
std::string left_out_of(std::span<const RepeatReport> reports, std::int64_t b_repeats, bool aligns);

}  // namespace echolux
