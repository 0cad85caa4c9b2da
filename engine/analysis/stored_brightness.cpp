#include "engine/analysis/stored_brightness.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/parallel_for.h"
#include "engine/io/volume_file.h"

namespace echolux {
namespace {

constexpr std::int64_t side = 8, area = side * side;  // of a patch
constexpr std::int64_t least_patches = 30;
constexpr std::int64_t most_b_scans = 16;  // evenly spaced, for the statistics
constexpr std::int64_t cut_rows = 32;      // min run of equal values that a device has cut
constexpr double dead_share = 0.9;         // of the rows of an A-scan that are 0
constexpr double single_look_sd = 1.283;
constexpr double code_range_db = 45;  // of all codes of a logarithmic picture of 8 or 16 bits: 40 to 50 is usual

// Looks, standard deviation of the logarithm, and negative skewness. The mean of N looks is gamma distributed, so that
// its logarithm has the variance psi'(N) and the skewness psi''(N) / psi'(N)^(3/2). Patches of 64 pixels show only 0.7
// times this skewness. Looks are therefore overestimated rather than underestimated, and doubtful pictures are left
// unchanged.
struct LookStats {
    double looks, sd, skew;
};
constexpr std::array<LookStats, 7> look_stats{{{1, 1.283, 1.14},
                                               {2, .803, .78},
                                               {4, .533, .53},
                                               {8, .365, .36},
                                               {16, .254, .25},
                                               {40, .159, .16},
                                               {100, .100, .10}}};

LookStats looks_for(double skew) {
    for (const LookStats& one : look_stats) {
        if (-skew > 0.85 * one.skew) return one;
    }
    return look_stats.back();
}

double percentile(std::vector<double> values, double share) {
    if (values.empty()) return 0;
    const double place = share * static_cast<double>(values.size() - 1);
    const auto low = static_cast<std::ptrdiff_t>(place);
    std::ranges::nth_element(values, values.begin() + low);
    const double at = values[index(low)];
    if (low + 1 >= std::ssize(values)) return at;
    const double next = *std::min_element(values.begin() + low + 1, values.end());
    return at + (place - static_cast<double>(low)) * (next - at);
}

struct Patch {
    double mean = 0, sd = 0, skew = 0;
};

// Calls use(b, first A-scan, first row) for all patches of the sampled B-scans.
template <class Use>
void each_patch(const Size3& size, const Use& use) {
    const std::int64_t step = std::max<std::int64_t>(1, size[2] / most_b_scans);
    for (std::int64_t b = step / 2; b < size[2]; b += step) {
        for (std::int64_t a = 0; a + side <= size[1]; a += side) {
            for (std::int64_t z = 0; z + side <= size[0]; z += side) use((b * size[1] + a) * size[0] + z);
        }
    }
}

// Removes the least-squares plane; the axes are orthogonal on the patch.
void remove_plane(std::array<double, area>& values, double mean) {
    double slope_a = 0, slope_z = 0;
    constexpr double squares = side * (side * side - 1) / 12.0 * side;  // sum of squared offsets
    const auto offset = [](std::size_t i) { return static_cast<double>(i) - (side - 1) / 2.0; };
    for (std::size_t i = 0; i < area; ++i) {
        slope_a += values[i] * offset(i / side);
        slope_z += values[i] * offset(i % side);
    }
    for (std::size_t i = 0; i < area; ++i)
        values[i] -= mean + (slope_a * offset(i / side) + slope_z * offset(i % side)) / squares;
}

Patch stats_of(std::array<double, area>& values) {
    Patch patch;
    for (const double value : values) patch.mean += value / area;
    remove_plane(values, patch.mean);
    double square = 0, cube = 0;
    for (const double value : values) {
        square += value * value / area;
        cube += value * value * value / area;
    }
    constexpr double free = area / (area - 3.0);  // of three fitted parameters
    patch.sd = std::sqrt(square * free);
    patch.skew = cube / std::pow(std::max(patch.sd, 1e-6), 3);
    return patch;
}

// Statistics of all patches in which every voxel is known and positive, in ascending order of their means.
template <class Mapped>
std::vector<Patch> patches_of(const std::vector<float>& values, const std::vector<std::uint8_t>& known,
                              const Size3& size, const Mapped& mapped) {
    std::vector<Patch> patches;
    std::array<double, area> inside{};
    each_patch(size, [&](std::int64_t first) {
        for (std::int64_t i = 0; i < area; ++i) {
            const auto at = index(first + i / side * size[0] + i % side);
            if (known[at] == 0 || !(values[at] > 0)) return;
            inside[index(i)] = mapped(static_cast<double>(values[at]));
        }
        patches.push_back(stats_of(inside));
    });
    std::ranges::stable_sort(patches, {}, &Patch::mean);
    return patches;
}

template <class Value>
double percentile_over(const std::vector<Patch>& patches, std::size_t begin, std::size_t end, double share,
                       const Value& value) {
    std::vector<double> some;
    for (std::size_t i = begin; i < end; ++i) some.push_back(patches[i].*value);
    return percentile(std::move(some), share);
}

// Marks NaN, runs of equal values and dead A-scans of a B-scan as unknown.
void mark_unknown(const float* line, std::int64_t depth, std::uint8_t* known) {
    std::int64_t zeros = 0, run = 0;
    for (std::int64_t z = 0; z < depth; ++z) {
        known[z] = std::isfinite(line[z]) ? 1 : 0;
        zeros += line[z] == 0 ? 1 : 0;
        run = z > 0 && line[z] == line[z - 1] ? run + 1 : 1;
        if (run == cut_rows) std::fill(known + z - cut_rows + 1, known + z, std::uint8_t{0});
        if (run >= cut_rows) known[z] = 0;
    }
    if (static_cast<double>(zeros) > dead_share * static_cast<double>(depth))
        std::fill_n(known, depth, std::uint8_t{0});
}

double share_negative(const std::vector<float>& values) {
    const auto negative = std::ranges::count_if(values, [](float value) { return value < 0; });
    return values.empty() ? 0 : static_cast<double>(negative) / static_cast<double>(values.size());
}

// Growth of the standard deviation with the mean: 1 in a power law, about 0 in a logarithmic picture. The dark patches
// of intensities are skewed to the bright side, also where noise of few looks is added to averaged tissue, which
// weakens the growth.
struct Growth {
    double power = 1, dark_skew = 0;
};

// Nothing if the picture is too uniform.
std::optional<Growth> growth_of(const std::vector<Patch>& patches) {
    constexpr double least_ratio = 1.15;
    const std::size_t count = patches.size(), third = (count - count / 10) / 3, low = count / 10;
    if (count < index(least_patches)) return {};
    const auto dark = [&](auto value) { return percentile_over(patches, low, low + third, 0.5, value); };
    const auto bright = [&](auto value) { return percentile_over(patches, count - third, count, 0.5, value); };
    const double ratio = bright(&Patch::mean) / dark(&Patch::mean);
    if (!(ratio > least_ratio) || !(dark(&Patch::sd) > 0)) return {};
    return Growth{std::log(bright(&Patch::sd) / dark(&Patch::sd)) / std::log(ratio), dark(&Patch::skew)};
}

// Decides what the values hold and converts them.
class Decision {
  public:
    Decision(const std::vector<float>& values, const Size3& size, const BrightnessOptions& options)
        : values_(values), size_(size), options_(options) {
        out_.linear = values;
        out_.known.resize(values.size());
        parallel_for(0, size[1] * size[2], [&](std::int64_t line) {
            mark_unknown(values.data() + line * size[0], size[0], out_.known.data() + line * size[0]);
        });
    }

