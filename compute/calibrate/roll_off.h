// How the signal of a mirror falls with its depth: what each recording of one shows, and the fall-off of a spectrometer
// through all of them. Samples of finite width lose sinc^2, a finite spectral resolution a Gaussian (docs/algorithms.md
// 0.1; R. Leitgeb et al., Opt. Express 11(8), 2003).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace echolux {

// Mean power of the noise in a profile of power over depth, the mean of `lines` A-scans, whose peak at `peak_point` is
// left out; points may be finer than bins. 0: nothing is left.
double noise_power(std::span<const double> power, double lines, double peak_point, double peak_width);

// Of |A| in counts; bins are those without zero padding.
struct MirrorReading {
    double bin = 0;
    double level_db = 0;
    double snr_db = 0;     // the peak's power over the mean power of the noise of one A-scan
    double fwhm_bins = 0;  // of |A|
};

// The strongest peak past zero delay of `amplitude`, the root mean power of `lines` A-scans, `points_per_bin` points a
// bin. Nothing where none stands 13 dB above the noise.
std::optional<MirrorReading> mirror_reading(std::span<const double> amplitude, std::int64_t lines);

// The same. Throws Error{bad_file} with `where` where there is none.
MirrorReading required_mirror(std::span<const double> amplitude, std::int64_t lines, const std::string& where);

// Power over depth, in shares of the one-sided range z_max: sinc^2(zeta) exp(-w^2 zeta^2 / (2 ln 2)) with zeta = pi/2
// z/z_max and sinc x = sin x / x.
struct FallOff {
    double at_zero_db = 0;         // of |A|, extrapolated to zero delay
    double resolution = 0;         // w: spectral resolution over the distance of samples
    bool has_wide_samples = true;  // false: less falls off than samples without gaps lose; sinc^2 is left out
    double rms_db = 0;             // how far the levels lie from it

    double level_db(double share) const;

    // Where the level is so much lower than at zero delay; nothing: not within the range.
    std::optional<double> share_at_loss(double loss_db) const;
};

// Mirrors nearer to each other than this stand at the same depth.
inline constexpr double min_share_between = 1e-3;

// Least squares through levels at different depths, at least two. Throws Error{bad_setting} for fewer, and where two
// lie at the same depth.
FallOff fitted_fall_off(std::span<const double> shares, std::span<const double> levels_db);

}  // namespace echolux
