#include "engine/contrast/polarisation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "compute/indexing.h"
#include "compute/parallel_for.h"
#include "compute/plan/describe.h"
#include "engine/contrast/window_sum.h"

namespace echolux {

template <>
const std::vector<Field<PolarisationRecipe>>& describe<PolarisationRecipe>() {
    using R = PolarisationRecipe;
    constexpr Effect effect = Effect::view;
    static const std::vector<Field<R>> fields{
        integer("window_depth", &R::window_depth, 1, 255, "rows", effect,
                "depth rows over which Stokes parameters are averaged")
            .odd(),
        integer("window_a_scans", &R::window_a_scans, 1, 255, "A-scans", effect,
                "A-scans over which Stokes parameters are averaged")
            .odd(),
        integer("dopu_depth", &R::dopu_depth, 1, 255, "rows", effect, "depth rows of the kernel of DOPU").odd(),
        integer("dopu_a_scans", &R::dopu_a_scans, 1, 255, "A-scans", effect, "A-scans of the kernel of DOPU").odd(),
        number("threshold_db", &R::threshold_db, -300, 300, "dB", effect,
               "reflectivity below which voxels have no value, because noise is scrambled")
            .special(-300, "none"),
        number("phase_offset_deg", &R::phase_offset_deg, -360, 360, "deg", effect,
               "phase of channel 1 against channel 2 in the instrument, which is subtracted"),
        choice("axis_sense", &R::axis_sense, {"forward", "backward"}, effect,
               "sense of rotation of the axis; backward if the channels are conjugate"),
        integer("local_depth", &R::local_depth, 1, 255, "rows", effect,
                "depth rows over which local retardation is measured"),
    };
    return fields;
}

const PolarisationMapText& text_of(PolarisationMap map) {
    static constexpr std::array<PolarisationMapText, polarisation_map_count> texts{{
        {"reflectivity", "dB", "power of both channels together"},
        {"retardation", "deg", "retardation of all tissue above, 0 to 90"},
        {"axis", "deg", "optic axis of all tissue above, 0 to 180"},
        {"stokes_q", "", "Stokes parameter Q over I"},
        {"stokes_u", "", "Stokes parameter U over I"},
        {"stokes_v", "", "Stokes parameter V over I"},
        {"dopu", "", "degree of polarisation uniformity, 0 to 1"},
        {"local_retardation", "deg/um", "retardation of the tissue at this depth"},
        {"local_axis", "deg", "optic axis of the tissue at this depth, 0 to 180"},
        {"diattenuation", "", "diattenuation of all tissue above, 0 to 1; needs two input states"},
    }};
    return texts[static_cast<std::size_t>(map)];
}

namespace {

using Complex = std::complex<double>;

constexpr float unknown = std::numeric_limits<float>::quiet_NaN();
constexpr double degrees = 180 / std::numbers::pi;

// ---- Jones matrices

struct Jones {
    Complex xx = 1, xy = 0, yx = 0, yy = 1;

    Jones operator*(const Jones& b) const {
        return {xx * b.xx + xy * b.yx, xx * b.xy + xy * b.yy, yx * b.xx + yy * b.yx, yx * b.xy + yy * b.yy};
    }
    Jones conjugate() const { return {std::conj(xx), std::conj(xy), std::conj(yx), std::conj(yy)}; }
    Jones adjoint() const { return {std::conj(xx), std::conj(yx), std::conj(xy), std::conj(yy)}; }
};

// A linear retarder without common phase: cosine + j (straight, diagonal) sine, with cosine^2 + sine^2 = 1.
struct Retarder {
    double cosine = 1, straight = 0, diagonal = 0;  // sine cos 2t, sine sin 2t

    static Retarder of(double retardation, double axis) {
        return {std::cos(retardation), std::sin(retardation) * std::cos(2 * axis),
                std::sin(retardation) * std::sin(2 * axis)};
    }

    // The nearest retarder up to its sign, which leaves the retardation in 0 to 90 degrees.
    static Retarder nearest(const Jones& j) {
        Retarder one{0.5 * (j.xx + j.yy).real(), 0.5 * (j.xx - j.yy).imag(), 0.5 * (j.xy + j.yx).imag()};
        const double length = std::hypot(one.cosine, one.straight, one.diagonal);
        if (length <= 0) return {};
        const double scale = (one.cosine < 0 ? -1 : 1) / length;
        return {one.cosine * scale, one.straight * scale, one.diagonal * scale};
    }

