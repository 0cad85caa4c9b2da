// What belongs to the CUDA runtime, held by owners that give it back, and the one way its return codes become errors.
// Everything lives on the device that was current when it was made.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace echolux::cuda {

// Throws Error{device} naming what failed; Error{out_of_memory} where memory was refused.
void checked(cudaError_t result, const char* doing);

// Takes the state of a launch that has just been made: a bad launch is an error here, a failing kernel later.
void checked_launch(const char* doing);

// Makes a device current, and the former one again at the end of the scope.
class CurrentDevice {
  public:
    explicit CurrentDevice(int device);
    CurrentDevice(int device, std::nothrow_t) noexcept;  // for destructors: tries
    ~CurrentDevice();
    CurrentDevice(const CurrentDevice&) = delete;
    CurrentDevice& operator=(const CurrentDevice&) = delete;

  private:
    int former_ = 0;
};

// Throws Error{bad_setting} naming `where` unless `data` is memory of the current device.
void require_on_device(const void* data, const char* where);

// That a block of threads can ask for on the current device.
int max_shared_bytes();

// Throws Error{out_of_memory} that says how much `what` ("this filter") needs and how much the GPU has, unless it has
// that.
void require_free(std::int64_t bytes, const char* what, const char* remedy);

// Memory of the device or, pinned, of the host. Empty ones own nothing.
enum class Side { device, pinned };

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

    // At least that many bytes; what it held is gone where it grows.
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

// A table of the host on the device. Returns when it is there.
void upload(const void* from, std::int64_t bytes, std::byte* to);

template <class T>
DeviceBuffer uploaded(const std::vector<T>& table) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto bytes = static_cast<std::int64_t>(table.size() * sizeof(T));
    DeviceBuffer buffer(bytes);
    upload(table.data(), bytes, buffer.data());
    return buffer;
}

// All zero. Returns when it is.
DeviceBuffer zeroed(std::int64_t bytes);

// Work of urgent ones goes first: short steps that the host waits for, beside long ones that may come later.
enum class Urgency { usual, urgent };

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

// An order between streams; waiting for one on the host soon sleeps instead of spinning.
class Event {
  public:
    Event();
    ~Event();
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;

    operator cudaEvent_t() const { return event_; }

    // Whether what it was recorded after is done, or has failed.
    bool reached() const;

    // The host waits for that, where it is not done yet. Throws Error{device} that names what was done.
    void wait(const char* doing) const;

  private:
    cudaEvent_t event_ = nullptr;
};

}  // namespace echolux::cuda
