#include "engine/geometry/dewarp.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <span>
#include <utility>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/parallel_for.h"
#include "compute/plan/describe.h"
#include "compute/plural.h"
#include "compute/steps/depth.h"
#include "compute/steps/dewarp.h"
#include "engine/geometry/inverse_map.h"
#include "engine/memory.h"

namespace echolux {

template <>
const std::vector<Field<DewarpRecipe>>& describe<DewarpRecipe>() {
    using R = DewarpRecipe;
    static const std::vector<Field<R>> fields{
        numbers("voxel_um", &R::voxel_um, 0.01, 1e5, "um", Effect::view,
                "size of a voxel: one number, or those along z, x and y; empty: the spacing of the samples")
            .found_by("dewarp resolution"),
        choice("interpolation", &R::interpolation, {"nearest", "linear", "cubic"}, Effect::view,
               "cubic is the sharpest; nearest keeps labels"),
    };
    return fields;
}

namespace {

constexpr float missing = std::numeric_limits<float>::quiet_NaN();

// ---- Values that may be interpolated

enum class Domain { as_is, decibels, amplitude };

// Optic axes repeat after 180 degrees: the mean of 179 and 1 would be across both.
Interpolation possible_interpolation(const VolumeGrid& grid, Interpolation wanted) {
    const bool is_axis = grid.quantity == "axis" || grid.quantity == "local_axis";
    return is_axis ? Interpolation::nearest : wanted;
}

Domain domain_of(const VolumeGrid& grid, Interpolation interpolation) {
    if (interpolation == Interpolation::nearest) return Domain::as_is;
    if (grid.quantity == "amplitude") return Domain::amplitude;
    // Not dB^2, a variance.
    const bool is_level = grid.quantity == "db" || grid.unit == "dB" || grid.unit.starts_with("dB ");
    return is_level ? Domain::decibels : Domain::as_is;
}

// 2^x with a relative error of 2e-7, without a call, so that loops are vectorised. NaN stays NaN.
float power_of_two(float x) {
    constexpr float to_integer = 12582912;  // 1.5 * 2^23: the sum has no bits for a fraction
    x = x < -126 ? -126 : x > 127 ? 127 : x;
    const float shifted = x + to_integer, f = x - (shifted - to_integer);
    float p = 1.5403530e-4F;
    p = p * f + 1.3333558e-3F;
    p = p * f + 9.6181291e-3F;
    p = p * f + 5.5504109e-2F;
    p = p * f + 2.4022651e-1F;
    p = p * f + 6.9314718e-1F;
    p = p * f + 1;
    return p * std::bit_cast<float>((std::bit_cast<std::uint32_t>(shifted) + 127U) << 23U);
}

template <Domain domain>
float linear_of(float value) {
    constexpr float log2_per_db = 0.33219280949F;
    if constexpr (domain == Domain::decibels) return power_of_two(value * log2_per_db);
    return domain == Domain::amplitude ? value * value : value;
}

void store(std::span<float> column, Domain domain) {
    if (domain == Domain::decibels) {
        for (float& value : column) value = value == value ? Decibel{}(value) : value;
    } else if (domain == Domain::amplitude) {
        for (float& value : column) value = std::sqrt(value);
    }
}

// One plane of real numbers, or two of complex ones, with some more to read behind the end. Pages are first written in
// parallel.
struct Planes {
    explicit Planes(std::int64_t voxels) : size(voxels) {}

    template <class Made>
    void add(const VolumeGrid& grid, const Made& made) {
        planes.push_back(std::make_unique_for_overwrite<float[]>(index(size + behind)));
        float* const plane = planes.back().get();
        const std::int64_t slice = grid.depth * grid.a_scans;
        parallel_for(0, grid.b_scans, [&](std::int64_t b) {
            for (std::int64_t i = b * slice; i < (b + 1) * slice; ++i) plane[i] = made(i);
        });
        std::fill_n(plane + size, behind, 0.0F);
    }

