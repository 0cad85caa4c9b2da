// Operation `calibrate_rolloff`: level, SNR, sensitivity and width of a mirror at several depths, and the depth at
// which 6 dB are lost.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <tuple>

#include "app/operations/calibrate_parts.h"
#include "app/settings/short_texts.h"
#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plural.h"

namespace echolux {
namespace {

using Json = nlohmann::ordered_json;
using CurveLook = FigureCurve::Look;

// Unit of an input that contains one mirror.
enum class MirrorPer { a_scan, b_scan };

struct RollOffRequest {
    std::optional<MirrorPer> mirror_per;   // std::nullopt: the whole input; else mirror i uses background i
    DepthWindow depths;                    // depths to search for mirrors
    std::filesystem::path scan;            // its calibration and recipe are used; empty: each mirror's own
    std::vector<std::string> settings;     // of that scan, or of each mirror
    SpectrumSource background;             // without the mirror; empty: calibration.background, or none
    std::optional<double> attenuation_db;  // of the power in the sample arm, both ways together; std::nullopt: unknown
};

// Depths are in air. Bins are counted without zero padding.
struct RolledMirror {
    std::string name;
    std::int64_t lines = 0;  // averaged in power; a mean spectrum counts as one line
    MirrorReading reading;
    bool is_opposite = false;              // sharpened by dispersion with inverted sign, so beyond zero delay
    std::optional<double> sensitivity_db;  // SNR plus attenuation
    std::vector<double> profile_db;        // of |A|, with points_per_bin points per bin
};

struct RollOffResult {
    std::vector<RolledMirror> mirrors;  // sorted by depth
    std::int64_t bins = 0;              // in the one-sided range
    double bin_um = 0;                  // if 0, unknown
    std::optional<FallOff> fall_off;    // std::nullopt: mirrors cover less than a tenth of the range
    std::optional<double> six_db_bin;   // std::nullopt: beyond the range
    std::vector<std::string> warnings;

    // "(extrapolated; deepest mirror at 120.0 um)", with lengths multiplied by `of_bin`. "" if 6 dB are lost between
    // the mirrors.
    std::string extrapolation(double of_bin, const std::string& unit) const {
        const double deepest = mirrors.back().reading.bin;
        if (!six_db_bin || *six_db_bin <= deepest) return {};
        return fmt::format("(extrapolated; deepest mirror at {:.1f} {})", deepest * of_bin, unit);
    }

