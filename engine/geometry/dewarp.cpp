#include "engine/geometry/dewarp.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <utility>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/parallel_for.h"
#include "compute/plan/describe.h"
#include "compute/plural.h"
#include "compute/steps/dewarp.h"
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

Domain domain_of(const VolumeGrid& grid, Interpolation interpolation) {
    if (interpolation == Interpolation::nearest) return Domain::as_is;
    if (grid.quantity == "amplitude") return Domain::amplitude;
    return grid.quantity == "db" || grid.unit.starts_with("dB") ? Domain::decibels : Domain::as_is;
}

constexpr float log2_per_db = 0.33219280949F;

float linear_of(float value, Domain domain) {
    if (domain == Domain::decibels) return std::exp2(value * log2_per_db);
    return domain == Domain::amplitude ? value * value : value;
}

float stored_of(float linear, Domain domain) {
    if (domain == Domain::decibels) return std::log2(linear) / log2_per_db;
    return domain == Domain::amplitude ? std::sqrt(linear) : linear;
}

// One plane of real numbers, or two of complex ones.
struct Planes {
    std::vector<std::vector<float>> owned;
    std::vector<const float*> planes;
};

template <class Made>
std::vector<float> plane_of(const VolumeGrid& grid, const Made& made) {
    std::vector<float> plane(index(grid.voxels()));
    const std::int64_t slice = grid.depth * grid.a_scans;
    parallel_for(0, grid.b_scans, [&](std::int64_t b) {
        for (std::int64_t i = b * slice; i < (b + 1) * slice; ++i) plane[index(i)] = made(i);
    });
    return plane;
}

bool is_complex(const VolumeGrid& grid) {
    return grid.type == VoxelType::complex64 || grid.type == VoxelType::phasor8;
}

Planes planes_of(const Volume& volume, Domain domain) {
    const VolumeGrid& grid = volume.grid;
    Planes made;
    if (is_complex(grid)) {
        const bool is_phasor = grid.type == VoxelType::phasor8;
        const auto* bytes = reinterpret_cast<const std::int8_t*>(volume.voxels.data());
        const auto* floats = reinterpret_cast<const float*>(volume.voxels.data());
        for (const std::int64_t part : {0, 1}) {
            made.owned.push_back(plane_of(grid, [&](std::int64_t i) {
                return is_phasor ? static_cast<float>(bytes[2 * i + part]) / 127.0F : floats[2 * i + part];
            }));
        }
    } else {
        with_voxels(volume, [&](const auto* voxels) {
            const auto scale = static_cast<float>(grid.scale), offset = static_cast<float>(grid.offset);
            const bool is_plain = domain == Domain::as_is && scale == 1 && offset == 0;
            if constexpr (std::is_same_v<decltype(voxels), const float*>) {
                if (is_plain) return made.planes.push_back(voxels);
            }
            made.owned.push_back(plane_of(grid, [&](std::int64_t i) {
                return linear_of(static_cast<float>(voxels[i]) * scale + offset, domain);
            }));
        });
    }
    for (const std::vector<float>& plane : made.owned) made.planes.push_back(plane.data());
    return made;
}

// ---- The Cartesian grid

struct Lattice {
    Position first;
    std::array<std::int64_t, 3> count{};  // depth, A-scans, B-scans
    std::array<double, 3> step_mm{};
    bool is_polar = false;

    Position at(double depth, std::int64_t a, std::int64_t b) const {
        const double along_depth = depth * step_mm[0], along_a = static_cast<double>(a) * step_mm[1],
                     along_b = static_cast<double>(b) * step_mm[2];
        if (is_polar) return {first.x_mm + along_a, first.y_mm + along_depth, first.z_mm + along_b};
        return {first.x_mm + along_a, first.y_mm + along_b, first.z_mm + along_depth};
    }
};

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

// ---- Places of a column of voxels

WarpedSample place_of(const BeamSample& sample) {
    return {static_cast<float>(sample.row),
            {static_cast<float>(sample.a_scan[0]), static_cast<float>(sample.a_scan[1])},
            static_cast<float>(sample.b_scan)};
}

