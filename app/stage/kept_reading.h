// Transfers kept volumes to a waiting thread. The drawing thread starts copying one volume whenever the previous one
// has been taken, so at most two are in memory and pictures never wait.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "app/live/kept_series.h"
#include "app/live/live_ring.h"
#include "app/stage/exhibit.h"
#include "compute/error.h"

namespace echolux {

class KeptReading {
  public:
    // The kept volumes stay unchanged for the lifetime of this object.
    KeptReading(KeptSeries series, std::shared_ptr<const KeptHold> hold)
        : series_(std::move(series)), hold_(std::move(hold)) {}

    const KeptSeries& series() const { return series_; }
    const KeptHold& hold() const { return *hold_; }

    // ---- drawing thread; never waits
    std::optional<std::uint64_t> wanted() const;  // serial of the volume to copy now
    void bring(VolumeToCome coming);
    void fail(const Error& error);  // the waiting thread receives the error

    // ---- waiting thread: returns the next volume's voxels. Throws Error{device, cancelled, out_of_memory}.
    std::vector<std::byte> next(Progress& progress);

  private:
    KeptSeries series_;
    std::shared_ptr<const KeptHold> hold_;
    mutable std::mutex mutex_;  // guards the members below
    std::condition_variable changed_;
    std::size_t begun_ = 0;
    VolumeToCome coming_;
    std::optional<Error> error_;
};

}  // namespace echolux
