#include "app/jobs/roll_off_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "app/figure/figure_format.h"
#include "app/figure/plot_panels.h"
#include "app/jobs/calibration_plots.h"
#include "app/open/files_read.h"
#include "compute/calibrate/depth_peak.h"
#include "compute/error.h"
#include "engine/io/atomic_file.h"
#include "engine/io/calibration_file.h"
#include "engine/io/own_files.h"

namespace echolux {
namespace {

// Uncoupled lines, in air, fine in depth; the mean of a mirror's own lines is never taken away, for it is the mirror.
ReconstructionSpec for_mirrors(ReconstructionSpec plan, const std::vector<double>& background) {
    if (!background.empty()) plan.calibration.background = background;
    plan.calibration.fast_axis.clear();
    plan.calibration.k_jitter.clear();
    plan.geometry.fast_axis = FastAxis::uniform;
    plan.geometry.refractive_index = 1;
    Recipe& recipe = plan.recipe;
    recipe.method = Method::plain;
    recipe.background = plan.calibration.background.empty() ? Background::none : Background::stored;
    recipe.fixed_pattern = FixedPattern::none;
    recipe.average = Average::none;
    recipe.zero_padding = points_per_bin;
    return plan;
}

// One line of counts as a scan would hold it.
ReconstructionSpec for_spectrum(ReconstructionSpec plan, std::int64_t samples) {
    plan.format = {};
    plan.format.sample_format = SampleFormat::f32;
    plan.geometry = {};
    plan.geometry.samples = samples;
    plan.geometry.a_scans = 1;
    plan.geometry.b_scans = 1;
    return plan;
}

class Mirrors {
  public:
    Mirrors(const RollOffJob& job, Progress& progress) : job_(job), progress_(progress) {
        if (!job.scan.empty()) scan_ = open_scan(job.scan, job.settings);
    }

    RolledMirror read(const SpectrumSource& source, RollOffFound& found) {
        const MeanProfile profile = is_spectrum_file(source) ? of_file(source) : of_scan(source);
        const std::vector<double> amplitude = profile.root_mean_power();
        const MirrorReading reading = required_mirror(amplitude, profile.lines(), source.string());
        found.bins = profile.grid().depth / points_per_bin;
        found.bin_um = profile.grid().spacing_um[0] * points_per_bin;
        RolledMirror mirror{source.string(), profile.lines(), reading, {}, {}};
        if (job_.attenuation_db) mirror.sensitivity_db = reading.snr_db + *job_.attenuation_db;
        for (const double a : amplitude) mirror.profile_db.push_back(20 * std::log10(std::max(a, 1e-15)));
        return mirror;
    }

  private:
    MeanProfile of_scan(const SpectrumSource& source) {
        const Scan mirror = open_scan(source, scan_ ? std::vector<std::string>{} : job_.settings);
        ReconstructionSpec plan = mirror.spec(1);
        if (scan_) {
            plan.calibration = scan_->calibration;
            plan.recipe = scan_->recipe;
            plan.nufft = scan_->nufft;
        }
        return mean_profile(mirror, for_mirrors(plan, background(plan.geometry.samples)), progress_);
    }

    MeanProfile of_file(const SpectrumSource& source) {
        if (!scan_) {
            throw Error(ErrorCode::bad_setting, "is a spectrum without a recipe to process it", source.string(),
                        "name a scan with calibration and recipe as `scan`");
        }
        const std::vector<double> counts =
            mean_spectrum(source, "mirror", scan_->geometry.samples, "the scan", progress_);
        const std::vector<float> line(counts.begin(), counts.end());
        MeanProfile profile(for_mirrors(for_spectrum(scan_->spec(1), std::ssize(line)), background(std::ssize(line))));
        Block block;
        block.data = reinterpret_cast<const std::byte*>(line.data());
        block.bytes = std::ssize(line) * static_cast<std::int64_t>(sizeof(float));
        block.b_scans = 1;
        profile.add(block);
        return profile;
    }

    // Read once: all mirrors have as many samples.
    const std::vector<double>& background(std::int64_t samples) {
        if (!job_.background.empty() && std::ssize(background_) != samples) {
            background_ = mean_spectrum(job_.background, "background", samples, "a mirror", progress_);
        }
        return background_;
    }

