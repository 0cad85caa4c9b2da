#include "engine/speckle/speckle_filter.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <numeric>
#include <tuple>
#include <type_traits>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/parallel_for.h"
#include "compute/plan/describe.h"
#include "compute/steps/depth.h"
#include "compute/steps/speckle.h"
#include "engine/io/volume_file.h"

namespace echolux {

// ---- Median of cubes with an edge of 3 or 5 voxels: robust against single bright voxels. End values extend beyond the
// volume.

namespace {

// Adjacent rows in one vector register. With an array, the compiler would use single floats.
using Eight [[gnu::vector_size(32)]] = float;

struct Lanes {
    static constexpr std::size_t count = sizeof(Eight) / sizeof(float);
    Eight values;
};

// Min and max per lane, the operations that MedianOf needs.
Lanes smaller(const Lanes& a, const Lanes& b) {
    return {a.values < b.values ? a.values : b.values};
}

Lanes greater(const Lanes& a, const Lanes& b) {
    return {a.values < b.values ? b.values : a.values};
}

// Returns the median of the mean of `looks` exponentials of mean 1 (for several looks: Wilson and Hilferty, PNAS 17,
// 684, 1931).
double median_of_speckle(double looks) {
    return looks == 1 ? std::numbers::ln2 : std::pow(1 - 1 / (9 * looks), 3);
}

// Computes the medians of one A-scan at a time from a copy of its neighbours, extended at the ends.
template <int edge>
class MedianOfCubes {
  public:
    MedianOfCubes(const std::vector<float>& power, const Size3& size)
        : power_(power), size_(size), rows_((size[0] + step - 1) / step * step),
          near_(index(edge * edge * (rows_ + edge))) {}

    void operator()(std::int64_t a, std::int64_t b, float scale, float* out) {
        gather(a, b);
        for (std::int64_t z = 0; z < size_[0]; z += step) {
            const Lanes median = MedianOf<edge * edge * edge>::template of<Lanes>([&](int i) {
                Lanes lanes{};
                const std::int64_t line = i / edge, row = i % edge;
                std::memcpy(&lanes.values, near_.data() + line * (rows_ + edge) + z + row, sizeof(lanes.values));
                return lanes;
            });
            for (std::int64_t i = 0; i < std::min(step, size_[0] - z); ++i) out[z + i] = scale * median.values[i];
        }
    }

  private:
    static constexpr std::int64_t step = Lanes::count, reach = edge / 2;

    void gather(std::int64_t a, std::int64_t b) {
        float* to = near_.data();
        for (std::int64_t y = b - reach; y <= b + reach; ++y) {
            for (std::int64_t x = a - reach; x <= a + reach; ++x) {
                const std::int64_t line = std::clamp<std::int64_t>(y, 0, size_[2] - 1) * size_[1] +
                                          std::clamp<std::int64_t>(x, 0, size_[1] - 1);
                const float* from = power_.data() + line * size_[0];
                for (std::int64_t z = -reach; z < rows_ + edge - reach; ++z)
                    *to++ = from[std::clamp<std::int64_t>(z, 0, size_[0] - 1)];
            }
        }
    }

