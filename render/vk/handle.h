// Owner of a file descriptor through which another API imports memory or a semaphore of the Vulkan driver.
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

    // Passes ownership to the caller, who must close the descriptor.
    int release() { return std::exchange(descriptor_, -1); }

  private:
    int descriptor_;
};

}  // namespace echolux::gpu
