// The model instrument and the scenes with known truth that validations and tests use.
#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "compute/indexing.h"
#include "compute/plan/params.h"
#include "compute/repeat_report.h"
#include "engine/analysis/intensity.h"
#include "engine/simulate/spectrometer.h"

namespace echolux {

// ---- Layered tissue that is painted instead of simulated: speckle from a random field around exactly known
// boundaries. It is fast enough to test searches and filters on many scenes.

struct LayeredScene {
    Size3 size{};
    std::vector<std::vector<float>> boundaries;  // [boundary][A-scan] in rows, voxel centres at integers
    std::vector<float> intensity;                // [b_scan][a_scan][depth]

    std::int64_t lines() const { return size[1] * size[2]; }
};

// Normal random numbers by the polar method (G. Marsaglia, T. A. Bray, SIAM Rev. 6, 260, 1964). The distribution of the
// standard library is a template: a program takes the copy of any of its files, with the flags of that file, so that
// the last bits of a scene would differ between programs.
class NormalNoise {
  public:
    explicit NormalNoise(double sigma = 1) : sigma_(sigma) {}

    float operator()(std::mt19937& random);

  private:
    double sigma_;
    std::optional<double> saved_;  // numbers come in pairs
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

// ---- Painted tissue with vessels in depth bins, seen by repeated B-scans while it moves. Scatterers have exact
// positions, so the scene has no interpolation that could hide an error of the reconstruction. Half of the blood renews
// between repeats. Light that passed a vessel has a random phase in the tissue below.

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
    // [a_scan][depth], the same in all B-scans; vessels at greater depth are smaller.
    std::vector<RepeatsTissue> truth;
    std::vector<double> z, x;  // [b_scan][repeat]: true shifts in bins and A-scans

    // Index of the first bin of a repeat.
    std::size_t line(const RepeatsScene& scene, std::int64_t b, std::int64_t r) const {
        return index((b * scene.repeats + r) * scene.a_scans * scene.depth);
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

// ---- The model instrument of docs/algorithms.md 0.1 as the simulator implements it. Fringes are sums of cosines,
// without a transform or interpolation. Expected results are computed from it in double precision.

// Depths are in air, in um.
class ModelInstrument {
  public:
    static constexpr std::int64_t samples = 2048;

    ModelInstrument();

    // Returns the spec to reconstruct `lines` f32 spectra of this instrument with a Hann window.
    ReconstructionSpec spec(std::int64_t lines) const;

    double depth_limit_um() const { return spectrometer_.z_max_um(); }
    double bin_of(double depth_um) const { return depth_um / spectrometer_.pitch_um; }
    double depth_of(double bin) const { return bin * spectrometer_.pitch_um; }

    const std::vector<double>& k_per_um() const { return spectrometer_.k_per_um; }  // per sample, descending
    const std::vector<double>& source() const { return spectrometer_.source; }      // peak 1
    // Positions of samples on the uniform grid, 0 to 2047, and the share of that grid per sample.
    const std::vector<double>& points() const { return points_; }
    const std::vector<double>& share() const { return share_; }

    // Returns source * cos(2 k z) at the samples.
    std::vector<float> fringe(double depth_um) const;

  private:
    Spectrometer spectrometer_;
    std::vector<double> points_, share_;
};

// Returns the share of a uniform grid that each point represents: half the distance between its neighbours.
std::vector<double> share_of_grid(const std::vector<double>& points);

// Envelope of a fringe with a Hann window, times each sample's share of the grid. Its transform is the point response.
struct Envelope {
    std::vector<double> points;   // on the uniform grid
    std::vector<double> weights;  // not negative

    // Returns |A| at a distance from the peak in bins, 1 at 0. `length` is the number of points of the transform.
    double at(double distance_bins, double length) const;
    double fwhm(double length) const;            // bins of a transform of `length` points
    double main_lobe_bins(double length) const;  // first minimum, in bins from the peak
    double side_lobe_db(double length) const;    // largest value beyond the main lobe

    // Returns the mean of response(f) over the envelope, with f in cycles per sample of a fringe at `bin`. This is the
    // amplitude of a mirror's peak after interpolation with this response (docs/algorithms.md 3.1).
    double mean_response(double bin, double length, const std::function<double(double)>& response) const;
};

// Returns the envelope of fringes of the model instrument with a Hann window.
Envelope envelope_of(const ModelInstrument& instrument);

// ---- Measures the peak of a mirror in a depth profile: position, height, width and side lobes.

struct PointResponse {
    double bin = 0;           // position, without zero padding
    double height = 0;        // amplitude of the peak
    double fwhm_bins = 0;     // width of the amplitude
    double side_lobe_db = 0;  // largest value outside the main lobe, relative to the peak
};

// Measures amplitudes from `begin` on, with `padding` rows per bin. The main lobe extends `main_lobe_bins` to either
// side, as expected for a mirror (Envelope), so that all methods are measured in the same way.
PointResponse point_response(std::span<const double> profile, double padding, double main_lobe_bins,
                             std::ptrdiff_t begin = 0);

// Returns the largest value more than `distance` rows from the highest, relative to it, in dB.
double worst_artefact_db(std::span<const double> profile, std::ptrdiff_t distance);

}  // namespace echolux
