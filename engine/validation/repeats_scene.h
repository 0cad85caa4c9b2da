// Tissue with vessels in depth bins, as repeated B-scans see it while it moves: scatterers whose place is exact, so
// that no interpolation of the scene hides what one of the reconstruction does. Blood renews half of itself from repeat
// to repeat; below vessels light has passed them, and its phase trembles with them.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "compute/plan/params.h"
#include "compute/repeat_report.h"

namespace echolux {

struct RepeatsScene {
    std::int64_t depth = 128, a_scans = 160, b_scans = 12, repeats = 4;
    unsigned seed = 3;
    double snr_db = 20;     // of the brightest layer
    double motion_um = 0;   // rms from B-scan to B-scan, along each axis; a tenth of it within a B-scan
    double tail_rad = 0.5;  // rms phase that vessels give to what lies below

    static constexpr double depth_um = 1.4, spacing_um = 5, beam_radius_um = 10;
};

// `rim`: of vessels, neither for sure.
enum class RepeatsTissue : std::uint8_t { dark, still, flowing, below_vessel, rim };

struct PaintedRepeats {
    std::vector<std::complex<float>> bins;  // [b_scan][repeat][a_scan][depth], noise of power 10^(-snr/10)
    std::vector<RepeatsTissue> truth;       // [a_scan][depth], the same in all B-scans; small vessels lie deep
    std::vector<double> z, x;               // [b_scan][repeat]: true shifts, bins and A-scans

    std::size_t line(const RepeatsScene& scene, std::int64_t b, std::int64_t r) const {
        return static_cast<std::size_t>((b * scene.repeats + r) * scene.a_scans * scene.depth);
    }
};

PaintedRepeats painted_repeats(const RepeatsScene& scene);

// A plan for these bins: what a stage puts there is reconstructed with this flow.
ReconstructionSpec spec_of(const RepeatsScene& scene, const FlowRecipe& flow);

// Flow of the painted bins, [b_scan][a_scan][depth], as numbers; on the CPU. `reports`: of aligning, or null.
std::vector<float> flow_of(const RepeatsScene& scene, const PaintedRepeats& painted, const FlowRecipe& flow,
                           std::vector<RepeatReport>* reports = nullptr);

// Mean of what flows less that of what is still, in standard deviations of the latter; and how much of each is shown
// as flow.
struct VesselContrast {
    double contrast = 0;
    double flowing = 0, still = 0, below = 0;  // shares of voxels above 0
};
VesselContrast contrast_of(const PaintedRepeats& painted, const std::vector<float>& flow);

}  // namespace echolux
