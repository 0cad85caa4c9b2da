#include "engine/geometry/inverse_map.h"

#include <algorithm>
#include <cmath>

#include "compute/indexing.h"
#include "compute/parallel_for.h"

namespace echolux {

InverseMap::Axis::Axis(std::int64_t count, std::int64_t most) {
    constexpr std::int64_t min_cells = 3;  // four nodes
    cells = std::max(min_cells, (count - 1 + most - 1) / most);
    step = static_cast<double>(std::max<std::int64_t>(count - 1, 1)) / static_cast<double>(cells);
}

std::int64_t InverseMap::Axis::cell(double voxel) const {
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(voxel / step), 0, cells - 1);
}

std::int64_t InverseMap::Axis::first_node(std::int64_t cell) const {
    return std::clamp<std::int64_t>(cell - 1, 0, cells - 3);
}

std::array<float, 4> InverseMap::Axis::weights(double voxel) const {
    const double t = voxel / step - static_cast<double>(first_node(cell(voxel)));
    return {static_cast<float>(-(t - 1) * (t - 2) * (t - 3) / 6), static_cast<float>(t * (t - 2) * (t - 3) / 2),
            static_cast<float>(-t * (t - 1) * (t - 3) / 2), static_cast<float>(t * (t - 1) * (t - 2) / 6)};
}

InverseMap::InverseMap(const BeamMap& map, const Lattice& lattice)
    : map_(map), lattice_(lattice), depth_(lattice.count[0], 16), along_(lattice.count[1], 8),
      across_(lattice.count[2], 8) {
    if (map.is_parallel()) return;
    fill_nodes();
    for (std::int64_t z = 0; z < lattice.count[0]; ++z) {
        const std::array<float, 4> weights = depth_.weights(static_cast<double>(z));
        for (std::size_t k = 0; k < 4; ++k) taps_[k].push_back(weights[k]);
        const std::int64_t cell = depth_.cell(static_cast<double>(z));
        while (std::ssize(starts_) <= cell) starts_.push_back(z);
    }
    starts_.resize(index(depth_.cells + 1), lattice.count[0]);
    check_cells();
}

InverseMap::Parts InverseMap::exact(double z, double a_scan, double b_scan) const {
    const BeamSample at = map_.sample(lattice_.at(z, a_scan, b_scan));
    return {static_cast<float>(at.row), static_cast<float>(at.a_scan[0]), static_cast<float>(at.a_scan[1]),
            static_cast<float>(at.b_scan)};
}

void InverseMap::fill_nodes() {
    const std::int64_t deep = depth_.nodes(), wide = along_.nodes();
    nodes_.resize(index(4 * deep * wide * across_.nodes()));
    parallel_for(0, wide * across_.nodes(), [&](std::int64_t line) {
        for (std::int64_t z = 0; z < deep; ++z) {
            const Parts parts =
                exact(static_cast<double>(z) * depth_.step, static_cast<double>(line % wide) * along_.step,
                      static_cast<double>(line / wide) * across_.step);
            for (std::int64_t part = 0; part < 4; ++part)
                nodes_[index((line * 4 + part) * deep + z)] = parts[index(part)];
        }
    });
}

// Interpolates between the nodes around a column.
void InverseMap::mix_nodes(double a_scan, double b_scan, std::vector<float>& nodes) const {
    const std::int64_t size = 4 * depth_.nodes();
    const std::array<float, 4> along = along_.weights(a_scan), across = across_.weights(b_scan);
    const std::int64_t a = along_.first_node(along_.cell(a_scan)), b = across_.first_node(across_.cell(b_scan));
    nodes.assign(index(size), 0);
    float* const to = nodes.data();
    for (std::int64_t j = 0; j < 4; ++j) {
        for (std::int64_t i = 0; i < 4; ++i) {
            const float weight = across[index(j)] * along[index(i)];
            const float* from = nodes_.data() + ((b + j) * along_.nodes() + a + i) * size;
            for (std::int64_t n = 0; n < size; ++n) to[n] += weight * from[n];
        }
    }
}