    const std::vector<float>& power_;
    const Size3 size_;
    std::int64_t rows_;
    std::vector<float> near_;  // [b][a][row], beginning `reach` rows above the first
};

template <int edge>
std::vector<float> medians(const std::vector<float>& power, const Size3& size, float scale, Progress& progress) {
    std::vector<float> out(power.size());
    for (std::int64_t b = 0; b < size[2]; ++b) {
        constexpr std::int64_t together = 16;
        parallel_for(0, (size[1] + together - 1) / together, [&](std::int64_t part) {
            MedianOfCubes<edge> median(power, size);
            for (std::int64_t a = part * together; a < std::min(size[1], (part + 1) * together); ++a)
                median(a, b, scale, out.data() + (b * size[1] + a) * size[0]);
        });
        progress.advance(1);
    }
    return out;
}

}  // namespace

MedianTables median_tables(const SpeckleFilter& filter) {
    return {filter.median_size, static_cast<float>(1 / median_of_speckle(filter.looks))};
}

std::vector<float> filtered(const std::vector<float>& power, const Size3& size, const MedianTables& tables,
                            Progress& progress) {
    progress.begin("filter", size[2], "B-scans");
    std::vector<float> out = tables.edge == 3 ? medians<3>(power, size, tables.scale, progress)
                                              : medians<5>(power, size, tables.scale, progress);
    progress.end();
    return out;
}

// ---- The bilateral filter: a mean whose weights fall with distance and with the difference in brightness. Brightness
// is compared in a smoothed volume, because single voxels of speckle say little about it.

namespace {

constexpr std::int64_t most_b_scans = 2;  // on either side; more cost much and contribute little

// Weighted sums over the neighbours of one A-scan.
struct Sums {
    std::vector<float> values, weights;
};

// Adds one neighbouring A-scan, shifted in depth by `shift`. `square` is the squared distance in voxels.
void add_line(Sums& sums, const float* power, const float* guide, const float* own_guide, std::int64_t rows,
              std::int64_t shift, float square, const BilateralWeight& weight) {
    const std::int64_t begin = std::max<std::int64_t>(0, -shift), end = std::min(rows, rows - shift);
    for (std::int64_t z = begin; z < end; ++z) {
        const float w = weight(square, guide[z + shift] - own_guide[z]);
        sums.values[index(z)] += w * power[z + shift];
        sums.weights[index(z)] += w;
    }
}

constexpr double guide_sigma = 1;  // in voxels

// Returns the smoothed brightness in dB that is compared.
std::vector<float> guide_of(const std::vector<float>& power, const Size3& size, float margin) {
    std::vector<float> guide(power.size());
    parallel_for(0, size[2], [&](std::int64_t b) {
        const std::int64_t slice = size[0] * size[1];
        for (std::int64_t i = b * slice; i < (b + 1) * slice; ++i) {
            const auto at = index(i);
            guide[at] = Decibel{}(power[at] + margin);
        }
    });
    smooth(guide, size, {guide_sigma, size[1] > 1 ? guide_sigma : 0, size[2] > 1 ? guide_sigma : 0});
    return guide;
}

}  // namespace

BilateralTables bilateral_tables(const Size3& size, const SpeckleFilter& filter, float margin) {
    BilateralTables tables;
    const auto reach = static_cast<std::int64_t>(std::ceil(2 * filter.sigma));
    const auto half_log2_e = 0.5 * std::numbers::log2e;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        if (axis == 0 || size[axis] > 1) tables.smoothing[axis] = gaussian_weights(guide_sigma);
    }
    tables.reach = {reach, reach, std::min(reach, most_b_scans)};
    tables.weight = {static_cast<float>(half_log2_e / (filter.sigma * filter.sigma)),
                     static_cast<float>(half_log2_e / (filter.range_db * filter.range_db))};
    tables.margin = margin;
    return tables;
}

std::vector<float> filtered(const std::vector<float>& power, const Size3& size, const BilateralTables& tables,
                            Progress& progress) {
    const std::vector<float> guide = guide_of(power, size, tables.margin);
    std::vector<float> out(power.size());
    const std::int64_t reach = tables.reach[0];
    progress.begin("filter", size[2], "B-scans");
    for (std::int64_t b = 0; b < size[2]; ++b) {
        const std::int64_t first_b = std::max(std::int64_t{0}, b - tables.reach[2]);
        const std::int64_t last_b = std::min(size[2] - 1, b + tables.reach[2]);
        parallel_for(0, size[1], [&](std::int64_t a) {
            const auto rows = index(size[0]);
            const std::int64_t own = (b * size[1] + a) * size[0];
            Sums sums{std::vector<float>(rows), std::vector<float>(rows)};
            for (std::int64_t y = first_b; y <= last_b; ++y) {
                for (std::int64_t x = std::max<std::int64_t>(0, a - reach); x <= std::min(size[1] - 1, a + reach);
                     ++x) {
                    const std::int64_t line = (y * size[1] + x) * size[0];
                    for (std::int64_t dz = -reach; dz <= reach; ++dz) {
                        const auto square = static_cast<float>((y - b) * (y - b) + (x - a) * (x - a) + dz * dz);
                        add_line(sums, power.data() + line, guide.data() + line, guide.data() + own, size[0], dz,
                                 square, tables.weight);
                    }
                }
            }
            for (std::size_t z = 0; z < rows; ++z) out[index(own) + z] = sums.values[z] / sums.weights[z];
        });
        progress.advance(1);
    }
    progress.end();
    return out;
}

// ---- Non-local means in tiles that fit in the cache. For each offset, the distances of all voxels are computed and
// summed over cubes axis by axis. End values extend beyond the volume, and patches that reach there are compared with
// these values.

