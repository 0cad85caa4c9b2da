// Non-local means in tiles that fit in the cache. For each offset, the distances of all voxels are computed and summed
// over cubes axis by axis. End values extend beyond the volume, and patches that reach there are compared with these
// values.
#include <algorithm>
#include <array>
#include <cmath>

#include "compute/parallel_for.h"
#include "compute/steps/speckle.h"
#include "engine/speckle/speckle_filter.h"

namespace echolux {
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
        : size_(size), margin_(margin), stride_(size[0] + 2 * margin),
          power_(static_cast<std::size_t>(stride_ * size[1] * size[2])), logs_(power_.size()) {
        parallel_for(0, size[1] * size[2], [&](std::int64_t line) {
            const float* from = power.data() + line * size[0];
            for (std::int64_t i = 0; i < stride_; ++i) {
                const auto at = static_cast<std::size_t>(line * stride_ + i);
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
          distances_(static_cast<std::size_t>(rows_ + 2 * reach_)),
          of_lines_(static_cast<std::size_t>((count_a_ + 2 * reach_) * rows_)),
          of_slices_(static_cast<std::size_t>((count_b_ + 2 * reach_) * count_a_ * rows_)),
          sums_(static_cast<std::size_t>(count_b_ * count_a_ * rows_)), weights_(sums_.size()),
          patch_(static_cast<std::size_t>(rows_)) {}

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
                const auto from = static_cast<std::size_t>((b * count_a_ + a) * rows_);
                const auto to = static_cast<std::size_t>(((first_b_ + b) * volume_.size()[1] + first_a_ + a) * rows_);
                for (std::size_t z = 0; z < static_cast<std::size_t>(rows_); ++z)
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
                Tile& tile = tiles[static_cast<std::size_t>(part)];
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

}  // namespace echolux
