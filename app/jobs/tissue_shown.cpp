#include "app/jobs/tissue_shown.h"

#include <fmt/format.h>

#include <algorithm>

#include "compute/error.h"
#include "engine/speckle/filter_volume.h"

namespace echolux {
namespace {

template <class S>
std::string toml_of(const std::string& section, S part) {
    Settings settings;
    settings.bind(section, part);
    return settings.toml(true);
}

void filter_in_place(Volume& volume, const SpeckleFilter& filter, Progress& progress) {
    filter_volume(volume, filter, progress);
    volume.provenance["filter"] = toml_of("filter", filter);
}

}  // namespace

StabilisedVolume stabilised(const Volume& volume, const Volume* reference, const RegistrationSettings& settings,
                            Progress& progress) {
    StabilisedVolume done;
    const PowerVolume power = power_of(volume);
    progress.begin("register", volume.grid.b_scans, "B-scans");
    done.rows = reference == nullptr ? align_neighbours(power, settings, progress)
                                     : Reference(power_of(*reference), settings).register_rows(power, progress);
    progress.end();
    if (std::ranges::none_of(done.rows, &RowShift::is_valid)) {
        throw Error(ErrorCode::bad_setting,
                    reference == nullptr ? "no B-scan fits its neighbours" : "no B-scan fits the reference",
                    "registration", "is it more than noise? Larger ranges may help");
    }
    RegisteredMean mean(reference == nullptr ? volume.grid : reference->grid);
    mean.add(power, done.rows);
    Volume made = mean.volume();
    made.provenance = volume.provenance;
    made.provenance["registration"] = toml_of("registration", settings);
    made.provenance["registration.b_scans_used"] = fmt::format("{} of {}", mean.b_scans_used(), done.rows.size());
    done.used = mean.b_scans_used();
    done.volume = std::make_shared<const Volume>(std::move(made));
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
