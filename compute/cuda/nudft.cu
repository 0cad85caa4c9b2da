// Operands of the exact transform: the matrix, converted on the host, and spectra, converted several samples at a time.
// The scales do not depend on the spectra.
#include "compute/cuda/nudft.h"

#include <cuda_fp16.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "compute/cuda/launch.h"
#include "compute/cuda/transform.h"
#include "compute/host_device.h"
#include "compute/indexing.h"
#include "compute/parallel_for.h"
#include "compute/steps/sample.h"

namespace echolux::cuda {

// ---- Rounding of floats for the tensor cores.

// Rounds to ten bits of mantissa, to nearest, ties to even: the precision that tensor cores use.
ECHOLUX_HD inline float rounded_to_tf32(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return std::bit_cast<float>((bits + 0xfffu + ((bits >> 13) & 1u)) & ~0x1fffu);
}

namespace {

// ---- operands -------------------------------------------------------------------------------------------------------

constexpr float largest_half = 65504.0f;

// Two neighbouring values of a spectrum. Overflowing values, as from a wrong stored background, are clamped.
__device__ inline std::uint32_t two_halves(float a, float b) {
    const auto within = [](float v) { return fminf(fmaxf(v, -largest_half), largest_half); };
    const __half2 pair = __floats2half2_rn(within(a), within(b));
    return *reinterpret_cast<const std::uint32_t*>(&pair);
}

template <Operand operand>
struct ElementOf {
    using type = float;
};
template <>
struct ElementOf<Operand::half> {
    using type = __half;
};

// Converts one element of the matrix, on the host.
template <Operand operand>
typename ElementOf<operand>::type element_of(double value) {
    if constexpr (operand == Operand::half) {
        return __float2half_rn(static_cast<float>(value));
    } else {
        return rounded_to_tf32(static_cast<float>(value));
    }
}

// ---- spectra to operands --------------------------------------------------------------------------------------------

// Formats read eight samples at a time, as used by fast instruments.
template <class Read>
struct Eight {
    static constexpr bool possible = false;
};

template <>
struct Eight<ReadSample<SampleFormat::u16, ByteOrder::little, UnitStride>> {
    static constexpr bool possible = true;
    static constexpr std::int64_t alignment = 16;
    uint4 words;

    __device__ void load(const std::byte* line, std::int64_t eight) {
        words = __ldcs(reinterpret_cast<const uint4*>(line) + eight);
    }
    __device__ std::uint32_t sample(int i) const {
        const std::uint32_t word = i < 2 ? words.x : i < 4 ? words.y : i < 6 ? words.z : words.w;
        return i % 2 == 0 ? word & 0xffffu : word >> 16;
    }
};

template <>
struct Eight<ReadSample<SampleFormat::packed12, ByteOrder::little, UnitStride>> {
    static constexpr bool possible = true;
    static constexpr std::int64_t alignment = 4;
    std::uint32_t words[3];

    __device__ void load(const std::byte* line, std::int64_t eight) {
        const auto* from = reinterpret_cast<const std::uint32_t*>(line) + 3 * eight;
        for (int i = 0; i < 3; ++i) words[i] = __ldcs(from + i);
    }
    __device__ std::uint32_t sample(int i) const {
        const int word = 12 * i / 32, bit = 12 * i % 32;
        const std::uint32_t next = bit > 20 ? words[word + 1] : 0u;
        return __funnelshift_r(words[word], next, bit) & 0xfffu;
    }
};

constexpr int threads_of_eights = 128;
constexpr int lines_in_flight = 4;    // raw lines loaded concurrently
constexpr int lines_of_a_thread = 8;  // lines that share the background, whose data is twice as long as the samples

// Tracks the background row of consecutive lines without a division per line.
class RowWalk {
  public:
    __device__ RowWalk(const DeviceBackground& background, std::int64_t line) : background_(background) {
        if (background.frame_lines == 0) return;
        const std::int64_t first = background.first_line + line;
        row_ = first / background.frame_lines;
        left_ = background.frame_lines - first % background.frame_lines;
    }
    __device__ std::int64_t offset() const { return row_ * background_.samples; }

    // Moves to the next line. Returns true if it has a different row.
    __device__ bool next() {
        if (background_.frame_lines == 0 || --left_ > 0) return false;
        ++row_;
        left_ = background_.frame_lines;
        return true;
    }

  private:
    const DeviceBackground& background_;
    std::int64_t row_ = 0;
    std::int64_t left_ = 0;
};

struct EightBackground {
    float whole[8], rest[8];

