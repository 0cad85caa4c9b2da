// What a picture shows of a volume where [registration] or [filter] say so: stabilised, then filtered. The same for the
// window and for pictures that are made again from their records.
#pragma once

#include <memory>
#include <vector>

#include "app/open/open_volume.h"
#include "app/session/tissue_settings.h"
#include "engine/io/volume_file.h"
#include "engine/progress.h"

namespace echolux {

struct StabilisedVolume {
    std::shared_ptr<const Volume> volume;  // B-scans where they belong, NaN where none came
    std::vector<RowShift> rows;            // one for each B-scan
    std::int64_t used = 0;                 // of them, without those that run across the others
};

// B-scans against those of `reference`, or against their neighbours where there is none. Throws what registration
// throws, and Error{bad_setting} where nothing fits.
StabilisedVolume stabilised(const Volume& volume, const Volume* reference, const RegistrationSettings& settings,
                            Progress& progress);

// A copy, with the filter in its provenance. Throws what filter_volume() throws.
std::shared_ptr<const Volume> filtered_copy(const Volume& volume, const SpeckleFilter& filter, Progress& progress);

// Of volumes of a source, one after the other. Flow belongs to the raw volume alone, as in the window.
class TissueShown {
  public:
    // `source` outlives it. What is in memory already shows what it is to show.
    TissueShown(const TissueSettings& tissue, const VolumeSource& source) : tissue_(tissue), source_(source) {}

    bool changes_volumes() const {
        return !source_.shown && (tissue_.filter_display.shown || tissue_.registration_display.shown);
    }

    // Throws what stabilised(), filter_volume() and opening the time point of reference throw.
    Volume of(Volume volume, Progress& progress);

  private:
    const TissueSettings tissue_;
    const VolumeSource& source_;
    std::shared_ptr<const Volume> reference_;  // of the registration, as soon as it was read
};

}  // namespace echolux
