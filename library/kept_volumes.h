// The last volumes of a session, to step back through and to save after the event: as many as fit into the memory that
// they are given. While time stands still, newer ones pass by.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <mutex>
#include <string>

#include "library/finished_volume.h"

namespace echolux::library {

// From any thread.
class KeptVolumes {
  public:
    void keep(std::int64_t bytes) { max_bytes_ = bytes; }  // before the first volume; 0: none

    // Those of another shape are gone then, and the oldest where there is no room.
    void add(const FinishedVolume& volume);

    std::int64_t count() const;

    // Time stands still at it; 0: the oldest. Throws Error{bad_setting}: there are not so many.
    FinishedVolume go_to(std::int64_t time_point);
    void play();

    // Those of the last `seconds`, 0: all, as one series, while newer ones come. How many. Throws Error{output,
    // bad_setting}: there are none; nothing is left then.
    std::int64_t save(const std::filesystem::path& path, double seconds) const;

  private:
    std::string remedy() const;  // where there are too few

    mutable std::mutex mutex_;
    std::int64_t max_bytes_ = 0;
    std::int64_t bytes_ = 0;
    bool is_paused_ = false;
    std::deque<FinishedVolume> volumes_;
};

}  // namespace echolux::library
