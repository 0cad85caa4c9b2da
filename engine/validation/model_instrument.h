// The model instrument of docs/algorithms.md 0.1 as the simulator implements it. Fringes are sums of cosines, without a
// transform or interpolation. Expected results are computed from it in double precision.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "compute/plan/params.h"
#include "engine/simulate/spectrometer.h"

namespace echolux {

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

// Measures the peak of a mirror in a depth profile: position, height, width and side lobes.

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