    static constexpr std::int64_t behind = 8;
    std::int64_t size;
    std::vector<std::unique_ptr<float[]>> planes;
};

bool is_complex(const VolumeGrid& grid) {
    return grid.type == VoxelType::complex64 || grid.type == VoxelType::phasor8;
}

template <Domain domain>
void add_real(const Volume& volume, Planes& planes) {
    const auto scale = static_cast<float>(volume.grid.scale), offset = static_cast<float>(volume.grid.offset);
    with_voxels(volume, [&](const auto* voxels) {
        planes.add(volume.grid,
                   [=](std::int64_t i) { return linear_of<domain>(static_cast<float>(voxels[i]) * scale + offset); });
    });
}

Planes planes_of(const Volume& volume, Domain domain) {
    const VolumeGrid& grid = volume.grid;
    Planes made(grid.voxels());
    if (is_complex(grid)) {
        const bool is_phasor = grid.type == VoxelType::phasor8;
        const auto* bytes = reinterpret_cast<const std::int8_t*>(volume.voxels.data());
        const auto* floats = reinterpret_cast<const float*>(volume.voxels.data());
        for (const std::int64_t part : {0, 1}) {
            made.add(grid, [=](std::int64_t i) {
                return is_phasor ? static_cast<float>(bytes[2 * i + part]) / 127.0F : floats[2 * i + part];
            });
        }
    } else if (domain == Domain::decibels) {
        add_real<Domain::decibels>(volume, made);
    } else if (domain == Domain::amplitude) {
        add_real<Domain::amplitude>(volume, made);
    } else {
        add_real<Domain::as_is>(volume, made);
    }
    return made;
}

// ---- The Cartesian grid

std::array<double, 3> voxel_mm(const DewarpRecipe& recipe, const VolumeGrid& grid, bool is_polar) {
    std::array<double, 3> size = grid.spacing_um;
    if (is_polar) size[1] = size[0];
    for (std::size_t axis : {1U, 2U}) {
        if (size[axis] <= 0) size[axis] = 1000;  // a single line
    }
    if (recipe.voxel_um.size() == 1) size.fill(recipe.voxel_um[0]);
    if (recipe.voxel_um.size() == 3) std::ranges::copy(recipe.voxel_um, size.begin());
    if (recipe.voxel_um.size() == 2 || recipe.voxel_um.size() > 3) {
        throw Error(ErrorCode::bad_setting, fmt::format("has {}", plural(std::ssize(recipe.voxel_um), "numbers")),
                    "dewarp.voxel_um", "give one number, or three: along z, x and y");
    }
    for (double& one : size) one /= 1000;
    return size;
}

// Covers the box with whole voxels, in the middle laterally and from the top in depth.
Lattice lattice_of(const BeamMap& map, const VolumeGrid& grid, const DewarpRecipe& recipe) {
    const auto [low, high] = map.box();
    Lattice lattice{low, {}, voxel_mm(recipe, grid, map.is_polar()), map.is_polar()};
    const std::array<double, 3> lows =
        map.is_polar() ? std::array{low.y_mm, low.x_mm, low.z_mm} : std::array{low.z_mm, low.x_mm, low.y_mm};
    const std::array<double, 3> highs =
        map.is_polar() ? std::array{high.y_mm, high.x_mm, high.z_mm} : std::array{high.z_mm, high.x_mm, high.y_mm};
    std::array<double, 3> first = lows;
    double voxels = 1;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const double steps = std::floor((highs[axis] - lows[axis]) / lattice.step_mm[axis] + 1e-6);
        voxels *= steps + 1;
        if (!(voxels < 1e13)) {
            throw Error(ErrorCode::bad_setting, "the dewarped volume would have more than 10^13 voxels",
                        "dewarp.voxel_um", "choose larger voxels");
        }
        lattice.count[axis] = static_cast<std::int64_t>(steps) + 1;
        const bool from_start = !map.is_polar() && axis == 0;
        if (!from_start) first[axis] += (highs[axis] - lows[axis] - steps * lattice.step_mm[axis]) / 2;
    }
    lattice.first = map.is_polar() ? Position{first[1], first[0], first[2]} : Position{first[1], first[2], first[0]};
    return lattice;
}

// ---- Columns
//
// Rows of a column that runs along the beam are interpolated in two passes: at every row of the volume between the
// A-scans around the column, with vectors along depth, then along depth at the voxels. This takes 16 + 4 products of a
// cubic instead of 64. It is the same interpolation where the column stays between the same A-scans, and otherwise one
// of the same order along the curve of the column. Other voxels, such as those of a catheter, are interpolated one by
// one.

using Eight [[gnu::vector_size(32)]] = float;

Eight eight_at(const float* from) {
    Eight value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

// Buffers of one thread.
struct Work {
    ColumnSamples places;
    std::vector<std::int32_t> is_inside;   // per voxel
    std::vector<std::int32_t> is_along;    // per voxel: the beam runs along the column to the next one
    std::vector<float> even, odd, across;  // place of the column at each row of the volume
    std::vector<float> mixed;              // value of the column at each row, from -1 on
};

class Dewarper {
  public:
    Dewarper(const BeamMap& map, const VolumeGrid& grid, Domain domain)
        : map_(map), grid_(grid), domain_(domain), bounds_(view(nullptr)) {}

    // Completes the places of a column.
    void prepare(Work& work) const {
        const ColumnSamples& at = work.places;
        const std::size_t count = at.row.size(), rows = index(grid_.depth) + 16;
        work.is_inside.resize(count);
        work.is_along.assign(count, 0);
        for (std::vector<float>* each : {&work.even, &work.odd, &work.across, &work.mixed}) each->resize(rows);
        const float *const row = at.row.data(), *const even = at.even.data(), *const b_scan = at.b_scan.data();
        const float* const odd = at.odd.empty() ? even : at.odd.data();
        std::int32_t *const is_inside = work.is_inside.data(), *const is_along = work.is_along.data();
        const SampleBounds bounds = bounds_;
        for (std::size_t z = 0; z < count; ++z)
            is_inside[z] = bounds.contain({row[z], {even[z], odd[z]}, b_scan[z]}) ? 1 : 0;
        for (std::size_t z = 0; z + 1 < count; ++z) {
            const float step = row[z + 1] - row[z], most = 0.2F * step;
            is_along[z] = (step >= 0.2F) & (step <= 5) & (std::abs(even[z + 1] - even[z]) <= most) &
                          (std::abs(odd[z + 1] - odd[z]) <= most) & (std::abs(b_scan[z + 1] - b_scan[z]) <= most);
        }
    }

    // Interpolates one plane at the places of a column.
    template <int taps>
    void interpolate(const float* plane, Work& work, float* column) const {
        const WarpedVolume volume = view(plane);
        constexpr std::size_t worthwhile = 4;
        const std::size_t count = work.places.row.size();
        for (std::size_t z = 0, end = 0; z < count; z = end) {
            end = z + 1;
            if (work.is_inside[z] == 0) {
                column[z] = missing;
                continue;
            }
            while (end < count && (work.is_along[end - 1] & work.is_inside[end]) != 0) ++end;
            if (end - z >= worthwhile) {
                interpolate_along<taps>(volume, work, z, end, column);
            } else {
                for (std::size_t i = z; i < end; ++i) column[i] = interpolated<taps>(volume, work.places[i]);
            }
            replace_overshoots<taps>(volume, work, z, end, column);
        }
    }

  private:
    WarpedVolume view(const float* plane) const {
        return {plane, grid_.depth, grid_.a_scans, grid_.b_scans, map_.first_b_scan(), map_.order()};
    }

    // A cubic may overshoot below zero, where intensity has no logarithm.
    template <int taps>
    void replace_overshoots(const WarpedVolume& volume, const Work& work, std::size_t begin, std::size_t end,
                            float* column) const {
        if (taps != 4 || domain_ == Domain::as_is) return;
        for (std::size_t z = begin; z < end; ++z) {
            if (column[z] <= 0) column[z] = interpolated<2>(volume, work.places[z]);
        }
    }

    template <int taps>
    void interpolate_along(const WarpedVolume& volume, Work& work, std::size_t begin, std::size_t end,
                           float* column) const {
        const float* const rows = work.places.row.data();
        const auto last_row = static_cast<float>(grid_.depth - 1);
        const auto inside = [=](float row) { return row < 0 ? 0 : row > last_row ? last_row : row; };
        const std::int64_t first = std::max<std::int64_t>(static_cast<std::int64_t>(inside(rows[begin])) - 1, 0);
        const std::int64_t last = std::min(static_cast<std::int64_t>(inside(rows[end - 1])) + 2, grid_.depth - 1);
        if (map_.is_parallel())
            mix_straight<taps>(volume, work, begin, first, last);
        else
            mix_curved<taps>(volume, work, begin, end, first, last);
        float* const mixed = work.mixed.data() + 1;
        if (first == 0) mixed[-1] = mixed[0];
        if (last == grid_.depth - 1) mixed[last + 1] = mixed[last + 2] = mixed[last];
        for (std::size_t z = begin; z < end; ++z) {
            const float row = inside(rows[z]);
            const auto below = static_cast<std::int32_t>(taps == 1 ? row + 0.5F : row);
            float weight[taps], sum = 0;
            weigh_taps<taps>(row - static_cast<float>(below), weight);
            const float* const from = mixed + below + first_tap<taps>;
            for (int k = 0; k < taps; ++k) sum += weight[k] * from[k];
            column[z] = sum;
        }
    }

    // Between the same A-scans in all rows. Those of no weight may be unknown.
    template <int taps>
    void mix_straight(const WarpedVolume& volume, Work& work, std::size_t z, std::int64_t first,
                      std::int64_t last) const {
        const LateralWeights<taps> lateral(volume, work.places[z]);
        float* const mixed = work.mixed.data() + 1;
        std::fill(mixed + first, mixed + last + 1, 0.0F);
        for (int n = 0; n < taps * taps; ++n) {
            const float weight = lateral.weight[n];
            if (weight == 0) continue;
            for (std::int64_t row = first; row <= last; ++row) mixed[row] += weight * lateral.a_scan[n][row];
        }
    }

    template <int taps>
    void mix_curved(const WarpedVolume& volume, Work& work, std::size_t begin, std::size_t end, std::int64_t first,
                    std::int64_t last) const {
        const ColumnSamples& at = work.places;
        const float *const rows = at.row.data(), *const even = at.even.data(), *const b_scan = at.b_scan.data();
        const float* const odd = at.odd.empty() ? even : at.odd.data();
        float *const to_even = work.even.data(), *const to_odd = work.odd.data(), *const to_across = work.across.data();
        std::size_t z = begin;
        for (std::int64_t row = first; row <= last; ++row) {
            const auto wanted = static_cast<float>(row);
            while (z + 2 < end && rows[z + 1] < wanted) ++z;
            const float part = (wanted - rows[z]) / (rows[z + 1] - rows[z]);
            to_even[row] = even[z] + part * (even[z + 1] - even[z]);
            to_odd[row] = odd[z] + part * (odd[z + 1] - odd[z]);
            to_across[row] = b_scan[z] + part * (b_scan[z + 1] - b_scan[z]);
        }
        for (std::int64_t row = first, stop = first; row <= last; row = stop) {
            const Below below = below_at<taps>(work, row);
            do ++stop;
            while (stop <= last && below_at<taps>(work, stop) == below);
            mix_run<taps>(volume, work, below, row, stop);
        }
    }

    // The samples before a place.
    struct Below {
        float even, odd, across;
        bool operator==(const Below&) const = default;
    };

    template <int taps>
    static Below below_at(const Work& work, std::int64_t row) {
        return {tap_below<taps>(work.even[index(row)]), tap_below<taps>(work.odd[index(row)]),
                tap_below<taps>(work.across[index(row)])};
    }

    // Rows [begin, end) between the same A-scans. Up to 7 rows behind them are overwritten.
    template <int taps>
    static void mix_run(const WarpedVolume& volume, Work& work, const Below& below, std::int64_t begin,
                        std::int64_t end) {
        const std::int64_t b = static_cast<std::int64_t>(below.across) + first_tap<taps>;
        const float* a_scan[taps][taps];
        for (int j = 0; j < taps; ++j) {
            const std::int64_t a = static_cast<std::int64_t>(((b + j) & 1) != 0 ? below.odd : below.even);
            for (int i = 0; i < taps; ++i) a_scan[j][i] = volume.a_scan(a + first_tap<taps> + i, b + j);
        }
        for (std::int64_t row = begin; row < end; row += 8) {
            Eight along[2][taps], across[taps], sum = {};
            weigh_taps<taps>(eight_at(work.even.data() + row) - below.even, along[0]);
            weigh_taps<taps>(eight_at(work.odd.data() + row) - below.odd, along[1]);
            weigh_taps<taps>(eight_at(work.across.data() + row) - below.across, across);
            for (int j = 0; j < taps; ++j) {
                const Eight* const weight = along[(b + j) & 1];
                Eight of_b = {};
                for (int i = 0; i < taps; ++i) of_b += weight[i] * eight_at(a_scan[j][i] + row);
                sum += across[j] * of_b;
            }
            std::memcpy(work.mixed.data() + 1 + row, &sum, sizeof sum);
        }
    }

    const BeamMap& map_;
    const VolumeGrid& grid_;
    Domain domain_;
    SampleBounds bounds_;
};

void interpolate(const Dewarper& dewarper, Interpolation interpolation, const float* plane, Work& work, float* column) {
    if (interpolation == Interpolation::nearest) return dewarper.interpolate<1>(plane, work, column);
    if (interpolation == Interpolation::linear) return dewarper.interpolate<2>(plane, work, column);
    dewarper.interpolate<4>(plane, work, column);
}

// Stores a complex column. A phasor of no length is unknown flow.
void store_complex(const std::vector<float>& real, const std::vector<float>& imaginary, VoxelType type,
                   std::byte* voxels) {
    for (std::size_t z = 0; z < real.size(); ++z) {
        if (type == VoxelType::complex64) {
            const float pair[2] = {real[z], imaginary[z]};
            std::memcpy(voxels + 8 * z, pair, sizeof pair);
            continue;
        }
        constexpr float min_length = 0.1F;  // known neighbours of opposite directions, or mostly unknown ones
        const float length = std::hypot(real[z], imaginary[z]);
        const float scale = length > min_length ? 127 / length : 0;  // also for NaN
        const auto code = [&](float value) {
            return scale > 0 ? static_cast<std::int8_t>(std::lround(value * scale)) : std::int8_t{0};
        };
        const std::int8_t pair[2] = {code(real[z]), code(imaginary[z])};
        std::memcpy(voxels + 2 * z, pair, sizeof pair);
    }
}

VolumeGrid grid_of(const Lattice& lattice, const VolumeGrid& from) {
    VolumeGrid grid = from;
    grid.depth = lattice.count[0];
    grid.a_scans = lattice.count[1];
    grid.b_scans = lattice.count[2];
    for (std::size_t axis = 0; axis < 3; ++axis) grid.spacing_um[axis] = 1000 * lattice.step_mm[axis];
    grid.first_depth_um = 1000 * (lattice.is_polar ? lattice.first.y_mm : lattice.first.z_mm);
    if (is_complex(from)) return grid;
    grid.type = VoxelType::f32;
    grid.scale = 1;
    grid.offset = 0;
    return grid;
}

// The steps from the samples to a column of the result.
struct Job {
    const Planes& planes;
    const InverseMap& inverse;
    const Dewarper& dewarper;
    Interpolation interpolation;
    Domain domain;

    // Returns the number of voxels inside.
    std::int64_t make(std::int64_t a, std::int64_t b, Work& work, const VolumeGrid& grid, std::byte* voxels) const {
        static thread_local std::vector<float> first, second;
        inverse.find(a, b, work.places);
        dewarper.prepare(work);
        first.resize(index(grid.depth));
        interpolate(dewarper, interpolation, planes.planes[0].get(), work, first.data());
        std::int64_t known = 0;
        for (const float value : first) known += value == value;
        if (is_complex(grid)) {
            second.resize(first.size());
            interpolate(dewarper, interpolation, planes.planes[1].get(), work, second.data());
            store_complex(first, second, grid.type, voxels);
        } else {
            store(first, domain);
            std::memcpy(voxels, first.data(), index(grid.a_scan_bytes()));
        }
        return known;
    }
};

}  // namespace

DewarpedVolume dewarped(const Volume& volume, const BeamMap& map, const DewarpRecipe& recipe, Progress& progress) {
    check(recipe, "dewarp");
    const Interpolation interpolation = possible_interpolation(volume.grid, recipe.interpolation);
    const Domain domain = domain_of(volume.grid, interpolation);
    const Lattice lattice = lattice_of(map, volume.grid, recipe);
    const VolumeGrid grid = grid_of(lattice, volume.grid);
    const std::int64_t in_planes = volume.grid.voxels() * (is_complex(grid) ? 8 : 4);
    require_memory(grid.bytes() + in_planes, "the dewarped volume", "choose larger voxels with dewarp.voxel_um");
    DewarpedVolume made{{grid, {}, volume.provenance}, lattice.first};
    made.volume.voxels.resize(index(grid.bytes()));
    const Planes planes = planes_of(volume, domain);
    const InverseMap inverse(map, lattice);
    const Dewarper dewarper(map, volume.grid, domain);
    const Job job{planes, inverse, dewarper, interpolation, domain};
    std::atomic<std::int64_t> inside = 0;
    std::mutex progress_mutex;
    progress.begin("dewarp", grid.b_scans, "B-scans");
    // Tiles whose samples, 2 KB per A-scan of 512, stay in the cache of a core.
    constexpr std::int64_t tall = 8, wide = 64;
    parallel_for(0, (grid.b_scans + tall - 1) / tall, [&](std::int64_t tile) {
        static thread_local Work work;
        const std::int64_t first_b = tile * tall, end_b = std::min(first_b + tall, grid.b_scans);
        std::int64_t known = 0;
        for (std::int64_t first_a = 0; first_a < grid.a_scans; first_a += wide) {
            for (std::int64_t b = first_b; b < end_b; ++b) {
                for (std::int64_t a = first_a; a < std::min(first_a + wide, grid.a_scans); ++a) {
                    known += job.make(a, b, work, grid,
                                      made.volume.voxels.data() + (b * grid.a_scans + a) * grid.a_scan_bytes());
                }
            }
        }
        inside += known;
        const std::lock_guard lock(progress_mutex);
        progress.advance(end_b - first_b);
    });
    progress.end();
    made.inside = static_cast<double>(inside) / static_cast<double>(grid.voxels());
    return made;
}

double sum_of_exact_voxels(const Volume& volume, const BeamMap& map, const DewarpedVolume& made) {
    const VolumeGrid &grid = made.volume.grid, &from = volume.grid;
    const WarpedVolume warped{reinterpret_cast<const float*>(volume.voxels.data()),
                              from.depth,
                              from.a_scans,
                              from.b_scans,
                              map.first_b_scan(),
                              map.order()};
    const SampleBounds bounds(warped);
    std::vector<float> column_sums(index(grid.a_scans * grid.b_scans));
    parallel_for(0, grid.a_scans * grid.b_scans, [&](std::int64_t line) {
        float sum = 0;
        for (std::int64_t z = 0; z < grid.depth; ++z) {
            const BeamSample at =
                map.sample({made.first.x_mm + static_cast<double>(line % grid.a_scans) * grid.spacing_um[1] / 1000,
                            made.first.y_mm + static_cast<double>(line / grid.a_scans) * grid.spacing_um[2] / 1000,
                            made.first.z_mm + static_cast<double>(z) * grid.spacing_um[0] / 1000});
            const WarpedSample place{static_cast<float>(at.row),
                                     {static_cast<float>(at.a_scan[0]), static_cast<float>(at.a_scan[1])},
                                     static_cast<float>(at.b_scan)};
            if (bounds.contain(place)) sum += interpolated<4>(warped, place);
        }
        column_sums[index(line)] = sum;
    });
    return std::accumulate(column_sums.begin(), column_sums.end(), 0.0);
}

}  // namespace echolux
