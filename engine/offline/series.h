// A series of volumes as time points: see time_points.h for where they lie. Time points are read ahead on a thread of
// their own into memory with a budget, so that stepping never waits for a disk; one that cannot be read is reported and
// skipped. Those of which one alone is beyond the budget are not read ahead: whoever shows them reads boxes.
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
    std::int64_t bytes = 4LL << 30;      // of time points in memory
    std::int64_t gpu_bytes = 1LL << 30;  // of those on the graphics device, beside the one that is shown
};

class Series {
  public:
    // Throws Error{bad_file, bad_setting, out_of_memory}: nothing there, or no time point can be read.
    Series(const std::filesystem::path& path, const SeriesBudget& budget = {});
    ~Series();

    std::int64_t steps() const;
    double step_s() const;  // 0: unknown
    std::string name() const;
    std::int64_t first_ready() const;  // the first step that can be read

    // What is wanted now, and where it goes on from there: +1 forwards, -1 backwards; [first, last] is gone round.
    void want(std::int64_t step, int direction, std::int64_t first, std::int64_t last);

    // Nothing: not yet. An empty pointer inside: this time point cannot be read.
    std::optional<std::shared_ptr<const Volume>> volume(std::int64_t step) const;

    // From memory, or else read now: on any thread that may wait. Throws as the file does.
    std::shared_ptr<const Volume> read(std::int64_t step) const;

    std::vector<Interval> ready() const;  // steps in memory
    std::vector<std::string> take_problems();

    // ---- of volumes that do not fit into the budget: no step is ever ready

    bool is_in_boxes() const;
    std::vector<VolumeGrid> levels(std::int64_t step) const;  // ever coarser; the first is the whole

    // Depth fastest, packed. From any thread; waits for other reads. Throws as the file does.
    std::vector<std::byte> read_box(std::int64_t step, std::size_t level, const VolumeBox& box) const;

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace echolux