    double retardation() const { return std::atan2(std::hypot(straight, diagonal), cosine); }
    double axis() const { return 0.5 * std::atan2(diagonal, straight); }
    Jones matrix() const { return {{cosine, straight}, {0, diagonal}, {0, diagonal}, {cosine, -straight}}; }
    // Half the retardation on the same axis.
    Retarder root() const { return of(retardation() / 2, axis()); }
};

float axis_degrees(double radians) {
    const double angle = std::fmod(radians * degrees + 360, 180);
    return static_cast<float>(angle);
}

// ---- One B-scan

struct Stokes {
    std::vector<double> i, q;
    std::vector<Complex> uv;
};

class PolarisedPlane {
  public:
    PolarisedPlane(std::int64_t a_scans, std::int64_t depth, const PolarisationRecipe& recipe)
        : a_scans_(a_scans), depth_(depth), recipe_(recipe) {
        maps_.fill(std::vector<float>(index(a_scans * depth), unknown));
    }

    PolarisationMaps made(const ChannelPlane& channel_1, const ChannelPlane& channel_2) {
        const Stokes single = stokes(channel_1, channel_2);
        average(single);
        find_dopu(single);
        parallel_for(0, a_scans_, [&](std::int64_t a) { find_local(a); });
        return std::move(maps_);
    }

  private:
    std::vector<float>& map(PolarisationMap which) { return maps_[static_cast<std::size_t>(which)]; }

    Stokes stokes(const ChannelPlane& channel_1, const ChannelPlane& channel_2) const {
        const Complex turned = std::polar(1.0, -recipe_.phase_offset_deg / degrees);
        Stokes all;
        for (std::size_t voxel = 0; voxel < channel_1.size(); ++voxel) {
            const Complex one = channel_1[voxel], two = channel_2[voxel];
            const bool is_known = std::isfinite(std::norm(one) + std::norm(two));
            const Complex uv = 2.0 * one * std::conj(two) * turned;
            all.i.push_back(is_known ? std::norm(one) + std::norm(two) : 0);
            all.q.push_back(is_known ? std::norm(one) - std::norm(two) : 0);
            all.uv.push_back(!is_known ? 0 : recipe_.axis_sense == AxisSense::forward ? uv : std::conj(uv));
        }
        return all;
    }

    template <class T>
    std::vector<T> kernel(const std::vector<T>& values, std::int64_t rows, std::int64_t lines) const {
        return window_sum(window_sum(values, a_scans_, depth_, lines), depth_, 1, rows);
    }

    // Reflectivity, retardation, axis and normalized Stokes parameters of the kernel.
    void average(const Stokes& single) {
        const auto mean = [&](const auto& values) {
            return kernel(values, recipe_.window_depth, recipe_.window_a_scans);
        };
        const std::vector<double> i = mean(single.i), q = mean(single.q),
                                  counts = mean(std::vector<double>(single.i.size(), 1));
        const std::vector<Complex> uv = mean(single.uv);
        for (std::size_t voxel = 0; voxel < i.size(); ++voxel) {
            const double power_db = 10 * std::log10(i[voxel] / counts[voxel]);
            if (!(i[voxel] > 0) || (recipe_.threshold_db > -300 && power_db < recipe_.threshold_db)) continue;
            map(PolarisationMap::reflectivity)[voxel] = static_cast<float>(power_db);
            map(PolarisationMap::retardation)[voxel] =
                static_cast<float>(0.5 * degrees * std::atan2(std::abs(uv[voxel]), -q[voxel]));
            map(PolarisationMap::axis)[voxel] = axis_degrees(0.5 * std::arg(uv[voxel]));
            map(PolarisationMap::q)[voxel] = static_cast<float>(q[voxel] / i[voxel]);
            map(PolarisationMap::u)[voxel] = static_cast<float>(uv[voxel].real() / i[voxel]);
            map(PolarisationMap::v)[voxel] = static_cast<float>(uv[voxel].imag() / i[voxel]);
        }
    }

