// Limits of a GPU, see compute/ceilings.h. Timed on one stream, with repetitions long enough to make launch and
// synchronization negligible.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "compute/cuda/entry.h"
#include "compute/cuda/memory.h"
#include "compute/cuda/toolkit.h"
#include "compute/indexing.h"

namespace echolux::cuda {
namespace {

using Enqueue = std::function<void(cudaStream_t)>;

// Times work on its own stream.
class Clock {
  public:
    explicit Clock(const CeilingEffort& effort) : effort_(effort) {}

    // Returns the units per second of the work that `enqueue` puts on the stream.
    std::vector<double> rates(double units, const Enqueue& enqueue) const {
        return rates_of(
            units, effort_, [&] { enqueue(stream_); },
            [&] { checked(cudaStreamSynchronize(stream_), "measure the GPU"); });
    }

    cudaStream_t stream() const { return stream_; }

  private:
    CeilingEffort effort_;
    Stream stream_;
};

Enqueue copying(const void* from, void* to, std::int64_t bytes) {
    return [=](cudaStream_t stream) {
        checked(cudaMemcpyAsync(to, from, index(bytes), cudaMemcpyDefault, stream), "copy memory");
    };
}

// ---- kernels --------------------------------------------------------------------------------------------------------

// Stores the sum only in a case that cannot occur, so that reading alone is timed.
__global__ void read_all(const uint4* from, std::int64_t count, std::uint32_t* sum) {
    std::uint32_t x = 0;
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
        const uint4 v = __ldcs(from + i);
        x |= v.x | v.y | v.z | v.w;
    }
    if (x == 1) *sum = x;  // never: the memory is zero
}

// Stores sixteen bytes per thread. A warp covers `across` of them along x and 32 / across rows.
template <int across>
__global__ void write_surface(cudaSurfaceObject_t surface, int columns, int rows) {
    constexpr int rows_a_warp = 32 / across;
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    const int column = static_cast<int>(blockIdx.x) * across + lane % across;
    const int row =
        (static_cast<int>(blockIdx.y) * static_cast<int>(blockDim.x) / 32 + warp) * rows_a_warp + lane / across;
    const auto value = static_cast<std::uint32_t>(column ^ row);
    if (column < columns && row < rows) {
        surf3Dwrite(make_uint4(value, value, value, value), surface, column * 16, row, static_cast<int>(blockIdx.z));
    }
}

template <int across>
Enqueue writing(cudaSurfaceObject_t surface, int columns, int rows, int slices) {
    constexpr int warps = 8, rows_a_block = warps * (32 / across);
    const dim3 grid(static_cast<unsigned>((columns + across - 1) / across),
                    static_cast<unsigned>((rows + rows_a_block - 1) / rows_a_block), static_cast<unsigned>(slices));
    return [=](cudaStream_t stream) {
        write_surface<across><<<grid, warps * 32, 0, stream>>>(surface, columns, rows);
        checked_launch("write to a texture");
    };
}

// A 3-D array of bytes and a surface for kernels to write it.
class Texture {
  public:
    Texture(int depth, int rows, int slices) {
        const cudaExtent extent = make_cudaExtent(index(depth), index(rows), index(slices));
        const cudaChannelFormatDesc byte = cudaCreateChannelDesc<unsigned char>();
        checked(cudaMalloc3DArray(&array_, &byte, extent, cudaArraySurfaceLoadStore), "allocate a texture");
        cudaResourceDesc resource{};
        resource.resType = cudaResourceTypeArray;
        resource.res.array.array = array_;
        const cudaError_t made = cudaCreateSurfaceObject(&surface_, &resource);
        if (made != cudaSuccess) cudaFreeArray(array_);
        checked(made, "create a surface");
    }
    ~Texture() {
        cudaDestroySurfaceObject(surface_);
        cudaFreeArray(array_);
    }
    Texture(const Texture&) = delete;
    Texture& operator=(const Texture&) = delete;

    cudaSurfaceObject_t surface() const { return surface_; }

