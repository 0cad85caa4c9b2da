#include "engine/stitching/mosaic.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <utility>

#include "compute/indexing.h"
#include "compute/parallel_for.h"
#include "compute/steps/dewarp.h"
#include "engine/speckle/speckle_filter.h"

namespace echolux {

// An open tile with the B-scans around the current one.
struct Mosaic::Source {
    explicit Source(const Tile& of, std::size_t tile) : number(tile), reader(of) {}

    // Four neighbouring B-scans are used at a time; files are read some B-scans ahead.
    void keep(std::int64_t first, std::int64_t end, const VolumeGrid& grid) {
        while (!b_scans.empty() && first_held < first) {
            b_scans.pop_front();
            ++first_held;
        }
        if (b_scans.empty()) first_held = first;
        const std::int64_t held_to = first_held + std::ssize(b_scans);
        if (held_to >= end) return;
        const std::int64_t to = std::min(std::max(end, held_to + ahead), grid.b_scans);
        const TileBox box = reader.read({Interval{0, grid.depth}, {0, grid.a_scans}, {held_to, to}});
        const std::int64_t slice = grid.depth * grid.a_scans;
        for (std::int64_t i = 0; i < to - held_to; ++i)
            b_scans.emplace_back(box.power.begin() + i * slice, box.power.begin() + (i + 1) * slice);
    }

