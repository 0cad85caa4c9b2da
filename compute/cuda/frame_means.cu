// Two published methods for the mean spectrum of a B-scan, compared with that of Echolux in the benchmark (Shafer et
// al., adaptive-optics OCT): one thread per column that adds line after line; and a tiled transpose with diagonal
// blocks and padding against bank conflicts (Ruetsch and Micikevicius), followed by a tree reduction per row. Sums are
// integers, so all three must be bit-identical.
#include <cuda_runtime.h>

#include <algorithm>
#include <random>
#include <vector>

#include "compute/cuda/background.h"
#include "compute/cuda/entry.h"
#include "compute/cuda/memory.h"
#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/steps/sample.h"

namespace echolux::cuda {
namespace {

// u16 [b_scans][lines][samples].
struct Spectra {
    const std::uint16_t* raw;
    int samples;
    int lines;
    int b_scans;
};

// Like DeviceBackground: [b_scans][samples] each.
struct Means {
    float* whole;
    float* rest;

    __device__ void store(std::int64_t i, std::uint64_t sum, int lines) const {
        const SplitBackground parts(static_cast<double>(sum) / lines);
        whole[i] = parts.whole;
        rest[i] = parts.rest;
    }
};

// ---- one thread per column ------------------------------------------------------------------------------------------

__global__ void add_columns(Spectra of, Means means) {
    const int p = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), b = static_cast<int>(blockIdx.y);
    if (p >= of.samples) return;
    const std::uint16_t* column = of.raw + std::int64_t{b} * of.lines * of.samples + p;
    std::uint64_t sum = 0;
    for (int l = 0; l < of.lines; ++l) sum += column[std::int64_t{l} * of.samples];
    means.store(std::int64_t{b} * of.samples + p, sum, of.lines);
}

// ---- transpose and reduce -------------------------------------------------------------------------------------------

constexpr int tile = 32, rows_at_once = 8;

// Transposes [lines][samples] of each B-scan to [samples][lines]. Blocks are assigned along diagonals, so that
// concurrent blocks are spread over the memory channels.
__global__ void transpose(Spectra of, std::uint16_t* turned) {
    __shared__ std::uint16_t held[tile][tile + 2];  // rows of 17 banks: columns have no conflicts
    const unsigned id = blockIdx.x + gridDim.x * blockIdx.y;
    const unsigned tile_row = id % gridDim.y, tile_column = (id / gridDim.y + tile_row) % gridDim.x;
    const std::int64_t b_scan = std::int64_t{blockIdx.z} * of.lines * of.samples;
    const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
    const int p = static_cast<int>(tile_column) * tile + x;
    for (int row = y; row < tile; row += rows_at_once) {
        const int l = static_cast<int>(tile_row) * tile + row;
        if (p < of.samples && l < of.lines) held[row][x] = of.raw[b_scan + std::int64_t{l} * of.samples + p];
    }
    __syncthreads();
    const int to_l = static_cast<int>(tile_row) * tile + x;
    for (int row = y; row < tile; row += rows_at_once) {
        const int to_p = static_cast<int>(tile_column) * tile + row;
        if (to_p < of.samples && to_l < of.lines) turned[b_scan + std::int64_t{to_p} * of.lines + to_l] = held[x][row];
    }
}

constexpr int reducers = 128;  // threads per row

// One block per row: all lines of one sample.
__global__ void reduce_rows(const std::uint16_t* turned, Spectra of, Means means) {
    __shared__ std::uint64_t sums[reducers];
    const int t = static_cast<int>(threadIdx.x);
    const std::int64_t row = blockIdx.x;
    std::uint64_t sum = 0;
    for (int l = t; l < of.lines; l += reducers) sum += turned[row * of.lines + l];
    sums[t] = sum;
    __syncthreads();
    for (int half = reducers / 2; half > 0; half /= 2) {
        if (t < half) sums[t] += sums[t + half];
        __syncthreads();
    }
    if (t == 0) means.store(row, sums[0], of.lines);
}

// ---- all three, timed and compared ----------------------------------------------------------------------------------

std::vector<float> on_the_host(const float* whole, const float* rest, std::int64_t count) {
    std::vector<float> both(index(2 * count));
    const auto bytes = index(count) * sizeof(float);
    checked(cudaMemcpy(both.data(), whole, bytes, cudaMemcpyDeviceToHost), "read the means");
    checked(cudaMemcpy(both.data() + count, rest, bytes, cudaMemcpyDeviceToHost), "read the means");
    return both;
}

std::vector<std::uint16_t> random_counts(std::int64_t count) {
    std::mt19937 random(1);
    std::vector<std::uint16_t> counts(index(count));
    std::ranges::generate(counts, [&] { return static_cast<std::uint16_t>(random() & 0xfff); });
    return counts;
}

// Random spectra on the GPU and the buffers of all three methods.
class MeansBench {
  public:
    MeansBench(const FrameMeans& of, const CeilingEffort& effort)
        : effort_(effort), geometry_{.samples = of.samples, .a_scans = of.lines, .b_scans = of.b_scans},
          raw_(uploaded(random_counts(of.samples * of.lines * of.b_scans))), turned_(raw_.bytes()),
          whole_(means() * std::int64_t{sizeof(float)}),
          rest_(whole_.bytes()), spectra_{raw_.as<std::uint16_t>(), static_cast<int>(of.samples),
                                          static_cast<int>(of.lines), static_cast<int>(of.b_scans)},
          product_(Background::frame_mean, LineFormat({}, geometry_), geometry_, {}, 1, of.b_scans, nullptr) {
        product();
        checked(cudaStreamSynchronize(stream_), "find the means");
        const DeviceBackground rows = product_.rows();
        expected_ = on_the_host(rows.whole, rows.rest, means());
    }

