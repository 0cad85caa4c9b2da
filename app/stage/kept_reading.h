// Volumes that are kept on their way to whoever waits for them on a thread of his own: the thread that draws begins to
// copy one whenever the one before has been taken, so that two are in memory at most and no picture waits.
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
    // They stay as they are until it goes.
    KeptReading(KeptSeries series, std::shared_ptr<const KeptHold> hold)
        : series_(std::move(series)), hold_(std::move(hold)) {}

    const KeptSeries& series() const { return series_; }
    const KeptHold& hold() const { return *hold_; }

    // ---- the thread that draws; never waits
    std::optional<std::uint64_t> wanted() const;  // serial of the volume that is to be copied now
    void bring(VolumeToCome coming);
    void fail(const Error& error);  // whoever waits hears it

    // ---- whoever waits: the next volume's voxels. Throws Error{device, cancelled, out_of_memory}.
    std::vector<std::byte> next(Progress& progress);

  private:
    KeptSeries series_;
    std::shared_ptr<const KeptHold> hold_;
    mutable std::mutex mutex_;  // of what follows
    std::condition_variable changed_;
    std::size_t begun_ = 0;
    VolumeToCome coming_;
    std::optional<Error> error_;
};

}  // namespace echolux
