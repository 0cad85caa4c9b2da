// Subcommands of `echolux calibrate`:
//   background SCAN -o FILE                       mean spectrum
//   noise SCAN -o FILE                            noise floor over depth
//   k MIRROR1 MIRROR2 --background FILE -o FILE   k map and dispersion
//   dispersion SCAN [--region A0:A1,Z0:Z1]        dispersion coefficients or phase
//   rolloff MIRROR... --attenuation-db DB         roll-off, sensitivity and axial width
// Results are printed as TOML that can be pasted into the description of a scan.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <tuple>

#include "app/jobs/calibrate_job.h"
#include "compute/error.h"
#include "compute/plural.h"
#include "ui/cli/options.h"
#include "ui/cli/output.h"
#include "ui/cli/program.h"

namespace echolux {
namespace {

using Json = nlohmann::ordered_json;

// Returns an absolute path, which is valid in a scan TOML in any folder.
std::string pasted(const std::filesystem::path& file) {
    return std::filesystem::absolute(file).lexically_normal().string();
}

// Adds an option for an output file; - writes to standard output.
CLI::Option* add_output(CLI::App& command, const std::string& names, std::filesystem::path& path, const char* help) {
    const auto take = [&path](const std::string& name) { path = output_named(name, ".csv", false); };
    return command.add_option_function<std::string>(names, take, help)->type_name("FILE.csv");
}

// Adds an option for a scan or a text file of numbers; - reads standard input.
CLI::Option* add_spectrum(CLI::App& command, const std::string& names, std::filesystem::path& path, const char* help) {
    const auto take = [&path](const std::string& name) { path = input_named(name, ".csv"); };
    return command.add_option_function<std::string>(names, take, help);
}

void add_plot_option(CLI::App& command, std::filesystem::path& plot, const char* what) {
    command.add_option("--plot", plot, what)->type_name("FILE.png|.svg|.pdf");
}

void add_background(CLI::App& calibrate) {
    auto job = std::make_shared<MeanSpectrumJob>();
    CLI::App* command =
        calibrate.add_subcommand("background", "The mean spectrum of a scan: background, dark or mirror");
    command->add_option("SCAN", job->scan, "recorded without sample, without light, or of a mirror")
        ->required()
        ->type_name("");
    add_output(*command, "-o,--output", job->output, "text file with one number per line")->required();
    add_overwrite_option(*command, job->overwrites);
    add_set_option(*command, job->settings);
    command->callback([job] {
        TerminalProgress progress;
        const std::int64_t lines = run(*job, progress);
        close_with("mean of {}: {}\n", plural(lines, "lines"), job->output.string());
        print_json({{"files", names_of({job->output})}, {"lines", lines}});
    });
}

// Prints the noise level and the TOML lines that use the file.
void print_noise(const NoiseJob& job, const NoiseResult& found) {
    answer("# mean of {}, median over depth {:.2f} {}\n", plural(found.lines, "A-scans"), found.level_db, found.unit);
    const char* mean = found.mean == NoiseMean::power ? "power" : "amplitude";
    answer("[calibration]\nnoise_floor = \"{}\"\n\n[recipe]\nnoise_floor = \"{}\"\n", pasted(job.output), mean);
    print_json({{"files", names_of({job.output, job.plot})},
                {"lines", found.lines},
                {"mean", mean},
                {"level_db", found.level_db},
                {"unit", found.unit}});
}

void add_noise(CLI::App& calibrate) {
    auto job = std::make_shared<NoiseJob>();
    auto mean = std::make_shared<std::string>();
    CLI::App* command = calibrate.add_subcommand("noise", "The noise floor over depth of a scan without a sample");
    command->add_option("SCAN", job->scan, "recorded without a sample, with the settings of scans that will use it")
        ->required()
        ->type_name("");
    command->add_option("--mean", *mean, "mean amplitude, or root of the mean power [as recipe.noise_floor needs]")
        ->check(one_of({"amplitude", "power"}))
        ->type_name("amplitude|power");
    add_output(*command, "-o,--output", job->output, "text file with one number per depth bin")->required();
    add_overwrite_option(*command, job->overwrites);
    add_plot_option(*command, job->plot, "also draw it over depth");
    add_recipe_option(*command, job->settings);
    add_set_option(*command, job->settings);
    command->callback([job, mean] {
        if (!mean->empty()) job->mean = *mean == "power" ? NoiseMean::power : NoiseMean::amplitude;
        TerminalProgress progress;
        print_noise(*job, run(*job, progress));
    });
}

// Prints the mirror readings and the TOML lines for k map and dispersion.
void print_mirrors(const MirrorJob& job, const MirrorCalibration& found) {
    for (const std::size_t m : {0U, 1U}) {
        answer(
            "mirror {}: bin {:.2f}, width {:.2f} bins as recorded, {:.2f} with the k map, {:.2f} compensated; a2 "
            "{:.2f} rad\n",
            m + 1, found.bin[m], found.fwhm_before[m], found.fwhm_mapped[m], found.fwhm[m], found.a2_of_each_rad[m]);
    }
    const double um = found.depth_pitch_um;
    answer("FWHM over depth:");
    for (const std::size_t m : {0U, 1U}) {
        answer("{} bin {:.1f}: {:.2f} bins", m == 0 ? "" : ";", found.bin[m], found.fwhm[m]);
        if (um > 0) answer(" ({:.2f} um)", found.fwhm[m] * um);
    }
    answer("\n\n[calibration]\nk_map = \"{}\"\n", pasted(job.k_map));
    if (found.depth_pitch_um > 0) answer("depth_pitch_um = {:.6g}\n", found.depth_pitch_um);
    if (found.centre_wavelength_nm > 0) answer("centre_wavelength_nm = {:.6g}\n", found.centre_wavelength_nm);
    if (!job.dispersion.empty()) {
        answer("dispersion = \"{}\"\ndispersion_holds = \"theta\"\n", pasted(job.dispersion));
    } else {
        answer("\n[recipe]\na2_rad = {:.4f}\na3_rad = {:.4f}\n", found.a2_rad, found.a3_rad);
    }
    Json mirrors = Json::array();
    for (const std::size_t m : {0U, 1U}) {
        mirrors.push_back({{"bin", found.bin[m]},
                           {"fwhm_bins_recorded", found.fwhm_before[m]},
                           {"fwhm_bins_mapped", found.fwhm_mapped[m]},
                           {"fwhm_bins", found.fwhm[m]},
                           {"fwhm_um", um > 0 ? Json(found.fwhm[m] * um) : Json(nullptr)},
                           {"a2_rad", found.a2_of_each_rad[m]}});
    }
    print_json({{"files", names_of({job.k_map, job.dispersion, job.plot})},
                {"mirrors", mirrors},
                {"depth_pitch_um", found.depth_pitch_um},
                {"centre_wavelength_nm", found.centre_wavelength_nm},
                {"a2_rad", found.a2_rad},
                {"a3_rad", found.a3_rad}});
}

void add_k(CLI::App& calibrate) {
    auto job = std::make_shared<MirrorJob>();
    auto sides = std::make_shared<std::string>();
    CLI::App* command = calibrate.add_subcommand("k", "k map and dispersion from a mirror at two depths");
    add_spectrum(*command, "MIRROR1", job->mirror_1,
                 "scan of a mirror, or its mean spectrum; on the side of the samples")
        ->required()
        ->type_name("");
    add_spectrum(*command, "MIRROR2", job->mirror_2, "the same mirror at another depth")->required()->type_name("");
    add_spectrum(*command, "--background", job->background, "spectrum without the mirror")
        ->required()
        ->type_name("SCAN|FILE");
    command->add_option("--dark", job->dark, "spectrum without light, which lowers the weight of dim parts")
        ->type_name("SCAN|FILE");
    command
        ->add_option("--sides", *sides,
                     "whether the two mirrors are on the same side of zero delay (cannot be determined from spectra)")
        ->required()
        ->check(one_of({"same", "opposite"}))
        ->type_name("same|opposite");
    command->add_flag("--wavelength-rises", job->k_falls, "wavelength rises along the samples");
    command
        ->add_option("--displacement", job->displacement_um,
                     "distance between the two mirrors in air, for depths in um")
        ->check(not_negative())
        ->type_name("UM");
    command
        ->add_option("--centre-wavelength", job->centre_wavelength, "centre wavelength, at the middle of the k range")
        ->check(not_negative())
        ->type_name("NM");
    add_output(*command, "-o,--output", job->k_map, "k map to write")->required();
    add_overwrite_option(*command, job->overwrites);
    add_output(*command, "--dispersion", job->dispersion,
               "also write the dispersion phase, instead of printing coefficients");
    add_plot_option(*command, job->plot, "also draw fringe phases, their residual and point spreads before and after");
    command->callback([job, sides] {
        job->sides = *sides == "same" ? MirrorSides::same : MirrorSides::opposite;
        TerminalProgress progress;
        const MirrorResult found = run(*job, progress);
        print_warnings(found.warnings);
        print_mirrors(*job, found);
    });
}

// Prints the result with its uncertainty, then the TOML lines. With an output file the phase is in the file, and the
// coefficients in the recipe must be 0.
void print_dispersion(const DispersionJob& job, const DispersionResult& found) {
    Json json{
        {"files", names_of({job.output, job.plot})}, {"a2_rad", found.a2_rad},   {"a3_rad", found.a3_rad},
        {"entropy_before", found.entropy_before},    {"entropy", found.entropy}, {"fixed_lines", found.fixed_lines}};
    if (found.a2_error_rad)
        json["standard_errors"] = {{"a2_rad", *found.a2_error_rad}, {"a3_rad", *found.a3_error_rad}};
    if (found.rival) json["second_best"] = {{"a2_rad", found.rival->a2_rad}, {"entropy", found.rival->entropy}};
    print_json(json);
    answer("# entropy over depth: {:.4f} before, {:.4f} now\n", found.entropy_before, found.entropy);
    if (found.a2_error_rad) {
        answer("# standard errors: a2 {:.2f} rad, a3 {:.2f} rad, by leaving out a quarter of the A-scans\n",
               *found.a2_error_rad, *found.a3_error_rad);
    }
    if (found.rival) {
        answer("# second best: a2 {:.1f} rad, entropy {:.4f}\n", found.rival->a2_rad, found.rival->entropy);
    }
    if (found.a2_of_halves_rad) {
        answer("# a2 of the nearer half of the power {:.1f} rad, of the farther {:.1f} rad\n",
               (*found.a2_of_halves_rad)[0], (*found.a2_of_halves_rad)[1]);
    }
    if (found.fixed_lines > 0) answer("# fixed lines taken out before the search: {}\n", found.fixed_lines);
    if (job.output.empty()) {
        answer("[recipe]\na2_rad = {:.4f}\na3_rad = {:.4f}\n", found.a2_rad, found.a3_rad);
        return;
    }
    answer(
        "# a2_rad {:.4f}, a3_rad {:.4f}, which the file combines with what the scan had already; leave out gdd_fs2 and "
        "tod_fs3\n",
        found.a2_rad, found.a3_rad);
    answer("[calibration]\ndispersion = \"{}\"\ndispersion_holds = \"theta\"\n\n", pasted(job.output));
    answer("[recipe]\na2_rad = 0\na3_rad = 0\n");
}

// Parses "A0:A1,Z0:Z1". Either half of an interval may be empty.
void choose_region(DispersionJob& job, const std::string& text) {
    const std::size_t comma = text.find(',');
    if (comma == std::string::npos) {
        throw Error(ErrorCode::bad_setting, "'" + text + "' is not valid", "--region",
                    "write A0:A1,Z0:Z1: A-scans, then depth rows, where 0: is all of them");
    }
    std::tie(job.a_scans.begin, job.a_scans.end) = parsed_interval(text.substr(0, comma), "--region");
    std::tie(job.rows.begin, job.rows.end) = parsed_interval(text.substr(comma + 1), "--region");
}

void add_dispersion(CLI::App& calibrate) {
    auto job = std::make_shared<DispersionJob>();
    auto region = std::make_shared<std::string>();
    CLI::App* command = calibrate.add_subcommand("dispersion", "Find the dispersion that makes a B-scan sharpest");
    command->add_option("SCAN", job->scan, "scan TOML")->required()->type_name("");
    command->add_option("--b-scan", job->b_scan, "B-scan of the first volume [the middle one]")->type_name("N");
    command
        ->add_option("--region", *region,
                     "A-scans and depth rows around one reflector, with room for its blur; the rest is ignored [all]")
        ->type_name("A0:A1,Z0:Z1");
    command->add_option("--range", job->search.range_rad, "largest a2 and a3 to try, of either sign [80]")
        ->check(positive())
        ->type_name("RAD");
    command->add_option("--lines", job->search.lines, "maximum number of A-scans to use [64]")
        ->check(positive())
        ->type_name("N");
    add_output(*command, "-o,--output", job->output,
               "file for the phase on the k grid, instead of printed coefficients");
    add_overwrite_option(*command, job->overwrites);
    add_plot_option(*command, job->plot, "also draw the B-scan and its mean A-scan before and after");
    add_backend_option(*command, job->search.processor.backend);
    add_recipe_option(*command, job->settings);
    add_set_option(*command, job->settings);
    command->callback([job, region] {
        if (!region->empty()) choose_region(*job, *region);
        TerminalProgress progress;
        const DispersionOfScan found = run(*job, progress);
        print_dispersion(*job, found);
        print_warnings(found.warnings);
    });
}

// Depths in um are null if the depth pitch is unknown.
Json json_of(const RollOffJob& job, const RollOffResult& found) {
    const auto um = [&](double bins) { return found.bin_um > 0 ? Json(bins * found.bin_um) : Json(nullptr); };
    Json mirrors = Json::array();
    for (const RolledMirror& mirror : found.mirrors) {
        const MirrorReading& r = mirror.reading;
        mirrors.push_back({{"mirror", mirror.name},
                           {"lines", mirror.lines},
                           {"depth_bin", r.bin},
                           {"depth_um", um(r.bin)},
                           {"level_db", r.level_db},
                           {"snr_db", r.snr_db},
                           {"sensitivity_db", mirror.sensitivity_db ? Json(*mirror.sensitivity_db) : Json(nullptr)},
                           {"fwhm_bins", r.fwhm_bins},
                           {"fwhm_um", um(r.fwhm_bins)},
                           {"side", mirror.is_opposite ? "opposite" : "same"}});
    }
    Json json{{"files", names_of({job.output, job.plot})}, {"mirrors", mirrors}};
    json["six_db_depth_bin"] = found.six_db_bin ? Json(*found.six_db_bin) : Json(nullptr);
    json["six_db_depth_um"] = found.six_db_bin ? um(*found.six_db_bin) : Json(nullptr);
    if (found.fall_off) {
        json["fall_off"] = {{"resolution_samples", found.fall_off->resolution}, {"rms_db", found.fall_off->rms_db}};
    }
    return json;
}

void print_roll_off(const RollOffResult& found) {
    const char* unit = found.bin_um > 0 ? "um" : "bins";
    const double of_bin = found.bin_um > 0 ? found.bin_um : 1;
    for (const RolledMirror& mirror : found.mirrors) {
        const MirrorReading& r = mirror.reading;
        answer("{}: bin {:.2f}", mirror.name, r.bin);
        if (found.bin_um > 0) answer(", {:.1f} um", r.bin * of_bin);
        answer("; level {:.2f} dB, SNR {:.2f} dB{}", r.level_db, r.snr_db,
               mirror.lines == 1 ? " from a single line or mean" : "");
        if (mirror.sensitivity_db) answer(", sensitivity {:.2f} dB", *mirror.sensitivity_db);
        answer("; FWHM {:.3f} {}{}\n", r.fwhm_bins * of_bin, unit,
               mirror.is_opposite ? "; beyond zero delay, dispersion of opposite sign" : "");
    }
    if (!found.fall_off) return answer("roll-off: needs mirrors at depths a tenth of the range apart\n");
    if (found.six_db_bin) {
        const std::string extrapolation = found.extrapolation(of_bin, unit);
        answer("6 dB are lost at {:.1f} {}{}{}", *found.six_db_bin * of_bin, unit, extrapolation.empty() ? "" : " ",
               extrapolation);
    } else {
        answer("less than 6 dB are lost within the range of {:.1f} {}", static_cast<double>(found.bins) * of_bin, unit);
    }
    answer("; the fall-off ({}resolution {:.2f} samples) leaves {:.2f} dB rms\n",
           found.fall_off->has_wide_samples ? "" : "samples without width, ", found.fall_off->resolution,
           found.fall_off->rms_db);
}

void add_roll_off(CLI::App& calibrate) {
    auto job = std::make_shared<RollOffJob>();
    auto is_single_pass = std::make_shared<bool>(false);
    auto each = std::make_shared<std::string>(), depths = std::make_shared<std::string>();
    CLI::App* command =
        calibrate.add_subcommand("rolloff", "Roll-off, SNR, sensitivity and width from several mirrors");
    command->add_option("MIRROR", job->mirrors, "scans or mean spectra of one mirror at different depths")
        ->required()
        ->type_name("");
    command->add_option("--scan", job->scan, "scan whose calibration and recipe apply [each mirror's own]")
        ->type_name("SCAN");
    add_spectrum(*command, "--background", job->background, "spectrum without the mirror [calibration.background]")
        ->type_name("SCAN|FILE");
    command
        ->add_option("--each", *each,
                     "treat each A-scan, or B-scan, as a mirror at another depth; backgrounds are paired with them if "
                     "--background has as many")
        ->check(one_of({"a-scan", "b-scan"}))
        ->type_name("a-scan|b-scan");
    command->add_option("--depths", *depths, "bins in which mirrors are looked for [beyond the first 5 % of the range]")
        ->type_name("Z0:Z1");
    CLI::Option* attenuation =
        command
            ->add_option(
                "--attenuation-db", job->attenuation_db,
                "attenuation of the sample arm, both passes together, which is added to SNR to give sensitivity")
            ->type_name("DB");
    command->add_flag("--single-pass", *is_single_pass, "the attenuation is of a single pass, and light passes twice")
        ->needs(attenuation);
    command->add_flag("--leave-out-outliers", job->leaves_out_outliers,
                      "fit the fall-off without mirrors that do not follow that of the others");
    add_output(*command, "-o,--output", job->output, "table to write");
    add_overwrite_option(*command, job->overwrites);
    add_plot_option(*command, job->plot, "also draw mirrors, fall-off, sensitivity and width over depth");
    add_recipe_option(*command, job->settings);
    add_set_option(*command, job->settings);
    command->callback([job, is_single_pass, each, depths] {
        RollOffJob wanted = *job;
        if (!each->empty()) wanted.mirror_per = *each == "a-scan" ? MirrorPer::a_scan : MirrorPer::b_scan;
        if (!depths->empty()) std::tie(wanted.depths.begin, wanted.depths.end) = parsed_interval(*depths, "--depths");
        // Light passes the attenuator twice, so the loss in dB doubles.
        if (*is_single_pass) wanted.attenuation_db = 2 * job->attenuation_db.value_or(0);
        TerminalProgress progress;
        const RollOffResult found = run(wanted, progress);
        print_warnings(found.warnings);
        print_roll_off(found);
        print_json(json_of(wanted, found));
    });
}

}  // namespace

void add_calibrate(CLI::App& program) {
    CLI::App* calibrate =
        program.add_subcommand("calibrate", "Background, noise floor, k map, dispersion and roll-off from recordings");
    calibrate->require_subcommand(1);
    add_background(*calibrate);
    add_noise(*calibrate);
    add_k(*calibrate);
    add_dispersion(*calibrate);
    add_roll_off(*calibrate);
    for (CLI::App* command : calibrate->get_subcommands({})) command->group("Commands");
}

}  // namespace echolux