    void measure(const CeilingCallback& found) {
        found({"mean.serial", "mean spectra, one thread per column", "A-scans/s", rates([&] { serial(); }, true)});
        found({"mean.transposed", "mean spectra, transposed in tiles, then a tree per row", "A-scans/s",
               rates([&] { transposed(); }, true)});
        found(
            {"mean.product", "mean spectra, as Echolux computes them", "A-scans/s", rates([&] { product(); }, false)});
    }

  private:
    std::int64_t means() const { return geometry_.b_scans * geometry_.samples; }
    Means target() const { return {whole_.as<float>(), rest_.as<float>()}; }

    void serial() {
        constexpr unsigned threads = 128;
        const dim3 grid((static_cast<unsigned>(spectra_.samples) + threads - 1) / threads,
                        static_cast<unsigned>(spectra_.b_scans));
        add_columns<<<grid, threads, 0, stream_>>>(spectra_, target());
        checked_launch("add columns");
    }

    void transposed() {
        const auto tiles = [](int length) { return static_cast<unsigned>((length + tile - 1) / tile); };
        const dim3 grid(tiles(spectra_.samples), tiles(spectra_.lines), static_cast<unsigned>(spectra_.b_scans));
        transpose<<<grid, dim3(tile, rows_at_once), 0, stream_>>>(spectra_, turned_.as<std::uint16_t>());
        checked_launch("transpose");
        reduce_rows<<<static_cast<unsigned>(means()), reducers, 0, stream_>>>(turned_.as<const std::uint16_t>(),
                                                                              spectra_, target());
        checked_launch("reduce rows");
    }

    void product() { product_.find(stream_, raw_.data(), geometry_.b_scans, true); }

    std::vector<double> rates(const std::function<void()>& enqueue, bool is_checked) {
        checked(cudaMemsetAsync(whole_.data(), 0xff, index(whole_.bytes()), stream_), "forget");
        auto found = rates_of(static_cast<double>(geometry_.b_scans * geometry_.a_scans), effort_, enqueue,
                              [&] { checked(cudaStreamSynchronize(stream_), "find the means"); });
        if (is_checked && on_the_host(whole_.as<float>(), rest_.as<float>(), means()) != expected_) {
            throw Error(ErrorCode::device, "a published method for the mean spectrum gives other bits than Echolux",
                        "mean", "report this error");
        }
        return found;
    }

    CeilingEffort effort_;
    ScanGeometry geometry_;
    DeviceBuffer raw_, turned_, whole_, rest_;
    Spectra spectra_;
    FrameBackground product_;
    Stream stream_;
    std::vector<float> expected_;
};

}  // namespace

void measure_frame_means(const DeviceId& gpu, const FrameMeans& of, const CeilingEffort& effort,
                         const CeilingCallback& found) {
    constexpr std::int64_t max_b_scans = 65535;  // max blocks of a grid in y and z
    if (of.b_scans > max_b_scans) {
        throw Error(ErrorCode::bad_setting, "more than 65535 B-scans", "mean", "choose fewer");
    }
    const CurrentDevice current(usable_gpu(gpu).index);
    MeansBench(of, effort).measure(found);
}

}  // namespace echolux::cuda
