// Builds k grid points: tables from the plan, and a kernel that adds the interpolated background.
#include "compute/cuda/k_points.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

#include "compute/cuda/launch.h"
#include "compute/cuda/point_values.cuh"
#include "compute/cuda/transform.cuh"
#include "compute/indexing.h"

namespace echolux::cuda {
namespace {

// Extends fewer than four taps to four with zero weights.
struct FourTaps {
    std::vector<std::uint16_t> base;
    std::vector<float4> taps;

    FourTaps(const ResampleTable& table, const Lengths& lengths) {
        for (std::size_t j = 0; j < table.base.size(); ++j) {
            const std::int64_t first = std::min<std::int64_t>(table.base[j], lengths.samples - 4);
            float row[4] = {};
            for (std::int64_t m = 0; m < table.taps; ++m) {
                row[table.base[j] - first + m] = table.weights[j * index(table.taps) + index(m)];
            }
            base.push_back(static_cast<std::uint16_t>(first));
            taps.push_back({row[0], row[1], row[2], row[3]});
        }
        base.resize(index(lengths.transform));
        taps.resize(index(lengths.transform));
    }
};

std::vector<float2> weights(const SpectralWeight& weight, std::int64_t transform) {
    std::vector<float2> values;
    for (const std::complex<float>& value : weight.values) values.push_back({value.real(), value.imag()});
    values.resize(index(transform));
    return values;
}

// Tables on the device.
struct PointTables {
    EitherTaps taps;
    const std::uint16_t* base;
    const float* offset;
    const float2* weight;
    std::int64_t transform;
    DeviceBackground background;
};

struct WeightedPoint {
    std::int64_t j;
    float weights[4];
    double whole = 0, rest = 0;  // parts of the interpolated background

    __device__ WeightedPoint(const PointTables& tables, std::int64_t i) : j(i % tables.transform) {
        tables.taps(static_cast<int>(j), tables.offset[j], weights);
        const DeviceBackground& background = tables.background;
        const std::int64_t first = background.row(i / tables.transform * background.frame_lines) + tables.base[j];
        for (int m = 0; m < 4; ++m) {
            whole += double{weights[m]} * double{background.whole[first + m]};
            rest += double{weights[m]} * double{background.rest[first + m]};
        }
    }
};

__global__ void place_points(PointTables tables, LineForm form, std::int64_t count, float4* points) {
    const std::int64_t i = element();
    if (i >= count) return;
    const WeightedPoint point(tables, i);
    const float level = form == LineForm::subtracted ? 0 : static_cast<float>(point.whole + point.rest);
    const float offset = tables.offset[point.j];
    const float2 weight = tables.weight[point.j];
    points[i] = form == LineForm::two_in_one
                    ? float4{offset, -level, 0.5f * weight.x, __int_as_float(tables.base[point.j])}
                    : float4{offset, -level, weight.x, weight.y};
}

__global__ void place_half_points(PointTables tables, float scale, std::int64_t count, HalfPoint* points) {
    const std::int64_t i = element();
    if (i >= count) return;
    const WeightedPoint point(tables, i);
    const float2 weight = tables.weight[point.j] * scale;
    points[i] = {
        {__floats2half2_rn(point.weights[0], point.weights[1]), __floats2half2_rn(point.weights[2], point.weights[3])},
        __floats2half2_rn(weight.x, weight.y),
        tables.base[point.j],
        __float2half_rn(static_cast<float>(-point.rest / 2))};
}

// The largest bin of samples of half of sample_end stays below half the largest half, so that no intermediate sum
// overflows.
float half_scale_of(const SpectralWeight& weight, double sample_end) {
    constexpr double largest_half = 65504;
    double sum = 0;
    for (const std::complex<float>& value : weight.values) sum += std::abs(std::complex<double>(value));
    if (sum <= 0) return 1;
    return static_cast<float>(std::exp2(std::floor(std::log2(largest_half / (sample_end * sum)))));
}

}  // namespace

KPointTables::KPointTables(const PlainTables& tables, double sample_end)
    : transform_(tables.lengths.transform), real_(tables.weight.real),
      half_scale_(half_scale_of(tables.weight, sample_end)), weight_(uploaded(weights(tables.weight, transform_))) {
    const FourTaps four(tables.resample, tables.lengths);
    base_ = uploaded(four.base);
    std::vector<float> offset = tables.resample.offset;
    if (offset.empty()) taps_ = uploaded(four.taps);
    offset.resize(index(transform_));
    offset_ = uploaded(offset);
}

KPoints KPointRows::enqueue(cudaStream_t stream, LineForm form, const DeviceBackground& background,
                            std::int64_t frames) {
    const bool each = form != LineForm::subtracted && background.frame_lines != 0;
    const std::int64_t count = (each ? frames : 1) * tables_.transform();
    if (!lasting_ || form != form_) {
        const PointTables tables{EitherTaps(tables_.taps()), tables_.base(),      tables_.offset(),
                                 tables_.weight(),           tables_.transform(), background};
        if (form == LineForm::halves) {
            place_half_points<<<blocks_for(count), threads_of_a_range, 0, stream>>>(tables, tables_.half_scale(), count,
                                                                                    points_.as<HalfPoint>());
        } else {
            place_points<<<blocks_for(count), threads_of_a_range, 0, stream>>>(tables, form, count,
                                                                               points_.as<float4>());
        }
        checked_launch("compute the points of the k grid");
        form_ = form;
        lasting_ = !each;
    }
    return {form, tables_.base(), tables_.taps(), points_.as<float4>(), each ? tables_.transform() : 0};
}

}  // namespace echolux::cuda