    Brightness made() {
        decide_quantity();
        to_linear();
        undo_power_law();
        find_levels();
        out_.why = fmt::format(
            "{}{}", fmt::format("assuming that voxels hold {}: {}", word_for(out_.stored_as), reason_), law_);
        return std::move(out_);
    }

  private:
    void decide_quantity() {
        // Measured: logarithmic pictures below 0.7 and 0.0, power laws above 0.94.
        constexpr double most_growth = 0.75, most_skew = 0.2;
        out_.stored_as = options_.stored_as;
        reason_ = "stated";
        if (out_.stored_as != StoredAs::automatic) return;
        const double negative = share_negative(values_);
        if (negative > 0.01) return decide(StoredAs::db, fmt::format("{:.0f} % are negative", 100 * negative));
        if (options_.is_8_bit) return decide(StoredAs::log, "8 bits cannot hold intensities");
        const auto growth = growth_of(patches_of(values_, out_.known, size_, [](double value) { return value; }));
        if (growth && growth->power < most_growth && growth->dark_skew < most_skew)
            return decide(StoredAs::log,
                          fmt::format("speckle only grows as brightness to the power of {:.2f}", growth->power));
        decide(StoredAs::intensity,
               growth ? "speckle is proportional to brightness" : "no evidence for other quantities");
    }

