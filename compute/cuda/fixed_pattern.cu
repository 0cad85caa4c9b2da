// Kernels for fixed patterns: each thread processes all lines of one depth bin of a B-scan.
#include <limits>

#include "compute/cuda/fixed_pattern.h"
#include "compute/cuda/launch.h"
#include "compute/cuda/memory.h"
#include "compute/cuda/selected.cuh"

namespace echolux::cuda {
namespace {

// One depth bin over the lines of a B-scan.
struct Column {
    float2* first;
    std::int64_t stride;
    std::int64_t lines;

    __device__ float2& operator[](std::int64_t line) const { return first[line * stride]; }
};

struct MedianPattern {
    __device__ float2 operator()(const Column& bins) const {
        const double re = median_of([&](std::int64_t l) { return bins[l].x; }, bins.lines);
        const double im = median_of([&](std::int64_t l) { return bins[l].y; }, bins.lines);
        return {static_cast<float>(re), static_cast<float>(im)};
    }
};

// The mean of the segment with the smallest variance.
struct LeastVariantMean {
    std::int64_t segments;

    __device__ float2 operator()(const Column& bins) const {
        double least = std::numeric_limits<double>::infinity();
        double2 best{};
        for (std::int64_t s = 0; s < segments; ++s) {
            const std::int64_t begin = bins.lines * s / segments, end = bins.lines * (s + 1) / segments;
            const auto count = static_cast<double>(end - begin);
            double2 mean{};
            for (std::int64_t l = begin; l < end; ++l) {
                mean.x += static_cast<double>(bins[l].x);
                mean.y += static_cast<double>(bins[l].y);
            }
            mean.x /= count;
            mean.y /= count;
            double variance = 0;
            for (std::int64_t l = begin; l < end; ++l) {
                const double re = static_cast<double>(bins[l].x) - mean.x, im = static_cast<double>(bins[l].y) - mean.y;
                variance += re * re + im * im;
            }
            variance /= count;
            if (variance < least) {
                least = variance;
                best = mean;
            }
        }
        return {static_cast<float>(best.x), static_cast<float>(best.y)};
    }
};

template <class Pattern>
__global__ void subtract_pattern(Pattern pattern_of, DeviceBins bins, std::int64_t columns, std::int64_t lines,
                                 std::int64_t depth) {
    const std::int64_t i = element();
    if (i >= columns) return;
    const std::int64_t frame = i / depth, z = i % depth;
    const Column column{bins.first + frame * lines * bins.stride + z, bins.stride, lines};
    const float2 pattern = pattern_of(column);
    for (std::int64_t l = 0; l < lines; ++l) {
        column[l].x -= pattern.x;
        column[l].y -= pattern.y;
    }
}

}  // namespace

void remove_fixed_pattern(cudaStream_t stream, FixedPattern mode, std::int64_t segments, const DeviceBins& bins,
                          std::int64_t frames, std::int64_t lines, std::int64_t depth) {
    const std::int64_t columns = frames * depth;
    const auto remove = [&](auto pattern) {
        subtract_pattern<<<blocks_for(columns), threads_of_a_range, 0, stream>>>(pattern, bins, columns, lines, depth);
    };
    if (mode == FixedPattern::median) {
        remove(MedianPattern{});
    } else {
        remove(LeastVariantMean{segments});
    }
    checked_launch("remove the fixed pattern");
}

}  // namespace echolux::cuda