void InverseMap::check_cells() {
    is_exact_.resize(index(depth_.cells * along_.cells * across_.cells));
    parallel_for(0, along_.cells * across_.cells, [&](std::int64_t line) {
        constexpr std::array<std::array<double, 2>, 5> parts{
            {{0.5, 0.5}, {0.2, 0.2}, {0.8, 0.2}, {0.2, 0.8}, {0.8, 0.8}}};
        std::vector<float> nodes;
        for (const auto& [along, across] : parts) {
            const double a = (static_cast<double>(line % along_.cells) + along) * along_.step;
            const double b = (static_cast<double>(line / along_.cells) + across) * across_.step;
            mix_nodes(a, b, nodes);
            for (std::int64_t cell = 0; cell < depth_.cells; ++cell) {
                const double z = (static_cast<double>(cell) + 0.5) * depth_.step;
                const std::array<float, 4> weights = depth_.weights(z);
                const Parts wanted = exact(z, a, b);
                for (std::int64_t part = 0; part < 4; ++part) {
                    const float* node = nodes.data() + part * depth_.nodes() + depth_.first_node(cell);
                    float found = 0;
                    for (std::size_t k = 0; k < 4; ++k) found += weights[k] * node[k];
                    // NaN is not close.
                    if (!(std::abs(found - wanted[index(part)]) <= static_cast<float>(close)))
                        is_exact_[index(line * depth_.cells + cell)] = 1;
                }
            }
        }
    });
}

double InverseMap::exact_share() const {
    if (is_exact_.empty()) return 0;
    return static_cast<double>(std::ranges::count(is_exact_, 1)) / static_cast<double>(is_exact_.size());
}

// All voxels of a column are between the same A-scans, and rows are evenly spaced.
void InverseMap::find_straight(std::int64_t a_scan, std::int64_t b_scan, ColumnSamples& places) const {
    const auto a = static_cast<double>(a_scan), b = static_cast<double>(b_scan);
    const BeamSample first = map_.sample(lattice_.at(0, a, b)), second = map_.sample(lattice_.at(1, a, b));
    const double step = second.row - first.row;
    for (std::size_t z = 0; z < places.row.size(); ++z)
        places.row[z] = static_cast<float>(first.row + static_cast<double>(z) * step);
    std::ranges::fill(places.even, static_cast<float>(first.a_scan[0]));
    std::ranges::fill(places.odd, static_cast<float>(first.a_scan[1]));
    std::ranges::fill(places.b_scan, static_cast<float>(first.b_scan));
}

void InverseMap::find_exactly(std::int64_t begin, std::int64_t end, std::int64_t a_scan, std::int64_t b_scan,
                              ColumnSamples& places) const {
    for (std::int64_t z = begin; z < end; ++z) {
        const Parts parts = exact(static_cast<double>(z), static_cast<double>(a_scan), static_cast<double>(b_scan));
        places.row[index(z)] = parts[0];
        places.even[index(z)] = parts[1];
        if (!places.odd.empty()) places.odd[index(z)] = parts[2];
        places.b_scan[index(z)] = parts[3];
    }
}

void InverseMap::find(std::int64_t a_scan, std::int64_t b_scan, ColumnSamples& places) const {
    const std::size_t count = index(lattice_.count[0]);
    for (std::vector<float>* part : {&places.row, &places.even, &places.b_scan}) part->resize(count);
    places.odd.resize(map_.has_galvo() ? count : 0);
    if (map_.is_parallel()) return find_straight(a_scan, b_scan, places);
    static thread_local std::vector<float> nodes;
    mix_nodes(static_cast<double>(a_scan), static_cast<double>(b_scan), nodes);
    const std::int64_t line =
        across_.cell(static_cast<double>(b_scan)) * along_.cells + along_.cell(static_cast<double>(a_scan));
    for (std::int64_t cell = 0; cell < depth_.cells; ++cell) {
        const std::int64_t begin = starts_[index(cell)], end = starts_[index(cell + 1)];
        if (is_exact_[index(line * depth_.cells + cell)] != 0) {
            find_exactly(begin, end, a_scan, b_scan, places);
            continue;
        }
        std::int64_t number = 0;
        for (std::vector<float>* part : {&places.row, &places.even, &places.odd, &places.b_scan}) {
            const float* node = nodes.data() + number++ * depth_.nodes() + depth_.first_node(cell);
            if (part->empty()) continue;
            float* const to = part->data();
            const float *const w0 = taps_[0].data(), *const w1 = taps_[1].data(), *const w2 = taps_[2].data(),
                               *const w3 = taps_[3].data();
            for (std::int64_t z = begin; z < end; ++z)
                to[z] = node[0] * w0[z] + node[1] * w1[z] + node[2] * w2[z] + node[3] * w3[z];
        }
    }
}

}  // namespace echolux
