// Processing of a volume before it is shown, if [registration] or [filter] request it: stabilised, then filtered.
// Shared by the window and by pictures that are rendered again from their records.
#pragma once

#include <memory>
#include <vector>

#include "app/open/open_volume.h"
#include "app/session/tissue_settings.h"
#include "engine/io/volume_file.h"
#include "engine/progress.h"

namespace echolux {

struct StabilisedVolume {
    std::shared_ptr<const Volume> volume;  // with B-scans at their positions; NaN without data
    std::vector<RowShift> rows;            // one per B-scan
    std::int64_t used = 0;                 // B-scans used, without those that run across the others
};

// Registers B-scans to those of `reference`, or to their neighbours without one. Throws what registration throws, and
// Error{bad_setting} if nothing matches.
StabilisedVolume stabilised(const Volume& volume, const Volume* reference, const RegistrationSettings& settings,
                            Progress& progress);

// Returns a filtered copy with the filter in its provenance. Throws what filter_volume() throws.
std::shared_ptr<const Volume> filtered_copy(const Volume& volume, const SpeckleFilter& filter, Progress& progress);

// Processes volumes of a source one after another. Flow is shown only with the raw volume, as in the window.
class TissueShown {
  public:
    // `source` must outlive this object. Volumes in memory are already processed.
    TissueShown(const TissueSettings& tissue, const VolumeSource& source) : tissue_(tissue), source_(source) {}

    bool changes_volumes() const {
        return !source_.shown && (tissue_.filter_display.shown || tissue_.registration_display.shown);
    }

    // Throws what stabilised(), filter_volume() and opening the reference time point throw.
    Volume of(Volume volume, Progress& progress);

  private:
    const TissueSettings tissue_;
    const VolumeSource& source_;
    std::shared_ptr<const Volume> reference_;  // of the registration, read on first use
};

}  // namespace echolux
