// Reads volumes of a series into memory ahead of their use, within a budget; see steps_ahead.h.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/io/volume_file.h"
#include "engine/offline/steps_ahead.h"

namespace echolux {

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
        const auto bytes = static_cast<std::int64_t>(volume.voxels.size());
        return {std::make_shared<const Volume>(std::move(volume)), bytes};
    }

    StepsAhead ahead_;
};

}  // namespace echolux
