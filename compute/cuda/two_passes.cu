// Kernels and launches of transforms in two passes. Sixteen transforms of two lines are interleaved in shared memory,
// so that neighbouring threads process neighbouring transforms, whose points, bins and factors are adjacent in memory.
#include "compute/cuda/two_passes.h"

#include <algorithm>
#include <type_traits>

#include "compute/cuda/line_pairs.cuh"
#include "compute/cuda/line_pairs.h"
#include "compute/cuda/point_values.cuh"
#include "compute/cuda/transform.cuh"
#include "compute/cuda/voxels.cuh"
#include "compute/indexing.h"

namespace echolux::cuda {

struct TwoPassWork {
    TwoPassLength length;
    const float2* first_twiddles = nullptr;
    const float2* second_twiddles = nullptr;
    const float2* between = nullptr;

    PairedLines lines;
    bool has_whole_u16 = false;
    const std::uint16_t* base = nullptr;
    const float* offset = nullptr;
    const float4* taps = nullptr;
    const float2* weight = nullptr;

    ComplexPair* points = nullptr;  // points of the pair with first line l: [l][first.n][second.n]

    int first_bin = 0;
    int depth = 0;
    float2* bins = nullptr;  // [lines][depth]; null: the output is codes
    ByteCodes codes;
};

namespace {

// Launch configuration; `blocks` is per multiprocessor.
constexpr int columns = TwoPassLength::columns, rows = 16, threads = columns * rows, blocks = 2;
constexpr std::int64_t cached_bytes = std::int64_t{32} << 20;  // size of points that stay in the L2 cache

// The points of one transform.
struct Column {
    ComplexPair* first;

    __device__ ComplexPair& operator[](int i) const { return first[i * TwoPassLength::pitch]; }
    __device__ Column operator+(int i) const { return {first + i * TwoPassLength::pitch}; }
};

// Returns the transform of this thread. Surplus threads repeat the last one.
__device__ inline int own_transform(int of_block, int transforms) {
    return min(static_cast<int>(blockIdx.x) * columns + of_block, transforms - 1);
}

// Two lines at the points of the k grid, background subtracted.
template <class Read>
struct ResampledPair {
    Read read;
    LinePair lines;

    __device__ ComplexPair operator()(const TwoPassWork& work, int j) const {
        const MinusBackground less;
        float taps[4];
        const EitherTaps taps_of(work.taps);
        taps_of(j, __ldg(work.offset + j), taps);
        const int first = __ldg(work.base + j);
        float2 value{};
#pragma unroll
        for (int m = 0; m < 4; ++m) {
            const int p = first + m;
            const float whole = __ldg(lines.whole + p), rest = __ldg(lines.rest + p);
            value.x = fmaf(taps[m], less(read(lines.line[0], p), whole, rest), value.x);
            value.y = fmaf(taps[m], less(read(lines.line[1], p), whole, rest), value.y);
        }
        const float2 weight = __ldg(work.weight + j);
        return {weight * value.x, weight * value.y};
    }
};

// Transforms every second.n-th point and multiplies the bins by the factors for the second pass.
__global__ void __launch_bounds__(threads, blocks) first_pass(const __grid_constant__ TwoPassWork work) {
    extern __shared__ ComplexPair shared[];
    const LinePairs::Pair pair = work.lines.pairs.at(blockIdx.y);
    if (pair.a < 0) return;
    const MixedRadix& transform = work.length.first;
    const int transforms = work.length.second.n;
    const int row = static_cast<int>(threadIdx.x) / columns, of_block = static_cast<int>(threadIdx.x) % columns;
    const int c = own_transform(of_block, transforms);
    const Column exchange{shared + of_block};
    const auto resample = [&](const auto& read) {
        const ResampledPair<std::remove_cvref_t<decltype(read)>> lines{read, work.lines.spectra(pair, 0, 1)};
#pragma unroll 4
        for (int m = row; m < transform.n; m += rows) exchange[m] = lines(work, m * transforms + c);
    };
    if (work.has_whole_u16) {
        resample(AlignedReader<ReadSample<SampleFormat::u16, ByteOrder::little, UnitStride>, 2>{});
    } else {
        work.lines.format.with_reader(resample);
    }
    __syncthreads();
    first_stage(AnyLength::first_stage(transform), exchange, row, rows,
                [&]<int radix>(ComplexPair(&v)[radix], int u, int step) {
#pragma unroll
                    for (int i = 0; i < radix; ++i) v[i] = exchange[u + i * step];
                });
    __syncthreads();
    AnyLength::middle_stages(transform, [&](const auto& stage) {
        middle_stage(stage, exchange, work.first_twiddles, row, rows);
        __syncthreads();
    });
    ComplexPair* out = work.points + std::int64_t{pair.a} * work.length.n() + c;
    const float2* between = work.between + c;
    last_stage<Bins::all>(
        AnyLength::last_stage(transform), transform.n, exchange, work.first_twiddles, row, rows,
        [&](int bin, const ComplexPair& value) { out[bin * transforms] = value * __ldg(between + bin * transforms); });
}

// Stores the kept bins in memory.
struct TwoPassBins {
    float2* a;
    float2* b;