    static constexpr std::int64_t ahead = 8;
    std::size_t number;
    TileReader reader;
    std::deque<std::vector<float>> b_scans;
    std::int64_t first_held = 0;
};

namespace {

constexpr std::int64_t taps = 4;

VoxelBelow voxel_below(double offset, std::int64_t at) {
    const double place = static_cast<double>(at) - offset, below = std::floor(place);
    return {static_cast<std::int64_t>(below), static_cast<float>(place - below)};
}

bool is_within(const VoxelBelow& place, std::int64_t count) {
    return place.below >= 0 && (place.below + 1 < count || (place.below + 1 == count && place.part == 0));
}

// Distance from the nearest end in voxels; above 0 within.
float from_ends(const VoxelBelow& place, std::int64_t count) {
    const float at = static_cast<float>(place.below) + place.part;
    return std::min(at, static_cast<float>(count - 1) - at) + 0.5F;
}

double from_centre(const VoxelBelow& place, std::int64_t count) {
    const double at = static_cast<double>(place.below) + static_cast<double>(place.part);
    return count > 1 ? 2 * at / static_cast<double>(count - 1) - 1 : 0;
}

float gain_of(double db) {
    return static_cast<float>(std::pow(10.0, -db / 10));
}

}  // namespace

const float* Mosaic::nearest_a_scan(const Source& source, const VoxelBelow& across, const VoxelBelow& along,
                                    const VolumeGrid& grid) {
    const std::int64_t b = std::min(across.below + (across.part > 0.5F ? 1 : 0), grid.b_scans - 1);
    const std::int64_t a = std::min(along.below + (along.part > 0.5F ? 1 : 0), grid.a_scans - 1);
    return source.b_scans[index(b - source.first_held)].data() + a * grid.depth;
}

Mosaic::Mosaic(const TileSet& set, const TileAlignment& alignment) : set_(set), alignment_(alignment) {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    TileShift low{infinite, infinite, infinite}, high{-infinite, -infinite, -infinite};
    for (std::size_t tile = 0; tile < set.tiles.size(); ++tile) {
        const VolumeGrid& grid = set.tiles[tile].grid;
        const std::array<std::int64_t, 3> size{grid.depth, grid.a_scans, grid.b_scans};
        for (std::size_t axis = 0; axis < 3; ++axis) {
            low[axis] = std::min(low[axis], alignment.first[tile][axis]);
            high[axis] = std::max(high[axis], alignment.first[tile][axis] + static_cast<double>(size[axis] - 1));
        }
    }
    origin_ = low;
    grid_ = set.grid();
    const std::array<std::int64_t*, 3> count{&grid_.depth, &grid_.a_scans, &grid_.b_scans};
    for (std::size_t axis = 0; axis < 3; ++axis)
        *count[axis] = static_cast<std::int64_t>(std::floor(high[axis] - low[axis] + 1e-6)) + 1;
    grid_.type = VoxelType::f32;
    grid_.scale = 1;
    grid_.offset = 0;
    grid_.first_depth_um = low[0] * grid_.spacing_um[0];
    for (const TileShift& first : alignment.first)
        offsets_.push_back({first[0] - low[0], first[1] - low[1], first[2] - low[2]});
}

Mosaic::~Mosaic() = default;

std::array<double, 2> Mosaic::centre_mm() const {
    return {(origin_[1] + static_cast<double>(grid_.a_scans - 1) / 2) * set_.spacing_mm(1),
            (origin_[2] + static_cast<double>(grid_.b_scans - 1) / 2) * set_.spacing_mm(2)};
}

bool Mosaic::is_passed(std::size_t tile, std::int64_t b) const {
    return is_within(voxel_below(offsets_[tile][2], b), set_.tiles[tile].grid.b_scans);
}

std::int64_t Mosaic::bytes() const {
    std::int64_t most = 0;
    for (std::int64_t b = 0; b < grid_.b_scans; b += 4) {
        std::int64_t sum = 0;
        for (std::size_t tile = 0; tile < set_.tiles.size(); ++tile) {
            const VolumeGrid& grid = set_.tiles[tile].grid;
            if (is_passed(tile, b)) sum += grid.depth * grid.a_scans * (taps + 2 * Source::ahead) * 4;
        }
        most = std::max(most, sum);
    }
    return most + 3 * 4 * grid_.depth * grid_.a_scans;
}

void Mosaic::open_and_close(std::int64_t b) {
    std::erase_if(sources_, [&](const auto& entry) { return !is_passed(entry.first, b); });
    for (std::size_t tile = 0; tile < set_.tiles.size(); ++tile) {
        if (!is_passed(tile, b)) continue;
        const Tile& of = set_.tiles[tile];
        Source& source = sources_.try_emplace(tile, of, tile).first->second;
        const VoxelBelow place = voxel_below(offsets_[tile][2], b);
        source.keep(std::max<std::int64_t>(0, place.below - 1), std::min(place.below + 3, of.grid.b_scans), of.grid);
    }
}

// Adds a tile to the A-scans of one B-scan.
void Mosaic::add(const Source& source, std::int64_t b, std::vector<float>& sums, std::vector<float>& weights) const {
    const VolumeGrid& grid = set_.tiles[source.number].grid;
    const TileShift& offset = offsets_[source.number];
    const TileBrightness& brightness = alignment_.brightness;
    const VoxelBelow across = voxel_below(offset[2], b);
    float of_b[taps];
    weigh_taps<taps>(across.part, of_b);
    const auto first_row = static_cast<std::int64_t>(std::ceil(offset[0] - 1e-9));
    const VoxelBelow down = voxel_below(offset[0], first_row);
    float of_row[taps];
    weigh_taps<taps>(down.part, of_row);
    const std::int64_t rows = std::min(grid.depth - (down.part > 0 ? 1 : 0), grid_.depth - first_row);
    std::vector<float> row_gain, row_weight;
    for (std::int64_t z = 0; z < rows; ++z) {
        const VoxelBelow place{down.below + z, down.part};
        constexpr float margin = 16;
        row_gain.push_back(gain_of(brightness.depth_db(from_centre(place, grid.depth))));
        row_weight.push_back(std::min(from_ends(place, grid.depth), margin) / margin);
    }
    const float weight_b = from_ends(across, grid.b_scans);
    parallel_for(0, grid_.a_scans, [&](std::int64_t a) {
        const VoxelBelow along = voxel_below(offset[1], a);
        if (!is_within(along, grid.a_scans)) return;
        float of_a[taps];
        weigh_taps<taps>(along.part, of_a);
        std::vector<float> mixed(index(grid.depth + taps), 0);  // from row -1 on
        for (std::int64_t j = 0; j < taps; ++j) {
            const std::int64_t from_b = std::clamp<std::int64_t>(across.below + j - 1, 0, grid.b_scans - 1);
            const float* const b_scan = source.b_scans[index(from_b - source.first_held)].data();
            for (std::int64_t i = 0; i < taps; ++i) {
                const float weight = of_b[j] * of_a[i];
                if (weight == 0) continue;
                const float* const from =
                    b_scan + std::clamp<std::int64_t>(along.below + i - 1, 0, grid.a_scans - 1) * grid.depth;
                float* const to = mixed.data() + 1;
                for (std::int64_t z = 0; z < grid.depth; ++z) to[z] += weight * from[z];
            }
        }
        mixed[0] = mixed[1];
        std::fill(mixed.begin() + grid.depth + 1, mixed.end(), mixed[index(grid.depth)]);
        const double db = brightness.gain_db[source.number] +
                          brightness.field_db(from_centre(along, grid.a_scans), from_centre(across, grid.b_scans));
        const float gain = gain_of(db), weight = weight_b * from_ends(along, grid.a_scans);
        float* const sum = sums.data() + a * grid_.depth + first_row;
        float* const total = weights.data() + a * grid_.depth + first_row;
        const float* const at = mixed.data() + down.below;
        // A cubic may overshoot below zero; the nearest sample does not.
        const float* const nearest =
            nearest_a_scan(source, across, along, grid) + down.below + (down.part > 0.5F ? 1 : 0);
        for (std::int64_t z = 0; z < rows; ++z) {
            const float value =
                of_row[0] * at[z] + of_row[1] * at[z + 1] + of_row[2] * at[z + 2] + of_row[3] * at[z + 3];
            const float power = (value <= 0 ? nearest[z] : value) * gain * row_gain[index(z)];
            const float counts = weight * row_weight[index(z)];
            const bool is_known = power == power;
            sum[z] += is_known ? counts * power : 0;
            total[z] += is_known ? counts : 0;
        }
    });
}

std::vector<float> Mosaic::next() {
    const std::int64_t b = next_++;
    open_and_close(b);
    std::vector<float> sums(index(grid_.depth * grid_.a_scans), 0), weights(sums.size(), 0);
    for (const auto& [number, source] : sources_) add(source, b, sums, weights);
    const StoredPower stored = stored_power(grid_, StoredAs::automatic);
    parallel_for(0, grid_.a_scans, [&](std::int64_t a) {
        for (std::int64_t i = a * grid_.depth; i < (a + 1) * grid_.depth; ++i) {
            float& value = sums[index(i)];
            const float weight = weights[index(i)];
            value =
                weight > 0 ? static_cast<float>(stored.code(value / weight)) : std::numeric_limits<float>::quiet_NaN();
        }
    });
    return sums;
}

}  // namespace echolux