  private:
    cudaArray_t array_ = nullptr;
    cudaSurfaceObject_t surface_ = 0;
};

// ---- measurements ---------------------------------------------------------------------------------------------------

void links(Clock& clock, const CeilingEffort& effort, const CeilingCallback& found) {
    const std::int64_t bytes = effort.bytes / 16 * 16;
    const auto amount = static_cast<double>(bytes);
    const PinnedBuffer host(bytes);
    std::memset(host.data(), 0, index(bytes));
    const DeviceBuffer device = zeroed(bytes);
    found({"link.to_device", "pinned host memory to the GPU, copied", "B/s",
           clock.rates(amount, copying(host.data(), device.data(), bytes))});
    found({"link.to_host", "the GPU to pinned host memory, copied", "B/s",
           clock.rates(amount, copying(device.data(), host.data(), bytes))});
    const DeviceBuffer sum = zeroed(4);
    const auto reading = [&](cudaStream_t stream) {
        read_all<<<1024, 256, 0, stream>>>(host.as<const uint4>(), bytes / 16, sum.as<std::uint32_t>());
        checked_launch("read host memory");
    };
    found({"link.read", "pinned host memory, read by a kernel", "B/s", clock.rates(amount, reading)});
}

void device_copy(Clock& clock, const CeilingEffort& effort, const CeilingCallback& found) {
    const std::int64_t half = effort.bytes / 2;
    const DeviceBuffer from = zeroed(half), to = zeroed(half);
    found({"memory.copy", "GPU memory, copied (read + written)", "B/s",
           clock.rates(2 * static_cast<double>(half), copying(from.data(), to.data(), half))});
}

// Tries two access patterns and reports the faster: whole warps along x, and tiles of 4 x 8.
void texture_write(Clock& clock, const CeilingEffort& effort, const CeilingCallback& found) {
    constexpr int depth = 1024, rows = 512;
    const int slices = static_cast<int>(std::clamp<std::int64_t>(effort.bytes / (depth * rows), 1, 2048));
    const Texture texture(depth, rows, slices);
    const double bytes = static_cast<double>(depth) * rows * slices;
    const auto along_x = clock.rates(bytes, writing<32>(texture.surface(), depth / 16, rows, slices));
    const auto in_tiles = clock.rates(bytes, writing<4>(texture.surface(), depth / 16, rows, slices));
    const auto sum = [](const std::vector<double>& rates) { return std::reduce(rates.begin(), rates.end()); };
    const bool tiles_win = sum(in_tiles) > sum(along_x);
    found({"texture.write",
           tiles_win ? "3-D texture, written by warps of 64 bytes x 8 rows" : "3-D texture, written by warps along x",
           "B/s", tiles_win ? in_tiles : along_x});
}

// Transforms all lines in one batch, the best case for cuFFT.
void transforms(Clock& clock, std::int64_t length, const CeilingEffort& effort, const CeilingCallback& found) {
    constexpr auto bytes_a_point = static_cast<std::int64_t>(sizeof(float2));
    const std::int64_t lines = std::max<std::int64_t>(1, effort.bytes / 2 / (length * bytes_a_point));
    const std::int64_t bytes = lines * length * bytes_a_point;
    const DeviceBuffer from = zeroed(bytes), to = zeroed(bytes);
    Fft fft(Fft::Kind::complex_forward, length, length, length, clock.stream(), lines);
    const auto enqueue = [&](cudaStream_t) { fft.execute(lines, from.data(), to.data()); };
    found({"fft." + std::to_string(length), "cuFFT alone, complex", "transforms/s",
           clock.rates(static_cast<double>(lines), enqueue)});
}

}  // namespace

void measure_ceilings(const DeviceId& gpu, std::span<const std::int64_t> lengths, const CeilingEffort& effort,
                      const CeilingCallback& found) {
    const CurrentDevice current(usable_gpu(gpu).index);
    Clock clock(effort);
    links(clock, effort, found);
    device_copy(clock, effort, found);
    texture_write(clock, effort, found);
    for (const std::int64_t length : lengths) transforms(clock, length, effort, found);
}

namespace {

// An empty kernel that tests whether a GPU can run the code of this build.
__global__ void nothing() {}

}  // namespace

cudaError_t run_trivial_kernel() {
    cudaFuncAttributes facts{};
    cudaError_t result = cudaFuncGetAttributes(&facts, nothing);
    if (result != cudaSuccess) return result;
    nothing<<<1, 1>>>();
    result = cudaGetLastError();
    return result == cudaSuccess ? cudaDeviceSynchronize() : result;
}

}  // namespace echolux::cuda
