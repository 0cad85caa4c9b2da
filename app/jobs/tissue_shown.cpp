#include "app/jobs/tissue_shown.h"

#include <algorithm>

#include "app/jobs/register_job.h"
#include "compute/error.h"
#include "engine/scan/section_toml.h"
#include "engine/speckle/filter_volume.h"

namespace echolux {
namespace {

void filter_in_place(Volume& volume, const SpeckleFilter& filter, Progress& progress) {
    filter_volume(volume, filter, progress);
    volume.provenance["filter"] = section_toml("filter", filter);
}

}  // namespace

StabilisedVolume stabilised(const Volume& volume, const Volume* reference, const RegistrationSettings& settings,
                            Progress& progress) {
    StabilisedVolume done;
    const PowerVolume power = power_of(volume);
    progress.begin("register", volume.grid.b_scans, "B-scans");
    done.rows = reference == nullptr
                    ? align_neighbours(power, settings, progress)
                    : Reference(power_of(*reference), settings, BackendChoice{}).register_rows(power, progress);
    progress.end();
    if (std::ranges::none_of(done.rows, &RowShift::is_valid)) {
        throw Error(ErrorCode::bad_setting,
                    reference == nullptr ? "no B-scan fits its neighbours" : "no B-scan fits the reference",
                    "registration", "is it more than noise? Larger ranges may help");
    }
    const VolumeGrid& grid = reference == nullptr ? volume.grid : reference->grid;
    PlacedVolume placed = placed_volume(power, done.rows, grid, settings, volume.provenance);
    done.used = placed.b_scans_used;
    done.volume = std::make_shared<const Volume>(std::move(placed.volume));
    return done;
}

std::shared_ptr<const Volume> filtered_copy(const Volume& volume, const SpeckleFilter& filter, Progress& progress) {
    auto copy = std::make_shared<Volume>(volume);
    filter_in_place(*copy, filter, progress);
    return copy;
}

Volume TissueShown::of(Volume volume, Progress& progress) {
    if (!changes_volumes()) return volume;
    if (tissue_.registration_display.shown) {
        if (tissue_.registration_display.reference >= 0 && !reference_) {
            VolumeSource source = source_;
            source.part.volume = tissue_.registration_display.reference;
            reference_ = std::make_shared<const Volume>(open_volume(source, progress).volume);
        }
        volume = *stabilised(volume, reference_.get(), tissue_.registration, progress).volume;
    }
    if (tissue_.filter_display.shown) filter_in_place(volume, tissue_.filter, progress);
    return volume;
}

}  // namespace echolux
