// A series of volumes as time points: a 4-D file, or a folder of volume files in the order of their names. Time points
// are read ahead on a thread of their own into memory with a budget, so that stepping never waits for a disk; one that
// cannot be read is reported and skipped.
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
    std::int64_t bytes = 4LL << 30;  // of time points in memory
};

class Series {
  public:
    // Throws Error{bad_file, bad_setting, out_of_memory}: nothing there, or the first time point cannot be read.
    Series(const std::filesystem::path& path, const SeriesBudget& budget = {});
    ~Series();

    std::int64_t steps() const;
    double step_s() const;  // 0: unknown
    std::string name() const;

    // What is wanted now, and where it goes on from there: +1 forwards, -1 backwards; [first, last] is gone round.
    void want(std::int64_t step, int direction, std::int64_t first, std::int64_t last);

    // Nothing: not yet. An empty pointer inside: this time point cannot be read.
    std::optional<std::shared_ptr<const Volume>> volume(std::int64_t step) const;

    std::vector<Interval> ready() const;  // steps in memory
    std::vector<std::string> take_problems();

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace echolux