    void decide(StoredAs stored_as, std::string reason) {
        out_.stored_as = stored_as;
        reason_ = std::move(reason);
    }

    void to_linear() {
        constexpr double nepers_per_db = 0.230258509299;
        double per_value = nepers_per_db;
        if (out_.stored_as == StoredAs::log) {
            out_.db_per_value = options_.db_per_value > 0 ? options_.db_per_value
                                : options_.is_8_bit       ? code_range_db / 255
                                                          : log_picture_db / log_range();
            per_value *= out_.db_per_value;
        }
        parallel_for(0, size_[1] * size_[2], [&](std::int64_t line) {
            for (std::int64_t z = line * size_[0]; z < (line + 1) * size_[0]; ++z) {
                float& value = out_.linear[index(z)];
                const auto v = static_cast<double>(value);
                switch (out_.stored_as) {
                    case StoredAs::db:
                    case StoredAs::log:
                        value = static_cast<float>(std::exp(std::clamp(v * per_value, -80.0, 80.0)));
                        break;
                    case StoredAs::amplitude: value *= value; break;
                    case StoredAs::fourth_root: value *= value, value *= value; break;
                    default: break;
                }
            }
        });
    }

    double log_range() const {
        std::vector<double> some;
        for (std::size_t i = 0; i < values_.size(); i += std::max<std::size_t>(1, values_.size() / 100000)) {
            if (out_.known[i] != 0) some.push_back(static_cast<double>(values_[i]));
        }
        return std::max(percentile(some, 0.999) - percentile(some, 0.01), 1e-9);
    }

    // Dark patches are used, but not the darkest: those may be cut.
    void undo_power_law() {
        const auto logarithm = [](double value) { return std::log(value); };
        const std::vector<Patch> patches = patches_of(out_.linear, out_.known, size_, logarithm);
        const bool is_enough = std::ssize(patches) >= least_patches;
        const std::size_t begin = patches.size() / 10, end = patches.size() / 2;
        const double sd = is_enough ? percentile_over(patches, begin, end, 0.25, &Patch::sd) : 0,
                     skew = is_enough ? percentile_over(patches, begin, end, 0.5, &Patch::skew) : 0;
        if (options_.exponent != 0)
            out_.exponent = options_.exponent;
        else if (is_enough && options_.stored_as == StoredAs::automatic && out_.stored_as != StoredAs::db)
            out_.exponent = exponent_for(sd, skew, looks_for(skew));
        find_range();
        if (out_.exponent != 1) raise(out_.exponent);
        if (is_enough) count_looks(sd * std::abs(out_.exponent));
    }

    void find_range() {
        float low = std::numeric_limits<float>::infinity(), high = 0;
        for (const float value : out_.linear) {
            if (!(value > 0) || !std::isfinite(value)) continue;
            low = std::min(low, value);
            high = std::max(high, value);
        }
        if (high > 0) out_.range_db = 10 * std::log10(static_cast<double>(high) / static_cast<double>(low));
    }

    // The 25th percentile of 64 pixels is 10 % below the standard deviation. psi'(N) = s^2 gives N = 1 / s^2 + 1/2
    // within 10 %.
    void count_looks(double sd) {
        constexpr double low_sd = 1.1;
        out_.speckle_sd = sd;
        out_.looks = std::clamp(1 / std::max(low_sd * low_sd * sd * sd, 1e-6) + 0.5, 1.0, 100.0);
        law_ += fmt::format("; speckle of {:.2f} nepers corresponds to {:.0f} looks", sd, out_.looks);
    }

    double exponent_for(double sd, double skew, const LookStats& looks) {
        if (sd > 1.3 * single_look_sd) {
            const double exponent = single_look_sd / sd;
            law_ = fmt::format("; varies more than speckle, so compressed to the power of {:.2f}", exponent);
            if (skew <= 0.25) return exponent;
            law_ += " and inverted, because it is skewed to the bright side";
            return -exponent;
        }
        if (skew < -0.25 && sd < 0.35 * looks.sd) {
            const double exponent = std::min(looks.sd / sd, 8.0);
            law_ = fmt::format("; varies less than speckle, so expanded to the power of {:.1f}", exponent);
            return exponent;
        }
        return 1;
    }

