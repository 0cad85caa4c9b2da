// Volumes of a series that are wanted soon, read ahead into memory with a budget: see steps_ahead.h.
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

class ReadAhead {
  public:
    // Throws what it will; called by one thread at a time, another than the one that made this.
    using Read = std::function<Volume(std::int64_t step)>;

    // `first`: what was read already, and its number. The budget is of voxels.
    ReadAhead(std::int64_t steps, std::int64_t budget_bytes, std::pair<std::int64_t, Volume> first, const Read& read)
        : ahead_(
              steps, budget_bytes, [read](std::int64_t step) { return made_of(read(step)); },
              std::pair(first.first, made_of(std::move(first.second)))) {}

    std::int64_t steps() const { return ahead_.steps(); }
    void want(std::int64_t step, int direction, Interval round) { ahead_.want(step, direction, round); }

    // Nothing: not yet. An empty pointer inside: it cannot be read.
    std::optional<std::shared_ptr<const Volume>> volume(std::int64_t step) const {
        const auto found = ahead_.find(step);
        if (!found) return {};
        return std::static_pointer_cast<const Volume>(*found);
    }

    std::vector<Interval> ready() const { return ahead_.ready(); }
    std::int64_t bytes() const { return ahead_.bytes(); }  // in memory
    std::vector<std::string> take_problems() { return ahead_.take_problems(); }

  private:
    static StepsAhead::Step made_of(Volume volume) {
        const auto bytes = static_cast<std::int64_t>(volume.voxels.size());
        return {std::make_shared<const Volume>(std::move(volume)), bytes};
    }

    StepsAhead ahead_;
};

}  // namespace echolux