namespace {

// Returns the derivative of ln Gamma, by its recurrence and asymptotic series.
double digamma(double x) {
    double sum = 0;
    for (; x < 8; ++x) sum -= 1 / x;
    const double square = 1 / (x * x);
    return sum + std::log(x) - 0.5 / x - square * (1.0 / 12 - square * (1.0 / 120 - square / 252));
}

// Returns the expected distance of two independent intensities of the same mean, in log2.
double expected_distance(double looks) {
    return (2 * digamma(2 * looks) - 2 * digamma(looks)) / std::log(2.0) - 2;
}

// Offset of a compared voxel.
struct Offset {
    std::int64_t b, a, z;
};

// Returns all offsets of the search window.
std::vector<Offset> offsets_of(const NonLocalMeansTables& tables) {
    const auto [z_reach, a_reach, b_reach] = tables.search;
    std::vector<Offset> offsets;
    for (std::int64_t b = -b_reach; b <= b_reach; ++b) {
        for (std::int64_t a = -a_reach; a <= a_reach; ++a) {
            for (std::int64_t z = -z_reach; z <= z_reach; ++z) offsets.push_back({b, a, z});
        }
    }
    return offsets;
}

// A volume and its logarithms. Lines are extended by their end values on both sides.
class PaddedVolume {
  public:
    PaddedVolume(const std::vector<float>& power, const Size3& size, std::int64_t margin, float in_logs)
        : size_(size), margin_(margin), stride_(size[0] + 2 * margin), power_(index(stride_ * size[1] * size[2])),
          logs_(power_.size()) {
        parallel_for(0, size[1] * size[2], [&](std::int64_t line) {
            const float* from = power.data() + line * size[0];
            for (std::int64_t i = 0; i < stride_; ++i) {
                const auto at = index(line * stride_ + i);
                power_[at] = from[std::clamp<std::int64_t>(i - margin, 0, size[0] - 1)] + in_logs;
                logs_[at] = Log2{}(power_[at]);
            }
        });
    }

    // Pointers to the first voxel of a line. B-scans and A-scans outside the volume are clamped to its ends.
    const float* power(std::int64_t b, std::int64_t a) const { return power_.data() + place(b, a); }
    const float* logs(std::int64_t b, std::int64_t a) const { return logs_.data() + place(b, a); }
    const Size3& size() const { return size_; }

  private:
    std::int64_t place(std::int64_t b, std::int64_t a) const {
        return (std::clamp<std::int64_t>(b, 0, size_[2] - 1) * size_[1] +
                std::clamp<std::int64_t>(a, 0, size_[1] - 1)) *
                   stride_ +
               margin_;
    }

    Size3 size_;
    std::int64_t margin_, stride_;
    std::vector<float> power_, logs_;
};

// A range of B-scans and A-scans. For each offset, computes the distances of all voxels, their sums over patches axis
// by axis, and the resulting weights. Only gathers: no voxel writes to another.
class Tile {
  public:
    static constexpr std::int64_t b_scans = 16, a_scans = 32;

    Tile(const PaddedVolume& volume, const NonLocalMeansTables& tables, std::int64_t first_b, std::int64_t first_a)
        : volume_(volume), reach_(tables.patch), rows_(volume.size()[0]), first_b_(first_b), first_a_(first_a),
          count_b_(std::min(b_scans, volume.size()[2] - first_b)),
          count_a_(std::min(a_scans, volume.size()[1] - first_a)), weight_(tables.weight),
          distances_(index(rows_ + 2 * reach_)), of_lines_(index((count_a_ + 2 * reach_) * rows_)),
          of_slices_(index((count_b_ + 2 * reach_) * count_a_ * rows_)), sums_(index(count_b_ * count_a_ * rows_)),
          weights_(sums_.size()), patch_(index(rows_)) {}

    void add(const Offset& offset) {
        for (std::int64_t b = 0; b < count_b_ + 2 * reach_; ++b) sum_slice(b, offset);
        for (std::int64_t b = 0; b < count_b_; ++b) {
            if (!is_inside(first_b_ + b + offset.b, volume_.size()[2])) continue;
            for (std::int64_t a = 0; a < count_a_; ++a) {
                if (is_inside(first_a_ + a + offset.a, volume_.size()[1])) add_line(b, a, offset);
            }
        }
    }

    void write(const std::vector<float>& power, std::vector<float>& out) const {
        for (std::int64_t b = 0; b < count_b_; ++b) {
            for (std::int64_t a = 0; a < count_a_; ++a) {
                const auto from = index((b * count_a_ + a) * rows_);
                const auto to = index(((first_b_ + b) * volume_.size()[1] + first_a_ + a) * rows_);
                for (std::size_t z = 0; z < index(rows_); ++z)
                    out[to + z] = weights_[from + z] > 0 ? sums_[from + z] / weights_[from + z] : power[to + z];
            }
        }
    }

  private:
    static bool is_inside(std::int64_t at, std::int64_t count) { return at >= 0 && at < count; }

