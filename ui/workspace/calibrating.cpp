#include "ui/workspace/calibrating.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "app/calibrate/calibration.h"
#include "app/viewer/pane_view.h"
#include "app/viewer/view_source.h"
#include "compute/error.h"
#include "compute/plan/describe.h"
#include "compute/plural.h"
#include "engine/io/number_file.h"
#include "ui/workspace/workspace.h"

namespace echolux {
namespace {

// Lines that are averaged in one mean spectrum.
constexpr std::int64_t lines_of_a_mean = 1000;

// Returns the newest raw spectra if the host can read them.
std::optional<Block> newest_block(Workspace& work) {
    const LiveController* live = work.viewer().live();
    if (live == nullptr || work.settings().scan() == nullptr) return std::nullopt;
    std::optional<Block> block = live->newest_block();
    if (!block || block->data == nullptr || block->memory == MemoryKind::device) return std::nullopt;
    return block;
}

bool is_running(Workspace& work) {
    const LiveController* live = work.viewer().live();
    return live != nullptr && !live->is_recorded() && live->is_running();
}

// Returns one B-scan of the block: the displayed one if the block contains it, otherwise the middle one.
Block shown_b_scan(Workspace& work, const Block& block) {
    const ScanGeometry& geometry = work.settings().scan()->geometry;
    std::int64_t within = block.b_scans / 2;
    if (const std::optional<VolumeGrid> grid = work.viewer().view_source()->grid()) {
        const std::int64_t shown = voxel_index(work.cross_um()[2], *grid, 2) - block.first_b_scan;
        if (shown >= 0 && shown < block.b_scans) within = shown;
    }
    const std::int64_t frame_bytes = geometry.lines_per_b_scan() * line_bytes(work.settings().scan()->format, geometry);
    const std::int64_t stride = block.frames.stride_bytes > 0 ? block.frames.stride_bytes : frame_bytes;
    const std::int64_t before = within * geometry.b_repeats * stride;
    Block one = block;
    one.data += before;
    one.bytes -= before;
    one.first_b_scan = 0;
    one.b_scans = 1;
    return one;
}

}  // namespace

template <>
const std::vector<Field<MirrorFacts>>& describe<MirrorFacts>() {
    using S = MirrorFacts;
    static const std::vector<Field<S>> fields{
        choice("sides", &S::sides, {"same", "opposite"}, Effect::view,
               "whether both mirrors are on the same side of zero delay (opposite: the peak crossed zero delay between "
               "them). Both choices sharpen the recorded mirrors, but only the right one sharpens other depths")
            .called("mirror sides"),
        flag("wavelength_rises", &S::wavelength_rises, Effect::view,
             "wavelength increases along the samples of a spectrum, as with most gratings")
            .called("wavelength increases"),
        number("displacement_um", &S::displacement_um, 0, 100'000, "um", Effect::view,
               "distance of the second mirror position from the first, in air; 0: unknown, depths stay in bins"),
        number("centre_wavelength_nm", &S::centre_wavelength_nm, 0, 10'000, "nm", Effect::view,
               "centre wavelength, at the middle of the k range; 0: unknown, velocities stay in rad"),
    };
    return fields;
}

Calibrating::Calibrating() {
    settings_.bind("alignment", wanted);
    settings_.bind("mirrors", facts);
}

std::string_view name_of(Spectrum which) {
    constexpr std::array<std::string_view, kinds_of_spectra> names{"dark", "background", "mirror 1", "mirror 2"};
    return names[static_cast<std::size_t>(which)];
}

// Results of jobs that are still running are discarded, because opened_ changes.
void Calibrating::forget() {
    ++opened_;
    measured_ = {};
    stop_taking();
    found_.reset();
    alignment_.reset();
    read_.reset();
    watch_.forget();
}

void Calibrating::update(Workspace& work) {
    if (taking_) work.jobs().belong(taking_for_, [&] { add_lines(work); });
}

// ---- taking means

bool Calibrating::can_take(Workspace& work) const {
    return newest_block(work).has_value();
}

void Calibrating::take(Spectrum which, std::shared_ptr<UserRequest> request) {
    stop_taking();
    taking_ = which;
    taking_for_ = std::move(request);
}

void Calibrating::stop_taking() {
    if (taking_for_) {
        taking_for_->fail(Error(ErrorCode::cancelled, "stopped before enough lines arrived",
                                std::string(name_of(taking_.value_or(Spectrum::dark)))));
    }
    taking_for_.reset();
    taking_.reset();
    survey_.reset();
    surveyed_.reset();
}

// 0 to 1.
double Calibrating::share_taken() const {
    return survey_ ? static_cast<double>(survey_->lines()) / static_cast<double>(lines_of_a_mean) : 0;
}

const MeanSpectrum* Calibrating::measured(Spectrum which) const {
    const auto& measured = measured_[static_cast<std::size_t>(which)];
    return measured ? &*measured : nullptr;
}

void Calibrating::set_spectrum(Spectrum which, MeanSpectrum measured) {
    measured_[static_cast<std::size_t>(which)] = std::move(measured);
}

void Calibrating::add_lines(Workspace& work) {
    const bool more_will_come = is_running(work);  // query the state first, so that no block before the end is missed
    const std::optional<Block> block = newest_block(work);
    if (block && surveyed_ != block->sequence) {
        const Scan& scan = *work.settings().scan();
        if (!survey_) survey_.emplace(scan.format, scan.geometry);
        surveyed_ = block->sequence;
        survey_->add(*block, {0, std::min(lines_of(*block, scan.geometry), lines_of_a_mean - survey_->lines())});
    }
    if (survey_ && (survey_->lines() == lines_of_a_mean || !more_will_come)) return finish_taking(work);
    if (!more_will_come) stop_taking();
}

void Calibrating::finish_taking(Workspace& work) {
    const Spectrum which = *taking_;
    const MeanSpectrum measured{survey_->mean(), survey_->lines(), work.now_s()};
    taking_for_.reset();
    stop_taking();
    set_spectrum(which, measured);
    const std::string comment = fmt::format("{}, counts, mean of {}", name_of(which), plural(measured.lines, "lines"));
    if (which == Spectrum::dark) keep(work, "dark", "calibration.dark", measured.counts, comment);
    if (which == Spectrum::background) keep(work, "background", "calibration.background", measured.counts, comment);
}

// Writes the file in a job, then sets `key` to its name, together with the settings in `with`.
void Calibrating::keep(Workspace& work, std::string_view name, const std::string& key, std::vector<double> values,
                       const std::string& comment, std::map<std::string, Value> with) {
    work.jobs().start(
        fmt::format("writing the {}", name),
        [this, &work, opened = opened_, path = work.new_name(UserFolder::documents, fmt::format("{}-", name), ".csv"),
         key, comment, name = std::string(name), values = std::move(values),
         with = std::move(with)](Progress& progress) {
            progress.begin("write", 0, "");
            write_calibration(path, key == "calibration.k_map" ? CalibrationKind::k_map : CalibrationKind::spectrum,
                              values, comment);
            return [this, &work, opened, path, name, key, with] {
                std::map<std::string, Value> changes = with;
                changes[key] = path.string();
                if (opened != opened_ || !work.change_together(key, changes)) return;
                work.notices().settle("calibration");
                work.notices().note("export", "the " + name + " was saved as " + path.string(), {path});
            };
        },
        [&work](const Error& error) { work.notices().report_problem("calibration", error); });
}

// ---- mirrors

bool Calibrating::can_compute(Workspace& work) const {
    const bool has_background =
        measured(Spectrum::background) != nullptr ||
        (work.settings().scan() != nullptr && !work.settings().scan()->calibration.background.empty());
    return measured(Spectrum::mirror_1) != nullptr && measured(Spectrum::mirror_2) != nullptr && has_background;
}

void Calibrating::compute(Workspace& work) {
    if (!can_compute(work)) {
        throw Error(ErrorCode::bad_setting, "two mirrors and a background are required", "calibration.k_map",
                    "acquire the background without a sample, then the mirror at two depths");
    }
    const Calibration& known = work.settings().scan()->calibration;
    const MeanSpectrum* background = measured(Spectrum::background);
    const MeanSpectrum* dark = measured(Spectrum::dark);
    MirrorPair pair;
    pair.mirrors = {measured(Spectrum::mirror_1)->counts, measured(Spectrum::mirror_2)->counts};
    pair.background = background != nullptr ? background->counts : known.background;
    pair.dark = dark != nullptr ? dark->counts : known.dark;
    pair.sides = facts.sides;
    pair.k_falls = facts.wavelength_rises;
    pair.displacement_um = facts.displacement_um;
    pair.centre_wavelength_nm = facts.centre_wavelength_nm;
    found_ = calibrated_by_mirrors(pair);
}

void Calibrating::apply(Workspace& work) {
    compute(work);
    // Also resets settings that describe the same property in another way.
    std::map<std::string, Value> with{
        {"calibration.wavelengths", std::string()},
        {"calibration.k_polynomial", std::vector<double>{}},
        {"calibration.dispersion", std::string()},
        {"calibration.depth_pitch_um", found_->depth_pitch_um},
        {"calibration.centre_wavelength_nm", found_->centre_wavelength_nm},
        {"recipe.dispersion", true},
        {"recipe.a2_rad", found_->a2_rad},
        {"recipe.a3_rad", found_->a3_rad},
        {"recipe.gdd_fs2", 0.0},
        {"recipe.tod_fs3", 0.0},
    };
    if (work.settings().scan()->recipe.resample == Resample::none) with["recipe.resample"] = std::string("lagrange3");
    keep(work, "k-map", "calibration.k_map", found_->k_positions,
         "sample position of each point of the uniform k grid, from two mirrors", std::move(with));
}

// ---- dispersion

bool Calibrating::can_search(Workspace& work) const {
    const bool is_busy =
        std::ranges::any_of(work.jobs().states(), [this](const JobState& job) { return job.id == search_; });
    return !is_busy && newest_block(work).has_value();
}

void Calibrating::search_dispersion(Workspace& work) {
    if (!can_search(work)) return;
    const Block block = shown_b_scan(work, *newest_block(work));
    const ReconstructionSpec plan = work.settings().scan()->spec(1);
    DispersionSearch search;
    search.depth_begin = plan.recipe.depth_begin / plan.recipe.zero_padding;
    search.depth_end = plan.recipe.depth_end / plan.recipe.zero_padding;
    search_ = work.jobs().start(
        "searching for the dispersion",
        [this, &work, opened = opened_, block, plan, search](Progress& progress) -> Jobs::LastStep {
            const DispersionResult found = searched_dispersion(plan, block, search, progress);
            require_sharp(found, search, "current B-scan");
            return [this, &work, opened, found] {
                if (opened != opened_) return;
                work.change_together(
                    "recipe.a2_rad",
                    {{"recipe.dispersion", true}, {"recipe.a2_rad", found.a2_rad}, {"recipe.a3_rad", found.a3_rad}});
            };
        },
        [&work](const Error& error) { work.notices().report_problem("recipe", error); });
}

// ---- the alignment view

void Calibrating::look(Workspace& work) {
    const std::optional<Block> block = newest_block(work);
    if (is_still || !block) return;
    const ReconstructionSpec plan = work.settings().scan()->spec(1);
    if (!alignment_ || !alignment_->fits(plan)) {
        alignment_.emplace(plan);
        read_.reset();
    }
    // Reads each block once, and again after a change of settings.
    if (read_ == block->sequence && read_as_ == wanted) return;
    if (read_as_ != wanted) alignment_->forget();
    read_ = block->sequence;
    read_as_ = wanted;
    watch_.add(alignment_->read(*block, wanted), work.now_s());
}

}  // namespace echolux