    std::optional<double> um(std::optional<double> bin) const {
        return bin && bin_um > 0 ? std::optional(*bin * bin_um) : std::nullopt;
    }
};

// ---- Plot

struct PlotScale {
    const char* label = "Depth";
    std::string unit;
    double of_bin = 1;
};

PlotScale scale_of(const RollOffResult& found) {
    if (found.bin_um <= 0) return {"Depth bin", "", 1};
    return {"Depth in air", "\u00b5m", found.bin_um};
}

FigurePanel fall_off_panel(const RollOffResult& found, const PlotScale& scale) {
    const double top = found.fall_off ? found.fall_off->at_zero_db : found.mirrors.front().reading.level_db;
    double lowest = top;
    FigurePanel panel;
    std::vector<double> depths, levels;
    for (const RolledMirror& mirror : found.mirrors) {
        std::vector<double> level = mirror.profile_db;
        for (double& value : level) value -= top;
        lowest = std::min(lowest, mirror.reading.level_db - mirror.reading.snr_db);
        panel.curves.push_back(
            {"", evenly(level.size(), fine_bin * scale.of_bin), level, plot_colours::gray, CurveLook::line});
        depths.push_back(mirror.reading.bin * scale.of_bin);
        levels.push_back(mirror.reading.level_db - top);
    }
    const auto range = static_cast<double>(found.bins) * scale.of_bin;
    if (found.fall_off) {
        std::vector<double> shares = evenly(201, 1.0 / 200), fitted;
        for (double& share : shares) {
            fitted.push_back(found.fall_off->level_db(share) - top);
            share *= range;
        }
        panel.curves.push_back({"fall-off", shares, fitted, plot_colours::vermilion, CurveLook::dashed});
    }
    panel.curves.push_back({"mirrors", depths, levels, plot_colours::blue, CurveLook::spots});
    panel.aspect = 2.5;
    const std::string unit = scale.unit.empty() ? "bins" : scale.unit;
    panel.heading = found.six_db_bin ? fmt::format("6 dB roll-off at {:.4g} {} {}", *found.six_db_bin * scale.of_bin,
                                                   unit, found.extrapolation(scale.of_bin, unit))
                                     : "Mirrors over depth";
    panel.across = axis_across(scale.label, scale.unit, {0, range});
    panel.downwards = axis_upwards("Level", "dB", {std::max(-120.0, lowest - top - 10), 5});
    return panel;
}

FigurePanel spots_panel(const RollOffResult& found, const PlotScale& scale, const char* label, const std::string& unit,
                        const std::vector<double>& values, double min_span) {
    std::vector<double> depths;
    for (const RolledMirror& mirror : found.mirrors) depths.push_back(mirror.reading.bin * scale.of_bin);
    ValueRange range = range_with_margin(values);
    const double missing = std::max(0.0, min_span - (range.high - range.low)) / 2;
    range = {range.low - missing, range.high + missing};
    FigurePanel panel =
        curve_panel(axis_across(scale.label, scale.unit, {0, static_cast<double>(found.bins) * scale.of_bin}),
                    axis_upwards(label, unit, range), 1.5);
    panel.curves = {{"", depths, values, plot_colours::blue, CurveLook::line},
                    {"", depths, values, plot_colours::blue, CurveLook::spots}};
    return panel;
}

// Plots all mirrors over depth with the fitted roll-off, and the SNR or sensitivity and width of each.
void plot_roll_off(const std::filesystem::path& path, const RollOffResult& found) {
    const PlotScale scale = scale_of(found);
    std::vector<double> sensitivities, widths;
    for (const RolledMirror& mirror : found.mirrors) {
        sensitivities.push_back(mirror.sensitivity_db.value_or(mirror.reading.snr_db));
        widths.push_back(mirror.reading.fwhm_bins * scale.of_bin);
    }
    const std::string unit = scale.unit.empty() ? "bins" : scale.unit;
    write_plot(path, {{fall_off_panel(found, scale)},
                      {spots_panel(found, scale, found.mirrors.front().sensitivity_db ? "Sensitivity" : "SNR", "dB",
                                   sensitivities, 6),
                       spots_panel(found, scale, "Axial FWHM", unit, widths, 0.5 * widths.front())}});
}

// ---- Measurement

// Counts of several lines, one after another.
struct Lines {
    std::vector<float> counts;
    std::int64_t samples = 0;

