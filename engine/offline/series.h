// A series of volumes as time points, located by time_points.h. A background thread reads time points into memory ahead
// of their use, within a budget, so that stepping does not wait for a disk. Unreadable time points are reported and
// skipped. If a single time point exceeds the budget, nothing is read ahead, and the renderer reads boxes instead.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/interval.h"
#include "engine/io/volume_file.h"

namespace echolux {

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