    __device__ TwoPassBins(const TwoPassWork& work, LinePairs::Pair pair, ComplexPair*)
        : a(work.bins + std::int64_t{pair.a} * work.depth), b(work.bins + std::int64_t{pair.b} * work.depth) {}

    __device__ void store(const TwoPassWork& work, int, int k, int bin, const ComplexPair& value) const {
        const int z = k + bin * work.length.first.n - work.first_bin;
        if (z < 0 || z >= work.depth) return;
        a[z] = value.a;
        b[z] = value.b;
    }
    __device__ void finish(const TwoPassWork&, LinePairs::Pair) const {}
};

// Collects the codes of both lines in shared memory, sixteen neighbours together, then stores them as voxels.
struct TwoPassCodes {
    std::uint8_t* codes;  // [2][code_rows][columns]

    __device__ TwoPassCodes(const TwoPassWork& work, LinePairs::Pair, ComplexPair* behind_points)
        : codes(reinterpret_cast<std::uint8_t*>(behind_points)) {}

    __device__ void store(const TwoPassWork& work, int of_block, int, int bin, const ComplexPair& value) const {
        const int place = bin * columns + (work.codes.flip ? columns - 1 - of_block : of_block);
        codes[place] = work.codes.code(value.a);
        codes[work.length.code_rows() * columns + place] = work.codes.code(value.b);
    }
    __device__ void finish(const TwoPassWork& work, LinePairs::Pair pair) const {
        constexpr int half = threads / 2;
        __syncthreads();
        const int own = static_cast<int>(threadIdx.x) / half, code_rows = work.length.code_rows();
        const TargetRow to = work.codes.target.row(own == 0 ? pair.a : pair.b);
        const auto* sixteens = reinterpret_cast<const uint4*>(codes) + own * code_rows;
        for (int bin = static_cast<int>(threadIdx.x) % half; bin < code_rows; bin += half) {
            const int z = static_cast<int>(blockIdx.x) * columns + bin * work.length.first.n - work.first_bin;
            if (z < 0 || z >= work.depth) continue;
            const int place = work.codes.flip ? work.depth - columns - z : z;
            to.store(place, sixteens[bin]);
            if (to.peaks != nullptr) {
                store_peaks_of_16(sixteens[bin], to.peaks, work.codes.target.depths_of_a_peak, place / columns);
            }
        }
    }
};

// Transforms the first pass's bins, one transform per bin. For reading, adjacent threads have adjacent points of one
// transform; for writing, adjacent transforms, whose bins are adjacent in memory.
template <class Output>
__global__ void __launch_bounds__(threads, blocks) second_pass(const __grid_constant__ TwoPassWork work) {
    static_assert(rows == columns);
    extern __shared__ ComplexPair shared[];
    const LinePairs::Pair pair = work.lines.pairs.at(blockIdx.y);
    if (pair.a < 0) return;
    const MixedRadix& transform = work.length.second;
    const int transforms = work.length.first.n;
    const int row = static_cast<int>(threadIdx.x) / columns, of_block = static_cast<int>(threadIdx.x) % columns;
    const ComplexPair* points = work.points + std::int64_t{pair.a} * work.length.n();
    const ComplexPair* line = points + own_transform(row, transforms) * transform.n;
    first_stage(AnyLength::first_stage(transform), Column{shared + row}, of_block, rows,
                [&]<int radix>(ComplexPair(&v)[radix], int u, int step) {
#pragma unroll
                    for (int i = 0; i < radix; ++i) v[i] = line[u + i * step];
                });
    __syncthreads();
    const Column exchange{shared + of_block};
    AnyLength::middle_stages(transform, [&](const auto& stage) {
        middle_stage(stage, exchange, work.second_twiddles, row, rows);
        __syncthreads();
    });
    const Output output(work, pair, shared + transform.n * TwoPassLength::pitch);
    const int k = own_transform(of_block, transforms);
    last_stage(AnyLength::last_stage(transform), transform.n + 1, exchange, work.second_twiddles, row, rows,
               [&](int bin, const ComplexPair& value) { output.store(work, of_block, k, bin, value); });
    output.finish(work, pair);
}

template <class Kernel>
void launch(const Kernel& kernel, const TwoPassWork& work, int transforms, int shared, cudaStream_t stream) {
    checked(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, max_shared_bytes()),
            "request shared memory");
    const dim3 grid(static_cast<unsigned>((transforms + columns - 1) / columns), work.lines.pairs.count());
    kernel<<<grid, threads, index(shared), stream>>>(work);
    checked_launch("transform in two passes");
}

}  // namespace

