// Kernels of lines that lie elsewhere each: weigh, then gather.
#include "compute/cuda/moved_lines.h"

#include <type_traits>
#include <vector>

#include "compute/cuda/grid_value.cuh"
#include "compute/cuda/launch.h"

namespace echolux::cuda {
namespace {

struct MovedWork {
    MovedSpreading spreading;
    KJitterView jitter;
    SamplesByPlaceView by_place;
    CubicPiecesView<float> real_weight;
    CubicPiecesView<float> imaginary_weight;
    const double* points;
    const float* shares;
    std::int64_t first_line;  // of the recording
};

template <class Value>
__device__ inline Value weight_at(const MovedWork& work, double point) {
    if constexpr (std::is_same_v<Value, float>) {
        return work.real_weight(point);
    } else {
        return {work.real_weight(point), work.imaginary_weight(point)};
    }
}

// weighed[line][sample]; those that lie beyond the k grid weigh nothing.
template <class Value>
__global__ void weigh_samples(MovedWork work, const float* spectra, std::int64_t count, Value* weighed) {
    const std::int64_t i = element();
    if (i >= count) return;
    const std::int64_t line = i / work.spreading.points, p = i - line * work.spreading.points;
    const LineMap map = work.jitter.of(work.first_line + line);
    const double point = map(work.points[p]);
    const float share = work.shares[p] * static_cast<float>(map.stretch) * spectra[i];
    weighed[i] = work.spreading.holds(point) ? weighted(weight_at<Value>(work, point), share) : Value{};
}

// grids[line][g]
template <class Value>
__global__ void gather_samples(MovedWork work, const Value* weighed, std::int64_t count, Value* grids) {
    const std::int64_t i = element();
    if (i >= count) return;
    const std::int64_t line = i / work.spreading.grid, g = i - line * work.spreading.grid;
    const Value* samples = weighed + line * work.spreading.points;
    Value sum{};
    work.by_place.each_near(work.spreading, work.jitter.of(work.first_line + line), g,
                            [&](std::int32_t sample, double distance) {
                                accumulate(sum, work.spreading.kernel_at(distance), samples[sample]);
                            });
    grids[i] = sum;
}

// Real or imaginary parts of coefficients.
template <class Part>
DeviceBuffer uploaded_parts(const MovedSamples& samples, const Part& part) {
    std::vector<float> parts;
    for (const std::complex<float>& value : samples.weights.coefficients()) parts.push_back(part(value));
    return uploaded(parts);
}

CubicPiecesView<float> on_device(const auto& view, const DeviceBuffer& coefficients) {
    return {coefficients.as<float>(), view.pieces, view.begin, view.pieces_per_unit};
}

}  // namespace

MovedLines::MovedLines(const MovedSamples& samples, bool real)
    : real_(real), spreading_(samples.spreading()), jitter_(samples.jitter.view()),
      kernel_(uploaded(samples.kernel.coefficients())), rows_(uploaded(samples.jitter.rows())),
      real_pieces_(uploaded_parts(samples, [](std::complex<float> value) { return value.real(); })),
      imaginary_pieces_(uploaded_parts(samples, [](std::complex<float> value) { return value.imag(); })),
      points_(uploaded(samples.points)), shares_(uploaded(samples.shares)) {
    const SamplesByPlace sorted = samples_by_place(samples.points);
    sorted_points_ = uploaded(sorted.points);
    sorted_samples_ = uploaded(sorted.samples);
    first_at_ = uploaded(sorted.first_at);
    by_place_ = sorted.view();
    by_place_.points = sorted_points_.as<double>();
    by_place_.samples = sorted_samples_.as<std::int32_t>();
    by_place_.first_at = first_at_.as<std::int32_t>();
    spreading_.kernel = on_device(samples.kernel.view(), kernel_);
    jitter_.rows = rows_.as<LineMap>();
    real_weight_ = on_device(samples.weights.view(), real_pieces_);
    imaginary_weight_ = on_device(samples.weights.view(), imaginary_pieces_);
}

std::int64_t MovedLines::weighed_bytes() const {
    return spreading_.points * static_cast<std::int64_t>(real_ ? sizeof(float) : sizeof(float2));
}

void MovedLines::enqueue(cudaStream_t stream, const RawLines& lines, const float* spectra, std::byte* weighed,
                         std::byte* grids) const {
    if (real_) {
        enqueue(stream, lines, spectra, reinterpret_cast<float*>(weighed), reinterpret_cast<float*>(grids));
    } else {
        enqueue(stream, lines, spectra, reinterpret_cast<float2*>(weighed), reinterpret_cast<float2*>(grids));
    }
}

template <class Value>
void MovedLines::enqueue(cudaStream_t stream, const RawLines& lines, const float* spectra, Value* weighed,
                         Value* grids) const {
    const MovedWork work{spreading_,          jitter_,           by_place_,
                         real_weight_,        imaginary_weight_, points_.as<double>(),
                         shares_.as<float>(), lines.number};
    const std::int64_t samples = lines.count * spreading_.points, points = lines.count * spreading_.grid;
    weigh_samples<<<blocks_for(samples), threads_of_a_range, 0, stream>>>(work, spectra, samples, weighed);
    checked_launch("weigh samples where they lie");
    gather_samples<<<blocks_for(points), threads_of_a_range, 0, stream>>>(work, weighed, points, grids);
    checked_launch("spread samples over a grid");
}

}  // namespace echolux::cuda
