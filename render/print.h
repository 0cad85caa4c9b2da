// Exact fingerprint of the input of cached device data: its bytes. Different bytes require a new computation. Add
// members without padding only.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace echolux {

class Print {
  public:
    template <class T>
    void add(const T& fact) {
        const auto bytes = std::as_bytes(std::span(&fact, 1));
        bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    }
    std::vector<std::byte> bytes() && { return std::move(bytes_); }

  private:
    std::vector<std::byte> bytes_;
};

}  // namespace echolux
