// The instrument of docs/algorithms.md 0.1 as the simulator has it, and its fringes as sums of cosines: no transform,
// no interpolation. What is expected of a reconstruction follows from it in double.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "compute/plan/params.h"
#include "engine/simulate/spectrometer.h"

namespace echolux {

class ModelInstrument {
  public:
    static constexpr std::int64_t samples = 2048;

    ModelInstrument();

    // Spectra of this instrument in f32, `lines` of them, under a Hann window.
    ReconstructionSpec spec(std::int64_t lines) const;

    double depth_limit_um() const { return spectrometer_.z_max_um(); }
    double bin_of(double depth_um) const { return depth_um / spectrometer_.pitch_um; }
    double depth_of(double bin) const { return bin * spectrometer_.pitch_um; }

    const std::vector<double>& k_per_um() const { return spectrometer_.k_per_um; }  // of the samples, falling
    const std::vector<double>& source() const { return spectrometer_.source; }      // peak 1
    const std::vector<double>& points() const { return points_; }  // where samples lie on the uniform grid, 0 .. 2047
    const std::vector<double>& share() const { return share_; }    // of that grid, for which each stands

    // source * cos(2 k z) at the samples.
    std::vector<float> fringe(double depth_um) const;

  private:
    Spectrometer spectrometer_;
    std::vector<double> points_, share_;
};

// Share of a uniform grid for which each of some points on it stands: half the way from one neighbour to the other.
std::vector<double> share_of_grid(const std::vector<double>& points);

// Envelope of a fringe under a Hann window, times each sample's share of the grid: what the point response is the
// transform of.
struct Envelope {
    std::vector<double> points;   // on the uniform grid
    std::vector<double> weights;  // not negative

    // |A| at a distance from the peak in bins, 1 at 0.
    double at(double distance_bins, double length) const;
    double fwhm(double length) const;            // bins of a transform of `length` points
    double main_lobe_bins(double length) const;  // the first minimum, bins from the peak
    double side_lobe_db(double length) const;    // the greatest value beyond it

    // Mean of response(f) over the envelope, f: cycles a sample of a fringe of `bin`. That is what interpolation with
    // this response leaves of a mirror's peak (docs/algorithms.md 3.1).
    double mean_response(double bin, double length, const std::function<double(double)>& response) const;
};

Envelope envelope_of(const ModelInstrument& instrument);

}  // namespace echolux
