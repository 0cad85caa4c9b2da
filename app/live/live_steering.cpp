#include "app/live/live_steering.h"

#include <algorithm>
#include <utility>

#include "compute/calibrate/calibrate.h"
#include "compute/error.h"
#include "compute/plan/choices.h"
#include "compute/plan/describe.h"

namespace echolux {
namespace {

bool concerns_spectra(const std::string& key) {
    return section_of(key) == "calibration" || is_recipe_section(section_of(key));
}

}  // namespace

LiveSteering::LiveSteering(const Source& source, Session& session, const ReconstructionSpec& plan, const View& view,
                           std::function<void(const View&)> show)
    : source_(source), session_(session), first_floor_db_(plan.recipe.noise_floor_db), show_(std::move(show)) {
    book_.set_scan(source.scan());
    book_.view() = view;
    book_.view_edited();
}

void LiveSteering::take_tissue(const TissueSettings& tissue, std::function<void(const LiveTissue&)> changed) {
    TissueSettings now = tissue;
    Settings settings;
    bind(settings, now);
    Values values;
    for (const BoundField& field : settings.fields()) values[field.key()] = field.get();
    const std::scoped_lock lock(mutex_);
    book_.apply(values, [](const Change&) {});
    tissue_changed_ = std::move(changed);
}

Value LiveSteering::value(const std::string& key) const {
    const std::scoped_lock lock(mutex_);
    return book_.field(key)->get();
}

void LiveSteering::set(const Values& values) {
    for (const auto& [key, value] : values) {
        if (section_of(key) == "window" || section_of(key) == "source")
            throw Error(ErrorCode::bad_setting, "cannot be changed while it runs", key, "begin with another value");
        const bool is_of_window = section_of(key) == "layers" || key == "registration.reference";
        if (is_of_window || (is_tissue_section(section_of(key)) && !tissue_changed_))
            throw Error(ErrorCode::bad_setting, "applies to volumes in the window", key, "open one there");
    }
    const std::scoped_lock lock(mutex_);
    book_.apply(values, [this](const Change& change) { bring_about(change); });
}

// If the recipe leaves the noise floor open, it is measured from the newest block, as in the window.
void LiveSteering::bring_about(const Change& change) {
    const auto any_of = [&](const auto& is_one) {
        return std::ranges::any_of(change.after, [&](const auto& entry) { return is_one(entry.first); });
    };
    if (any_of(concerns_spectra)) {
        ReconstructionSpec plan = book_.scan()->spec(source_.block_b_scans());
        if (needs_noise_floor(plan.recipe, plan.flow)) {
            const std::optional<Block> block = session_.newest_block();
            plan.recipe.noise_floor_db = block ? noise_floor_for_recipe(plan, *block) : first_floor_db_;
        }
        session_.change(plan);
    }
    if (any_of([](const std::string& key) { return section_of(key) == "view"; })) show_(book_.view());
    if (any_of([](const std::string& key) { return is_tissue_section(section_of(key)); }))
        tissue_changed_(live_tissue(book_.tissue()));
}

}  // namespace echolux
