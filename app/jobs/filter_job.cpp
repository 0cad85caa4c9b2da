#include "app/jobs/filter_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "app/seconds_since.h"
#include "compute/error.h"
#include "engine/scan/settings.h"

namespace echolux {
FilteredVolume filtered_volume(Volume volume, const SpeckleFilter& filter, const BackendChoice& backend,
                               Progress& progress) {
    const std::vector<float> power = power_of(volume, filter.stored_as);
    if (std::ranges::none_of(power, [](float value) { return value > 0; })) {
        throw Error(ErrorCode::bad_setting, "holds nothing: no voxel is above zero", "volume", "choose another volume");
    }
    FilteredVolume done;
    const auto start = std::chrono::steady_clock::now();
    done.used = filter_volume(volume, filter, progress, backend);
    done.seconds = seconds_since(start);
    if (!done.used.refusal.empty()) done.warnings.push_back("filter: " + done.used.refusal);
    volume.provenance["filter"] = section_toml("filter", filter);
    volume.provenance["filter.backend"] = word_for(done.used.backend);
    done.volume = std::move(volume);
    return done;
}

Volume mean_of(const Compound& looks, const SpeckleFilter& filter) {
    Volume volume = looks.mean(filter.stored_as);
    volume.provenance["looks"] =
        fmt::format("{}, as {:.2f} independent ones", looks.looks(), looks.effective_looks(filter.looks));
    return volume;
}

}  // namespace echolux
