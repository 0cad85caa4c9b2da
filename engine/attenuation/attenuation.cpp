#include "engine/attenuation/attenuation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <string_view>

#include "compute/error.h"
#include "compute/host_device.h"
#include "compute/indexing.h"
#include "compute/parallel_for.h"
#include "compute/plan/describe.h"
#include "engine/analysis/intensity.h"
#include "engine/memory.h"

namespace echolux {

// ---- Attenuation of light per depth step (docs/angiography.md): the intensity that a voxel scatters back, divided by
// the sum of all deeper intensities. Assumes that the same fraction of the lost light is backscattered everywhere (K.
// A. Vermeer et al., Biomed. Opt. Express 5(1), 2014).

// Returns the attenuation per unit of `row`, corrected for the double pass. `below` is the sum of all deeper
// intensities. Exact for voxels of any thickness, unlike the common approximation intensity / (2 row below).
struct Attenuation {
    double row = 1;

    ECHOLUX_HD double operator()(double intensity, double below) const {
        return intensity > 0 && below > 0 ? std::log1p(intensity / below) / (2 * row) : 0;
    }
};

// Returns the sum of the intensities below the last rows of an A-scan as if the tissue continued forever: a geometric
// series that falls by `loss` (natural log) from these rows to the next group of as many rows.
ECHOLUX_HD inline double sum_below(double of_last_rows, double loss) {
    return of_last_rows / std::expm1(loss);
}

template <>
const std::vector<Field<AttenuationRecipe>>& describe<AttenuationRecipe>() {
    using R = AttenuationRecipe;
    constexpr Effect effect = Effect::view;
    static const std::vector<Field<R>> fields{
        integer("window_a_scans", &R::window_a_scans, 1, 255, "A-scans", effect,
                "A-scans averaged in each B-scan; average at least 20 A-scans (window_a_scans x window_b_scans) to "
                "suppress speckle"),
        integer("window_b_scans", &R::window_b_scans, 1, 255, "B-scans", effect, "B-scans averaged"),
        number("noise_floor_db", &R::noise_floor_db, -300, 300, "dB", effect,
               "median noise floor of the volume; 0: estimated as 0 dB in volumes relative to their noise floor, "
               "otherwise from the darkest 5 % of the depth rows")
            .special(0, "auto"),
        number("min_snr_db", &R::min_snr_db, -20, 60, "dB", effect, "SNR (31-row mean) below which the fit stops"),
        integer("tail_rows", &R::tail_rows, 8, 4096, "rows", effect,
                "number of deepest tissue rows (at most half of all) whose decay gives the light from below the end of "
                "the fit"),
        number("roll_off_db_per_mm", &R::roll_off_db_per_mm, 0, 1000, "dB/mm", effect,
               "spectrometer roll-off per mm of depth from zero delay; 0: not corrected")
            .special(0, "off"),
        number("focus_um", &R::focus_um, -1e5, 1e5, "um", effect, "depth of the focus from zero delay"),
        number("rayleigh_um", &R::rayleigh_um, 0, 1e6, "um", effect,
               "distance from the focus at which the confocal gate halves the intensity; 0: not corrected")
            .special(0, "off"),
    };
    return fields;
}

namespace {

constexpr float unknown = std::numeric_limits<float>::quiet_NaN();

// Throws unless voxels are brightness with a known depth spacing.
void require_brightness(const VolumeGrid& grid) {
    constexpr std::array<std::string_view, 3> brightness{"db", "intensity", "amplitude"};
    if (grid.type == VoxelType::complex64 || std::ranges::find(brightness, grid.quantity) == brightness.end()) {
        throw Error(ErrorCode::bad_setting,
                    fmt::format("attenuation is computed from brightness, but the voxels hold {}",
                                grid.quantity.empty() ? "other values" : grid.quantity),
                    "volume", "select db, intensity or amplitude");
    }
    if (grid.spacing_um[0] > 0) return;
    throw Error(ErrorCode::bad_setting, "attenuation in 1/mm needs the depth pitch, which is unknown", "volume",
                "set calibration.wavelengths or depth_pitch_um");
}

// Returns the mean of known values over the windows: along A-scans, then across B-scans.
std::vector<float> averaged(std::vector<float> values, const VolumeGrid& grid, const AttenuationRecipe& recipe) {
    const auto mean = [&](std::vector<float>& in, std::int64_t count, std::int64_t stride, std::int64_t window,
                          const auto& place) {
        if (window == 1) return;
        std::vector<float> out(in.size());
        parallel_for(0, grid.b_scans, [&](std::int64_t b) {
            for (std::int64_t a = 0; a < grid.a_scans; ++a) {
                const std::int64_t at = place(a, b), line = (b * grid.a_scans + a) * grid.depth;
                const std::int64_t begin = std::max<std::int64_t>(0, at - window / 2);
                const std::int64_t end = std::min(count, at - window / 2 + window);
                for (std::int64_t z = 0; z < grid.depth; ++z) {
                    double sum = 0, known = 0;
                    for (std::int64_t i = begin; i < end; ++i) {
                        const float value = in[index(line + (i - at) * stride + z)];
                        if (std::isnan(value)) continue;
                        sum += static_cast<double>(value);
                        known += 1;
                    }
                    out[index(line + z)] = known > 0 ? static_cast<float>(sum / known) : unknown;
                }
            }
        });
        in.swap(out);
    };
    mean(values, grid.a_scans, grid.depth, recipe.window_a_scans, [](std::int64_t a, std::int64_t) { return a; });
    mean(values, grid.b_scans, grid.depth * grid.a_scans, recipe.window_b_scans,
         [](std::int64_t, std::int64_t b) { return b; });
    return values;
}

// Returns the noise floor in dB, as a median: the mean of one of the darkest depth rows.
double found_floor_db(const std::vector<float>& power, const VolumeGrid& grid) {
    if (grid.unit == "dB above noise floor") return 0;
    std::vector<double> means;  // positive means of depth rows
    for (std::int64_t z = 0; z < grid.depth; ++z) {
        double sum = 0, count = 0;
        for (std::size_t i = index(z); i < power.size(); i += index(grid.depth)) {
            if (std::isnan(power[i])) continue;
            sum += static_cast<double>(power[i]);
            count += 1;
        }
        if (sum > 0) means.push_back(sum / count);
    }
    if (means.empty()) return -300;
    constexpr std::size_t one_in = 40;  // the centre of the darkest twentieth
    const auto place = means.begin() + static_cast<std::ptrdiff_t>(means.size() / one_in);
    std::ranges::nth_element(means, place);
    return 10 * std::log10(*place * std::numbers::ln2);  // converts an exponential distribution's mean to its median
}

// Attenuation of one A-scan. Working from the bottom, the coefficient of a row is its light relative to the sum of all
// light below, which starts with the tail estimated below the last row.
class AttenuationColumn {
  public:
    // `floor` is the mean power of noise.
    AttenuationColumn(const VolumeGrid& grid, const AttenuationRecipe& recipe, double floor)
        : grid_(grid), recipe_(recipe), floor_(floor), row_mm_(grid.spacing_um[0] / 1000), light_(index(grid.depth)),
          gain_(light_.size()), raw_(light_.size()) {
        for (std::int64_t z = 0; z < grid.depth; ++z) {
            const double depth_um = grid.first_depth_um + static_cast<double>(z) * grid.spacing_um[0];
            double gain = std::pow(10, -recipe.roll_off_db_per_mm * std::abs(depth_um) / 1e4);
            if (recipe.rayleigh_um > 0) gain /= 1 + std::pow((depth_um - recipe.focus_um) / recipe.rayleigh_um, 2);
            gain_[index(z)] = gain;
        }
    }

