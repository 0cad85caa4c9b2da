// Kernels for background subtraction: one thread block per line.
#include <cub/block/block_scan.cuh>

#include "compute/cuda/aligned_reader.h"
#include "compute/cuda/launch.h"
#include "compute/cuda/subtraction.h"
#include "compute/steps/sample.h"

namespace echolux::cuda {
namespace {

template <class Read>
__global__ void subtract(Read read, const std::byte* raw, std::int64_t line_bytes, DeviceBackground background,
                         float* spectra, std::int64_t pitch) {
    const std::int64_t line = blockIdx.x;
    const std::byte* samples = raw + line * line_bytes;
    const float* whole = background.whole + background.row(line);
    const float* rest = background.rest + background.row(line);
    for (std::int64_t p = threadIdx.x; p < background.samples; p += blockDim.x) {
        spectra[line * pitch + p] = LessBackground{}(read(samples, p), whole[p], rest[p]);
    }
}

// I[p] - mean(I[p - W + 1 .. p + W]), with the window clipped at the ends (docs/algorithms.md 2.2 f).
__global__ void __launch_bounds__(threads_of_a_line)
    subtract_rolling_mean(float* spectra, std::int64_t pitch, double* sums, std::int64_t samples, std::int64_t width) {
    using Scan = cub::BlockScan<double, threads_of_a_line>;
    __shared__ typename Scan::TempStorage storage;
    float* line = spectra + blockIdx.x * pitch;
    double* sum = sums + blockIdx.x * samples;  // sum[p]: over samples 0 .. p
    double before = 0;
    for (std::int64_t first = 0; first < samples; first += threads_of_a_line) {
        const std::int64_t p = first + threadIdx.x;
        double value = p < samples ? static_cast<double>(line[p]) : 0.0, total = 0;
        Scan(storage).InclusiveSum(value, value, total);
        if (p < samples) sum[p] = before + value;
        before += total;
        __syncthreads();
    }
    for (std::int64_t p = threadIdx.x; p < samples; p += threads_of_a_line) {
        const std::int64_t begin = p - width + 1 > 0 ? p - width + 1 : 0;
        const std::int64_t end = p + width + 1 < samples ? p + width + 1 : samples;
        const double mean = (sum[end - 1] - (begin > 0 ? sum[begin - 1] : 0.0)) / static_cast<double>(end - begin);
        line[p] = static_cast<float>(static_cast<double>(line[p]) - mean);
    }
}

}  // namespace

Subtraction::Subtraction(const LineFormat& format, std::int64_t rolling_width, std::int64_t max_lines)
    : format_(format), rolling_width_(rolling_width) {
    if (rolling_width > 0) sums_ = DeviceBuffer(max_lines * format.samples() * std::int64_t{sizeof(double)});
}

void Subtraction::enqueue(cudaStream_t stream, const RawLines& lines, float* spectra, std::int64_t pitch) const {
    const auto blocks = static_cast<unsigned>(lines.count);
    with_reader(format_, lines.raw, [&](const auto& read) {
        subtract<<<blocks, threads_of_a_line, 0, stream>>>(read, lines.raw, format_.line_bytes(), lines.background,
                                                           spectra, pitch);
    });
    checked_launch("subtract the background");
    if (rolling_width_ == 0) return;
    subtract_rolling_mean<<<blocks, threads_of_a_line, 0, stream>>>(spectra, pitch, sums_.as<double>(),
                                                                    format_.samples(), rolling_width_);
    checked_launch("subtract the rolling mean");
}

}  // namespace echolux::cuda
