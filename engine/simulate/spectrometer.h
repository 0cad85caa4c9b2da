// The detection of the simulated instrument: spectrometer, camera, and the sum of spectra of many reflectors.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compute/indexing.h"
#include "engine/simulate/simulator.h"

namespace echolux {

// ---- Spectrometer of the simulated instrument: wavelength and source power of each sample, and the effects of
// dispersion and pixel width on a fringe (docs/algorithms.md 0 and 0.1). All values are double.

// All vectors have one value per sample.
struct Spectrometer {
    // Throws Error{bad_setting} if the wavelengths do not increase along the samples.
    explicit Spectrometer(const Simulation& simulation);

    double z_max_um() const { return pitch_um * static_cast<double>(k_per_um.size()) / 2; }  // in air
    double roll_off(double optical_um) const;  // fringe amplitude, relative to zero delay, from a depth in air

    std::vector<double> wavelengths_nm;
    std::vector<double> k_per_um;   // descending
    std::vector<double> source;     // power, 1 at the peak
    std::vector<double> theta_rad;  // dispersion of the sample arm
    double k0_per_um = 0;           // centre of the range of k
    double pitch_um = 0;            // size of a depth bin in air
    double coherence_um = 0;        // FWHM of the amplitude's point spread in air
    bool wide_pixels = false;
};

// ---- Camera of the simulated instrument: converts fringes to counts. Models reference light, dark level, shot noise,
// receiver noise, quantization and saturation.

// Converts fringes to counts. Thread-safe after construction.
class LineScanCamera {
  public:
    LineScanCamera(const Simulation& simulation, const Spectrometer& spectrometer);

    // Converts one line: fringes[p] is relative to the reference light at sample p. `line` seeds the noise.
    void expose(std::span<const float> fringes, std::uint64_t line, std::span<std::uint16_t> counts) const;

    // Return calibration spectra, the means of many lines: with a blocked sample arm, and without light.
    std::vector<float> background() const;
    std::vector<float> dark() const;

  private:
    std::vector<float> averaged(float light, std::uint64_t key) const;

    std::vector<float> reference_;  // counts above dark
    std::vector<float> normal_;     // quantiles of the normal distribution
    float dark_ = 0;
    float full_scale_ = 0;
    float shot_variance_ = 0;  // counts^2 per count of light
    float read_variance_ = 0;  // counts^2
    std::uint64_t key_ = 0;
};

// ---- Spectrum of many scatterers, sum a cos(2 k z + theta), computed exactly but fast. Scatterers are grouped into
// slabs of depth with centre z_c and half thickness d. Within a slab, u = (z - z_c) / d is in [-1, 1], and
// (Jacobi-Anger)
//   exp(2i k z) = exp(2i k0 z) exp(2i (k - k0) z_c) sum_q (2 - [q = 0]) i^q J_q(x) T_q(u),   x = 2 (k - k0) d.
// A line therefore needs a few moments of T_q(u) per slab and one real matrix product with a table of J_q(x), which is
// shared by all lines and slabs. The series is truncated where the remainder is below 1e-5.

// Scatterers of one slab: position u in the slab, and amplitude * exp(2i k0 z). Does not own the arrays of `count`
// values.
struct SlabScatterers {
    const float* u = nullptr;
    const float* real = nullptr;
    const float* imaginary = nullptr;
    std::int64_t count = 0;
};

// Sums echoes to moments, and moments to the fringe of a line. Thread-safe after construction.
class SpectrumSum {
  public:
    // Supports scatterers from 0 to `deepest_um`, depth in air.
    SpectrumSum(const Spectrometer& spectrometer, double deepest_um);

    // Number of slabs, and of moments of a line: [slab][real, imaginary][order].
    std::int64_t slabs() const { return slabs_; }
    std::size_t moments() const { return index(slabs_ * 2 * order_); }

    std::int64_t slab_of(double optical_um) const;               // may be outside [0, slabs())
    float place_in(std::int64_t slab, double optical_um) const;  // u of a scatterer
    // Adds the scatterers of one slab to a line's moments.
    void add(std::int64_t slab, const SlabScatterers& scatterers, std::span<float> moments) const;

    // Overwrites `fringes` with the sum over all slabs.
    void fringes(std::span<const float> moments, std::span<float> fringes) const;

    // Like the function above, and also computes the sum of sines. Both sums form the analytic fringe, which a depth
    // shift rotates.
    void fringes(std::span<const float> moments, std::span<float> cosines, std::span<float> sines) const;

  private:
    template <bool with_sines>
    void sum_up(std::span<const float> moments, float* cosines, float* sines) const;

    static constexpr std::int64_t lanes = 16;  // samples per block

    std::int64_t samples_ = 0;
    std::int64_t slabs_ = 0;  // even, because sum_up() processes two slabs at a time
    std::int64_t order_ = 0;
    double half_um_ = 0;
    std::vector<float> bessel_;  // [blocks of samples][order][lanes]
    std::vector<float> phase_;   // [blocks of samples][slabs][2][lanes], real and imaginary
};

}  // namespace echolux
