// Owns one file descriptor: memory or a semaphore on its way from the driver to whoever imports it.
#pragma once

#include <utility>

namespace echolux::gpu {

class Handle {
  public:
    explicit Handle(int descriptor = -1) : descriptor_(descriptor) {}
    ~Handle();
    Handle(Handle&& other) noexcept : descriptor_(other.release()) {}
    Handle& operator=(Handle&& other) noexcept {
        std::swap(descriptor_, other.descriptor_);
        return *this;
    }

    // The caller closes it from now on.
    int release() { return std::exchange(descriptor_, -1); }

  private:
    int descriptor_;
};

}  // namespace echolux::gpu