    void raise(double exponent) {
        parallel_for(0, size_[1] * size_[2], [&](std::int64_t line) {
            for (std::int64_t z = line * size_[0]; z < (line + 1) * size_[0]; ++z) {
                float& value = out_.linear[index(z)];
                const double log = std::log(std::max(static_cast<double>(value), 1e-300));
                value = value > 0 ? static_cast<float>(std::exp(std::clamp(exponent * log, -80.0, 80.0))) : 0;
            }
        });
    }

    void find_levels() {
        std::vector<double> means;
        each_patch(size_, [&](std::int64_t first) {
            double sum = 0, count = 0;
            for (std::int64_t i = 0; i < area; ++i) {
                const auto at = index(first + i / side * size_[0] + i % side);
                if (out_.known[at] == 0) continue;
                sum += static_cast<double>(std::max(out_.linear[at], 0.0f));
                ++count;
            }
            if (count >= area / 2.0) means.push_back(sum / count);
        });
        if (means.empty()) means.push_back(1);
        out_.floor = percentile(means, 0.05);
        out_.top = percentile(means, 0.99);
        const auto floor = static_cast<float>(out_.floor);
        for (std::size_t i = 0; i < values_.size(); ++i)
            out_.linear[i] = out_.known[i] != 0 ? std::max(out_.linear[i], 0.0f) : floor;
    }

    const std::vector<float>& values_;
    const Size3 size_;
    const BrightnessOptions options_;
    Brightness out_;
    std::string reason_, law_;
};

// Replaces values by their fourth power, as f32.
void raise_to_fourth(Volume& volume) {
    Volume raised{volume.grid, {}, volume.provenance};
    raised.grid.type = VoxelType::f32;
    raised.grid.scale = 1;
    raised.grid.offset = 0;
    raised.voxels.resize(index(raised.grid.bytes()));
    with_voxels(volume, [&](const auto* codes) {
        auto* values = reinterpret_cast<float*>(raised.voxels.data());
        for (std::int64_t i = 0; i < raised.grid.voxels(); ++i) {
            const double value = static_cast<double>(codes[i]) * volume.grid.scale + volume.grid.offset;
            values[i] = static_cast<float>(value * value * value * value);
        }
    });
    volume = std::move(raised);
}

}  // namespace

Brightness brightness_of(const std::vector<float>& values, const Size3& size, const BrightnessOptions& options) {
    return Decision(values, size, options).made();
}

bool is_single_look(const Brightness& brightness) {
    constexpr double least = 0.9, most = 1.45;  // measured: 0.97 to 1.15 in simulated speckle of any correlation
    return brightness.exponent == 1 && brightness.speckle_sd > least && brightness.speckle_sd < most;
}

double db_per_value(const VolumeGrid& grid) {
    if (grid.type == VoxelType::u8) return code_range_db / 255 / grid.scale;
    if (grid.type == VoxelType::u16 || grid.type == VoxelType::i16) return code_range_db / 65535 / grid.scale;
    throw Error(ErrorCode::bad_setting, "the scale of a logarithmic image is only known for 8 and 16 bits", "stored_as",
                "convert the values to dB and select db");
}

void state_quantity(Volume& volume, StoredAs stored_as) {
    VolumeGrid& grid = volume.grid;
    if (stored_as == StoredAs::automatic) return;
    if (grid.type == VoxelType::complex64) {
        throw Error(ErrorCode::bad_setting, "complex voxels are neither intensities nor dB", "stored_as",
                    "reconstruct db, intensity or amplitude");
    }
    if (stored_as == StoredAs::log) {
        const double factor = db_per_value(grid);
        grid.scale *= factor;
        grid.offset *= factor;
    }
    if (stored_as == StoredAs::fourth_root) raise_to_fourth(volume);
    const bool is_db = stored_as == StoredAs::log || stored_as == StoredAs::db;
    grid.quantity = is_db ? "db" : stored_as == StoredAs::amplitude ? "amplitude" : "intensity";
    grid.unit = is_db ? "dB" : "";
}

const char* word_for(StoredAs stored_as) {
    switch (stored_as) {
        case StoredAs::automatic: return "auto";
        case StoredAs::db: return "db";
        case StoredAs::intensity: return "intensity";
        case StoredAs::amplitude: return "amplitude";
        case StoredAs::fourth_root: return "fourth-root";
        case StoredAs::log: return "log";
    }
    return "";
}

}  // namespace echolux
