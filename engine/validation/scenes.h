// Scenes with known truth that validations and tests paint or compute instead of simulating them.
#pragma once

#include <complex>
#include <cstdint>
#include <random>
#include <vector>

#include "compute/plan/params.h"
#include "compute/reason.h"
#include "engine/analysis/intensity.h"

namespace echolux {

// Layered tissue that is painted instead of simulated: speckle from a random field around exactly known boundaries. It
// is fast enough to test searches and filters on many scenes.

struct LayeredScene {
    Size3 size{};
    std::vector<std::vector<float>> boundaries;  // [boundary][A-scan] in rows, voxel centres at integers
    std::vector<float> intensity;                // [b_scan][a_scan][depth]

    std::int64_t lines() const { return size[1] * size[2]; }
};

// Fills the intensity from the powers of the layers above, between and below the boundaries. Voxels at a boundary are
// weighted by their share in each layer.
void paint(LayeredScene& scene, const std::vector<double>& powers);

// Returns the real or imaginary part of a circular Gaussian field with a power of one half, about as wide as a point
// spread.
std::vector<float> random_field(const Size3& size, std::mt19937& random);

// Turns painted powers into speckle, blurred in depth by the point spread, and adds noise of `snr_db` below power 1.
void add_speckle(LayeredScene& scene, double snr_db, std::mt19937& random);

// Layer powers and boundary polarities of retina_scene(); polarity 1: brighter below, -1: darker.
extern const std::vector<double> retina_powers;
extern const std::vector<int> retina_polarities;

// Returns ten boundaries with bow, foveal pit and independent waviness of `wave_rows` rms, without speckle.
LayeredScene painted_retina(const Size3& size, unsigned seed, double wave_rows);

// Returns the same with a waviness of one row, speckle and noise.
LayeredScene retina_scene(const Size3& size, unsigned seed, double snr_db);

// Painted tissue with vessels in depth bins, seen by repeated B-scans while it moves. Scatterers have exact positions,
// so the scene has no interpolation that could hide an error of the reconstruction. Half of the blood renews between
// repeats. Light that passed a vessel has a random phase in the tissue below.

struct RepeatsScene {
    std::int64_t depth = 128, a_scans = 160, b_scans = 12, repeats = 4;
    unsigned seed = 3;
    double snr_db = 20;     // SNR of the brightest layer
    double motion_um = 0;   // rms between B-scans, along each axis; a tenth of it within a B-scan
    double tail_rad = 0.5;  // rms phase below vessels

    static constexpr double depth_um = 1.4, spacing_um = 5, beam_radius_um = 10;
};

// `rim` is around vessels, where the class is uncertain.
enum class RepeatsTissue : std::uint8_t { dark, still, flowing, below_vessel, rim };

struct PaintedRepeats {
    std::vector<std::complex<float>> bins;  // [b_scan][repeat][a_scan][depth], with noise of power 10^(-snr/10)
    std::vector<RepeatsTissue> truth;       // [a_scan][depth], the same in all B-scans; vessels at greater depth are
                                            // smaller
    std::vector<double> z, x;               // [b_scan][repeat]: true shifts in bins and A-scans

    // Index of the first bin of a repeat.
    std::size_t line(const RepeatsScene& scene, std::int64_t b, std::int64_t r) const {
        return static_cast<std::size_t>((b * scene.repeats + r) * scene.a_scans * scene.depth);
    }
};

PaintedRepeats painted_repeats(const RepeatsScene& scene);

// Returns a plan for these bins; a stage callback supplies the bins, which are then reconstructed with `flow`.
ReconstructionSpec spec_of(const RepeatsScene& scene, const FlowRecipe& flow);

// Returns the flow of the painted bins, [b_scan][a_scan][depth], computed on the CPU. `reports` receives those of the
// alignment, and may be null.
std::vector<float> flow_of(const RepeatsScene& scene, const PaintedRepeats& painted, const FlowRecipe& flow,
                           std::vector<RepeatReport>* reports = nullptr);

// Contrast of flow: the difference of the means of flowing and static tissue in standard deviations of the latter, and
// the shares that are shown as flow.
struct VesselContrast {
    double contrast = 0;
    double flowing = 0, still = 0, below = 0;  // shares of voxels above 0
};
VesselContrast contrast_of(const PaintedRepeats& painted, const std::vector<float>& flow);

}  // namespace echolux