    // Sums over patches in depth and along A-scans for slice `b` of the tile including its margin.
    void sum_slice(std::int64_t b, const Offset& offset) {
        for (std::int64_t a = 0; a < count_a_ + 2 * reach_; ++a)
            sum_in_depth(first_b_ + b - reach_, first_a_ + a - reach_, offset, of_lines_.data() + a * rows_);
        for (std::int64_t a = 0; a < count_a_; ++a) {
            float* out = of_slices_.data() + (b * count_a_ + a) * rows_;
            add_up(of_lines_.data() + a * rows_, rows_, out);
        }
    }

    void sum_in_depth(std::int64_t y, std::int64_t x, const Offset& offset, float* out) {
        const float *own = volume_.power(y, x) - reach_, *own_log = volume_.logs(y, x) - reach_;
        const float* other = volume_.power(y + offset.b, x + offset.a) + offset.z - reach_;
        const float* other_log = volume_.logs(y + offset.b, x + offset.a) + offset.z - reach_;
        float* distances = distances_.data();
        const auto fill = [&](const auto& distance) {
            for (std::int64_t z = 0; z < rows_ + 2 * reach_; ++z)
                distances[z] = distance(own[z], other[z], own_log[z], other_log[z]);
        };
        if (weight_.is_close())
            fill(CloseSpeckleDistance{});
        else
            fill(SpeckleDistance{});
        add_up(distances, 1, out);
    }

    // Computes out[z] = sum over the patch of from[z + i * stride].
    void add_up(const float* from, std::int64_t stride, float* out) const {
        std::copy_n(from, rows_, out);
        for (std::int64_t i = 1; i <= 2 * reach_; ++i) {
            const float* next = from + i * stride;
            for (std::int64_t z = 0; z < rows_; ++z) out[z] += next[z];
        }
    }

    void add_line(std::int64_t b, std::int64_t a, const Offset& offset) {
        add_up(of_slices_.data() + (b * count_a_ + a) * rows_, count_a_ * rows_, patch_.data());
        const float* other = volume_.power(first_b_ + b + offset.b, first_a_ + a + offset.a) + offset.z;
        float* sums = sums_.data() + (b * count_a_ + a) * rows_;
        float* weights = weights_.data() + (b * count_a_ + a) * rows_;
        const auto edge = static_cast<float>(2 * reach_ + 1);
        const float mean = 1 / (edge * edge * edge);
        const std::int64_t begin = std::max<std::int64_t>(0, -offset.z), end = std::min(rows_, rows_ - offset.z);
        const float* patch = patch_.data();
        for (std::int64_t z = begin; z < end; ++z) {
            const float weight = weight_(patch[z] * mean);
            sums[z] += weight * other[z];
            weights[z] += weight;
        }
    }

    const PaddedVolume& volume_;
    const std::int64_t reach_, rows_, first_b_, first_a_, count_b_, count_a_;
    const PatchWeight weight_;
    std::vector<float> distances_, of_lines_, of_slices_, sums_, weights_, patch_;
};

}  // namespace

NonLocalMeansTables non_local_means_tables(const Size3& size, const SpeckleFilter& filter, float margin) {
    const auto reach = [](std::int64_t width, std::int64_t voxels) {
        return std::clamp<std::int64_t>(voxels - 1, 0, width / 2);
    };
    NonLocalMeansTables tables;
    tables.search = {reach(filter.search_depth, size[0]), reach(filter.search_a_scans, size[1]),
                     reach(filter.search_b_scans, size[2])};
    tables.patch = filter.patch / 2;
    tables.weight = {static_cast<float>(expected_distance(filter.looks)),
                     static_cast<float>(filter.looks / filter.strength)};
    tables.margin = margin;
    return tables;
}

std::vector<float> filtered(const std::vector<float>& power, const Size3& size, const NonLocalMeansTables& tables,
                            Progress& progress) {
    const std::vector<Offset> offsets = offsets_of(tables);
    const PaddedVolume volume(power, size, tables.search[0] + tables.patch, tables.margin);
    std::vector<float> out(power.size());
    const std::int64_t across = (size[1] + Tile::a_scans - 1) / Tile::a_scans;
    constexpr std::size_t between_looks = 64;  // offsets between checks for cancellation
    progress.begin("filter", size[2], "B-scans");
    for (std::int64_t b = 0; b < size[2]; b += Tile::b_scans) {
        std::vector<Tile> tiles;
        for (std::int64_t part = 0; part < across; ++part) tiles.emplace_back(volume, tables, b, part * Tile::a_scans);
        for (std::size_t first = 0; first < offsets.size(); first += between_looks) {
            const std::size_t end = std::min(first + between_looks, offsets.size());
            parallel_for(0, across, [&](std::int64_t part) {
                Tile& tile = tiles[index(part)];
                for (std::size_t i = first; i < end; ++i) tile.add(offsets[i]);
                if (end == offsets.size()) tile.write(power, out);
            });
            progress.advance(0);
        }
        progress.advance(std::min(Tile::b_scans, size[2] - b));
    }
    progress.end();
    for (float& value : out) value = std::max(0.0f, value - tables.margin);
    return out;
}

