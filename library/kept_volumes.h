// The most recent volumes of a session that fit into a memory limit, to step back through and to save after an event.
// While paused, new volumes are not kept.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <mutex>
#include <string>

#include "library/finished_volume.h"

namespace echolux::library {

// All functions except keep() may be called from any thread.
class KeptVolumes {
  public:
    void keep(std::int64_t bytes) { max_bytes_ = bytes; }  // call before the first volume; with 0 nothing is kept

    // Removes the oldest volumes if there is no room, and all if the new one has a different shape.
    void add(const FinishedVolume& volume);

    std::int64_t count() const;

    // Pauses and returns a kept volume; 0 is the oldest. Throws Error{bad_setting} if `time_point` is out of range.
    FinishedVolume go_to(std::int64_t time_point);
    void play();

    // Writes the volumes of the last `seconds` (0: all) as one series and returns their number. New volumes may arrive
    // while it writes. Throws Error{output, bad_setting}; without any volume no file is written.
    std::int64_t save(const std::filesystem::path& path, double seconds) const;

  private:
    std::string remedy() const;  // advice for errors about too few volumes

    mutable std::mutex mutex_;
    std::int64_t max_bytes_ = 0;
    std::int64_t bytes_ = 0;
    bool is_paused_ = false;
    std::deque<FinishedVolume> volumes_;
};

}  // namespace echolux::library
