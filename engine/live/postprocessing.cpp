#include "engine/live/postprocessing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plan/describe_stats.h"
#include "compute/plural.h"
#include "engine/memory.h"
#include "engine/scan/settings.h"
#include "engine/speckle/speckle_filter.h"

namespace echolux {
namespace {

constexpr double min_share = 0.5;   // min share of B-scans with a position in a stabilised volume
constexpr int patient_misfits = 2;  // volumes; a blink must not change the reference

template <class Part>
std::string toml_of_part(const std::string& section, Part part) {
    Settings settings;
    settings.bind(section, part);
    return settings.toml(true);
}

// Runs `work` and returns the line of its error, empty if it succeeds. Rethrows cancellation.
template <class Work>
std::string obstacle_of(const Work& work) {
    try {
        work();
        return {};
    } catch (const Error& error) {
        if (error.code() == ErrorCode::cancelled) throw;
        return error.line();
    }
}

}  // namespace

void check_tissue(const LiveTissue& tissue) {
    check_registration(tissue.registration);
    check_filter(tissue.filter);
}

// ---- stabilising

bool is_same_registration(const RegistrationSettings& a, const RegistrationSettings& b) {
    return toml_of_part("registration", a) == toml_of_part("registration", b);
}

void PowerOnHost::set_settings(const RegistrationSettings& settings) {
    if (!is_same_registration(settings_, settings)) reference_.reset();
    settings_ = settings;
}

std::vector<RowShift> PowerOnHost::find(To to, Progress& progress) {
    constexpr std::int64_t each = 16;  // bytes per voxel, as in power_of()
    require_memory(each * volume_.grid.voxels(), "registration", "register a part of the volume");
    progress.begin("register", volume_.grid.b_scans, "B-scans");
    std::vector<RowShift> rows = to == To::reference ? reference_->register_rows(volume_, progress)
                                                     : align_neighbours(volume_, settings_, progress);
    progress.end();
    return rows;
}

std::int64_t PowerOnHost::move(const std::vector<RowShift>& rows) {
    RegisteredMean mean(volume_.grid);
    mean.add(volume_, rows);
    volume_.power = mean.power();
    std::ranges::replace_if(
        volume_.power, [](float power) { return std::isnan(power); }, 0.0F);
    return mean.b_scans_used();
}

void PowerOnHost::become_reference() {
    reference_ = std::make_unique<const Reference>(volume_, settings_);
}

bool Stabiliser::try_to(AlignablePower& power, AlignablePower::To to, PostprocessingResult& done, Progress& progress) {
    done.rows = power.find(to, progress);
    const auto valid = static_cast<double>(std::ranges::count_if(done.rows, &RowShift::is_valid));
    return valid > 0 && valid >= min_share * static_cast<double>(done.rows.size());
}

void Stabiliser::stabilise(AlignablePower& power, const LiveTissue& tissue, PostprocessingResult& done,
                           Progress& progress) {
    using To = AlignablePower::To;
    if (!tissue.across_volumes) power.forget_reference();
    bool fits = power.has_reference() && try_to(power, To::reference, done, progress);
    const bool was_referred = fits;
    misfits_ = fits ? 0 : misfits_ + 1;
    if (!fits) fits = try_to(power, To::neighbours, done, progress);
    if (!fits) {
        throw Error(ErrorCode::bad_setting,
                    fmt::format("only {} of {} could be registered: showing volumes as they are",
                                std::ranges::count_if(done.rows, &RowShift::is_valid),
                                plural(std::ssize(done.rows), "B-scans")),
                    "registration", "check that the scan shows tissue; larger ranges may help");
    }
    done.used = power.move(done.rows);
    done.is_stabilised = true;
    if (!tissue.across_volumes || was_referred) return;
    if (power.has_reference() && misfits_ < patient_misfits) return;
    power.become_reference();
    misfits_ = 0;
}

// ---- flow

std::vector<WholeMove> whole_moves(const std::vector<RowShift>& rows) {
    std::vector<WholeMove> moves(rows.size());
    std::vector<double> quality(rows.size(), -1);
    for (std::size_t row = 0; row < rows.size(); ++row) {
        const RowShift& shift = rows[row];
        const std::int64_t to = std::llround(static_cast<double>(row) + shift.y);
        if (!shift.is_valid() || to < 0 || to >= std::ssize(rows)) continue;
        const auto at = index(to);
        if (shift.quality <= quality[at]) continue;
        quality[at] = shift.quality;
        moves[at] = {static_cast<std::int32_t>(row), static_cast<std::int32_t>(std::lround(shift.z)),
                     static_cast<std::int32_t>(std::lround(shift.x))};
    }
    return moves;
}

void move_codes(std::byte* codes, const VolumeGrid& grid, const std::vector<RowShift>& rows) {
    const std::int64_t each = bytes_of(grid.type), line = grid.a_scan_bytes(), plane = grid.b_scan_bytes();
    std::vector<std::byte> moved(index(grid.bytes()));
    const std::vector<WholeMove> moves = whole_moves(rows);
    for (std::int64_t b = 0; b < grid.b_scans; ++b) {
        const WholeMove& move = moves[index(b)];
        const std::int64_t begin = std::max<std::int64_t>(0, move.z), end = std::min(grid.depth, grid.depth + move.z);
        if (move.from < 0 || begin >= end) continue;
        const std::int64_t last = std::min(grid.a_scans, grid.a_scans + move.x);
        for (std::int64_t a = std::max<std::int64_t>(0, move.x); a < last; ++a) {
            std::memcpy(moved.data() + b * plane + a * line + begin * each,
                        codes + move.from * plane + (a - move.x) * line + (begin - move.z) * each,
                        index((end - begin) * each));
        }
    }
    std::ranges::copy(moved, codes);
}

// ---- volumes in host memory

void CpuPostprocessor::set(const LiveTissue& tissue) {
    check_tissue(tissue);
    tissue_ = tissue;
    power_.set_settings(tissue.registration);
    if (!tissue.stabilises) power_.forget_reference();
}

PostprocessingResult CpuPostprocessor::apply(std::int64_t number, Volume& structure, Volume* flow,
                                             const BackendChoice& choice, Progress& progress) {
    PostprocessingResult done{.volume = number,
                              .was_to_be_stabilised = tissue_.stabilises,
                              .was_to_be_filtered = tissue_.filters,
                              .rows = {},
                              .unsteady = {},
                              .unsmooth = {},
                              .provenance = {},
                              .wanted = tissue_};
    if (tissue_.is_empty_recipe()) return done;
    const VolumeGrid& grid = structure.grid;
    if (!(grid == grid_)) power_.forget_reference();
    grid_ = grid;
    const StoredAs stored_as = tissue_.filter.stored_as;
    PowerVolume& volume = power_.volume();
    const std::string obstacle = obstacle_of([&] { power_.take({grid, power_of(structure, stored_as)}); });
    if (!obstacle.empty()) {
        if (tissue_.stabilises) done.unsteady = obstacle;
        if (tissue_.filters) done.unsmooth = obstacle;
        return done;
    }
    if (tissue_.stabilises)
        done.unsteady = obstacle_of([&] { stabiliser_.stabilise(power_, tissue_, done, progress); });
    if (tissue_.filters) {
        done.unsmooth = obstacle_of([&] {
            volume.power =
                filtered(volume.power, {grid.depth, grid.a_scans, grid.b_scans}, tissue_.filter, choice, progress)
                    .power;
            done.is_filtered = true;
        });
    }
    if (done.is_stabilised || done.is_filtered) set_power(structure, stored_as, volume.power);
    if (done.is_stabilised && flow != nullptr) move_codes(flow->voxels.data(), flow->grid, done.rows);
    done.provenance = provenance_of(tissue_, done);
    return done;
}

// ---- reports

template <>
const std::vector<Stat<TissueStats>>& describe_stats<TissueStats>() {
    using S = TissueStats;
    static const std::vector<Stat<S>> all = joined_stats<S>({
        statistic<S>("volumes", &S::volumes, "volumes", "filtered or stabilised"),
        statistic<S>("skipped", &S::skipped, "volumes", "not reconstructed because earlier ones took too long"),
        statistic<S>("stabilised", &S::stabilised, "volumes", "stabilised"),
        statistic<S>("filtered", &S::filtered, "volumes", "filtered"),
        statistic<S>("as_it_was", &S::as_it_was, "volumes", "with a step that failed"),
        statistic<S>("b_scans", &S::b_scans, "B-scans", "compared"),
        statistic<S>("b_scans_used", &S::b_scans_used, "B-scans", "registered"),
        statistic<S>("saccades", &S::saccades, "B-scans", "in saccades"),
        statistic<S>("work_s", &S::work_s, "s", "total duration"),
    });
    return all;
}

std::map<std::string, std::string> provenance_of(const LiveTissue& tissue, const PostprocessingResult& done) {
    std::map<std::string, std::string> lines;
    if (done.is_stabilised) {
        lines["registration"] = toml_of_part("registration", tissue.registration);
        lines["registration.b_scans_used"] = fmt::format("{} of {}", done.used, done.rows.size());
    }
    if (done.is_filtered) lines["filter"] = toml_of_part("filter", tissue.filter);
    return lines;
}

void TissueLog::note(const PostprocessingResult& done, double seconds) {
    constexpr std::size_t remembered = 64;
    const std::scoped_lock lock(mutex_);
    ++stats_.volumes;
    stats_.stabilised += done.is_stabilised;
    stats_.filtered += done.is_filtered;
    stats_.as_it_was += !done.unsteady.empty() || !done.unsmooth.empty();
    stats_.b_scans += std::ssize(done.rows);
    stats_.b_scans_used += done.used;
    stats_.saccades += std::ranges::count_if(done.rows, &RowShift::is_saccade);
    stats_.work_s += seconds;
    if (done.was_to_be_stabilised)
        report_obstacle("registration", done.unsteady, "registration: volumes are stabilised again");
    if (done.was_to_be_filtered) report_obstacle("filter", done.unsmooth, "filter: volumes are filtered again");
    done_.push_back(std::make_shared<const PostprocessingResult>(done));
    if (done_.size() > remembered) done_.erase(done_.begin());
}

// Reports an obstacle once until it disappears; the first report's numbers stay.
void TissueLog::report_obstacle(const std::string& topic, const std::string& obstacle, const char* again) {
    std::string& before = last_lines_[topic];
    if (obstacle.empty() == before.empty()) return;
    before = obstacle;
    news_.push_back({obstacle.empty() ? again : obstacle, !obstacle.empty(), topic});
}

void TissueLog::note_skipped() {
    const std::scoped_lock lock(mutex_);
    ++stats_.skipped;
}

TissueStats TissueLog::stats() const {
    const std::scoped_lock lock(mutex_);
    return stats_;
}

std::vector<BlockSink::SinkMessage> TissueLog::take_messages() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(news_, {});
}

std::shared_ptr<const PostprocessingResult> TissueLog::last() const {
    const std::scoped_lock lock(mutex_);
    return done_.empty() ? nullptr : done_.back();
}

std::shared_ptr<const PostprocessingResult> TissueLog::of(std::int64_t volume) const {
    const std::scoped_lock lock(mutex_);
    const auto found = std::ranges::find_if(done_, [&](const auto& done) { return done->volume == volume; });
    return found == done_.end() ? nullptr : *found;
}

}  // namespace echolux