template <>
const std::vector<Field<SpeckleFilter>>& describe<SpeckleFilter>() {
    using F = SpeckleFilter;
    constexpr Effect effect = Effect::view;
    static const Fields<F> fields{
        choice("method", &F::method, {"nlm", "median", "bilateral"}, effect,
               "nlm: non-local means, the mean of voxels with similar surroundings; median: of a cube; bilateral: mean "
               "of nearby voxels of similar brightness")
            .in("Filter"),
        number("looks", &F::looks, 1, 1e4, "", effect, "number of looks already averaged in the input"),
        integer("search_depth", &F::search_depth, 1, 63, "voxels", effect, "nlm: width of the search in depth, odd")
            .odd()
            .only_while("filter.method", {"nlm"}),
        integer("search_a_scans", &F::search_a_scans, 1, 63, "A-scans", effect,
                "nlm: width of the search along a B-scan, odd")
            .odd()
            .only_while("filter.method", {"nlm"}),
        integer("search_b_scans", &F::search_b_scans, 1, 63, "B-scans", effect,
                "nlm: width of the search across B-scans, odd; 1 for volumes whose B-scans are not aligned")
            .odd()
            .only_while("filter.method", {"nlm"}),
        integer("patch", &F::patch, 1, 15, "voxels", effect, "nlm: edge length of the compared cubes, odd")
            .odd()
            .only_while("filter.method", {"nlm"}),
        number("strength", &F::strength, 0.001, 100, "", effect, "nlm: filter strength; larger values smooth more")
            .only_while("filter.method", {"nlm"}),
        flag("blend", &F::blend, effect,
             "nlm: in volumes of one B-scan, use a Gaussian mean where tissue is uniform; not on live volumes of a GPU")
            .only_while("filter.method", {"nlm"}),
        integer("median_size", &F::median_size, 3, 5, "voxels", effect, "median: edge length of the cube")
            .only({3, 5})
            .odd()
            .only_while("filter.method", {"median"}),
        number("sigma", &F::sigma, 0.1, 8, "voxels", effect, "bilateral: spatial standard deviation")
            .only_while("filter.method", {"bilateral"}),
        number("range_db", &F::range_db, 0.1, 100, "dB", effect, "bilateral: standard deviation in brightness")
            .only_while("filter.method", {"bilateral"}),
        choice("stored_as", &F::stored_as, {"auto", "db", "intensity", "amplitude", "fourth-root", "log"}, effect,
               "meaning of the voxels if the volume does not state it; fourth-root: of the intensity; log: logarithmic "
               "image of 8 or 16 bits; auto: as stored with the volume")
            .called("voxels hold"),
    };
    return fields.list();
}

void check_filter(const SpeckleFilter& filter) {
    check(filter, "filter");
    for (const Field<SpeckleFilter>& field : describe<SpeckleFilter>()) {
        if (!field.control.only_odd || std::get<std::int64_t>(field.get(filter)) % 2 == 1) continue;
        throw Error(ErrorCode::bad_setting, "must be odd, so that it has a central voxel",
                    "filter." + std::string(field.name), "use an odd number");
    }
}

float log_margin(const std::vector<float>& power) {
    if (power.empty()) return LogMargin::of_nothing();
    std::vector<float> some;
    const std::int64_t stride = LogMargin::stride(std::ssize(power));
    for (std::int64_t i = 0; i < std::ssize(power); i += stride) some.push_back(power[index(i)]);
    const auto place = some.begin() + LogMargin::bright(std::ssize(some));
    std::ranges::nth_element(some, place);
    return LogMargin::of(*place);
}

SpeckleTables tables_of(const std::vector<float>& power, const Size3& size, const SpeckleFilter& filter) {
    return tables_of(size, filter, filter.method == FilterMethod::median ? 0 : log_margin(power));
}

SpeckleTables tables_of(const Size3& size, const SpeckleFilter& filter, float margin) {
    check_filter(filter);
    switch (filter.method) {
        case FilterMethod::median: return median_tables(filter);
        case FilterMethod::bilateral: return bilateral_tables(size, filter, margin);
        case FilterMethod::nlm: break;
    }
    return non_local_means_tables(size, filter, margin);
}

