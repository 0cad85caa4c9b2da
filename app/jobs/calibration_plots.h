// Pictures of calibrations, as figures: what was found, and how well it holds.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/jobs/roll_off_job.h"
#include "compute/calibrate/dispersion_search.h"
#include "compute/calibrate/mirrors.h"

namespace echolux {

// All throw what Paper throws.

// `floor`: amplitude of each depth bin, in counts; `name`: which mean it is.
void plot_noise(const std::filesystem::path& path, const std::vector<double>& floor, const std::string& name,
                const std::string& unit);

// Fringe phases, what the polynomial leaves of them, and both point spreads before and after.
void plot_mirrors(const std::filesystem::path& path, const MirrorCalibration& found);

// A B-scan before and after, and the mean level over depth of what the search looked at.
struct SearchedDispersion {
    ReconstructionSpec plan;
    Recipe before, after;
    DispersionSearch search;
};
void plot_dispersion(const std::filesystem::path& path, const SearchedDispersion& searched, const Block& b_scan);

// All mirrors over depth with the fall-off through them; SNR or sensitivity, and width, of each.
void plot_roll_off(const std::filesystem::path& path, const RollOffFound& found);

}  // namespace echolux
