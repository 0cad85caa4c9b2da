#include "app/jobs/roll_off_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <utility>

#include "app/figure/figure_format.h"
#include "app/figure/plot_panels.h"
#include "app/jobs/calibration_plots.h"
#include "app/open/files_read.h"
#include "compute/calibrate/mirrors.h"
#include "compute/counted.h"
#include "compute/error.h"
#include "compute/plan/tables.h"
#include "compute/steps/sample.h"
#include "engine/io/atomic_file.h"
#include "engine/io/number_file.h"
#include "engine/io/output_rule.h"

namespace echolux {
namespace {

// Counts of several lines, one after another.
struct Lines {
    std::vector<float> counts;
    std::int64_t samples = 0;

    std::int64_t count() const { return std::ssize(counts) / samples; }
    std::vector<double> mean() const {
        std::vector<double> mean(static_cast<std::size_t>(samples));
        for (std::size_t i = 0; i < counts.size(); ++i) mean[i % mean.size()] += double{counts[i]};
        for (double& value : mean) value /= static_cast<double>(count());
        return mean;
    }
};

// Lines at each A-scan position, or of each acquired B-scan, of the first volume.
std::vector<Lines> lines_of(const Scan& scan, MirrorPer per, Progress& progress) {
    constexpr std::int64_t max_mirrors = 4096;
    const ScanGeometry& geometry = scan.geometry;
    const bool by_line = per == MirrorPer::a_scan;
    const std::int64_t lines = by_line ? geometry.a_repeats : geometry.lines_per_b_scan();
    const std::int64_t mirrors = geometry.frames_per_volume() * (by_line ? geometry.a_scans : 1);
    if (mirrors > max_mirrors) {
        throw Error(ErrorCode::bad_file, fmt::format("holds {} depths, at most {} are read", mirrors, max_mirrors),
                    scan.path.string(), "a scan of a mirror at one depth needs no `each`");
    }
    SpectraReader reader(scan);
    std::vector<Lines> all;
    progress.begin("reading", geometry.b_scans, "B-scans");
    for (std::int64_t b = 0; b < geometry.b_scans; ++b) {
        require_data(scan, b);
        const RawPart part = read_part(reader, b, 1);
        LineFormat(scan.format, geometry).with_reader([&](const auto& read) {
            for (std::int64_t line = 0; line < echolux::lines_of(part.block, geometry); ++line) {
                if (line % lines == 0) all.push_back({{}, geometry.samples});
                const std::byte* samples = line_at(part.block, scan.format, geometry, line);
                for (std::int64_t p = 0; p < geometry.samples; ++p) {
                    all.back().counts.push_back(static_cast<float>(read(samples, p)));
                }
            }
        });
        progress.advance(1);
    }
    progress.end();
    return all;
}

// Describes the lines in the layout of a scan.
ReconstructionSpec for_lines(ReconstructionSpec plan, const Lines& lines) {
    plan.format = {};
    plan.format.sample_format = SampleFormat::f32;
    plan.geometry = {};
    plan.geometry.samples = lines.samples;
    plan.geometry.a_scans = lines.count();
    plan.geometry.b_scans = 1;
    return plan;
}

class Mirrors {
  public:
    Mirrors(const RollOffJob& job, Progress& progress) : job_(job), progress_(progress) {
        if (!job.scan.empty()) scan_ = open_scan(job.scan, job.settings);
    }

    void read(const SpectrumSource& source, RollOffFound& found) {
        if (is_spectrum_file(source)) return read_file(source, found);
        const Scan mirror = open_scan(source, scan_ ? std::vector<std::string>{} : job_.settings);
        const ReconstructionSpec plan = plan_of(mirror);
        if (job_.mirror_per == MirrorPer::source) {
            return add(source.string(), plan, background(plan.geometry.samples), found,
                       [&](const ReconstructionSpec& of) { return mean_profile(mirror, of, progress_); });
        }
        const std::vector<Lines> mirrors = lines_of(mirror, job_.mirror_per, progress_);
        const std::vector<std::vector<double>> backgrounds = backgrounds_of(mirrors, source);
        for (std::size_t i = 0; i < mirrors.size(); ++i) {
            const char* what = job_.mirror_per == MirrorPer::a_scan ? "A-scan" : "B-scan";
            add_lines(fmt::format("{} {} {}", source.string(), what, i), plan, mirrors[i],
                      backgrounds[backgrounds.size() > 1 ? i : 0], found);
        }
    }