    void find_dopu(const Stokes& single) {
        std::vector<double> known(single.i.size()), q(known.size());
        std::vector<Complex> uv(known.size());
        for (std::size_t voxel = 0; voxel < known.size(); ++voxel) {
            if (std::isnan(map(PolarisationMap::reflectivity)[voxel]) || single.i[voxel] <= 0) continue;
            known[voxel] = 1;
            q[voxel] = single.q[voxel] / single.i[voxel];
            uv[voxel] = single.uv[voxel] / single.i[voxel];
        }
        const auto sum = [&](const auto& values) { return kernel(values, recipe_.dopu_depth, recipe_.dopu_a_scans); };
        const std::vector<double> counts = sum(known), q_sum = sum(q);
        const std::vector<Complex> uv_sum = sum(uv);
        for (std::size_t voxel = 0; voxel < known.size(); ++voxel) {
            if (known[voxel] == 0) continue;
            map(PolarisationMap::dopu)[voxel] =
                static_cast<float>(std::hypot(q_sum[voxel], std::abs(uv_sum[voxel])) / counts[voxel]);
        }
    }

    Retarder cumulative(std::size_t voxel) {
        return Retarder::of(static_cast<double>(map(PolarisationMap::retardation)[voxel]) / degrees,
                            static_cast<double>(map(PolarisationMap::axis)[voxel]) / degrees);
    }

    // The recursion along one A-scan, row by row. It starts again below rows without a value.
    void find_local(std::int64_t a) {
        std::vector<Jones> above(index(depth_));  // M down to each row
        std::int64_t begin = -1;                  // first row of the run
        for (std::int64_t z = 0; z < depth_; ++z) {
            const std::size_t voxel = index(a * depth_ + z);
            if (std::isnan(map(PolarisationMap::retardation)[voxel])) {
                begin = -1;
                continue;
            }
            const Jones j = cumulative(voxel).matrix();
            const auto layer_below = [&](const Jones& m) { return Retarder::nearest(m.conjugate() * j * m.adjoint()); };
            if (begin < 0) begin = z;
            const Jones before = z > begin ? above[index(z - 1)] : Jones{};
            above[index(z)] = layer_below(before).root().matrix() * before;
            if (z - recipe_.local_depth < begin) continue;
            const Retarder local = layer_below(above[index(z - recipe_.local_depth)]);
            const std::size_t middle = voxel - index(recipe_.local_depth / 2);
            map(PolarisationMap::local_retardation)[middle] =
                static_cast<float>(local.retardation() * degrees / static_cast<double>(recipe_.local_depth));
            map(PolarisationMap::local_axis)[middle] = axis_degrees(local.axis());
        }
    }

    std::int64_t a_scans_, depth_;
    const PolarisationRecipe& recipe_;
    PolarisationMaps maps_;
};

// ---- Two input states

struct Eigenvalues {
    Complex one, two;

    explicit Eigenvalues(const Jones& j) {
        const Complex half = 0.5 * (j.xx + j.yy), root = std::sqrt(half * half - (j.xx * j.yy - j.xy * j.yx));
        one = half + root;
        two = half - root;
    }
    double retardation_deg() const { return 0.5 * degrees * std::abs(std::arg(one * std::conj(two))); }
    double diattenuation() const {
        const double a = std::norm(one), b = std::norm(two);
        return std::abs(a - b) / (a + b);
    }
};

// Without the determinant: eigenvalues are compared with each other only.
Jones over(const Jones& a, const Jones& b) {
    return a * Jones{b.yy, -b.xy, -b.yx, b.xx};
}

class JonesPlane {
  public:
    JonesPlane(const std::array<ChannelPlane, 4>& channels, std::int64_t a_scans, std::int64_t depth,
               const PolarisationRecipe& recipe)
        : a_scans_(a_scans), depth_(depth), recipe_(recipe), single_(index(a_scans * depth)) {
        for (std::size_t i = 0; i < single_.size(); ++i) {
            const Jones one{channels[0][i], channels[2][i], channels[1][i], channels[3][i]};
            if (std::isfinite(power(one)))
                single_[i] = one;
            else
                single_[i] = {0, 0, 0, 0};
        }
        maps_.fill(std::vector<float>(single_.size(), unknown));
    }

    PolarisationMaps made() {
        mean_.resize(single_.size());
        parallel_for(0, a_scans_, [&](std::int64_t a) {
            for (std::int64_t z = 0; z < depth_; ++z) average(a, z);
        });
        parallel_for(0, a_scans_, [&](std::int64_t a) { compare(a); });
        return std::move(maps_);
    }