// ---- Non-local means of a single B-scan, blended with a Gaussian mean where tissue is uniform. A patch of one B-scan
// holds a fifth of the voxels of a cube, so that likelihoods are too noisy to average uniform tissue well, and the
// search cannot use neighbouring B-scans. There a wide Gaussian is better (docs/filters.md). Structure is what differs
// between two Gaussian means more than speckle does.

constexpr double fine_sigma = 1.5, wide_sigma = 4;  // in voxels; of the structure, and of the local mean of its square
constexpr double correlated_voxels = 2.2;           // per independent one, in real B-scans
constexpr float uniform_below = 1.5f, structured_above = 3;  // of the square, in units expected from speckle alone

// Returns the sum of a[i] b[i] over the common offsets of two odd lists of weights.
static double overlap_of(const std::vector<float>& a, const std::vector<float>& b) {
    const auto& [small, large] = a.size() < b.size() ? std::tie(a, b) : std::tie(b, a);
    const std::size_t first = (large.size() - small.size()) / 2;
    return std::inner_product(small.begin(), small.end(), large.begin() + static_cast<std::ptrdiff_t>(first), 0.0);
}

// Returns the variance of the difference of ln(mean) between both Gaussians in uniform speckle of `looks`.
static double variance_of_speckle(double looks) {
    const std::vector<float> fine = gaussian_weights(fine_sigma), wide = gaussian_weights(wide_sigma);
    const auto square = [](double value) { return value * value; };
    return correlated_voxels / looks *
           (square(overlap_of(fine, fine)) - 2 * square(overlap_of(fine, wide)) + square(overlap_of(wide, wide)));
}

static std::vector<float> smoothed(std::vector<float> values, const Size3& size, double sigma) {
    smooth(values, size, {sigma, size[1] > 1 ? sigma : 0, 0});
    return values;
}

// Replaces `means`, non-local means of `power`, by the blend. `margin` as in the tables of the filter.
static void blend_uniform_tissue(std::vector<float>& means, const std::vector<float>& power, const Size3& size,
                                 double looks, float margin) {
    const std::vector<float> wide = smoothed(power, size, wide_sigma);
    std::vector<float> structure = smoothed(power, size, fine_sigma);
    for (std::size_t i = 0; i < structure.size(); ++i) {
        const float ratio = std::log((structure[i] + margin) / (wide[i] + margin));
        structure[i] = ratio * ratio;
    }
    structure = smoothed(std::move(structure), size, wide_sigma);
    const auto unit = static_cast<float>(variance_of_speckle(looks));
    for (std::size_t i = 0; i < means.size(); ++i) {
        const float excess = structure[i] / unit - uniform_below;
        const float share = std::clamp(excess / (structured_above - uniform_below), 0.0f, 1.0f);
        means[i] = share * means[i] + (1 - share) * wide[i];
    }
}

std::vector<float> filtered(const std::vector<float>& power, const Size3& size, const SpeckleFilter& filter,
                            Progress& progress) {
    return filtered(power, size, filter, {.backend = Backend::cpu}, progress).power;
}

FilteredPower filtered(const std::vector<float>& power, const Size3& size, const SpeckleFilter& filter,
                       const BackendChoice& choice, Progress& progress) {
    const SpeckleTables tables = tables_of(power, size, filter);
    FilteredPower done;
    std::string why_slow;
    done.used = on_gpu_or_cpu(
        choice,
        [&] {
            progress.begin("filter on the GPU", size[2], "B-scans");
            FilteredOnGpu filtered =
                filtered_on_gpu(power, size, tables, choice, [&](std::int64_t slices) { progress.advance(slices); });
            done.power = std::move(filtered.power);
            why_slow = std::move(filtered.why_slow);
            progress.end();
        },
        [&] { done.power = std::visit([&](const auto& of) { return filtered(power, size, of, progress); }, tables); });
    if (done.used.backend == Backend::cuda) done.used.refusal = why_slow;
    const auto* nlm = std::get_if<NonLocalMeansTables>(&tables);
    if (nlm != nullptr && filter.blend && size[2] == 1)
        blend_uniform_tissue(done.power, power, size, filter.looks, nlm->margin);
    return done;
}

// Returns how the volume stores power. Throws if it is unknown or not brightness.
static StoredAs stored_in(const VolumeGrid& grid, StoredAs stored_as) {
    if (grid.type == VoxelType::complex64) {
        throw Error(ErrorCode::bad_setting, "complex voxels cannot be filtered", "recipe.quantity",
                    "reconstruct db, intensity or amplitude");
    }
    if (stored_as != StoredAs::automatic) return stored_as;
    if (grid.quantity == "db") return StoredAs::db;
    if (grid.quantity == "intensity") return StoredAs::intensity;
    if (grid.quantity == "amplitude") return StoredAs::amplitude;
    throw Error(ErrorCode::bad_setting,
                grid.quantity.empty() ? std::string("the volume does not state the meaning of its voxels")
                                      : fmt::format("voxels of {} hold no speckle", grid.quantity),
                "filter.stored_as", "select db, intensity, amplitude, fourth-root or log if known");
}

