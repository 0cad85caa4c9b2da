// Placing the points: tables from the plan, and a kernel that adds what the background comes to.
#include "compute/cuda/k_points.h"

#include <algorithm>
#include <vector>

#include "compute/cuda/k_point_taps.cuh"
#include "compute/cuda/launch.h"
#include "compute/indexing.h"

namespace echolux::cuda {
namespace {

// Fewer taps than four become four: the others weigh nothing.
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

__global__ void place_points(EitherTaps taps, const std::uint16_t* base, const float* offset, const float2* weight,
                             std::int64_t transform, LineForm form, DeviceBackground background, std::int64_t count,
                             float4* points) {
    const std::int64_t i = element();
    if (i >= count) return;
    const std::int64_t j = i % transform, frame = i / transform;
    float level = 0;
    if (form.as_recorded) {
        const std::int64_t row = background.row(frame * background.frame_lines);
        const float* whole = background.whole + row + base[j];
        const float* rest = background.rest + row + base[j];
        float weights[4];
        taps(static_cast<int>(j), offset[j], weights);
        double sum = 0;
        for (int m = 0; m < 4; ++m) sum += double{weights[m]} * (double{whole[m]} + double{rest[m]});
        level = static_cast<float>(sum);
    }
    points[i] = form.two_in_one ? float4{offset[j], -level, 0.5f * weight[j].x, __int_as_float(base[j])}
                                : float4{offset[j], -level, weight[j].x, weight[j].y};
}

}  // namespace

KPointTables::KPointTables(const PlainTables& tables)
    : transform_(tables.lengths.transform), real_(tables.weight.real),
      weight_(uploaded(weights(tables.weight, transform_))) {
    const FourTaps four(tables.resample, tables.lengths);
    base_ = uploaded(four.base);
    std::vector<float> offset = tables.resample.offset;
    if (offset.empty()) taps_ = uploaded(four.taps);
    offset.resize(index(transform_));
    offset_ = uploaded(offset);
}

KPoints KPointRows::enqueue(cudaStream_t stream, const LineForm& form, const DeviceBackground& background,
                            std::int64_t frames) {
    const bool each = form.as_recorded && background.frame_lines != 0;
    const std::int64_t count = (each ? frames : 1) * tables_.transform();
    if (!lasting_ || form != form_) {
        place_points<<<blocks_for(count), threads_of_a_range, 0, stream>>>(
            EitherTaps(tables_.taps()), tables_.base(), tables_.offset(), tables_.weight(), tables_.transform(), form,
            background, count, points_.as<float4>());
        checked_launch("place the points of the k grid");
        form_ = form;
        lasting_ = !each;
    }
    return {form, tables_.base(), tables_.taps(), points_.as<float4>(), each ? tables_.transform() : 0};
}

}  // namespace echolux::cuda