    std::int64_t count() const { return std::ssize(counts) / samples; }
    std::vector<double> mean() const {
        std::vector<double> mean(index(samples));
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
    Mirrors(const RollOffRequest& request, Progress& progress) : request_(request), progress_(progress) {
        if (!request.scan.empty()) scan_ = open_scan(request.scan, request.settings);
    }

    void read(const SpectrumSource& source, RollOffResult& found) {
        if (is_spectrum_file(source)) return read_file(source, found);
        const Scan mirror = open_scan(source, scan_ ? std::vector<std::string>{} : request_.settings);
        const ReconstructionSpec plan = plan_of(mirror);
        if (!request_.mirror_per) {
            return add(source.string(), plan, background(plan.geometry.samples), found,
                       [&](const ReconstructionSpec& of) { return mean_profile(mirror, of, progress_); });
        }
        const std::vector<Lines> mirrors = lines_of(mirror, *request_.mirror_per, progress_);
        const std::vector<std::vector<double>> backgrounds = backgrounds_of(mirrors, source);
        for (std::size_t i = 0; i < mirrors.size(); ++i) {
            const char* what = request_.mirror_per == MirrorPer::a_scan ? "A-scan" : "B-scan";
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

    void read_file(const SpectrumSource& source, RollOffResult& found) {
        if (!scan_) {
            throw Error(ErrorCode::bad_setting, "is a spectrum without a recipe to process it", source.string(),
                        "name a scan with calibration and recipe as `scan`");
        }
        const std::vector<double> counts =
            mean_spectrum(source, {}, "mirror", scan_->geometry.samples, "the scan", progress_);
        const std::int64_t samples = std::ssize(counts);
        add_lines(source.string(), scan_->spec(1), {{counts.begin(), counts.end()}, samples}, background(samples),
                  found);
    }

    void add_lines(const std::string& name, const ReconstructionSpec& plan, const Lines& lines,
                   const std::vector<double>& background, RollOffResult& found) {
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
             RollOffResult& found, const ProfileOf& profile_of) {
        const MirrorAtDepth seen = mirror_at_depth(given, background, name, request_.depths, profile_of);
        if (found.bins != 0 && seen.bins != found.bins) {
            throw Error(ErrorCode::bad_file, "has another number of samples than the mirrors before it", name,
                        "record all mirrors with the same settings of the camera");
        }
        found.bins = seen.bins;
        found.bin_um = seen.bin_um;
        RolledMirror mirror{name, seen.lines, seen.reading, seen.is_opposite, {}, {}};
        if (request_.attenuation_db) mirror.sensitivity_db = mirror.reading.snr_db + *request_.attenuation_db;
        for (const double a : seen.amplitude) mirror.profile_db.push_back(20 * std::log10(std::max(a, 1e-15)));
        if (mirror.reading.nearer_bin) {
            found.warnings.push_back(fmt::format(
                "{}: there is a higher peak at bin {:.1f}, within the first 5 % of the range; if it is the mirror, "
                "choose it with `depths`",
                name, *mirror.reading.nearer_bin));
        }
        found.mirrors.push_back(std::move(mirror));
    }

    // Read once, since all mirrors have the same number of samples.
    const std::vector<double>& background(std::int64_t samples) {
        if (!request_.background.empty() && std::ssize(background_) != samples) {
            background_ = mean_spectrum(request_.background, {}, "background", samples, "a mirror", progress_);
        }
        return background_;
    }

    // One per mirror, or one for all.
    std::vector<std::vector<double>> backgrounds_of(const std::vector<Lines>& mirrors, const SpectrumSource& source) {
        const std::int64_t samples = mirrors.front().samples;
        if (request_.background.empty() || is_spectrum_file(request_.background)) return {background(samples)};
        const std::vector<Lines> references = lines_of(open_scan(request_.background), *request_.mirror_per, progress_);
        if (references.size() == 1 || references.front().samples != samples) return {background(samples)};
        if (references.size() != mirrors.size()) {
            throw Error(ErrorCode::bad_file,
                        fmt::format("holds {}, {} holds {}", plural(references.size(), "references"), source.string(),
                                    plural(mirrors.size(), "mirrors")),
                        request_.background.string(), "record one for each, or give the mean of them as a file");
        }
        std::vector<std::vector<double>> backgrounds;
        for (const Lines& lines : references) backgrounds.push_back(lines.mean());
        return backgrounds;
    }

    const RollOffRequest& request_;
    Progress& progress_;
    std::optional<Scan> scan_;
    std::vector<double> background_;
};

// `found.mirrors` is sorted by depth.
void require_different_depths(const RollOffResult& found) {
    const auto same = std::ranges::adjacent_find(found.mirrors, [&](const RolledMirror& a, const RolledMirror& b) {
        return b.reading.bin - a.reading.bin < min_share_between * static_cast<double>(found.bins);
    });
    if (same == found.mirrors.end()) return;
    throw Error(ErrorCode::bad_file,
                fmt::format("is at the same depth as {}, bin {:.2f}", same->name, same->reading.bin),
                std::next(same)->name, "record each mirror at its own depth, and list each once");
}

// Smallest span of the depths, as a share of the range, from which the roll-off can be determined.
constexpr double min_share_of_range = 0.1;

// Returns "667.0 um", or "bin 12.0" if the size of a bin is unknown.
std::string depth_text(const RollOffResult& found, double bin) {
    return found.bin_um > 0 ? fmt::format("{:.1f} um", bin * found.bin_um) : fmt::format("bin {:.1f}", bin);
}

// Relative depths and levels of mirrors.
struct Levels {
    std::vector<double> shares, db;
};

Levels levels_of(const RollOffResult& found, const std::vector<Outlier>& left_out) {
    Levels levels;
    for (std::size_t i = 0; i < found.mirrors.size(); ++i) {
        if (std::ranges::find(left_out, i, &Outlier::mirror) != left_out.end()) continue;
        levels.shares.push_back(found.mirrors[i].reading.bin / static_cast<double>(found.bins));
        levels.db.push_back(found.mirrors[i].reading.level_db);
    }
    return levels;
}

void take_fall_off(RollOffResult& found, const FallOff& fall_off) {
    found.fall_off = fall_off;
    found.six_db_bin.reset();
    if (const auto share = fall_off.share_at_loss(6)) found.six_db_bin = *share * static_cast<double>(found.bins);
}

// Reports mirrors that do not follow the fall-off of the others, and the fit to the others.
void warn_of_outliers(RollOffResult& found, const std::vector<Outlier>& outliers, const FallOff& others,
                      bool is_left_out) {
    for (const Outlier& outlier : outliers) {
        const RolledMirror& mirror = found.mirrors[outlier.mirror];
        found.warnings.push_back(fmt::format("{}: its peak at {} lies {:.1f} dB {} the fall-off of the others{}",
                                             mirror.name, depth_text(found, mirror.reading.bin),
                                             std::abs(outlier.from_fit_db), outlier.from_fit_db < 0 ? "below" : "above",
                                             is_left_out ? "; it is left out of the fit" : ""));
    }
    if (is_left_out) return;
    const auto share = others.share_at_loss(6);
    found.warnings.push_back(
        fmt::format("without {}: {}, residual of the fit {:.2f} dB rms", outliers.size() > 1 ? "them" : "it",
                    share ? "6 dB roll-off at " + depth_text(found, *share * static_cast<double>(found.bins))
                          : std::string("6 dB are not lost within the range"),
                    others.rms_db));
}

void fit_fall_off(RollOffResult& found, bool leaves_out_outliers) {
    constexpr double max_rms_db = 1;
    if (found.mirrors.size() < 2) return;
    require_different_depths(found);
    const double span_bins = found.mirrors.back().reading.bin - found.mirrors.front().reading.bin;
    if (span_bins < min_share_of_range * static_cast<double>(found.bins)) return;
    const Levels all = levels_of(found, {});
    take_fall_off(found, fitted_fall_off(all.shares, all.db));
    const std::vector<Outlier> outliers = fall_off_outliers(all.shares, all.db);
    if (!outliers.empty()) {
        const Levels kept = levels_of(found, outliers);
        const FallOff others = fitted_fall_off(kept.shares, kept.db);
        if (leaves_out_outliers) take_fall_off(found, others);
        warn_of_outliers(found, outliers, others, leaves_out_outliers);
    } else if (found.fall_off->rms_db > max_rms_db) {
        found.warnings.push_back(
            fmt::format("residual of the roll-off fit: {:.2f} dB rms; check each mirror's peak in the plot",
                        found.fall_off->rms_db));
    }
}

constexpr const char* table_heading =
    "mirror,lines,depth_bin,depth_um,level_db,snr_db,sensitivity_db,fwhm_bins,fwhm_um,side\n";

// Unknown lengths and sensitivities are left empty.
std::string csv_of(const RollOffResult& found) {
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

// ---- Result in words and as an object

std::string line_of(const RolledMirror& mirror, double bin_um) {
    const MirrorReading& r = mirror.reading;
    const double of_bin = bin_um > 0 ? bin_um : 1;
    std::string text = fmt::format("{}: bin {:.2f}", mirror.name, r.bin);
    if (bin_um > 0) text += fmt::format(", {:.1f} um", r.bin * of_bin);
    text += fmt::format("; level {:.2f} dB, SNR {:.2f} dB{}", r.level_db, r.snr_db,
                        mirror.lines == 1 ? " from a single line or mean" : "");
    if (mirror.sensitivity_db) text += fmt::format(", sensitivity {:.2f} dB", *mirror.sensitivity_db);
    return text + fmt::format("; FWHM {:.3f} {}{}", r.fwhm_bins * of_bin, bin_um > 0 ? "um" : "bins",
                              mirror.is_opposite ? "; beyond zero delay, dispersion of opposite sign" : "");
}

std::string line_of_fall_off(const RollOffResult& found) {
    if (!found.fall_off) return "roll-off: needs mirrors at depths a tenth of the range apart";
    const char* unit = found.bin_um > 0 ? "um" : "bins";
    const double of_bin = found.bin_um > 0 ? found.bin_um : 1;
    std::string text;
    if (found.six_db_bin) {
        const std::string extrapolation = found.extrapolation(of_bin, unit);
        text = fmt::format("6 dB roll-off at {:.1f} {}{}{}", *found.six_db_bin * of_bin, unit,
                           extrapolation.empty() ? "" : " ", extrapolation);
    } else {
        text = fmt::format("roll-off below 6 dB within the range of {:.1f} {}",
                           static_cast<double>(found.bins) * of_bin, unit);
    }
    return text + fmt::format("; the fall-off ({}resolution {:.2f} samples) leaves {:.2f} dB rms",
                              found.fall_off->has_wide_samples ? "" : "samples without width, ",
                              found.fall_off->resolution, found.fall_off->rms_db);
}

// Depths in um are null if the depth pitch is unknown.
std::shared_ptr<const Json> json_of_mirrors(const RollOffResult& found) {
    const auto number = [](const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); };
    Json mirrors = Json::array();
    for (const RolledMirror& mirror : found.mirrors) {
        const MirrorReading& r = mirror.reading;
        mirrors.push_back({{"mirror", mirror.name},
                           {"lines", mirror.lines},
                           {"depth_bin", r.bin},
                           {"depth_um", number(found.um(r.bin))},
                           {"level_db", r.level_db},
                           {"snr_db", r.snr_db},
                           {"sensitivity_db", number(mirror.sensitivity_db)},
                           {"fwhm_bins", r.fwhm_bins},
                           {"fwhm_um", number(found.um(r.fwhm_bins))},
                           {"side", mirror.is_opposite ? "opposite" : "same"}});
    }
    return std::make_shared<const Json>(std::move(mirrors));
}

// ---- Work

struct CalibrateRolloff {
    VolumeInput mirror, scan, background;
    std::optional<MirrorPer> each;
    std::string depths;
    double attenuation_db = -1;  // -1: unknown
    bool single_pass = false, leave_out_outliers = false;
    OperationOutput output, plot;

    RollOffResult found;

    static void describe(OperationParts<CalibrateRolloff>& parts);

    void run(Context& context) {
        const RollOffRequest request = checked_request();
        Mirrors mirrors(request, context.progress);
        found = {};
        for (const std::string& name : mirror.names) mirrors.read(name, found);
        std::ranges::sort(found.mirrors, {}, [](const RolledMirror& one) { return one.reading.bin; });
        fit_fall_off(found, leave_out_outliers);
        context.warn(found.warnings);
        if (found.mirrors.size() == 1)
            context.warn({"one mirror has a level and a width, but no roll-off: give scans at other depths"});
        context.write(output, csv_of(found));
        context.write(plot, ".png", [&](const std::filesystem::path& path) { plot_roll_off(path, found); });
        for (const RolledMirror& one : found.mirrors) context.answer(line_of(one, found.bin_um));
        context.answer(line_of_fall_off(found));
    }

    RollOffRequest checked_request() const {
        RollOffRequest request;
        request.mirror_per = each;
        if (!depths.empty()) std::tie(request.depths.begin, request.depths.end) = interval_argument(depths, "depths");
        if (scan.is_given()) request.scan = scan.names.front();
        request.settings = mirror.settings;
        if (background.is_given()) request.background = background.names.front();
        if (attenuation_db >= 0)
            // Light passes the attenuator twice, so the loss in dB doubles.
            request.attenuation_db = single_pass ? 2 * attenuation_db : attenuation_db;
        else if (single_pass)
            throw Error(ErrorCode::bad_setting, "needs `attenuation_db`", "single_pass", "give the attenuation");
        else if (attenuation_db != -1)
            refuse_loss(attenuation_db);
        if (request.attenuation_db > 200) refuse_loss(*request.attenuation_db);
        return request;
    }

    [[noreturn]] static void refuse_loss(double loss_db) {
        throw Error(ErrorCode::bad_setting, fmt::format("{} dB is not a loss in the sample arm", loss_db),
                    "attenuation_db", "give 0 to 200");
    }

    static void describe_files(OperationParts<CalibrateRolloff>& parts);
    static void describe_results(OperationParts<CalibrateRolloff>& parts);
};

void CalibrateRolloff::describe(OperationParts<CalibrateRolloff>& parts) {
    constexpr Effect effect = Effect::file;
    parts.info.command = "calibrate rolloff";
    parts.info.summary = "Roll-off, SNR, sensitivity and width from several mirrors";
    parts.info.examples = {"mirror=m1.toml mirror=m2.toml mirror=m3.toml output=rolloff.csv plot=rolloff.png"};
    parts.info.may_write_nothing = true;
    describe_files(parts);
    parts
        .argument(optional_choice("each", &CalibrateRolloff::each, {"a-scan", "b-scan"},
                                  "treat each A-scan, or B-scan, as a mirror at another depth; backgrounds are paired "
                                  "with them if `background` has as many"))
        .argument(text("depths", &CalibrateRolloff::depths, effect,
                       "depth bins to search for mirrors [beyond the first 5 % of the range]")
                      .written_as("Z0:Z1"))
        .argument(number("attenuation_db", &CalibrateRolloff::attenuation_db, -1, 200, "dB", effect,
                         "attenuation of the sample arm, both passes together, which is added to SNR to give "
                         "sensitivity")
                      .special(-1, "unknown")
                      .written_as("DB"))
        .argument(flag("single_pass", &CalibrateRolloff::single_pass, effect,
                       "the attenuation is of a single pass, and light passes twice; needs `attenuation_db`"))
        .argument(flag("leave_out_outliers", &CalibrateRolloff::leave_out_outliers, effect,
                       "fit the fall-off without outliers"));
    describe_results(parts);
}

void CalibrateRolloff::describe_files(OperationParts<CalibrateRolloff>& parts) {
    parts
        .input({.name = "mirror",
                .help = "scans or mean spectra of one mirror at different depths",
                .takes_many = true,
                .is_file = true,
                .is_spectrum = true},
               &CalibrateRolloff::mirror)
        .input({.name = "scan",
                .help = "scan whose calibration and recipe apply [each mirror's own]",
                .is_required = false,
                .is_file = true},
               &CalibrateRolloff::scan)
        .input({.name = "background",
                .help = "spectrum without the mirror [calibration.background]",
                .is_required = false,
                .is_file = true,
                .is_spectrum = true},
               &CalibrateRolloff::background)
        .output({.name = "output",
                 .kind = OutputKind::table,
                 .help = "table to write",
                 .is_own = [](const std::filesystem::path& path) { return begins_with(path, table_heading); },
                 .endings = {".csv", ".txt"}},
                &CalibrateRolloff::output)
        .output(plot_output("also draw mirrors, fall-off, sensitivity and width over depth"), &CalibrateRolloff::plot);
}

void CalibrateRolloff::describe_results(OperationParts<CalibrateRolloff>& parts) {
    using R = RollOffResult;
    const auto add = [&](std::string_view name, std::string_view unit, std::string_view help, auto of) {
        parts.result(name, unit, help, [of](const CalibrateRolloff& one) { return of(one.found); });
    };
    add("mirrors", "", "depth, level, SNR, sensitivity and width of each mirror",
        [](const R& found) { return json_of_mirrors(found); });
    add("six_db_depth_bin", "", "depth at which 6 dB are lost, in bins; none: beyond the range",
        [](const R& found) { return found.six_db_bin; });
    add("six_db_depth_um", "um", "the same depth in air; none: the depth pitch is unknown",
        [](const R& found) { return found.um(found.six_db_bin); });
    add("fall_off.resolution_samples", "", "spectral resolution in samples", [](const R& found) {
        return found.fall_off ? std::optional<double>(found.fall_off->resolution) : std::nullopt;
    });
    add("fall_off.rms_db", "dB", "residual of the fit",
        [](const R& found) { return found.fall_off ? std::optional<double>(found.fall_off->rms_db) : std::nullopt; });
}

}  // namespace

ECHOLUX_OPERATION(calibrate_rolloff, CalibrateRolloff)

}  // namespace echolux