WarpedSample between(const WarpedSample& a, const WarpedSample& b, float part) {
    const auto mixed = [part](float from, float to) { return from + part * (to - from); };
    return {mixed(a.row, b.row),
            {mixed(a.a_scan[0], b.a_scan[0]), mixed(a.a_scan[1], b.a_scan[1])},
            mixed(a.b_scan, b.b_scan)};
}

float distance(const WarpedSample& a, const WarpedSample& b) {
    return std::max({std::abs(a.row - b.row), std::abs(a.a_scan[0] - b.a_scan[0]), std::abs(a.a_scan[1] - b.a_scan[1]),
                     std::abs(a.b_scan - b.b_scan)});
}

// Returns the largest distance between voxels of a column whose places are computed, so that places in between are
// linear to 0.005 samples.
std::int64_t stride_of(const BeamMap& map, const Lattice& lattice) {
    constexpr float close = 0.005F;
    constexpr std::int64_t parts = 8;
    if (map.is_polar()) return 1;
    const auto is_linear = [&](std::int64_t stride) {
        for (std::int64_t i = 0; i < (parts + 1) * (parts + 1) * parts; ++i) {
            const std::int64_t a = i % (parts + 1) * (lattice.count[1] - 1) / parts;
            const std::int64_t b = i / (parts + 1) % (parts + 1) * (lattice.count[2] - 1) / parts;
            const auto z = static_cast<double>(i / ((parts + 1) * (parts + 1)) * (lattice.count[0] - 1) / parts);
            const auto at = [&](double d) { return place_of(map.sample(lattice.at(z + d, a, b))); };
            const auto span = static_cast<double>(stride);
            // NaN counts as close: nothing is there.
            if (distance(at(span / 2), between(at(0), at(span), 0.5F)) > close) return false;
        }
        return true;
    };
    for (const std::int64_t stride : {16, 4}) {
        if (is_linear(stride)) return stride;
    }
    return 1;
}

// ---- Columns

class Dewarper {
  public:
    Dewarper(const BeamMap& map, const Lattice& lattice, const VolumeGrid& grid, Domain domain)
        : map_(map), lattice_(lattice), grid_(grid), domain_(domain),
          stride_(map.is_parallel() ? lattice.count[0] : stride_of(map, lattice)) {}

    // Buffers of one thread.
    struct Work {
        std::vector<WarpedSample> places;
        std::vector<float> a_scan;
    };

    void find_places(std::int64_t a, std::int64_t b, Work& work) const {
        work.places.resize(index(lattice_.count[0]));
        const auto at = [&](std::int64_t z) {
            return place_of(map_.sample(lattice_.at(static_cast<double>(z), a, b)));
        };
        if (map_.is_parallel()) return find_parallel_places(a, b, work);
        WarpedSample from = at(0);
        for (std::int64_t z = 0; z < lattice_.count[0]; z += stride_) {
            const WarpedSample to = stride_ == 1 ? from : at(z + stride_);
            const std::int64_t end = std::min(z + stride_, lattice_.count[0]);
            for (std::int64_t i = z; i < end; ++i) {
                work.places[index(i)] =
                    stride_ == 1 ? at(i) : between(from, to, static_cast<float>(i - z) / static_cast<float>(stride_));
            }
            from = to;
        }
    }

    // Interpolates one plane at the places of a column.
    template <int taps>
    void interpolate(const float* plane, Work& work, float* column) const {
        const WarpedVolume volume = view(plane);
        if (map_.is_parallel()) return interpolate_parallel<taps>(volume, work, column);
        for (std::size_t z = 0; z < work.places.size(); ++z) {
            const WarpedSample& at = work.places[z];
            column[z] = is_inside(volume, at) ? positive<taps>(volume, at, interpolated<taps>(volume, at)) : missing;
        }
    }

  private:
    WarpedVolume view(const float* plane) const {
        return {plane, grid_.depth, grid_.a_scans, grid_.b_scans, map_.first_b_scan(), map_.order()};
    }

    // A cubic may overshoot below zero, where intensity has no logarithm.
    template <int taps>
    float positive(const WarpedVolume& volume, const WarpedSample& at, float value) const {
        return taps == 4 && domain_ != Domain::as_is && value <= 0 ? interpolated<2>(volume, at) : value;
    }