  private:
    ReconstructionSpec plan_of(const Scan& mirror) const {
        ReconstructionSpec plan = mirror.spec(1);
        if (scan_) {
            plan.calibration = scan_->calibration;
            plan.recipe = scan_->recipe;
            plan.nufft = scan_->nufft;
        }
        return plan;
    }

    void read_file(const SpectrumSource& source, RollOffFound& found) {
        if (!scan_) {
            throw Error(ErrorCode::bad_setting, "is a spectrum without a recipe to process it", source.string(),
                        "name a scan with calibration and recipe as `scan`");
        }
        const std::vector<double> counts =
            mean_spectrum(source, "mirror", scan_->geometry.samples, "the scan", progress_);
        const std::int64_t samples = std::ssize(counts);
        add_lines(source.string(), scan_->spec(1), {{counts.begin(), counts.end()}, samples}, background(samples),
                  found);
    }

    void add_lines(const std::string& name, const ReconstructionSpec& plan, const Lines& lines,
                   const std::vector<double>& background, RollOffFound& found) {
        add(name, for_lines(plan, lines), background, found, [&](const ReconstructionSpec& of) {
            MeanProfile profile(of);
            Block block;
            block.data = reinterpret_cast<const std::byte*>(lines.counts.data());
            block.bytes = std::ssize(lines.counts) * static_cast<std::int64_t>(sizeof(float));
            block.b_scans = 1;
            profile.add(block);
            return profile;
        });
    }

    template <class ProfileOf>
    void add(const std::string& name, const ReconstructionSpec& given, const std::vector<double>& background,
             RollOffFound& found, const ProfileOf& profile_of) {
        const MirrorAtDepth seen = mirror_at_depth(given, background, name, job_.depths, profile_of);
        if (found.bins != 0 && seen.bins != found.bins) {
            throw Error(ErrorCode::bad_file, "has another number of samples than the mirrors before it", name,
                        "record all mirrors with the same settings of the camera");
        }
        found.bins = seen.bins;
        found.bin_um = seen.bin_um;
        RolledMirror mirror{name, seen.lines, seen.reading, seen.is_opposite, {}, {}};
        if (job_.attenuation_db) mirror.sensitivity_db = mirror.reading.snr_db + *job_.attenuation_db;
        for (const double a : seen.amplitude) mirror.profile_db.push_back(20 * std::log10(std::max(a, 1e-15)));
        if (mirror.reading.nearer_bin) {
            found.warnings.push_back(fmt::format(
                "{}: a higher peak stands at bin {:.1f}, within the first 5 % of the range; if it is the mirror, "
                "choose it with `depths`",
                name, *mirror.reading.nearer_bin));
        }
        found.mirrors.push_back(std::move(mirror));
    }

    // Read once, since all mirrors have the same number of samples.
    const std::vector<double>& background(std::int64_t samples) {
        if (!job_.background.empty() && std::ssize(background_) != samples) {
            background_ = mean_spectrum(job_.background, "background", samples, "a mirror", progress_);
        }
        return background_;
    }

    // One per mirror, or one for all.
    std::vector<std::vector<double>> backgrounds_of(const std::vector<Lines>& mirrors, const SpectrumSource& source) {
        const std::int64_t samples = mirrors.front().samples;
        if (job_.background.empty() || is_spectrum_file(job_.background)) return {background(samples)};
        const std::vector<Lines> references = lines_of(open_scan(job_.background), job_.mirror_per, progress_);
        if (references.size() == 1 || references.front().samples != samples) return {background(samples)};
        if (references.size() != mirrors.size()) {
            throw Error(ErrorCode::bad_file,
                        fmt::format("holds {}, {} holds {}", counted(references.size(), "references"), source.string(),
                                    counted(mirrors.size(), "mirrors")),
                        job_.background.string(), "record one for each, or give the mean of them as a file");
        }
        std::vector<std::vector<double>> backgrounds;
        for (const Lines& lines : references) backgrounds.push_back(lines.mean());
        return backgrounds;
    }

