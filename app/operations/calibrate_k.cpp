// Operation `calibrate_k`: k map and dispersion from a mirror at two depths.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/operations/calibrate_parts.h"
#include "compute/error.h"

namespace echolux {
namespace {

using Json = nlohmann::ordered_json;
using CurveLook = FigureCurve::Look;

// ---- Plots of results and their quality

FigurePanel phase_panel(const MirrorCalibration& found) {
    const auto samples = found.residual_rad.size();
    std::vector<double> all;
    FigurePanel panel;
    panel.legend = LegendCorner::left;
    for (const std::size_t m : {0U, 1U}) {
        std::vector<double> phase = found.curves[m].phase_rad;
        for (double& p : phase) p -= found.curves[m].phase_rad.front();
        all.insert(all.end(), phase.begin(), phase.end());
        panel.curves.push_back({fmt::format("mirror {}", m + 1), evenly(samples, 1), phase,
                                m == 0 ? plot_colours::blue : plot_colours::vermilion, CurveLook::line});
    }
    panel.aspect = 1.5;
    panel.heading = "Fringe phase";
    panel.across = axis_across("Sample", "", {0, static_cast<double>(samples - 1)});
    panel.downwards = axis_upwards("Phase", "rad", range_with_margin(all));
    return panel;
}

FigurePanel residual_panel(const MirrorCalibration& found) {
    const std::vector<double>& residual = found.residual_rad;
    const auto last = static_cast<double>(residual.size() - 1);
    const auto trimmed = static_cast<std::ptrdiff_t>(found.trimmed_share * static_cast<double>(residual.size()));
    const std::span<const double> counted(residual.begin() + trimmed, residual.end() - trimmed);
    double square = 0;
    for (const double r : counted) square += r * r / static_cast<double>(counted.size());
    const ValueRange range = range_with_margin(counted);
    const double max_phase = 1.5 * std::max(-range.low, range.high);
    FigurePanel panel =
        curve_panel(axis_across("Sample", "", {0, last}),
                    axis_upwards("Phase less polynomial", "rad", {-max_phase, max_phase}), 1.5, "Residual");
    panel.shaded = {{0, static_cast<double>(trimmed)}, {last - static_cast<double>(trimmed), last}};
    panel.curves.push_back({fmt::format("rms {:.2g} rad", std::sqrt(square)), evenly(residual.size(), 1), residual,
                            plot_colours::green, CurveLook::line});
    return panel;
}

FigurePanel spread_panel(const MirrorCalibration& found, std::size_t m) {
    const MirrorCurves& curves = found.curves[m];
    const double around = std::max(12.0, 2.2 * found.fwhm_before[m]);
    const double highest = *std::max_element(
        curves.sharpened.begin() + static_cast<std::ptrdiff_t>(std::max(0.0, found.bin[m] - around) * points_per_bin),
        curves.sharpened.end());
    // Off centre, to leave room for the legend.
    const ValueRange bins{std::max(0.0, found.bin[m] - 0.7 * around), found.bin[m] + 2.0 * around};
    FigurePanel panel = curve_panel(axis_across("Depth bin", "", bins), axis_upwards("Level", "dB", {-60, 5}), 1.5,
                                    fmt::format("Mirror {}, FWHM in bins", m + 1));
    const auto add = [&](const char* name, double fwhm, const std::vector<double>& profile, const Colour& colour,
                         CurveLook look) {
        panel.curves.push_back({fmt::format("{}: {:.2f}", name, fwhm), evenly(profile.size(), fine_bin),
                                decibels_of(profile, highest), colour, look});
    };
    add("as recorded", found.fwhm_before[m], curves.as_recorded, plot_colours::gray, CurveLook::line);
    add("k map", found.fwhm_mapped[m], curves.mapped, plot_colours::vermilion, CurveLook::dashed);
    add("and dispersion", found.fwhm[m], curves.sharpened, plot_colours::blue, CurveLook::line);
    return panel;
}

// Plots fringe phases, residuals of the polynomial, and both point spread functions before and after.
void plot_mirrors(const std::filesystem::path& path, const MirrorCalibration& found) {
    write_plot(path, {{phase_panel(found), residual_panel(found)}, {spread_panel(found, 0), spread_panel(found, 1)}});
}

// ---- Result

// Returns the wavelength in nm, converted with a warning if it was given in another unit. 0: unknown.
double centre_wavelength_nm(double given, std::vector<std::string>& warnings) {
    if (given == 0) return 0;
    const std::optional<WavelengthUnit> unit = wavelength_unit_of({&given, 1});
    if (!unit) {
        throw Error(ErrorCode::bad_setting, fmt::format("{} nm is not a wavelength of OCT", given),
                    "centre_wavelength_nm", fmt::format("give {} to {} nm", min_wavelength_nm, max_wavelength_nm));
    }
    if (unit->nm != 1) {
        warnings.push_back(
            fmt::format("`centre_wavelength_nm`: {} is taken as {}, {:.6g} nm", given, unit->name, given * unit->nm));
    }
    return given * unit->nm;
}

// A correct k map makes both mirrors equally sharp, and sharper than without it.
std::vector<std::string> doubts_about(const MirrorCalibration& found) {
    constexpr double max_ratio = 1.4, max_growth = 1.05;
    std::vector<std::string> doubts;
    for (const std::size_t m : {0U, 1U}) {
        if (found.fwhm_before[m] <= 0 || found.fwhm[m] <= max_growth * found.fwhm_before[m]) continue;
        doubts.push_back(
            fmt::format("mirror {}: FWHM {:.2f} bins as recorded, {:.2f} with the calibration: it makes "
                        "the mirror wider (check `sides`, the background and the choice of mirrors)",
                        m + 1, found.fwhm_before[m], found.fwhm[m]));
    }
    const auto [narrow, wide] = std::minmax(found.fwhm[0], found.fwhm[1]);
    if (narrow > 0 && wide > max_ratio * narrow) {
        doubts.push_back(
            fmt::format("FWHM changes over depth: {:.2f} bins at bin {:.1f}, {:.2f} at bin {:.1f} (a k map "
                        "that fits keeps it; check `sides`, and measure more depths with `calibrate rolloff`)",
                        found.fwhm[0], found.bin[0], found.fwhm[1], found.bin[1]));
    }
    return doubts;
}

// The mirror readings and the TOML lines for k map and dispersion.
std::string text_of(const MirrorCalibration& found, const OperationOutput& k_map, const OperationOutput& dispersion) {
    std::string text;
    for (const std::size_t m : {0U, 1U}) {
        text += fmt::format(
            "mirror {}: bin {:.2f}, FWHM {:.2f} bins raw, {:.2f} after k-linearisation, {:.2f} after dispersion "
            "compensation; a2 {:.2f} rad\n",
            m + 1, found.bin[m], found.fwhm_before[m], found.fwhm_mapped[m], found.fwhm[m], found.a2_of_each_rad[m]);
    }
    const double um = found.depth_pitch_um;
    text += "FWHM over depth:";
    for (const std::size_t m : {0U, 1U}) {
        text += fmt::format("{} bin {:.1f}: {:.2f} bins", m == 0 ? "" : ";", found.bin[m], found.fwhm[m]);
        if (um > 0) text += fmt::format(" ({:.2f} um)", found.fwhm[m] * um);
    }
    text += fmt::format("\n\n[calibration]\nk_map = \"{}\"\n", pasted(k_map));
    if (um > 0) text += fmt::format("depth_pitch_um = {:.6g}\n", um);
    if (found.centre_wavelength_nm > 0)
        text += fmt::format("centre_wavelength_nm = {:.6g}\n", found.centre_wavelength_nm);
    if (dispersion.is_wanted())
        return text + fmt::format("dispersion = \"{}\"\ndispersion_holds = \"theta\"", pasted(dispersion));
    return text + fmt::format("\n[recipe]\na2_rad = {:.4f}\na3_rad = {:.4f}", found.a2_rad, found.a3_rad);
}

std::shared_ptr<const Json> json_of_mirrors(const MirrorCalibration& found) {
    const double um = found.depth_pitch_um;
    Json mirrors = Json::array();
    for (const std::size_t m : {0U, 1U}) {
        mirrors.push_back({{"bin", found.bin[m]},
                           {"fwhm_bins_recorded", found.fwhm_before[m]},
                           {"fwhm_bins_mapped", found.fwhm_mapped[m]},
                           {"fwhm_bins", found.fwhm[m]},
                           {"fwhm_um", um > 0 ? Json(found.fwhm[m] * um) : Json(nullptr)},
                           {"a2_rad", found.a2_of_each_rad[m]}});
    }
    return std::make_shared<const Json>(std::move(mirrors));
}

// ---- Work

struct CalibrateK {
    VolumeInput mirror1, mirror2, background, dark;
    std::optional<MirrorSides> sides;
    bool k_falls = false;
    double displacement_um = 0;
    double centre_wavelength = 0;  // in nm; um or m are also recognised by magnitude; 0: unknown
    OperationOutput output, dispersion, plot;