  private:
    static double power(const Jones& j) {
        return std::norm(j.xx) + std::norm(j.xy) + std::norm(j.yx) + std::norm(j.yy);
    }
    std::vector<float>& map(PolarisationMap which) { return maps_[static_cast<std::size_t>(which)]; }

    static void add_turned(Jones& sum, const Jones& one, const Jones& middle) {
        const Complex trace = std::conj(middle.xx) * one.xx + std::conj(middle.xy) * one.xy +
                              std::conj(middle.yx) * one.yx + std::conj(middle.yy) * one.yy;
        if (std::abs(trace) <= 0) return;
        const Complex turn = std::conj(trace) / std::abs(trace);
        sum = {sum.xx + turn * one.xx, sum.xy + turn * one.xy, sum.yx + turn * one.yx, sum.yy + turn * one.yy};
    }

    void average(std::int64_t a, std::int64_t z) {
        const std::size_t voxel = index(a * depth_ + z);
        const std::int64_t lines = recipe_.window_a_scans / 2, rows = recipe_.window_depth / 2;
        Jones sum{0, 0, 0, 0};
        double light = 0, count = 0;
        for (std::int64_t i = std::max<std::int64_t>(0, a - lines); i < std::min(a_scans_, a + lines + 1); ++i) {
            for (std::int64_t k = std::max<std::int64_t>(0, z - rows); k < std::min(depth_, z + rows + 1); ++k) {
                const Jones& one = single_[index(i * depth_ + k)];
                add_turned(sum, one, single_[voxel]);
                light += power(one) / 2;
                count += 1;
            }
        }
        const double power_db = 10 * std::log10(light / count);
        if (!(light > 0) || (recipe_.threshold_db > -300 && power_db < recipe_.threshold_db)) return;
        mean_[voxel] = sum;
        map(PolarisationMap::reflectivity)[voxel] = static_cast<float>(power_db);
    }

    // The surface is the mean of the first rows with a value.
    void compare(std::int64_t a) {
        const auto is_known = [&](std::int64_t z) {
            return !std::isnan(map(PolarisationMap::reflectivity)[index(a * depth_ + z)]);
        };
        const auto at = [&](std::int64_t z) -> const Jones& { return mean_[index(a * depth_ + z)]; };
        std::int64_t first = 0;
        while (first < depth_ && !is_known(first)) ++first;
        if (first == depth_) return;
        Jones surface{0, 0, 0, 0};
        for (std::int64_t z = first; z < std::min(depth_, first + recipe_.window_depth) && is_known(z); ++z)
            add_turned(surface, at(z), at(first));
        for (std::int64_t z = first; z < depth_; ++z) {
            if (!is_known(z)) continue;
            const std::size_t voxel = index(a * depth_ + z);
            const Eigenvalues all(over(at(z), surface));
            map(PolarisationMap::retardation)[voxel] = static_cast<float>(all.retardation_deg());
            map(PolarisationMap::diattenuation)[voxel] = static_cast<float>(all.diattenuation());
            const std::int64_t before = z - recipe_.local_depth;
            if (before < first || !is_known(before)) continue;
            map(PolarisationMap::local_retardation)[voxel - index(recipe_.local_depth / 2)] = static_cast<float>(
                Eigenvalues(over(at(z), at(before))).retardation_deg() / static_cast<double>(recipe_.local_depth));
        }
    }

    std::int64_t a_scans_, depth_;
    const PolarisationRecipe& recipe_;
    std::vector<Jones> single_, mean_;
    PolarisationMaps maps_;
};

}  // namespace

PolarisationMaps polarisation_of(const ChannelPlane& channel_1, const ChannelPlane& channel_2, std::int64_t a_scans,
                                 std::int64_t depth, const PolarisationRecipe& recipe) {
    return PolarisedPlane(a_scans, depth, recipe).made(channel_1, channel_2);
}

PolarisationMaps polarisation_of_two(const std::array<ChannelPlane, 4>& channels, std::int64_t a_scans,
                                     std::int64_t depth, const PolarisationRecipe& recipe) {
    return JonesPlane(channels, a_scans, depth, recipe).made();
}

}  // namespace echolux
