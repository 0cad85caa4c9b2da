#include "ui/workspace/layering.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/operations/operation.h"
#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plan/describe.h"
#include "compute/plural.h"
#include "compute/reason.h"
#include "engine/io/atomic_file.h"
#include "engine/io/file_name.h"
#include "engine/layers/find_surfaces.h"
#include "engine/layers/layers.h"
#include "ui/workspace/exporting.h"
#include "ui/workspace/workspace.h"

namespace echolux {
namespace {

// Limits of the undo history.
constexpr std::size_t max_steps = 500;
constexpr std::size_t max_bytes = 256 << 20;  // for all steps; the surfaces of a large volume have 10 MB

bool names_layer(std::string_view name) {
    return name.starts_with(layer_prefix);
}

Surfaces found_in(const Volume& volume, const LayerRecipe& recipe, Progress& progress) {
    Surfaces surfaces = find_surfaces(volume, recipe, progress);
    if (share_found(surfaces) > 0) return surfaces;
    throw Error(ErrorCode::bad_setting, "no signal exceeds the noise, so no surface was found", "layers",
                "brighter tissue or more averaging may help");
}

// "found 2 surfaces: ILM, RPE; 3.0 % ambiguous".
std::string found_text(const Surfaces& surfaces) {
    std::vector<std::string> names;
    for (const Surface& surface : surfaces.all) names.push_back(surface.name);
    return fmt::format("found {}: {}; {:.1f} % ambiguous", plural(std::ssize(names), "surfaces"),
                       fmt::join(names, ", "), 100 * share_of(surfaces, Reason::ambiguous));
}

Values values_of(LayerRecipe& recipe) {
    Settings settings;
    settings.bind("layers", recipe);
    Values values;
    for (const BoundField& field : settings.fields()) values[field.key()] = field.get();
    return values;
}

Values values_of_preset(const std::string& name) {
    LayerRecipe recipe;
    Settings settings;
    settings.bind("layers", recipe);
    for (const std::string& assignment : layer_preset_named(name).assignments) settings.set_assignment(assignment);
    return values_of(recipe);
}

std::size_t bytes_of(const std::optional<Surfaces>& surfaces) {
    std::size_t bytes = 0;
    if (!surfaces) return bytes;
    for (const Surface& one : surfaces->all)
        bytes += one.rows.size() * (sizeof(one.rows[0]) + sizeof(one.quality[0]) + sizeof(one.reasons[0]));
    return bytes;
}

}  // namespace

std::size_t Layering::Step::bytes() const {
    std::size_t bytes = edits.size() * sizeof(SurfaceEdit);
    for (const auto& state : {before, after}) bytes += state ? bytes_of(state->surfaces) : 0;
    return bytes;
}

void Layering::forget() {
    ++opened_;
    now_ = {};
    is_of_shown_ = false;
    edits = false;
    drag_.reset();
    steps_.clear();
    first_state_ = state_ = 0;
    job_ = 0;
    have_changed();
}

// Resets a cut between surfaces when another volume is displayed, because it would be at the wrong depth.
void Layering::update(Workspace& work) {
    const bool is_of_it = now_.surfaces && now_.moment == work.filtering().moment(work);
    const bool was_of_shown = std::exchange(is_of_shown_, is_of_it);
    if (was_of_shown != is_of_shown_) have_changed();
    if (is_of_shown_ || !was_of_shown) return;
    drop_drag();
    const View& view = work.view();
    if (!names_layer(view.top_from) && !names_layer(view.bottom_from)) return;
    show_all(work);
    work.notices().note("layers",
                        "another volume is shown: clipping between the surfaces of the previous one was removed");
}

// ---- finding

bool Layering::can_find(Workspace& work) const {
    return Filtering::obstacle(work).empty() && !Filtering::is_being_replaced(work) && !is_finding(work);
}

bool Layering::is_finding(Workspace& work) const {
    return std::ranges::any_of(work.jobs().states(), [this](const JobState& job) { return job.id == job_; });
}

void Layering::find(Workspace& work) {
    const PendingVolume coming = can_find(work) ? work.filtering().begin_reading(work) : PendingVolume();
    if (!coming) return;
    // Without any setting, the operation `segment` uses its preset too.
    LayerRecipe untouched, wanted = work.settings().tissue().layers;
    if (values_of(wanted) == values_of(untouched)) take_preset(work, default_preset());
    job_ = work.jobs().start(
        "finding layers",
        [this, &work, opened = opened_, coming, recipe = work.settings().tissue().layers,
         moment = work.filtering().moment(work)](Progress& progress) -> Jobs::LastStep {
            progress.begin("fetch the volume", 0, "");
            const std::shared_ptr<const Volume> volume = coming();
            progress.end();
            Surfaces surfaces = found_in(*volume, recipe, progress);
            return [this, &work, opened, moment, grid = volume->grid, surfaces = std::move(surfaces)] {
                if (opened != opened_) return;
                const std::string line = found_text(surfaces);
                take(work, {surfaces, grid, moment});
                work.notices().note("layers", line);
            };
        },
        [&work](const Error& error) { work.notices().report_problem("layers", error); });
}

std::vector<std::string> Layering::presets() {
    std::vector<std::string> names;
    for (const Asset& preset : assets_of(layer_files)) names.push_back(preset.name);
    return names;
}

std::string Layering::default_preset() {
    static const std::string name =
        std::get<std::string>(operation_named("segment").make()->field("preset")->default_value);
    return name;
}

void Layering::take_preset(Workspace& work, const std::string& name) {
    work.change_together("layers", values_of_preset(name));
}

std::string Layering::used_preset(Workspace& work) const {
    static const std::map<std::string, Values> all = [] {
        std::map<std::string, Values> values;
        for (const std::string& name : presets()) {
            try {
                values[name] = values_of_preset(name);
            } catch (const Error&) {
                // A click on the preset reports the error.
            }
        }
        return values;
    }();
    LayerRecipe recipe = work.settings().tissue().layers, untouched;
    const Values now = values_of(recipe);
    if (now == values_of(untouched)) return default_preset();
    const auto found = std::ranges::find_if(all, [&](const auto& preset) { return preset.second == now; });
    return found == all.end() ? "" : found->first;
}

// Replaces the surfaces as one undo step.
void Layering::take(Workspace& work, State found) {
    drop_drag();
    Step step{};
    step.before = std::make_shared<const State>(now_);
    step.after = std::make_shared<const State>(std::move(found));
    now_ = *step.after;
    is_of_shown_ = now_.moment == work.filtering().moment(work);
    add_step(work, std::move(step));
    work.notices().settle("layers");
    have_moved(work);
}

// ---- editing

void Layering::begin_drag(Workspace& work, std::size_t surface, std::int64_t a_scan, std::int64_t b_scan) {
    if (surfaces() == nullptr || surface >= surfaces()->all.size()) return;
    end_drag(work);
    drag_ = Drag{surface, a_scan, b_scan, {}};
}

void Layering::drag_to(Workspace& work, float row) {
    if (!drag_ || surfaces() == nullptr) return;
    Surfaces& surfaces = *now_.surfaces;
    // Each drag starts from the surface as it was before the drag.
    take_back(surfaces, drag_->surface, drag_->edits);
    const LayerDisplay& how = work.settings().tissue().layer_display;
    drag_->edits = dragged(surfaces, drag_->surface, drag_->a_scan, drag_->b_scan, row, now_.grid.depth,
                           {how.drag_a_scans, how.drag_b_scans});
    apply(surfaces, drag_->surface, drag_->edits);
    have_changed();
}

void Layering::end_drag(Workspace& work) {
    if (!drag_) return;
    const Drag done = std::move(*drag_);
    drag_.reset();
    if (done.edits.empty()) return;
    add_step(work, Step{done.surface, done.edits});
    have_moved(work);
}

void Layering::drop_drag() {
    if (drag_ && now_.surfaces) take_back(*now_.surfaces, drag_->surface, drag_->edits);
    drag_.reset();
}

std::optional<std::size_t> Layering::dragged_surface() const {
    return drag_ ? std::optional(drag_->surface) : std::nullopt;
}

void Layering::add_step(Workspace& work, Step step) {
    steps_.resize(index(state_ - first_state_));  // discard the steps that redo would apply
    steps_.push_back(std::move(step));
    const std::int64_t before = state_++;
    drop_oldest_steps();
    const std::string key(surfaces_key);
    work.history().add({"layers", {{key, before}}, {{key, state_}}}, true);
    have_changed();
}

// Keeps the newest step even if it exceeds the limit.
void Layering::drop_oldest_steps() {
    std::size_t bytes = 0;
    for (const Step& step : steps_) bytes += step.bytes();
    while (steps_.size() > 1 && (steps_.size() > max_steps || bytes > max_bytes)) {
        bytes -= steps_.front().bytes();
        steps_.pop_front();
        ++first_state_;
    }
}

// Steps through the history. A step stores either complete states or the edits of a drag.
bool Layering::go_to(std::int64_t wanted) {
    const auto last = first_state_ + std::ssize(steps_);
    const std::int64_t state = std::max(wanted, first_state_);
    if (state > last) {
        throw Error(ErrorCode::bad_setting, "there is no such state of the surfaces", std::string(surfaces_key));
    }
    drop_drag();
    while (state_ > state) {
        const Step& step = steps_[index(--state_ - first_state_)];
        if (step.before)
            now_ = *step.before;
        else
            take_back(*now_.surfaces, step.surface, step.edits);
    }
    while (state_ < state) {
        const Step& step = steps_[index(state_++ - first_state_)];
        if (step.after)
            now_ = *step.after;
        else
            apply(*now_.surfaces, step.surface, step.edits);
    }
    have_changed();
    return state == wanted;
}

// ---- results derived from surfaces

// Recomputed only when the surfaces change.
const std::vector<float>& Layering::thickness(std::size_t upper, std::size_t lower) {
    const bool is_known = thickness_of_ == changes_ && thickness_upper_ == upper && thickness_lower_ == lower;
    if (is_known) return thickness_;
    thickness_of_ = changes_;
    thickness_upper_ = upper;
    thickness_lower_ = lower;
    thickness_ = surfaces() == nullptr ? std::vector<float>() : thickness_between(*surfaces(), upper, lower, grid());
    return thickness_;
}

std::vector<float> Layering::heights(std::string_view name, bool is_top) const {
    if (surfaces() == nullptr) {
        throw Error(ErrorCode::bad_setting, "there are no surfaces of this volume", "view.top_from, view.bottom_from",
                    "find them first, in the panel Layers");
    }
    const Surface& surface = surfaces()->all[index_of(*surfaces(), std::string(name.substr(layer_prefix.size())))];
    const DepthScale scale(grid());
    std::vector<float> heights;
    heights.reserve(surface.rows.size());
    for (const float row : surface.rows) {
        // A-scans without a position are cut completely.
        const double nothing = is_top ? below_all_um : above_all_um;
        heights.push_back(static_cast<float>(std::isfinite(row) ? scale.depth(row) : nothing));
    }
    return heights;
}

std::optional<HeightMaps> Layering::heights_of(const Cut& cut) const {
    if (!names_layer(cut.top_from) && !names_layer(cut.bottom_from)) return {};
    for (const std::string& name : {cut.top_from, cut.bottom_from}) {
        if (names_layer(name) || name.empty()) continue;
        throw Error(ErrorCode::bad_setting, "cannot be used together with a surface of the panel Layers", name,
                    "name two of its surfaces, or none");
    }
    HeightMaps maps{.a_scans = grid().a_scans, .b_scans = grid().b_scans, .top_um = {}, .bottom_um = {}};
    if (!cut.top_from.empty()) maps.top_um = heights(cut.top_from, true);
    if (!cut.bottom_from.empty()) maps.bottom_um = heights(cut.bottom_from, false);
    return maps;
}

bool Layering::renew_heights(ViewSource* shown, const View& view) const {
    if (surfaces() == nullptr || shown == nullptr) return true;
    try {
        if (const std::optional<HeightMaps> maps = heights_of(view)) shown->set_heights(*maps);
    } catch (const Error& error) {  // the new boundaries may lack a surface of this name
        if (error.code() == ErrorCode::device) throw;
        return false;
    }
    return true;
}

void Layering::have_moved(Workspace& work) {
    if (!renew_heights(work.viewer().view_source(), work.view())) show_all(work);
}

// The offsets are 0 and not unset, because the en face view shows a slab only if both are given.
void Layering::show_between(Workspace& work, std::size_t upper, std::size_t lower) {
    const Surfaces* found = surfaces();
    if (found == nullptr) return;
    const std::string prefix(layer_prefix);
    work.change_together("view.top_from", {{"view.top_from", prefix + found->all.at(upper).name},
                                           {"view.bottom_from", prefix + found->all.at(lower).name},
                                           {"view.top_um", 0.0},
                                           {"view.bottom_um", 0.0},
                                           {"view.heights_cut", true}});
}

std::map<std::string, Value> Layering::no_cut() {
    return {{"view.top_from", std::string()},
            {"view.bottom_from", std::string()},
            {"view.top_um", above_all_um},
            {"view.bottom_um", below_all_um}};
}

void Layering::show_all(Workspace& work) {
    work.change_together("view.top_from", no_cut());
}

// ---- files

void Layering::save(Workspace& work, const std::filesystem::path& path) {
    if (surfaces() == nullptr) return;
    saved_ = changes_;
    std::map<std::string, std::string> provenance;
    for (const BoundField& field : work.settings().fields()) {
        if (field.section == "layers") provenance[field.key()] = spelled(field.get());
    }
    work.exporting().write_beside(path, [path, kept = now_, provenance](Progress& progress) {
        progress.begin("write", 0, "");
        if (lower_ending(path) == ".csv") {
            write_text(path, csv_of(*kept.surfaces, kept.grid));
            return;
        }
        Volume volume = volume_of(*kept.surfaces, Volume{kept.grid, {}, {}});
        volume.provenance.insert(provenance.begin(), provenance.end());
        write_volume(path, volume, progress);
    });
}

void Layering::open(Workspace& work, const std::filesystem::path& path) {
    if (work.viewer().view_source() == nullptr) return;  // closed while the file was being chosen
    const std::optional<VolumeGrid> grid = work.viewer().view_source()->grid();
    if (!grid) return;
    job_ = work.jobs().start(
        "opening " + path.filename().string(),
        [this, &work, opened = opened_, path, grid = *grid,
         moment = work.filtering().moment(work)](Progress& progress) -> Jobs::LastStep {
            progress.begin("read", 0, "");
            Surfaces surfaces = read_surfaces(path, grid);
            return [this, &work, opened, moment, grid, surfaces = std::move(surfaces)] {
                if (opened != opened_) return;
                take(work, {surfaces, grid, moment});
                saved_ = changes_;
            };
        },
        [&work](const Error& error) { work.notices().report_problem("layers", error); });
}

}  // namespace echolux