    MirrorCalibration found;

    static void describe(OperationParts<CalibrateK>& parts);

    void run(Context& context) {
        if (!sides) throw Error(ErrorCode::bad_setting, "is missing", "sides", "give same or opposite");
        const double wavelength_nm = centre_wavelength_nm(centre_wavelength, context.warnings);
        MirrorPair pair = pair_of(context.progress);
        pair.sides = *sides;
        pair.k_falls = k_falls;
        pair.displacement_um = displacement_um;
        pair.centre_wavelength_nm = wavelength_nm;
        found = calibrated(pair);
        context.warn(doubts_about(found));
        check_displacement(context.warnings);
        write_calibration(context, output, CalibrationKind::k_map, found.k_positions,
                          "sample position of each point of the uniform k grid");
        write_calibration(context, dispersion, CalibrationKind::dispersion, found.dispersion_rad,
                          "phase theta in rad on the uniform k grid");
        context.write(plot, ".png", [&](const std::filesystem::path& path) { plot_mirrors(path, found); });
        context.answer(text_of(found, output, dispersion));
    }

    // The phase between the mirrors is proportional to their distance, so the size of a bin reveals a wrong unit.
    void check_displacement(std::vector<std::string>& warnings) const {
        constexpr double min_um = 0.1, max_um = 200;
        const double bin = found.depth_pitch_um;
        if (bin <= 0 || (bin >= min_um && bin <= max_um)) return;
        warnings.push_back(
            fmt::format("`displacement_um`: {:g} um makes a depth bin {:.3g} um, {:g} to {:g} um are usual ({})",
                        displacement_um, bin, min_um, max_um, bin < min_um ? "is it in mm?" : "is it in nm?"));
    }