    bool has_tissue() const { return begin_ < end_; }
    bool has_tail() const { return has_tail_; }

    void find(const float* power, float* attenuation) {
        std::fill_n(attenuation, grid_.depth, unknown);
        for (std::size_t z = 0; z < raw_.size(); ++z) {
            raw_[z] = std::isnan(power[z]) ? 0 : static_cast<double>(power[z]) - floor_;
            light_[z] = raw_[z] / gain_[z];
        }
        find_ends();
        if (!has_tissue()) return;
        find_tail();
        const Attenuation of{row_mm_};
        double below = tail_;
        for (std::int64_t z = end_ - 1; z >= begin_; --z) {
            const double light = light_[index(z)];
            if (below >= certain_ && !std::isnan(power[z]))
                attenuation[z] = static_cast<float>(of(std::max(0.0, light), below));
            below = std::max(0.0, below + light);
        }
    }

  private:
    // Finds the first and last rows of tissue: the centres of windows brighter than the noise threshold. A bright
    // window at an end of the A-scan extends the tissue to that end.
    void find_ends() {
        const std::int64_t around = window_rows();
        const double least = floor_ * std::pow(10, recipe_.min_snr_db / 10);
        begin_ = grid_.depth;
        end_ = 0;
        double sum = 0;
        for (std::int64_t z = 0; z < grid_.depth; ++z) {
            sum += raw_[index(z)];
            if (z >= around) sum -= raw_[index(z - around)];
            if (z + 1 < around || !(sum / static_cast<double>(around) > least)) continue;
            begin_ = std::min(begin_, z + 1 == around ? 0 : z - around / 2);
            end_ = z + 1 == grid_.depth ? grid_.depth : z - around / 2 + 1;
        }
    }