static constexpr Stored meaning_of(StoredAs stored_as) {
    if (stored_as == StoredAs::db || stored_as == StoredAs::log) return Stored::db;
    if (stored_as == StoredAs::fourth_root) return Stored::fourth_root;
    return stored_as == StoredAs::amplitude ? Stored::amplitude : Stored::intensity;
}

template <class Code>
static Code code_of(double code) {
    if constexpr (std::is_integral_v<Code>) {
        using Limits = std::numeric_limits<Code>;
        return static_cast<Code>(std::lround(std::clamp<double>(code, Limits::min(), Limits::max())));
    } else {
        return static_cast<Code>(code);
    }
}

// Returns the Gaussian mean of known values around each voxel.
static std::vector<float> mean_around(std::vector<float> power, const VolumeGrid& grid) {
    constexpr double around = 4;  // sigma in voxels
    const Size3 size{grid.depth, grid.a_scans, grid.b_scans};
    const std::array<double, 3> sigma{around, grid.a_scans > 1 ? around : 0, grid.b_scans > 1 ? around : 0};
    std::vector<float> shares;
    if (std::ranges::any_of(power, [](float value) { return std::isnan(value); })) {
        shares.assign(power.size(), 1);
        for (std::size_t i = 0; i < power.size(); ++i) {
            if (!std::isnan(power[i])) continue;
            power[i] = shares[i] = 0;
        }
        smooth(shares, size, sigma);
    }
    smooth(power, size, sigma);
    for (std::size_t i = 0; i < shares.size(); ++i) power[i] = shares[i] > 0 ? power[i] / shares[i] : 0;
    return power;
}

// Returns the mean power above which a voxel counts as tissue: 10 dB above the noise, or half of the brightest if
// hardly any voxel reaches that.
static float tissue_level(std::vector<float> means) {
    const auto percentile = [&](double share) {
        const auto place = means.begin() + std::lround(share * static_cast<double>(means.size() - 1));
        std::ranges::nth_element(means, place);
        return *place;
    };
    if (means.empty()) return 0;
    return std::min(10 * percentile(0.05), percentile(0.99) / 2);
}

// Divides each intensity by the mean around it, so that bright tissue does not dominate. NaN outside tissue.
static std::vector<float> contrast_of(std::vector<float> power, const VolumeGrid& grid) {
    const std::vector<float> mean = mean_around(power, grid);
    const float level = tissue_level(mean);
    for (std::size_t i = 0; i < power.size(); ++i)
        power[i] = mean[i] > 0 && mean[i] >= level ? power[i] / mean[i] : std::numeric_limits<float>::quiet_NaN();
    return power;
}

// Like power_of(), but NaN where the volume has no value.
static std::vector<float> known_power_of(const Volume& volume, StoredAs stored_as) {
    const VolumeGrid& grid = volume.grid;
    const StoredPower stored = stored_power(grid, stored_as);
    std::vector<float> power(index(grid.voxels()));
    const std::vector<float> of_codes = power_of_codes(stored, grid.type);
    with_voxels(volume, [&](const auto* codes) {
        using Code = std::remove_cv_t<std::remove_pointer_t<decltype(codes)>>;
        parallel_for(0, grid.b_scans, [&](std::int64_t b) {
            const std::int64_t slice = grid.depth * grid.a_scans;
            for (std::int64_t i = b * slice; i < (b + 1) * slice; ++i) {
                float& to = power[index(i)];
                if constexpr (std::is_integral_v<Code>)
                    to = of_codes[static_cast<std::make_unsigned_t<Code>>(codes[i])];
                else
                    to = stored.power(static_cast<double>(codes[i]));
            }
        });
    });
    return power;
}

StoredPower stored_power(const VolumeGrid& grid, StoredAs stored_as) {
    const StoredAs held = stored_in(grid, stored_as);
    const double scale = held == StoredAs::log ? db_per_value(grid) : 1;
    return {meaning_of(held), scale * grid.scale, scale * grid.offset};
}

