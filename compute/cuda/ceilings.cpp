// Combined bandwidth of the links of several GPUs, see compute/ceilings.h.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "compute/cuda/entry.h"
#include "compute/cuda/memory.h"
#include "compute/cuda/transfers.h"
#include "compute/error.h"
#include "compute/indexing.h"

namespace echolux::cuda {
namespace {

constexpr std::int64_t depth = 1024, a_scans = 512;

// A GPU with its own memory and stream, which receives bytes from the host and forwards them.
struct Linked {
    Linked(int index, std::int64_t bytes) : device(index), host(bytes), memory(bytes) {
        std::memset(host.data(), 0, static_cast<std::size_t>(bytes));
    }

    int device;
    PinnedBuffer host;
    DeviceBuffer memory;
    Stream stream;
    PeerCopy to_first{PeerPath::copied};
};

// An array on the first GPU with a part for each of the others.
class ArrayOfBytes {
  public:
    explicit ArrayOfBytes(std::int64_t slices) {
        const cudaChannelFormatDesc byte = cudaCreateChannelDesc<unsigned char>();
        checked(cudaMalloc3DArray(&array_, &byte, make_cudaExtent(index(depth), index(a_scans), index(slices)),
                                  cudaArraySurfaceLoadStore),
                "allocate a texture");
    }
    ~ArrayOfBytes() { cudaFreeArray(array_); }
    ArrayOfBytes(const ArrayOfBytes&) = delete;
    ArrayOfBytes& operator=(const ArrayOfBytes&) = delete;

    cudaArray_t get() const { return array_; }

  private:
    cudaArray_t array_ = nullptr;
};

// The linked GPUs and their common target.
class SeveralLinks {
  public:
    SeveralLinks(std::span<const DeviceId> gpus, const CeilingEffort& effort) : effort_(effort) {
        slices_ = std::clamp<std::int64_t>(effort.bytes / (depth * a_scans), 1, 1024 / std::ssize(gpus));
        for (const DeviceId& gpu : gpus) {
            const int index = usable_gpu(gpu).index;
            const CurrentDevice current(index);
            linked_.push_back(std::make_unique<Linked>(index, bytes()));
        }
        const CurrentDevice first(linked_.front()->device);
        texture_.emplace(slices_ * std::ssize(gpus));
    }
    ~SeveralLinks() {
        for (const auto& one : linked_) cudaStreamSynchronize(one->stream);
    }

    std::vector<double> from_host(std::int64_t count) {
        return rates(0, count, [&](Linked& one, std::int64_t) {
            checked(
                cudaMemcpyAsync(one.memory.data(), one.host.data(), index(bytes()), cudaMemcpyHostToDevice, one.stream),
                "copy memory");
        });
    }

    std::vector<double> to_first(std::int64_t count) {
        const int first = linked_.front()->device;
        return rates(1, count, [&](Linked& one, std::int64_t i) {
            one.to_first.enqueue(one.stream, {one.memory.data(), depth, depth, a_scans, slices_},
                                 {.device = first, .array = texture_->get(), .first_slice = i * slices_});
        });
    }

  private:
    std::int64_t bytes() const { return depth * a_scans * slices_; }

    // Measures linked GPUs [begin, end) together.
    template <class Enqueue>
    std::vector<double> rates(std::int64_t begin, std::int64_t end, const Enqueue& enqueue) {
        const auto each = [&](const auto& work) {
            for (std::int64_t i = begin; i < end; ++i) {
                Linked& one = *linked_[index(i)];
                const CurrentDevice current(one.device);
                work(one, i);
            }
        };
        return rates_of(
            static_cast<double>((end - begin) * bytes()), effort_, [&] { each(enqueue); },
            [&] {
                each([](Linked& one, std::int64_t) {
                    checked(cudaStreamSynchronize(one.stream), "measure the link rates");
                });
            });
    }

    CeilingEffort effort_;
    std::int64_t slices_ = 1;
    std::optional<ArrayOfBytes> texture_;
    std::vector<std::unique_ptr<Linked>> linked_;
};

}  // namespace

void measure_several_gpus(std::span<const DeviceId> gpus, const CeilingEffort& effort, const CeilingCallback& found) {
    if (gpus.empty()) throw Error(ErrorCode::device, "no GPU is named", "ceilings");
    SeveralLinks links(gpus, effort);
    for (const std::int64_t count : doubled_to(std::ssize(gpus))) {
        const std::string of = "/" + std::to_string(count);
        found({"links.to_devices" + of, "pinned host memory to " + std::to_string(count) + " GPUs at once, copied",
               "B/s", links.from_host(count)});
        if (count == 1) continue;
        found({"peers" + of, "into a 3-D texture of the first, from the others at once", "B/s", links.to_first(count)});
    }
}

}  // namespace echolux::cuda