    const RollOffJob& job_;
    Progress& progress_;
    std::optional<Scan> scan_;
    std::vector<double> background_;
};

// `found.mirrors` is sorted by depth.
void require_different_depths(const RollOffFound& found) {
    const auto same = std::ranges::adjacent_find(found.mirrors, [&](const RolledMirror& a, const RolledMirror& b) {
        return b.reading.bin - a.reading.bin < min_share_between * static_cast<double>(found.bins);
    });
    if (same == found.mirrors.end()) return;
    throw Error(ErrorCode::bad_file,
                fmt::format("is at the same depth as {}, bin {:.2f}", same->name, same->reading.bin),
                std::next(same)->name, "record each mirror at its own depth, and list each once");
}

// Share of the range. Over a smaller span, the roll-off cannot be determined.
constexpr double min_span = 0.1;

// "667.0 um"
std::string depth_text(const RollOffFound& found, double bin) {
    return found.bin_um > 0 ? fmt::format("{:.1f} um", bin * found.bin_um) : fmt::format("bin {:.1f}", bin);
}

void warn_of_outliers(RollOffFound& found, std::vector<double> shares, std::vector<double> levels) {
    constexpr double max_rms_db = 1;
    const std::vector<Outlier> outliers = fall_off_outliers(shares, levels);
    for (const Outlier& outlier : outliers) {
        const RolledMirror& mirror = found.mirrors[outlier.mirror];
        found.warnings.push_back(fmt::format("{}: its peak at {} lies {:.1f} dB {} the fall-off of the others",
                                             mirror.name, depth_text(found, mirror.reading.bin),
                                             std::abs(outlier.from_fit_db),
                                             outlier.from_fit_db < 0 ? "below" : "above"));
    }
    if (!outliers.empty()) {
        std::vector<std::size_t> left_out;
        for (const Outlier& outlier : outliers) left_out.push_back(outlier.mirror);
        std::ranges::sort(left_out, std::greater{});
        for (const std::size_t mirror : left_out) {
            shares.erase(shares.begin() + static_cast<std::ptrdiff_t>(mirror));
            levels.erase(levels.begin() + static_cast<std::ptrdiff_t>(mirror));
        }
        const FallOff others = fitted_fall_off(shares, levels);
        const auto share = others.share_at_loss(6);
        found.warnings.push_back(
            fmt::format("without {}: {}, residual of the fit {:.2f} dB rms", left_out.size() > 1 ? "them" : "it",
                        share ? "6 dB are lost at " + depth_text(found, *share * static_cast<double>(found.bins))
                              : std::string("6 dB are not lost within the range"),
                        others.rms_db));
    } else if (found.fall_off->rms_db > max_rms_db) {
        found.warnings.push_back(
            fmt::format("residual of the roll-off fit: {:.2f} dB rms; check each mirror's peak in the plot",
                        found.fall_off->rms_db));
    }
}

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
    warn_of_outliers(found, shares, levels);
}

constexpr const char* table_heading =
    "mirror,lines,depth_bin,depth_um,level_db,snr_db,sensitivity_db,fwhm_bins,fwhm_um,side\n";

// Unknown lengths and sensitivities are left empty.
std::string csv_of(const RollOffFound& found) {
    std::string text = table_heading;
    const auto um = [&](double bins) { return found.bin_um > 0 ? fmt::format("{:.4f}", bins * found.bin_um) : ""; };
    for (const RolledMirror& mirror : found.mirrors) {
        const MirrorReading& r = mirror.reading;
        const std::string sensitivity = mirror.sensitivity_db ? fmt::format("{:.3f}", *mirror.sensitivity_db) : "";
        text += fmt::format("\"{}\",{},{:.4f},{},{:.3f},{:.3f},{},{:.4f},{},{}\n", mirror.name, mirror.lines, r.bin,
                            um(r.bin), r.level_db, r.snr_db, sensitivity, r.fwhm_bins, um(r.fwhm_bins),
                            mirror.is_opposite ? -1 : 1);
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
    check_outputs({{job.output, is_own_table, {".csv", ".txt"}}, {job.plot, is_own_figure}}, files_of(inputs),
                  job.overwrites);
    check_plot_name(job.plot);
    if (job.attenuation_db && !(*job.attenuation_db >= 0 && *job.attenuation_db <= 200)) {
        throw Error(ErrorCode::bad_setting, fmt::format("{} dB is not a loss in the sample arm", *job.attenuation_db),
                    "attenuation_db", "give 0 to 200");
    }
    RollOffFound found;
    Mirrors mirrors(job, progress);
    if (job.depths.end != 0 && job.depths.end <= job.depths.begin) {
        throw Error(ErrorCode::bad_setting, "no depth is left to look for mirrors in", "depths",
                    "give Z0:Z1 in bins, the first smaller than the second");
    }
    for (const SpectrumSource& source : job.mirrors) mirrors.read(source, found);
    std::ranges::sort(found.mirrors, {}, [](const RolledMirror& mirror) { return mirror.reading.bin; });
    fit_fall_off(found);
    if (found.mirrors.size() == 1)
        found.warnings.push_back("one mirror has a level and a width, but no roll-off: give scans at other depths");
    if (!job.output.empty()) write_text(job.output, csv_of(found));
    if (!job.plot.empty()) plot_roll_off(job.plot, found);
    return found;
}

}  // namespace echolux
