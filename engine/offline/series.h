// Series of volumes, read into memory ahead of their use.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/interval.h"
#include "engine/io/volume_file.h"

namespace echolux {

// ---- Makes steps of a series in memory ahead of their use, on a background thread and within a budget: first the step
// wanted now, then those that follow in the playback direction, looping between two ends. The step farthest ahead is
// discarded to make room. After a jump, the wanted step is made next. A step may be anything, such as voxels from a
// file or a texture on a graphics device.

// Thread-safe.
class StepsAhead {
  public:
    struct Step {
        std::shared_ptr<const void> what;
        std::int64_t bytes = 0;
    };

    // Makes a step; may throw. Called by the background thread.
    using Make = std::function<Step(std::int64_t step)>;
    // Returns whether a step can be made now; checked again after each want(). An empty function means always.
    using CanMake = std::function<bool(std::int64_t step)>;

    // `first` is the number of an existing step, and the step. The budget covers all steps in memory, including the one
    // being made; one step is always allowed. `step_bytes` is the expected size of a step, if known.
    StepsAhead(std::int64_t steps, std::int64_t budget_bytes, Make make,
               std::optional<std::pair<std::int64_t, Step>> first = {}, CanMake can_make = {},
               std::int64_t step_bytes = 0);
    ~StepsAhead();  // waits for the step in progress
    StepsAhead(const StepsAhead&) = delete;
    StepsAhead& operator=(const StepsAhead&) = delete;

    std::int64_t steps() const { return steps_; }

    // Sets the step wanted now, the playback direction (+1 or -1) and the range of the loop.
    void want(std::int64_t step, int direction, Interval round);

    // Returns nullopt if the step is not there yet, or a null pointer if it cannot be made.
    std::optional<std::shared_ptr<const void>> find(std::int64_t step) const;

    std::vector<Interval> ready() const;
    std::int64_t bytes() const;  // bytes in memory

    // Releases a reference on the background thread, because destroying a step may take time.
    void release_later(std::shared_ptr<const void> what);

    // Returns why steps could not be made, without repetition.
    std::vector<std::string> take_problems();

  private:
    using Discarded = std::vector<std::shared_ptr<const void>>;

    void work(const std::stop_token& stop);
    std::optional<std::int64_t> next() const;
    std::int64_t steps_ahead(std::int64_t step) const;
    void make_room(std::int64_t step);
    void make(std::int64_t step);

    const std::int64_t steps_;
    const std::int64_t budget_bytes_;
    const Make make_;
    const CanMake can_make_;

    mutable std::mutex mutex_;  // guards the members below
    std::condition_variable_any changed_;
    std::int64_t wanted_ = 0;
    int direction_ = 1;
    Interval round_;
    std::map<std::int64_t, Step> made_;  // steps without `what` cannot be made
    std::int64_t bytes_ = 0;             // total size of made_
    std::int64_t step_bytes_;            // size of the largest step made
    Discarded discarded_;                // to be released by the thread
    std::vector<std::string> problems_;
    std::set<std::string> reported_;
    std::jthread thread_;  // declared last: starts last, ends first
};

// ---- Reads volumes of a series into memory ahead of their use, within a budget, as StepsAhead does.

// StepsAhead for volumes.
class ReadAhead {
  public:
    // Reads a step; may throw. Called by one background thread at a time.
    using Read = std::function<Volume(std::int64_t step)>;

    // `first` is the number of a volume that was already read, and the volume. The budget counts voxels.
    ReadAhead(std::int64_t steps, std::int64_t budget_bytes, std::pair<std::int64_t, Volume> first, const Read& read)
        : ahead_(
              steps, budget_bytes, [read](std::int64_t step) { return made_of(read(step)); },
              std::pair(first.first, made_of(std::move(first.second)))) {}

    std::int64_t steps() const { return ahead_.steps(); }
    void want(std::int64_t step, int direction, Interval round) { ahead_.want(step, direction, round); }

    // Returns nullopt if the volume is not available yet, or a null pointer if it cannot be read.
    std::optional<std::shared_ptr<const Volume>> volume(std::int64_t step) const {
        const auto found = ahead_.find(step);
        if (!found) return {};
        return std::static_pointer_cast<const Volume>(*found);
    }

    std::vector<Interval> ready() const { return ahead_.ready(); }
    std::int64_t bytes() const { return ahead_.bytes(); }  // bytes in memory
    std::vector<std::string> take_problems() { return ahead_.take_problems(); }

  private:
    static StepsAhead::Step made_of(Volume volume) {
        const auto bytes = std::ssize(volume.voxels);
        return {std::make_shared<const Volume>(std::move(volume)), bytes};
    }

    StepsAhead ahead_;
};

// ---- A series of volumes as time points, located by time_points.h. A background thread reads time points into memory
// ahead of their use, within a budget, so that stepping does not wait for a disk. Unreadable time points are reported
// and skipped. If a single time point exceeds the budget, nothing is read ahead, and the renderer reads boxes instead.

struct SeriesBudget {
    std::int64_t bytes = 4LL << 30;      // for time points in memory
    std::int64_t gpu_bytes = 1LL << 30;  // for time points on the graphics device, in addition to the displayed one
};

// Thread-safe.
class Series {
  public:
    // Opens the series and reads the first readable time point. Throws Error{bad_file, bad_setting, out_of_memory} if
    // there is no series or if no time point is readable.
    Series(const std::filesystem::path& path, const SeriesBudget& budget = {});
    ~Series();

    std::int64_t steps() const;
    double step_s() const;  // unknown if 0
    std::string name() const;
    std::int64_t first_ready() const;  // first readable step

    // Sets the step wanted now and the direction from there, +1 or -1. Playback loops over [first, last].
    void want(std::int64_t step, int direction, std::int64_t first, std::int64_t last);

    // Returns nullopt if the time point is not in memory yet, or a null pointer if it is unreadable.
    std::optional<std::shared_ptr<const Volume>> volume(std::int64_t step) const;

    // Returns a step from memory, or reads it now. May block; callable from any thread. Throws the errors of reading.
    std::shared_ptr<const Volume> read(std::int64_t step) const;

    std::vector<Interval> ready() const;  // steps in memory
    std::vector<std::string> take_problems();

    // ---- volumes beyond the budget: no step is ever ready

    // Returns whether the volumes are too large to be read ahead.
    bool is_in_boxes() const;
    std::vector<VolumeGrid> levels(std::int64_t step) const;  // from the whole volume to coarser ones

    // Returns the voxels of a box, packed with depth fastest. Waits for other reads; callable from any thread. Throws
    // the errors of reading.
    std::vector<std::byte> read_box(std::int64_t step, std::size_t level, const VolumeBox& box) const;

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace echolux
