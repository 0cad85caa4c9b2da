// NUFFT on the GPU: its tables, and the kernels for spreading and correction in separate passes.
#include "compute/cuda/nufft.h"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "compute/cuda/launch.h"
#include "compute/cuda/line_pairs.h"
#include "compute/cuda/nufft_on_chip.cuh"
#include "compute/cuda/point_values.cuh"
#include "compute/cuda/transform.cuh"
#include "compute/cuda/transform.h"

namespace echolux::cuda {

// ---- Kernels for lines with individual sample positions: weight, then gather.

namespace {

struct MovedWork {
    MovedSpreading spreading;
    KJitterView jitter;
    SortedSamplesView by_place;
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
    const SortedSamples sorted = samples_by_place(samples.points);
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
    checked_launch("weight the samples");
    gather_samples<<<blocks_for(points), threads_of_a_range, 0, stream>>>(work, weighed, points, grids);
    checked_launch("spread samples over a grid");
}

namespace {

constexpr std::int64_t complex_bytes = sizeof(float2);

__global__ void spread_lines(const std::int32_t* base, const float2* weights, int taps, std::int64_t points,
                             const float* spectra, int samples, std::int64_t lines, float2* grids) {
    const std::int64_t first = std::int64_t{blockIdx.x} * lines_that_share;
    for (std::int64_t j = threadIdx.x; j < points; j += blockDim.x) {
        float2 sums[lines_that_share] = {};
        int sample = base[j];
        for (int m = 0; m < taps; ++m) {
            const float2 weight = __ldg(weights + m * points + j);
#pragma unroll
            for (int l = 0; l < lines_that_share; ++l) {
                const float value = spectra[min(first + l, lines - 1) * samples + sample];
                sums[l] = sums[l] + float2{weight.x * value, weight.y * value};
            }
            sample = sample + 1 == samples ? 0 : sample + 1;
        }
#pragma unroll
        for (int l = 0; l < lines_that_share; ++l) {
            if (first + l < lines) grids[(first + l) * points + j] = sums[l];
        }
    }
}

__global__ void correct(float2* bins, std::int64_t stride, std::int64_t depth, const float* correction) {
    float2* line = bins + blockIdx.x * stride;
    for (std::int64_t z = threadIdx.x; z < depth; z += blockDim.x) line[z] = line[z] * float2{correction[z], 0};
}

// Size of bins that are written and soon read again: they stay in the L2 cache.
constexpr std::int64_t cached_bytes = std::int64_t{32} << 20;

std::int64_t lines_in_one_kernel(std::int64_t depth, std::int64_t max_lines) {
    return std::clamp<std::int64_t>(cached_bytes / (depth * complex_bytes), 1, max_lines);
}

}  // namespace

NufftDeviceTables::NufftDeviceTables(const ReconstructionSpec& spec, const GpuPath& path)
    : NufftDeviceTables(spec, path, nufft_tables(spec)) {}

NufftDeviceTables::NufftDeviceTables(const ReconstructionSpec& spec, const GpuPath& path, const NufftTables& tables)
    : NufftDeviceTables(spec, path, tables, grid_taps(tables)) {}

NufftDeviceTables::NufftDeviceTables(const ReconstructionSpec& spec, const GpuPath& path, const NufftTables& tables,
                                     const GridTaps& grid)
    : path_(path), real_(tables.real), grid_(tables.grid), points_(grid.points), taps_(grid.taps),
      repeated_(grid.repeated), first_bin_(tables.first_bin), depth_(std::ssize(tables.correction)),
      base_(uploaded(grid.base)), weights_(uploaded(grid.weights)), correction_(uploaded(tables.correction)) {
    if (!spec.calibration.k_jitter.empty()) moved_.emplace(moved_samples(spec, tables), real_);
    if (in_one_kernel()) add_tables_on_chip(tables, grid);
}

void NufftDeviceTables::add_tables_on_chip(const NufftTables& tables, const GridTaps& grid) {
    const std::vector<float2> twiddles =
        path_.shape ? mixed_radix_twiddles(path_.shape->length) : transform_twiddles(points_);
    twiddles_ = uploaded(twiddles);
    if (real_) factors_ = uploaded(spectrum_factors(points_, first_bin_, tables.correction));
    if (!in_halves()) return;
    half_twiddles_ = uploaded(halves_of(twiddles));
    const float scale = half_weight_scale(grid.weights);
    half_weights_ = uploaded(halves_of(grid.weights, scale));
    of_half_bins_ = 1 / (scale * of_half_samples);
}

NufftLines::Passes::Passes(const NufftDeviceTables& tables, const LineFormat& format, std::int64_t rolling_width,
                           std::int64_t lines, cudaStream_t stream)
    : subtract(format, rolling_width, lines), spectra(lines * format.samples() * std::int64_t{sizeof(float)}),
      weighed(tables.moved_ ? lines * tables.moved_->weighed_bytes() : 0),
      grids(Fft::line_memory(tables.grid_, lines, tables.points_ * complex_bytes)),
      transform(tables.real_ ? Fft::Kind::real_forward : Fft::Kind::complex_forward, tables.grid_, tables.grid_,
                tables.real_ ? tables.grid_ / 2 + 1 : tables.grid_, stream) {}

NufftLines::NufftLines(const NufftDeviceTables& tables, const LineFormat& format, std::int64_t rolling_width,
                       std::int64_t max_lines, cudaStream_t stream)
    : tables_(tables), format_(format), stream_(stream),
      lines_at_once_(tables.in_one_kernel() ? lines_in_one_kernel(tables.depth_, max_lines)
                                            : Fft::lines_at_once(tables.grid_, max_lines)) {
    if (tables.in_one_kernel()) {
        stride_ = tables.depth_;
        bins_ = DeviceBuffer(lines_at_once_ * stride_ * complex_bytes);
        return;
    }
    passes_.emplace(tables, format, rolling_width, lines_at_once_, stream);
    stride_ = tables.real_ ? tables.grid_ / 2 + 1 : tables.grid_;
    if (tables.real_) bins_ = Fft::line_memory(tables.grid_, lines_at_once_, stride_ * complex_bytes);
}

DeviceBins NufftLines::enqueue(const RawLines& lines) {
    if (passes_) return enqueue_passes(lines);
    NufftWork work = on_chip(lines);
    work.bins = bins_.as<float2>();
    launch(work);
    return {work.bins, stride_};
}

bool NufftLines::enqueue_codes(const RawLines& lines, const ByteCodes& codes) {
    if (passes_) return false;
    NufftWork work = on_chip(lines);
    work.codes = codes;
    launch(work);
    return true;
}

// Fills everything except the output.
NufftWork NufftLines::on_chip(const RawLines& lines) const {
    NufftWork work;
    work.base = tables_.base_.as<std::int32_t>();
    work.weights = tables_.weights_.as<float2>();
    work.half_weights = tables_.half_weights_.as<__half2>();
    work.of_half_bins = tables_.of_half_bins_;
    work.taps = static_cast<int>(tables_.taps_);
    work.repeated = static_cast<int>(tables_.repeated_);
    work.twiddles = tables_.twiddles_.as<float2>();
    work.half_twiddles = tables_.half_twiddles_.as<HalfFactor>();
    work.correction = tables_.correction_.as<float>();
    work.factors = tables_.factors_.as<float4>();
    work.lines = PairedLines(format_, lines);
    work.first_bin = static_cast<int>(tables_.first_bin_);
    work.depth = static_cast<int>(tables_.depth_);
    return work;
}

void NufftLines::launch(const NufftWork& work) const {
    if (tables_.path_.shape) {
        launch_nufft_mixed(work, *tables_.path_.shape, tables_.real_, stream_);
    } else if (tables_.in_halves() && line_words(format_, work.lines.raw) == LineWords::u16) {
        launch_nufft_halves(work, tables_.points_, tables_.real_, stream_);
    } else {
        launch_nufft(work, tables_.points_, tables_.real_, stream_);
    }
}

DeviceBins NufftLines::enqueue_passes(const RawLines& lines) {
    passes_->subtract.enqueue(stream_, lines, passes_->spectra.as<float>(), format_.samples());
    spread(lines);
    std::byte* bins = tables_.real_ ? bins_.data() : passes_->grids.data();
    passes_->transform.execute(lines.count, passes_->grids.data(), bins);
    float2* kept = reinterpret_cast<float2*>(bins) + tables_.first_bin_;
    correct<<<static_cast<unsigned>(lines.count), threads_of_a_line, 0, stream_>>>(kept, stride_, tables_.depth_,
                                                                                   tables_.correction_.as<float>());
    checked_launch("correct for the kernel");
    return {kept, stride_};
}

void NufftLines::spread(const RawLines& lines) {
    const auto* spectra = passes_->spectra.as<float>();
    if (tables_.moved_) {
        return tables_.moved_->enqueue(stream_, lines, spectra, passes_->weighed.data(), passes_->grids.data());
    }
    spread_lines<<<blocks_for_lines(lines.count), threads_of_a_line, 0, stream_>>>(
        tables_.base_.as<std::int32_t>(), tables_.weights_.as<float2>(), static_cast<int>(tables_.taps_),
        tables_.points_, spectra, static_cast<int>(format_.samples()), lines.count, passes_->grids.as<float2>());
    checked_launch("spread samples over a grid");
}

}  // namespace echolux::cuda
