#include "render/blue_noise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>

namespace echolux {
namespace {

// A set of pixels on a torus with the local density around each pixel. The density is an integer, so the result does
// not depend on the compiler's order of operations.
class Pattern {
  public:
    explicit Pattern(int edge)
        : edge_(edge), member_(static_cast<std::size_t>(edge * edge)), crowding_(member_.size()) {
        constexpr double width = 1.5;  // in pixels, of the Gaussian (value of Ulichney)
        for (int y = -reach; y <= reach; ++y) {
            for (int x = -reach; x <= reach; ++x) {
                weight_[static_cast<std::size_t>((y + reach) * (2 * reach + 1) + x + reach)] =
                    std::llround(1e6 * std::exp(-0.5 * (x * x + y * y) / (width * width)));
            }
        }
    }

    std::size_t size() const { return member_.size(); }
    bool has(std::size_t pixel) const { return member_[pixel]; }

    void set(std::size_t pixel, bool to) {
        if (member_[pixel] == to) return;
        member_[pixel] = to;
        const int row = static_cast<int>(pixel) / edge_;
        const int column = static_cast<int>(pixel) % edge_;
        auto weight = weight_.begin();
        for (int y = row - reach; y <= row + reach; ++y) {
            for (int x = column - reach; x <= column + reach; ++x) {
                const int at = (y & (edge_ - 1)) * edge_ + (x & (edge_ - 1));
                crowding_[static_cast<std::size_t>(at)] += to ? *weight : -*weight;
                ++weight;
            }
        }
    }

    // Returns the member with the highest density.
    std::size_t tightest_cluster() const {
        return best([this](std::size_t i) { return has(i) ? crowding_[i] : -1; });
    }

    // Returns the non-member with the lowest density.
    std::size_t largest_void() const {
        return best([this](std::size_t i) { return has(i) ? INT64_MIN : -crowding_[i]; });
    }

  private:
    static constexpr int reach = 6;

    template <class Merit>
    std::size_t best(const Merit& merit) const {
        std::size_t found = 0;
        std::int64_t max = INT64_MIN;
        for (std::size_t i = 0; i < size(); ++i) {
            const std::int64_t here = merit(i);
            if (here > max) found = i, max = here;
        }
        return found;
    }

    int edge_;
    std::vector<bool> member_;
    std::vector<std::int64_t> crowding_;
    std::array<std::int64_t, (2 * reach + 1) * (2 * reach + 1)> weight_{};
};

// Returns a pattern of a tenth of the pixels. Members move from the tightest cluster to the largest void until nothing
// changes.
Pattern even_pattern(int edge) {
    Pattern pattern(edge);
    std::mt19937 random(1);
    for (std::size_t count = 0; count < pattern.size() / 10;) {
        const std::size_t pixel = random() % pattern.size();
        if (pattern.has(pixel)) continue;
        pattern.set(pixel, true);
        ++count;
    }
    while (true) {
        const std::size_t cluster = pattern.tightest_cluster();
        pattern.set(cluster, false);
        const std::size_t gap = pattern.largest_void();
        pattern.set(gap, true);
        if (gap == cluster) return pattern;
    }
}

}  // namespace

// Removing members from the tightest cluster onwards assigns the low ranks in descending order. Adding pixels at the
// largest void onwards assigns the remaining ranks in ascending order.
std::vector<float> blue_noise(int edge) {
    const Pattern start = even_pattern(edge);
    std::vector<float> noise(start.size());
    const auto give = [&](std::size_t pixel, std::size_t rank) {
        noise[pixel] = (static_cast<float>(rank) + 0.5f) / static_cast<float>(start.size());
    };
    const std::size_t members = start.size() / 10;
    Pattern leaving = start;
    for (std::size_t rank = members; rank-- > 0;) {
        const std::size_t pixel = leaving.tightest_cluster();
        leaving.set(pixel, false);
        give(pixel, rank);
    }
    Pattern joined = start;
    for (std::size_t rank = members; rank < start.size(); ++rank) {
        const std::size_t pixel = joined.largest_void();
        joined.set(pixel, true);
        give(pixel, rank);
    }
    return noise;
}

}  // namespace echolux