    void find_parallel_places(std::int64_t a, std::int64_t b, Work& work) const {
        const BeamSample first = map_.sample(lattice_.at(0, a, b)), second = map_.sample(lattice_.at(1, a, b));
        WarpedSample at = place_of(first);
        for (std::size_t z = 0; z < work.places.size(); ++z) {
            at.row = static_cast<float>(first.row + static_cast<double>(z) * (second.row - first.row));
            work.places[z] = at;
        }
    }

    // All voxels of the column lie between the same A-scans, which are mixed first.
    template <int taps>
    void interpolate_parallel(const WarpedVolume& volume, Work& work, float* column) const {
        WarpedSample middle = work.places.front();
        middle.row = 0;
        if (!is_inside(volume, middle)) return static_cast<void>(std::fill_n(column, work.places.size(), missing));
        const LateralWeights<taps> lateral(volume, middle);
        work.a_scan.assign(index(grid_.depth), 0);
        for (std::size_t n = 0; n < index(std::int64_t{taps} * taps); ++n) {
            const float* from = lateral.a_scan[n];
            const float weight = lateral.weight[n];
            if (weight == 0) continue;
            for (std::int64_t row = 0; row < grid_.depth; ++row) work.a_scan[index(row)] += weight * from[row];
        }
        for (std::size_t z = 0; z < work.places.size(); ++z) {
            const WarpedSample& at = work.places[z];
            column[z] = is_between(at.row, 0, grid_.depth)
                            ? positive<taps>(volume, at, along_depth<taps>(work.a_scan.data(), grid_.depth, at.row))
                            : missing;
        }
    }

    const BeamMap& map_;
    const Lattice& lattice_;
    const VolumeGrid& grid_;
    Domain domain_;
    std::int64_t stride_;
};

void interpolate(const Dewarper& dewarper, Interpolation interpolation, const float* plane, Dewarper::Work& work,
                 float* column) {
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

}  // namespace

DewarpedVolume dewarped(const Volume& volume, const BeamMap& map, const DewarpRecipe& recipe, Progress& progress) {
    check(recipe, "dewarp");
    const Domain domain = domain_of(volume.grid, recipe.interpolation);
    const Lattice lattice = lattice_of(map, volume.grid, recipe);
    const VolumeGrid grid = grid_of(lattice, volume.grid);
    const std::int64_t in_planes = volume.grid.voxels() * (is_complex(grid) ? 8 : 4);
    require_memory(grid.bytes() + in_planes, "the dewarped volume", "choose larger voxels with dewarp.voxel_um");
    DewarpedVolume made{{grid, {}, volume.provenance}, lattice.first};
    made.volume.voxels.resize(index(grid.bytes()));
    const Planes planes = planes_of(volume, domain);
    const Dewarper dewarper(map, lattice, volume.grid, domain);
    std::atomic<std::int64_t> inside = 0;
    std::mutex progress_mutex;
    progress.begin("dewarp", grid.b_scans, "B-scans");
    parallel_for(0, grid.b_scans, [&](std::int64_t b) {
        Dewarper::Work work;
        std::vector<float> first(index(grid.depth)), second;
        if (is_complex(grid)) second.resize(first.size());
        std::int64_t known = 0;
        for (std::int64_t a = 0; a < grid.a_scans; ++a) {
            dewarper.find_places(a, b, work);
            interpolate(dewarper, recipe.interpolation, planes.planes[0], work, first.data());
            for (const float value : first) known += value == value;
            std::byte* column = made.volume.voxels.data() + (b * grid.a_scans + a) * grid.a_scan_bytes();
            if (is_complex(grid)) {
                interpolate(dewarper, recipe.interpolation, planes.planes[1], work, second.data());
                store_complex(first, second, grid.type, column);
                continue;
            }
            for (float& value : first) value = stored_of(value, domain);
            std::memcpy(column, first.data(), index(grid.a_scan_bytes()));
        }
        inside += known;
        const std::lock_guard lock(progress_mutex);
        progress.advance(1);
    });
    progress.end();
    made.inside = static_cast<double>(inside) / static_cast<double>(grid.voxels());
    return made;
}

}  // namespace echolux
