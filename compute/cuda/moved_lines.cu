// Kernels for lines with individual sample positions: weight, then gather.
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
    ComplexPiecesView weight;
    ComplexPiecesView turn;
    double cycles_a_point;
    const double* points;
    const float* shares;
    std::int64_t first_line;  // in the recording
};

__device__ inline float2 turn_at(const MovedWork& work, double cycles) {
    return {turn_of(work.turn.real, cycles), turn_of(work.turn.imaginary, cycles)};
}

template <class Value>
__device__ inline Value weight_at(const MovedWork& work, double point) {
    if constexpr (std::is_same_v<Value, float>) {
        return work.weight.real(point);
    } else {
        const float2 weight{work.weight.real(point), work.weight.imaginary(point)};
        return weight * turn_at(work, point * work.cycles_a_point);
    }
}

// weighed[line][sample]. Samples beyond the k grid get zero weight.
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

// grids[line][g], shifted so that bin z of the transform is depth bin z.
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
    if constexpr (std::is_same_v<Value, float2>) {
        sum = sum * turn_at(work, -static_cast<double>(g) * work.cycles_a_point / work.spreading.ratio);
    }
    grids[i] = sum;
}

// Uploads the real or imaginary parts of coefficients.
template <class Part>
DeviceBuffer uploaded_parts(const CubicPieces<std::complex<float>>& pieces, const Part& part) {
    std::vector<float> parts;
    for (const std::complex<float>& value : pieces.coefficients()) parts.push_back(part(value));
    return uploaded(parts);
}

CubicPiecesView<float> on_device(const auto& view, const DeviceBuffer& coefficients) {
    return {coefficients.as<float>(), view.pieces, view.begin, view.pieces_per_unit};
}

}  // namespace

ComplexPieces::ComplexPieces(const CubicPieces<std::complex<float>>& pieces)
    : real_(uploaded_parts(pieces, [](std::complex<float> value) { return value.real(); })),
      imaginary_(uploaded_parts(pieces, [](std::complex<float> value) { return value.imag(); })),
      view_{on_device(pieces.view(), real_), on_device(pieces.view(), imaginary_)} {}

MovedLines::MovedLines(const MovedSamples& samples, bool real)
    : real_(real), spreading_(samples.spreading()), jitter_(samples.jitter.view()), weight_(samples.weights),
      turn_(samples.turn), cycles_a_point_(samples.cycles_a_point), kernel_(uploaded(samples.kernel.coefficients())),
      rows_(uploaded(samples.jitter.rows())), points_(uploaded(samples.points)), shares_(uploaded(samples.shares)) {
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
    const MovedWork work{spreading_,
                         jitter_,
                         by_place_,
                         weight_.view(),
                         turn_.view(),
                         cycles_a_point_,
                         points_.as<double>(),
                         shares_.as<float>(),
                         lines.number};
    const std::int64_t samples = lines.count * spreading_.points, points = lines.count * spreading_.grid;
    weigh_samples<<<blocks_for(samples), threads_of_a_range, 0, stream>>>(work, spectra, samples, weighed);
    checked_launch("weigh samples where they lie");
    gather_samples<<<blocks_for(points), threads_of_a_range, 0, stream>>>(work, weighed, points, grids);
    checked_launch("spread samples over a grid");
}

}  // namespace echolux::cuda
