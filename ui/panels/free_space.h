// How much room a disk has, asked now and then on a thread of its own: a network's disk may take its time, and the
// picture does not wait for it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <future>
#include <optional>

namespace echolux {

class FreeSpace {
  public:
    // Bytes on the disk of that folder, as of a second or two ago; nothing: not known (yet).
    std::optional<std::int64_t> bytes(const std::filesystem::path& folder, double now_s);

  private:
    std::filesystem::path folder_;
    std::optional<std::int64_t> known_;
    std::future<std::optional<std::int64_t>> asked_;
    double asked_at_s_ = -1e9;
};

}  // namespace echolux