    // Settings apply to all inputs that are scans.
    MirrorPair pair_of(Progress& progress) const {
        const auto spectrum = [&](const VolumeInput& input, const char* what, std::int64_t samples) {
            return mean_spectrum(input.names.front(), mirror1.settings, what, samples, "mirror 1", progress);
        };
        const std::vector<double> first = spectrum(mirror1, "mirror 1", 0);
        const auto samples = std::ssize(first);
        MirrorPair pair;
        pair.mirrors = {first, spectrum(mirror2, "mirror 2", samples)};
        pair.background = spectrum(background, "background", samples);
        if (dark.is_given()) pair.dark = spectrum(dark, "dark", samples);
        return pair;
    }

    // Errors name the files instead of fields of the pair.
    MirrorCalibration calibrated(const MirrorPair& pair) const {
        try {
            return calibrated_by_mirrors(pair);
        } catch (const Error& error) {
            const std::string &first = mirror1.names.front(), &second = mirror2.names.front();
            const std::string where = error.where() == "mirror 1"   ? first
                                      : error.where() == "mirror 2" ? second
                                                                    : first + " and " + second;
            throw Error(ErrorCode::bad_file, error.problem(), where, error.remedy());
        }
    }

    static void describe_files(OperationParts<CalibrateK>& parts);
};

void CalibrateK::describe(OperationParts<CalibrateK>& parts) {
    constexpr Effect effect = Effect::file;
    constexpr double far = 1e12;
    parts.info.command = "calibrate k";
    parts.info.summary = "k map and dispersion from a mirror at two depths";
    parts.info.examples = {"mirror1=m1.toml mirror2=m2.toml background=bg.toml sides=same output=k.csv",
                           "mirror1=m1.toml mirror2=m2.toml background=bg.toml sides=opposite displacement_um=350 "
                           "centre_wavelength_nm=845 output=k.csv"};
    describe_files(parts);
    parts
        .argument(optional_choice(
            "sides", &CalibrateK::sides, {"same", "opposite"},
            "whether the two mirrors are on the same side of zero delay (cannot be determined from spectra); required"))
        .argument(flag("wavelength_rises", &CalibrateK::k_falls, effect, "the wavelength increases along the samples"))
        .argument(number("displacement_um", &CalibrateK::displacement_um, 0, far, "um", effect,
                         "distance between the two mirrors in air, for depths in um")
                      .special(0, "unknown")
                      .written_as("UM"))
        .argument(number("centre_wavelength_nm", &CalibrateK::centre_wavelength, 0, far, "nm", effect,
                         "centre wavelength, at the middle of the k range")
                      .special(0, "unknown")
                      .written_as("NM"))
        .result("mirrors", "", "position, widths and dispersion of each mirror",
                [](const CalibrateK& one) { return json_of_mirrors(one.found); })
        .result("depth_pitch_um", "um", "size of a depth bin in air, 0: unknown",
                [](const CalibrateK& one) { return one.found.depth_pitch_um; })
        .result("centre_wavelength_nm", "nm", "centre wavelength, 0: unknown",
                [](const CalibrateK& one) { return one.found.centre_wavelength_nm; })
        .result("a2_rad", "rad", "dispersion of second order", [](const CalibrateK& one) { return one.found.a2_rad; })
        .result("a3_rad", "rad", "dispersion of third order", [](const CalibrateK& one) { return one.found.a3_rad; });
}

void CalibrateK::describe_files(OperationParts<CalibrateK>& parts) {
    const auto spectrum = [&](std::string_view name, std::string_view help, VolumeInput CalibrateK::*member,
                              bool is_positional = false, bool is_required = true) {
        parts.input({.name = name,
                     .help = help,
                     .is_required = is_required,
                     .is_file = true,
                     .is_spectrum = true,
                     .is_positional = is_positional},
                    member);
    };
    spectrum("mirror1", "scan of a mirror, or its mean spectrum; on the same side of zero delay as the samples",
             &CalibrateK::mirror1, true);
    spectrum("mirror2", "the same mirror at another depth", &CalibrateK::mirror2, true);
    spectrum("background", "spectrum without the mirror", &CalibrateK::background);
    spectrum("dark", "spectrum without light; gives dim parts of the spectrum less weight", &CalibrateK::dark, false,
             false);
    parts.output(calibration_output<CalibrationKind::k_map>("output", "k map to write", true), &CalibrateK::output)
        .output(calibration_output<CalibrationKind::dispersion>(
                    "dispersion", "also write the dispersion phase, instead of printing coefficients"),
                &CalibrateK::dispersion)
        .output(plot_output("also draw fringe phases, their residual and point spreads before and after"),
                &CalibrateK::plot);
}

}  // namespace

ECHOLUX_OPERATION(calibrate_k, CalibrateK)

}  // namespace echolux