std::vector<float> power_of_codes(const StoredPower& stored, VoxelType type) {
    const auto all = [&]<class Code>(Code) {
        std::vector<float> powers(std::size_t{1} << (8 * sizeof(Code)));
        for (std::size_t i = 0; i < powers.size(); ++i)
            powers[i] = stored.power(static_cast<double>(static_cast<Code>(i)));
        return powers;
    };
    switch (type) {
        case VoxelType::u8: return all(std::uint8_t{});
        case VoxelType::u16: return all(std::uint16_t{});
        case VoxelType::i16: return all(std::int16_t{});
        default: return {};
    }
}

std::vector<float> power_of(const Volume& volume, StoredAs stored_as) {
    std::vector<float> power = known_power_of(volume, stored_as);
    std::ranges::replace_if(
        power, [](float value) { return std::isnan(value); }, 0.0f);
    return power;
}

void set_power(Volume& volume, StoredAs stored_as, const std::vector<float>& power) {
    const VolumeGrid& grid = volume.grid;
    const StoredPower stored = stored_power(grid, stored_as);
    with_voxels(volume, [&](const auto* voxels) {
        using Code = std::remove_cv_t<std::remove_pointer_t<decltype(voxels)>>;
        auto* codes = reinterpret_cast<Code*>(volume.voxels.data());
        parallel_for(0, grid.b_scans, [&](std::int64_t b) {
            const std::int64_t slice = grid.depth * grid.a_scans;
            for (std::int64_t i = b * slice; i < (b + 1) * slice; ++i) {
                if (std::isnan(static_cast<double>(codes[i]))) continue;
                codes[i] = code_of<Code>(stored.code(power[index(i)]));
            }
        });
    });
}

SelectedBackend filter_volume(Volume& volume, const SpeckleFilter& filter, Progress& progress,
                              const BackendChoice& choice) {
    check_filter(filter);
    const VolumeGrid& grid = volume.grid;
    const std::vector<float> power = power_of(volume, filter.stored_as);
    const FilteredPower done = filtered(power, {grid.depth, grid.a_scans, grid.b_scans}, filter, choice, progress);
    set_power(volume, filter.stored_as, done.power);
    return done.used;
}

void Compound::add(const Volume& volume, StoredAs stored_as) {
    const std::vector<float> power = known_power_of(volume, stored_as);
    if (looks_ == 0) {
        first_ = {volume.grid, {}, volume.provenance};
        sum_.assign(power.size(), 0);
        counts_.assign(power.size(), 0);
    }
    const VolumeGrid &grid = volume.grid, &first = first_.grid;
    if (grid.depth != first.depth || grid.a_scans != first.a_scans || grid.b_scans != first.b_scans) {
        throw Error(ErrorCode::bad_setting,
                    fmt::format("volume {} has {} x {} x {} voxels, the first {} x {} x {}", looks_, grid.depth,
                                grid.a_scans, grid.b_scans, first.depth, first.a_scans, first.b_scans),
                    "compound", "use volumes of the same tissue");
    }
    for (std::size_t i = 0; i < power.size(); ++i) {
        if (std::isnan(power[i])) continue;
        sum_[i] += static_cast<double>(power[i]);
        ++counts_[i];
    }
    std::vector<float> contrast = contrast_of(power, grid);
    for (std::size_t i = 0; looks_ > 0 && i < contrast.size(); ++i) {
        const auto before = static_cast<double>(last_[i]), now = static_cast<double>(contrast[i]);
        if (std::isnan(before) || std::isnan(now)) continue;
        differences_ += (now - before) * (now - before);
        products_ += 2 * now * before;
    }
    last_ = std::move(contrast);
    ++looks_;
}

// The variance of speckle of N looks is its squared mean / N. For two volumes with correlation r, normalized to mean 1,
// squared differences average 2 (1 - r) / N and products 1 + r / N, regardless of the tissue.
double Compound::effective_looks(double looks_before) const {
    const auto n = static_cast<double>(looks_);
    if (looks_ < 2 || products_ <= 0) return n;
    const double ratio = differences_ / products_;
    const double r = std::clamp((1 - looks_before * ratio) / (1 + ratio), 0.0, 1.0);
    return n / (1 + (n - 1) * r);
}

Volume Compound::mean(StoredAs stored_as) const {
    if (looks_ == 0) throw Error(ErrorCode::bad_setting, "there is no volume", "compound", "select two or more");
    std::vector<float> power(sum_.size());
    for (std::size_t i = 0; i < power.size(); ++i) {
        power[i] = counts_[i] > 0 ? static_cast<float>(sum_[i] / static_cast<double>(counts_[i]))
                                  : std::numeric_limits<float>::quiet_NaN();
    }
    Volume volume = first_;
    volume.voxels.resize(index(volume.grid.bytes()));
    set_power(volume, stored_as, power);
    return volume;
}

}  // namespace echolux
