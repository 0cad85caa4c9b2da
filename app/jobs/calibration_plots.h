// Figures of calibration results and their quality.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/jobs/roll_off_job.h"
#include "compute/calibrate/dispersion_search.h"
#include "compute/calibrate/mirrors.h"

namespace echolux {

// All functions throw what Paper throws.

// `floor`: amplitude of each depth bin, in counts. `name`: the kind of mean.
void plot_noise(const std::filesystem::path& path, const std::vector<double>& floor, const std::string& name,
                const std::string& unit);

// Plots fringe phases, residuals of the polynomial, and both point spread functions before and after.
void plot_mirrors(const std::filesystem::path& path, const MirrorCalibration& found);

// Plots a B-scan before and after, and the mean level over depth of the lines that were searched.
struct SearchedDispersion {
    ReconstructionSpec plan;
    Recipe before, after;
    DispersionSearch search;
};
void plot_dispersion(const std::filesystem::path& path, const SearchedDispersion& searched, const Block& b_scan);

// Plots all mirrors over depth with the fitted roll-off, and the SNR or sensitivity and width of each.
void plot_roll_off(const std::filesystem::path& path, const RollOffFound& found);

}  // namespace echolux