    // Estimates the light from below the end by the decay of the last rows. Without a decay the estimate is 0. Then
    // values are only kept where the light that the slowest decay could hide is at most a tenth of the known light
    // below.
    void find_tail() {
        constexpr double min_slope_per_mm = 0.3, max_hidden = 0.1;
        const std::int64_t half = std::min(recipe_.tail_rows, (end_ - begin_) / 2) / 2;
        const double upper = mean(end_ - 2 * half, end_ - half), lower = mean(end_ - half, end_);
        const double half_mm = static_cast<double>(half) * row_mm_;
        const double slope = upper > 0 && lower > 0 && half > 0 ? std::log(upper / lower) / half_mm : 0;
        has_tail_ = slope > min_slope_per_mm && falls(half / 2);
        tail_ = has_tail_ ? sum_below(static_cast<double>(half) * lower, slope * half_mm) : 0;
        const double most = lower > 0 ? sum_below(lower, min_slope_per_mm * row_mm_) : 0;
        certain_ = has_tail_ ? 0 : std::max(most / max_hidden, light_of_noise());
    }

    // Returns the light of a window at the noise threshold; sums below it may be noise.
    double light_of_noise() const {
        return static_cast<double>(window_rows()) * floor_ * std::pow(10, recipe_.min_snr_db / 10) /
               gain_[index(end_ - 1)];
    }

    std::int64_t window_rows() const { return std::min<std::int64_t>(31, grid_.depth); }

    // Returns whether each of the last four quarters of the tail is darker than the previous one, within noise. A
    // brighter layer at the end is not a decay.
    bool falls(std::int64_t quarter) const {
        constexpr double max_rise = 1.05;
        for (std::int64_t i = 4; i > 1; --i) {
            const double upper = mean(end_ - i * quarter, end_ - (i - 1) * quarter);
            const double lower = mean(end_ - (i - 1) * quarter, end_ - (i - 2) * quarter);
            if (lower > max_rise * upper) return false;
        }
        return true;
    }

    double mean(std::int64_t begin, std::int64_t end) const {
        double sum = 0;
        for (std::int64_t z = begin; z < end; ++z) sum += light_[index(z)];
        return end > begin ? sum / static_cast<double>(end - begin) : 0;
    }

    const VolumeGrid& grid_;
    const AttenuationRecipe& recipe_;
    double floor_, row_mm_;
    std::vector<double> light_, gain_, raw_;
    std::int64_t begin_ = 0, end_ = 0;
    bool has_tail_ = false;
    // Light from below the end, and the min sum of light below a row for which its value is kept.
    double tail_ = 0, certain_ = 0;
};

}  // namespace

Volume attenuation_of(const Volume& volume, const AttenuationRecipe& recipe, AttenuationStats& stats,
                      Progress& progress) {
    check(recipe, "attenuation");
    const VolumeGrid& grid = volume.grid;
    require_brightness(grid);
    constexpr std::int64_t bytes_a_voxel = 12;
    require_memory(grid.voxels() * bytes_a_voxel, "attenuation", "use fewer B-scans");
    const std::vector<float> power = averaged(linear_intensity(volume), grid, recipe);
    stats = {};
    stats.noise_floor_db = recipe.noise_floor_db != 0 ? recipe.noise_floor_db : found_floor_db(power, grid);
    // Converts the floor's median to its mean.
    const double floor = std::pow(10, stats.noise_floor_db / 10) / std::numbers::ln2;
    Volume found{grid, {}, volume.provenance};
    found.grid.type = VoxelType::f32;
    found.grid.scale = 1;
    found.grid.offset = 0;
    found.grid.quantity = "attenuation";
    found.grid.unit = "1/mm";
    found.voxels.resize(index(found.grid.bytes()));
    auto* values = reinterpret_cast<float*>(found.voxels.data());
    struct Counts {
        std::int64_t tissue = 0, no_tail = 0, known = 0;
    };
    std::vector<Counts> counts(index(grid.b_scans));
    progress.begin("attenuation", grid.b_scans, "B-scans");
    const auto find = [&](std::int64_t b) {
        AttenuationColumn column(grid, recipe, floor);
        Counts& of = counts[index(b)];
        for (std::int64_t line = b * grid.a_scans; line < (b + 1) * grid.a_scans; ++line) {
            float* into = values + line * grid.depth;
            column.find(power.data() + line * grid.depth, into);
            of.tissue += column.has_tissue();
            of.no_tail += column.has_tissue() && !column.has_tail();
            of.known += std::count_if(into, into + grid.depth, [](float one) { return !std::isnan(one); });
        }
    };
    constexpr std::int64_t at_once = 16;
    for (std::int64_t b = 0; b < grid.b_scans; b += at_once) {
        const std::int64_t end = std::min(grid.b_scans, b + at_once);
        parallel_for(b, end, find);
        progress.advance(end - b);
    }
    progress.end();
    Counts all;
    for (const Counts& one : counts) all = {all.tissue + one.tissue, all.no_tail + one.no_tail, all.known + one.known};
    stats.known = static_cast<double>(all.known) / static_cast<double>(grid.voxels());
    stats.no_tail = all.tissue > 0 ? static_cast<double>(all.no_tail) / static_cast<double>(all.tissue) : 0;
    return found;
}

}  // namespace echolux