    const RollOffJob& job_;
    Progress& progress_;
    std::optional<Scan> scan_;
    std::vector<double> background_;
};

// Of mirrors by depth.
void require_different_depths(const RollOffFound& found) {
    const auto same = std::ranges::adjacent_find(found.mirrors, [&](const RolledMirror& a, const RolledMirror& b) {
        return b.reading.bin - a.reading.bin < min_share_between * static_cast<double>(found.bins);
    });
    if (same == found.mirrors.end()) return;
    throw Error(ErrorCode::bad_file,
                fmt::format("is at the same depth as {}, bin {:.2f}", same->name, same->reading.bin),
                std::next(same)->name, "record each mirror at its own depth, and list each once");
}

// Of the range: mirrors that lie closer together say nothing of a fall-off.
constexpr double min_span = 0.1;

void fit_fall_off(RollOffFound& found) {
    if (found.mirrors.size() < 2) return;
    require_different_depths(found);
    const double span_bins = found.mirrors.back().reading.bin - found.mirrors.front().reading.bin;
    if (span_bins < min_span * static_cast<double>(found.bins)) return;
    std::vector<double> shares, levels;
    for (const RolledMirror& mirror : found.mirrors) {
        shares.push_back(mirror.reading.bin / static_cast<double>(found.bins));
        levels.push_back(mirror.reading.level_db);
    }
    found.fall_off = fitted_fall_off(shares, levels);
    if (const auto share = found.fall_off->share_at_loss(6))
        found.six_db_bin = *share * static_cast<double>(found.bins);
}

constexpr const char* table_heading =
    "mirror,lines,depth_bin,depth_um,level_db,snr_db,sensitivity_db,fwhm_bins,fwhm_um\n";

// Unknown lengths and sensitivities stay empty.
std::string csv_of(const RollOffFound& found) {
    std::string text = table_heading;
    const auto um = [&](double bins) { return found.bin_um > 0 ? fmt::format("{:.4f}", bins * found.bin_um) : ""; };
    for (const RolledMirror& mirror : found.mirrors) {
        const MirrorReading& r = mirror.reading;
        const std::string sensitivity = mirror.sensitivity_db ? fmt::format("{:.3f}", *mirror.sensitivity_db) : "";
        text += fmt::format("\"{}\",{},{:.4f},{},{:.3f},{:.3f},{},{:.4f},{}\n", mirror.name, mirror.lines, r.bin,
                            um(r.bin), r.level_db, r.snr_db, sensitivity, r.fwhm_bins, um(r.fwhm_bins));
    }
    return text;
}

}  // namespace

std::string RollOffFound::extrapolation(double of_bin, const std::string& unit) const {
    const double deepest = mirrors.back().reading.bin;
    if (!six_db_bin || *six_db_bin <= deepest) return {};
    return fmt::format("(extrapolated; deepest mirror at {:.1f} {})", deepest * of_bin, unit);
}

RollOffFound run(const RollOffJob& job, Progress& progress) {
    FileNames inputs = job.mirrors;
    inputs.insert(inputs.end(), {job.scan, job.background});
    const auto is_own_table = [](const std::filesystem::path& path) { return begins_with(path, table_heading); };
    check_outputs({{job.output, is_own_table}, {job.plot, is_own_figure}}, files_of(inputs), job.overwrites);
    check_plot_name(job.plot);
    if (job.attenuation_db && !(*job.attenuation_db >= 0 && *job.attenuation_db <= 200)) {
        throw Error(ErrorCode::bad_setting, fmt::format("{} dB is not a loss in the sample arm", *job.attenuation_db),
                    "attenuation_db", "give 0 to 200");
    }
    RollOffFound found;
    Mirrors mirrors(job, progress);
    for (const SpectrumSource& source : job.mirrors) {
        const std::int64_t bins = found.bins;
        found.mirrors.push_back(mirrors.read(source, found));
        if (bins != 0 && bins != found.bins) {
            throw Error(ErrorCode::bad_file, "has another number of samples than the mirrors before it",
                        source.string(), "record all mirrors with the same settings of the camera");
        }
    }
    std::ranges::sort(found.mirrors, {}, [](const RolledMirror& mirror) { return mirror.reading.bin; });
    fit_fall_off(found);
    if (!job.output.empty()) write_text(job.output, csv_of(found));
    if (!job.plot.empty()) plot_roll_off(job.plot, found);
    return found;
}

}  // namespace echolux