    __device__ void load(const DeviceBackground& background, std::int64_t row, std::int64_t eight) {
        const auto* from_whole = reinterpret_cast<const float4*>(background.whole + row) + 2 * eight;
        const auto* from_rest = reinterpret_cast<const float4*>(background.rest + row) + 2 * eight;
        for (int i = 0; i < 2; ++i) {
            const float4 a = __ldg(from_whole + i), b = __ldg(from_rest + i);
            whole[4 * i] = a.x, whole[4 * i + 1] = a.y, whole[4 * i + 2] = a.z, whole[4 * i + 3] = a.w;
            rest[4 * i] = b.x, rest[4 * i + 1] = b.y, rest[4 * i + 2] = b.z, rest[4 * i + 3] = b.w;
        }
    }
};

// Converts raw lines to halves. A thread processes the same eight samples of several lines.
template <class Read>
__global__ void __launch_bounds__(threads_of_eights)
    subtract_to_halves(Read read, const std::byte* raw, std::int64_t line_bytes, std::int64_t lines,
                       DeviceBackground background, float scale, __half* spectra, std::int64_t pitch) {
    const std::int64_t eight = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const std::int64_t first = static_cast<std::int64_t>(blockIdx.y) * lines_of_a_thread;
    if (8 * eight >= background.samples) return;
    const MinusBackground less_background;
    const std::int64_t end = min(first + lines_of_a_thread, lines);
    RowWalk row(background, first);
    EightBackground eight_background;
    eight_background.load(background, row.offset(), eight);
    for (std::int64_t group = first; group < end; group += lines_in_flight) {
        Eight<Read> samples[lines_in_flight];
#pragma unroll
        for (int l = 0; l < lines_in_flight; ++l) {
            if (group + l < end) samples[l].load(raw + (group + l) * line_bytes, eight);
        }
#pragma unroll
        for (int l = 0; l < lines_in_flight; ++l) {
            if (group + l >= end) break;
            float value[8];
#pragma unroll
            for (int i = 0; i < 8; ++i) {
                const auto sample = static_cast<std::int32_t>((samples[l].sample(i) >> read.shift) & read.mask);
                value[i] = less_background(sample, eight_background.whole[i], eight_background.rest[i]) * scale;
            }
            const uint4 halves = {two_halves(value[0], value[1]), two_halves(value[2], value[3]),
                                  two_halves(value[4], value[5]), two_halves(value[6], value[7])};
            reinterpret_cast<uint4*>(spectra + (group + l) * pitch)[eight] = halves;
            if (row.next() && group + l + 1 < end) eight_background.load(background, row.offset(), eight);
        }
    }
}

// Convert floats to operands, four at a time.
__global__ void to_halves(const float4* values, float scale, std::int64_t fours, uint2* halves) {
    const std::int64_t i = element();
    if (i >= fours) return;
    const float4 v = values[i];
    halves[i] = {two_halves(v.x * scale, v.y * scale), two_halves(v.z * scale, v.w * scale)};
}

__global__ void to_tf32(const float4* values, std::int64_t fours, float4* rounded) {
    const std::int64_t i = element();
    if (i >= fours) return;
    const float4 v = values[i];
    rounded[i] = {rounded_to_tf32(v.x), rounded_to_tf32(v.y), rounded_to_tf32(v.z), rounded_to_tf32(v.w)};
}

// ---- shape and scales, independent of the spectra -------------------------------------------------------------------

Operand operand_for(const RawFormat& format) {
    return format.sample_format == SampleFormat::f32 ? Operand::tf32 : Operand::half;
}

// Returns the lines per product: enough to occupy the GPU, few enough that spectra, matrix and bins of one product stay
// in a large L2 cache. Depends only on the scan and not on blocks, and so do the algorithm and the bits.
std::int64_t lines_of_product(const ScanGeometry& geometry, std::int64_t rows) {
    constexpr std::int64_t best = 2048, step = 128, max_bytes = std::int64_t{64} << 20;
    const std::int64_t all = geometry.frames_per_volume() * geometry.lines_per_b_scan();
    const std::int64_t bounded = max_bytes / (rows * std::int64_t{sizeof(float)}) / step * step;
    return std::clamp(rounded_up(all, step), step, std::max(step, std::min(best, bounded)));
}

ProductShape shape_of(const ReconstructionSpec& spec, const NudftMatrix& matrix) {
    const std::int64_t rows = 2 * rounded_up(matrix.depth(), 4);
    return {rows, lines_of_product(spec.geometry, rows), rounded_up(matrix.samples(), 8)};
}

template <Operand operand>
DeviceBuffer uploaded_matrix(const NudftMatrix& matrix, const ProductShape& shape, double scale) {
    using Element = typename ElementOf<operand>::type;
    std::vector<Element> elements(index(shape.rows * shape.inner), element_of<operand>(0));
    parallel_for(0, matrix.depth(), [&](std::int64_t z) {
        Element* real = elements.data() + 2 * z * shape.inner;
        for (std::int64_t p = 0; p < matrix.samples(); ++p) {
            const std::complex<double> element = matrix.at(z, p) * scale;
            real[p] = element_of<operand>(element.real());
            real[p + shape.inner] = element_of<operand>(element.imag());
        }
    });
    return uploaded(elements);
}

std::int64_t operand_bytes(Operand operand) {
    return operand == Operand::half ? sizeof(__half) : sizeof(float);
}

}  // namespace

NudftTables::NudftTables(const ReconstructionSpec& spec, const NudftMatrix& matrix)
    : operand_(operand_for(spec.format)), shape_(shape_of(spec, matrix)),
      spectrum_scale_(operand_ == Operand::half ? std::ldexp(1.0f, 15 - significant_bits(spec.format)) : 1.0f),
      matrix_scale_(operand_ == Operand::half ? half_matrix_scale(matrix.largest()) : 1.0f),
      matrix_(operand_ == Operand::half ? uploaded_matrix<Operand::half>(matrix, shape_, matrix_scale_)
                                        : uploaded_matrix<Operand::tf32>(matrix, shape_, matrix_scale_)),
      product_(operand_, shape_) {}

void NudftTables::multiply(cudaStream_t stream, const std::byte* spectra, float* bins, std::byte* workspace) const {
    const float factor = 1 / spectrum_scale_ / matrix_scale_;
    product_.enqueue(stream, matrix_.data(), spectra, factor, bins, workspace);
}

NudftLines::NudftLines(const NudftTables& tables, const LineFormat& format, std::int64_t rolling_width,
                       cudaStream_t stream)
    : stream_(stream), tables_(tables), format_(format), rolling_(rolling_width > 0),
      subtract_(format, rolling_width, tables.shape().columns),
      floats_(zeroed(tables.shape().columns * tables.shape().inner * std::int64_t{sizeof(float)})),
      spectra_(zeroed(tables.shape().columns * tables.shape().inner * operand_bytes(tables.operand()))),
      bins_(tables.shape().columns * tables.shape().rows * std::int64_t{sizeof(float)}),
      workspace_(tables.workspace_bytes()) {}

DeviceBins NudftLines::enqueue(const RawLines& lines) {
    if (!enqueue_by_eights(lines)) enqueue_any(lines);
    tables_.multiply(stream_, spectra_.data(), bins_.as<float>(), workspace_.data());
    return {bins_.as<float2>(), tables_.shape().rows / 2};
}

// Returns false if the format or the alignment of the lines does not permit it.
bool NudftLines::enqueue_by_eights(const RawLines& lines) const {
    const DeviceBackground& background = lines.background;
    if (rolling_ || format_.samples() % 8 != 0) return false;
    bool done = false;
    format_.with_reader([&](const auto& read) {
        using Read = std::remove_cvref_t<decltype(read)>;
        if constexpr (Eight<Read>::possible) {
            const auto is_aligned = [](const void* first, std::int64_t alignment) {
                return reinterpret_cast<std::uintptr_t>(first) % static_cast<std::uintptr_t>(alignment) == 0;
            };
            done = is_aligned(lines.raw, Eight<Read>::alignment) &&
                   format_.line_bytes() % Eight<Read>::alignment == 0 && is_aligned(background.whole, sizeof(float4)) &&
                   is_aligned(background.rest, sizeof(float4));
            if (!done) return;
            const std::int64_t eights = format_.samples() / 8;
            const dim3 blocks(static_cast<unsigned>((eights + threads_of_eights - 1) / threads_of_eights),
                              static_cast<unsigned>((lines.count + lines_of_a_thread - 1) / lines_of_a_thread));
            subtract_to_halves<<<blocks, threads_of_eights, 0, stream_>>>(
                read, lines.raw, format_.line_bytes(), lines.count, background, tables_.spectrum_scale(),
                spectra_.as<__half>(), tables_.shape().inner);
            checked_launch("subtract the background");
        }
    });
    return done;
}

void NudftLines::enqueue_any(const RawLines& lines) const {
    const std::int64_t pitch = tables_.shape().inner, fours = lines.count * pitch / 4;
    subtract_.enqueue(stream_, lines, floats_.as<float>(), pitch);
    const auto* values = floats_.as<float4>();
    if (tables_.operand() == Operand::half) {
        to_halves<<<blocks_for(fours), threads_of_a_range, 0, stream_>>>(values, tables_.spectrum_scale(), fours,
                                                                         spectra_.as<uint2>());
    } else {
        to_tf32<<<blocks_for(fours), threads_of_a_range, 0, stream_>>>(values, fours, spectra_.as<float4>());
    }
    checked_launch("round the spectra");
}

}  // namespace echolux::cuda
