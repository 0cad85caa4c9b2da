// Median of cubes with an edge of 3 or 5 voxels: robust against single bright voxels. End values extend beyond the
// volume.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "compute/parallel_for.h"
#include "compute/steps/speckle.h"
#include "engine/speckle/speckle_filter.h"

namespace echolux {
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
          near_(static_cast<std::size_t>(edge * edge * (rows_ + edge))) {}

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

}  // namespace echolux
