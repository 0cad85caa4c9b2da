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
    double snr_db = 0;                 // the peak's power over the mean power of the noise of one A-scan
    double fwhm_bins = 0;              // of |A|
    std::optional<double> nearer_bin;  // of a peak 10 dB higher, nearer to zero delay than where mirrors are looked for
};

// Bins in which a mirror is looked for. 0:0: past the first twentieth, where remains of the source may lie.
struct DepthWindow {
    std::int64_t begin = 0;
    std::int64_t end = 0;  // 0: the last
};

// The strongest peak of `amplitude`, the root mean power of `lines` A-scans, `points_per_bin` points a bin. A slope at
// the edge of the window is no peak: from the first twentieth it is followed to its top. Nothing where no peak stands
// 13 dB above the noise.
std::optional<MirrorReading> mirror_reading(std::span<const double> amplitude, std::int64_t lines,
                                            const DepthWindow& window = {});

// The same. Throws Error{bad_file} with `where` where there is none.
MirrorReading required_mirror(std::span<const double> amplitude, std::int64_t lines, const std::string& where,
                              const DepthWindow& window = {});

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

// A level that lies apart from the fall-off of the others.
struct Outlier {
    std::size_t mirror = 0;  // which of the levels
    double from_fit_db = 0;
};

// Levels at least 2 dB, and five times what the others leave, from the fall-off through the others: the worst first, at
// most a quarter of them, and none of fewer than four.
std::vector<Outlier> fall_off_outliers(std::span<const double> shares, std::span<const double> levels_db);

}  // namespace echolux
