// Displacement, strain and waves from the phase of complex bins over moments of one position.
//
// A scatterer that moves away from zero delay by d turns the phase of its bin by 4 pi n d / wavelength. Phases are
// always those of sums of complex products A_t A_0* over a kernel (vector method: V. Y. Zaitsev et al., J. Biophotonics
// 8(6), 2015; A. L. Matveyev et al., Laser Phys. Lett. 15(6), 2018), never means of angles, so bright voxels count most
// and nothing wraps within the kernel.
//
// Quality is the coherence |sum A_t A_0*| / sqrt(sum |A_t|^2 sum |A_0|^2): 1 for tissue that only moves, 1 /
// sqrt(number of voxels) for noise. Steps from moment to moment are unwrapped in the B-scan from the voxel of the best
// quality outwards (M. A. Herraez et al., Appl. Opt. 41(35), 2002) and summed. The phase against the first moment,
// which gathers no noise over time, is then shifted by the multiple of 2 pi that is nearest to the sum.
//
// Strain is the slope w of the phase along depth, in rad per row, over a window of rows: the weighted least-squares fit
// to the products P_i, in complex form. With D_i = P_i exp(-j w0 i) for a first w0 from sum P_i+1 P_i*, and M = sum
// D_i,
//   w = w0 + sum Im(D_i M* / |M|) (i - c) / sum |P_i| (i - c)^2,   c = sum |P_i| i / sum |P_i|,   twice.
//
// Phase-noise bound. Noise of variance s^2 in each bin makes the imaginary part of P_i, turned to the real axis, vary
// by s^2 |A_i|^2 (half from each of both moments), so its phase by s^2 / |A_i|^2 = 1 / SNR_i. Neighbouring A-scans of a
// kernel add their SNR. No unbiased estimate of the slope of a line with such errors varies by less than
//   var(w) = 1 / sum SNR_i (i - c)^2,   c weighted by SNR_i (Cramer and Rao),
// which is 12 / (SNR N^3) for N equal rows. The fit has these weights, because |P_i| is proportional to SNR_i.
#pragma once

#include <complex>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "compute/plan/described.h"
#include "engine/interval.h"
#include "engine/layers/layers.h"

namespace echolux {

// Section [displacement] of the settings; described in displacement.cpp.
struct DisplacementRecipe {
    std::int64_t window_depth = 5;
    std::int64_t window_a_scans = 5;
    double min_quality = 0.6;
    bool unwrap_space = true;
    std::int64_t strain_window = 31;
    std::int64_t surface_depth = 2;

    bool operator==(const DisplacementRecipe&) const = default;
};

template <>
const std::vector<Field<DisplacementRecipe>>& describe<DisplacementRecipe>();

// One complex B-scan, [a_scan][depth].
using ComplexPlane = std::vector<std::complex<float>>;

// One moment of a B-scan relative to the first moment, each [a_scan][depth]; NaN without a value.
struct DisplacedPlane {
    std::vector<float> phase;    // rad, unwrapped
    std::vector<float> quality;  // 0 to 1
    std::vector<float> slope;    // rad per row; not calculated if not wanted
};

// Returns one plane per moment. The result does not depend on the number of threads.
std::vector<DisplacedPlane> displaced_planes(const std::vector<ComplexPlane>& moments, std::int64_t a_scans,
                                             std::int64_t depth, const DisplacementRecipe& recipe, bool wants_slope);

// Unwraps phases in place from the voxel of the best quality outwards. NaN separates regions; each starts by itself.
void unwrap_from_best(std::vector<float>& phase, const std::vector<float>& quality, std::int64_t a_scans,
                      std::int64_t depth);

// ---- Displacement between two surfaces over time (optoretinography)

// Phase of the lower surface less that of the upper one, relative to the first moment.
struct SurfaceMotion {
    std::vector<double> phase;    // rad, per moment, unwrapped in time
    std::vector<double> error;    // standard error from the scatter of the A-scans
    std::vector<double> quality;  // 0 to 1: how well the A-scans agree
    std::int64_t a_scans = 0;     // number of A-scans with both surfaces
};

// Sums over all B-scans. In each A-scan the product of both surfaces' phasors removes the motion of the whole A-scan;
// these products are summed over the A-scans.
class BetweenSurfaces {
  public:
    BetweenSurfaces(std::int64_t moments, std::int64_t rows) : rows_(rows), sums_(static_cast<std::size_t>(moments)) {}

    // Adds a B-scan. `upper`, `lower`: depth rows by A-scan, NaN if missing. `a_scans`: those that count.
    void add(const std::vector<ComplexPlane>& moments, std::int64_t depth, const float* upper, const float* lower,
             Interval a_scans);

    SurfaceMotion motion() const;

  private:
    struct Sums {
        std::complex<double> to_first, to_previous;
        double modulus = 0, real_squares = 0, imaginary_squares = 0, real_times_imaginary = 0;
        std::int64_t a_scans = 0;
    };
    std::int64_t rows_;
    std::vector<Sums> sums_;
};

// ---- Speed of a wave along A-scans

struct WaveSpeed {
    double slowness = std::numeric_limits<double>::quiet_NaN();        // steps per A-scan
    double slowness_error = std::numeric_limits<double>::quiet_NaN();  // standard error
    double start = 0;                                                  // steps; the line is start + slowness x
    double agreement = 0;  // mean correlation of the A-scans with their common wave
    std::string problem;   // why there is none

    bool is_found() const { return problem.empty(); }
};

// Finds one wave in a map [a_scan][moment] of displacements: the slowness whose shifted sum over all A-scans is
// strongest, then the line through the delays of the A-scans against that sum, by cross-correlation. A-scans with a NaN
// are left out.
WaveSpeed wave_speed_of(const std::vector<std::vector<double>>& map);

}  // namespace echolux