TwoPassTables::TwoPassTables(const PlainTables& tables, DepthRange kept)
    : length_(two_pass_length(tables.lengths.transform, max_shared_bytes()).value()), kept_(kept),
      points_(tables, 65536), first_twiddles_(uploaded(mixed_radix_twiddles(length_.first))),
      second_twiddles_(uploaded(mixed_radix_twiddles(length_.second))), between_(uploaded(two_pass_twiddles(length_))) {
}

TwoPassLines::TwoPassLines(const TwoPassTables& tables, const LineFormat& format, std::int64_t max_lines,
                           cudaStream_t stream)
    : tables_(tables), format_(format), stream_(stream),
      lines_at_once_(
          std::clamp<std::int64_t>(cached_bytes / (tables.length_.n() * std::int64_t{sizeof(float2)}), 1, max_lines)),
      // The last line of a B-scan may be unpaired, so there may be as many pairs as lines.
      points_(lines_at_once_ * tables.length_.n() * std::int64_t{sizeof(ComplexPair)}),
      bins_(lines_at_once_ * (tables.kept_.end - tables.kept_.begin) * std::int64_t{sizeof(float2)}) {}

// Calls use(first, work) for pieces of the lines that fit into memory. For long B-scans, no piece extends into the next
// B-scan, so that all pairs of a piece exist.
template <class Use>
void TwoPassLines::in_pieces(const RawLines& lines, const Use& use) const {
    const bool are_long = lines.background.frame_lines > lines_at_once_;
    for (std::int64_t first = 0; first < lines.count;) {
        RawLines piece = lines.part(first, lines_at_once_, format_.line_bytes());
        const DeviceBackground& background = piece.background;
        if (are_long) {
            piece.count =
                std::min(piece.count, background.frame_lines - background.first_line % background.frame_lines);
            piece.background = background.of_first_line();
        }
        use(first, work(piece));
        first += piece.count;
    }
}

DeviceBins TwoPassLines::enqueue(const RawLines& lines) {
    const std::int64_t depth = tables_.kept_.end - tables_.kept_.begin;
    in_pieces(lines, [&](std::int64_t first, TwoPassWork piece) {
        piece.bins = bins_.as<float2>() + first * depth;
        enqueue_passes(piece);
    });
    return {bins_.as<float2>(), depth};
}

bool TwoPassLines::enqueue_codes(const RawLines& lines, const ByteCodes& codes) {
    const bool sixteen_are_together =
        tables_.length_.first.n % TwoPassLength::columns == 0 && tables_.kept_.begin % TwoPassLength::columns == 0;
    if (!sixteen_are_together) return false;
    in_pieces(lines, [&](std::int64_t first, TwoPassWork piece) {
        piece.codes = codes;
        piece.codes.target = codes.target.from(first);
        enqueue_passes(piece);
    });
    return true;
}

// Fills everything except the output.
TwoPassWork TwoPassLines::work(const RawLines& lines) const {
    TwoPassWork work;
    work.length = tables_.length_;
    work.first_twiddles = tables_.first_twiddles_.as<float2>();
    work.second_twiddles = tables_.second_twiddles_.as<float2>();
    work.between = tables_.between_.as<float2>();
    work.lines = PairedLines(format_, lines);
    work.has_whole_u16 = format_words(format_) == LineWords::u16 && lie_at(format_, lines.raw, 2);
    work.base = tables_.points_.base();
    work.offset = tables_.points_.offset();
    work.taps = tables_.points_.taps();
    work.weight = tables_.points_.weight();
    work.points = points_.as<ComplexPair>();
    work.first_bin = static_cast<int>(tables_.kept_.begin);
    work.depth = static_cast<int>(tables_.kept_.end - tables_.kept_.begin);
    return work;
}

void TwoPassLines::enqueue_passes(const TwoPassWork& work) const {
    const TwoPassLength& length = work.length;
    const int shared = TwoPassLength::shared_bytes(length.second);
    launch(first_pass, work, length.second.n, TwoPassLength::shared_bytes(length.first), stream_);
    if (work.bins != nullptr) {
        launch(second_pass<TwoPassBins>, work, length.first.n, shared, stream_);
    } else {
        launch(second_pass<TwoPassCodes>, work, length.first.n, shared + length.code_bytes(), stream_);
    }
}

}  // namespace echolux::cuda
