// RAII owners of CUDA resources, the conversion of CUDA return codes to errors, and the usable GPUs. Resources belong
// to the device that was current at construction.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "compute/backend.h"
namespace echolux::cuda {

// Throws Error{device} naming the failed action, or Error{out_of_memory} if an allocation failed.
void checked(cudaError_t result, const char* doing);

// Checks the launch that was just made. Reports launch errors only; kernel failures surface later.
void checked_launch(const char* doing);

// Makes a device current and restores the previous one at the end of the scope.
class CurrentDevice {
  public:
    explicit CurrentDevice(int device);
    CurrentDevice(int device, std::nothrow_t) noexcept;  // for destructors; ignores errors
    ~CurrentDevice();
    CurrentDevice(const CurrentDevice&) = delete;
    CurrentDevice& operator=(const CurrentDevice&) = delete;

  private:
    int former_ = 0;
};

// Base of objects with memory on a device, so that it outlives their members. leave() makes the device current for the
// destruction of the members.
class OfDevice {
  public:
    explicit OfDevice(int device) : device_(device) {}

  protected:
    void leave(cudaStream_t stream) {
        at_the_end_.emplace(device_, std::nothrow);
        cudaStreamSynchronize(stream);
    }

    int device_;

  private:
    std::optional<CurrentDevice> at_the_end_;
};

// Checks that `data` is memory of the current device. Throws Error{bad_setting} naming `where`.
void require_on_device(const void* data, const char* where);

// Returns the max shared memory per thread block on the current device.
int max_shared_bytes();

// Checks that `bytes` of device memory are free. Otherwise throws Error{out_of_memory} stating the requirement of
// `what` ("this filter") and the available memory.
void require_free(std::int64_t bytes, const char* what, const char* remedy);

// Memory of the device, or pinned host memory. Default-constructed objects are empty.
enum class Side { device, pinned };

// Owns an allocation. Movable, not copyable.
template <Side side>
class Memory {
  public:
    Memory() = default;
    explicit Memory(std::int64_t bytes) : data_(allocated(bytes)), bytes_(bytes) {}
    Memory(Memory&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
    Memory& operator=(Memory&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~Memory() { release(data_); }

    std::byte* data() const { return data_; }
    std::int64_t bytes() const { return bytes_; }

    template <class T>
    T* as() const {
        return reinterpret_cast<T*>(data_);
    }

    // Grows to `bytes` or more. Growing discards the content.
    void reserve(std::int64_t bytes) {
        if (bytes <= bytes_) return;
        *this = Memory();
        *this = Memory(bytes);
    }

  private:
    static std::byte* allocated(std::int64_t bytes);  // null for 0 bytes; throws Error{out_of_memory, device}
    static void release(std::byte* data);

    std::byte* data_ = nullptr;
    std::int64_t bytes_ = 0;
};

using DeviceBuffer = Memory<Side::device>;
using PinnedBuffer = Memory<Side::pinned>;

// Copies a host table to the device. Blocks until complete.
void upload(const void* from, std::int64_t bytes, std::byte* to);

template <class T>
DeviceBuffer uploaded(const std::vector<T>& table) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto bytes = static_cast<std::int64_t>(table.size() * sizeof(T));
    DeviceBuffer buffer(bytes);
    upload(table.data(), bytes, buffer.data());
    return buffer;
}

// Allocates zeroed memory. Blocks until complete.
DeviceBuffer zeroed(std::int64_t bytes);

// Work on urgent streams has priority: for short steps that the host waits for, next to long ones.
enum class Urgency { usual, urgent };

// Owns a non-blocking stream. The destructor waits for its work.
class Stream {
  public:
    explicit Stream(Urgency urgency = Urgency::usual);
    ~Stream();
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    operator cudaStream_t() const { return stream_; }

  private:
    cudaStream_t stream_ = nullptr;
};

// Orders streams. wait() on the host spins briefly, then sleeps.
class Event {
  public:
    Event();
    ~Event();
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;

    operator cudaEvent_t() const { return event_; }

    // Returns whether the recorded work is complete or has failed.
    bool reached() const;

    // Blocks the host until the recorded work is complete. Throws Error{device} naming the action `doing`.
    void wait(const char* doing) const;

  private:
    cudaEvent_t event_ = nullptr;
};

// ---- Usable GPUs by UUID, for reconstruction, memory, textures and ceilings.

// A usable GPU and its CUDA device number.
struct NumberedGpu {
    int index = 0;  // device number in the CUDA runtime
    Gpu gpu;
};

// Returns a usable GPU of surveyed_gpus(). An all-zero `id` selects the first one. Throws Error{device} if it is not
// usable.
const NumberedGpu& usable_gpu(const DeviceId& id);

// Runs an empty kernel and waits for it, to test whether the current device can run the code of this build. Returns
// cudaErrorNoKernelImageForDevice if there is no code for the device.
cudaError_t run_trivial_kernel();

}  // namespace echolux::cuda
