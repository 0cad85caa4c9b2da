// `echolux calibrate background SCAN -o FILE | noise SCAN -o FILE | k MIRROR1 MIRROR2 --background FILE -o FILE |
// dispersion SCAN [--region A0:A1,Z0:Z1] | rolloff MIRROR... --attenuation-db DB`
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <tuple>

#include "app/jobs/calibrate_job.h"
#include "app/jobs/roll_off_job.h"
#include "compute/error.h"
#include "ui/cli/commands.h"
#include "ui/cli/parse_text.h"
#include "ui/cli/setting_options.h"
#include "ui/cli/terminal_progress.h"

namespace echolux {
namespace {

// As a scan's TOML may have it wherever that lies.
std::string pasted(const std::filesystem::path& file) {
    return std::filesystem::absolute(file).lexically_normal().string();
}

// Checks, but says nothing in the help.
CLI::Validator quiet(CLI::Validator validator) {
    return validator.description("");
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
    command->add_option("-o,--output", job->output, "one number a line")->required()->type_name("FILE.csv");
    add_set_option(*command, job->settings);
    command->callback([job] {
        TerminalProgress progress;
        const std::int64_t lines = run(*job, progress);
        fmt::print("mean of {} lines: {}\n", lines, job->output.string());
    });
}

void print_noise(const NoiseJob& job, const NoiseFound& found) {
    fmt::print("# mean of {} A-scans, median over depth {:.2f} {}\n", found.lines, found.level_db, found.unit);
    fmt::print("[calibration]\nnoise_floor = \"{}\"\n\n[recipe]\nnoise_floor = \"{}\"\n", pasted(job.output),
               found.mean == NoiseMean::power ? "power" : "amplitude");
}

void add_noise(CLI::App& calibrate) {
    auto job = std::make_shared<NoiseJob>();
    auto mean = std::make_shared<std::string>();
    CLI::App* command = calibrate.add_subcommand("noise", "The noise floor over depth of a scan without a sample");
    command->add_option("SCAN", job->scan, "recorded without a sample, with the settings of scans that will use it")
        ->required()
        ->type_name("");
    command
        ->add_option("--mean", *mean, "of amplitudes, or the root of the mean power [as recipe.noise_floor subtracts]")
        ->check(quiet(CLI::IsMember({"amplitude", "power"})))
        ->type_name("amplitude|power");
    command->add_option("-o,--output", job->output, "one number a depth bin")->required()->type_name("FILE.csv");
    add_plot_option(*command, job->plot, "also draw it over depth");
    add_recipe_option(*command, job->settings);
    add_set_option(*command, job->settings);
    command->callback([job, mean] {
        if (!mean->empty()) job->mean = *mean == "power" ? NoiseMean::power : NoiseMean::amplitude;
        TerminalProgress progress;
        print_noise(*job, run(*job, progress));
    });
}

void print_mirrors(const MirrorJob& job, const MirrorCalibration& found) {
    for (const std::size_t m : {0U, 1U}) {
        fmt::print(
            "mirror {}: bin {:.2f}, width {:.2f} bins as recorded, {:.2f} with the k map, {:.2f} compensated; a2 "
            "{:.2f} rad\n",
            m + 1, found.bin[m], found.fwhm_before[m], found.fwhm_mapped[m], found.fwhm[m], found.a2_of_each_rad[m]);
    }
    fmt::print("\n[calibration]\nk_map = \"{}\"\n", pasted(job.k_map));
    if (found.depth_pitch_um > 0) fmt::print("depth_pitch_um = {:.6g}\n", found.depth_pitch_um);
    if (found.centre_wavelength_nm > 0) fmt::print("centre_wavelength_nm = {:.6g}\n", found.centre_wavelength_nm);
    if (!job.dispersion.empty()) {
        fmt::print("dispersion = \"{}\"\ndispersion_holds = \"theta\"\n", pasted(job.dispersion));
    } else {
        fmt::print("\n[recipe]\na2_rad = {:.4f}\na3_rad = {:.4f}\n", found.a2_rad, found.a3_rad);
    }
}

void add_k(CLI::App& calibrate) {
    auto job = std::make_shared<MirrorJob>();
    auto sides = std::make_shared<std::string>();
    CLI::App* command = calibrate.add_subcommand("k", "k map and dispersion from a mirror at two depths");
    command->add_option("MIRROR1", job->mirror_1, "a scan, or its mean spectrum; on the side of samples")
        ->required()
        ->type_name("");
    command->add_option("MIRROR2", job->mirror_2, "the same mirror elsewhere")->required()->type_name("");
    command->add_option("--background", job->background, "without the mirror")->required()->type_name("SCAN|FILE");
    command->add_option("--dark", job->dark, "without light: where there is little, fringes count less")
        ->type_name("SCAN|FILE");
    command->add_option("--sides", *sides, "of zero delay on which the two mirrors stand: the spectra cannot tell")
        ->required()
        ->check(quiet(CLI::IsMember({"same", "opposite"})))
        ->type_name("same|opposite");
    command->add_flag("--wavelength-rises", job->k_falls, "along the samples");
    command->add_option("--displacement", job->displacement_um, "way of the mirror in air; else depths stay in bins")
        ->check(not_negative())
        ->type_name("UM");
    command->add_option("--centre-wavelength", job->centre_wavelength, "of the middle of the k range")
        ->check(not_negative())
        ->type_name("NM");
    command->add_option("-o,--output", job->k_map, "the k map")->required()->type_name("FILE.csv");
    command->add_option("--dispersion", job->dispersion, "also write the phase, else coefficients are printed")
        ->type_name("FILE.csv");
    add_plot_option(*command, job->plot, "also draw fringe phases, their residual and point spreads before and after");
    command->callback([job, sides] {
        job->sides = *sides == "same" ? MirrorSides::same : MirrorSides::opposite;
        TerminalProgress progress;
        const MirrorsFound found = run(*job, progress);
        print_warnings(found.warnings);
        print_mirrors(*job, found);
    });
}

void print_dispersion(const DispersionJob& job, const DispersionFound& found) {
    fmt::print("# entropy over depth: {:.4f} before, {:.4f} now\n", found.entropy_before, found.entropy);
    if (found.a2_error_rad) {
        fmt::print("# standard errors: a2 {:.2f} rad, a3 {:.2f} rad, by leaving out a quarter of the A-scans\n",
                   *found.a2_error_rad, *found.a3_error_rad);
    }
    if (found.rival) {
        fmt::print("# second best: a2 {:.1f} rad, entropy {:.4f}\n", found.rival->a2_rad, found.rival->entropy);
    }
    if (found.a2_of_halves_rad) {
        fmt::print("# a2 of the nearer half of the power {:.1f} rad, of the farther {:.1f} rad\n",
                   (*found.a2_of_halves_rad)[0], (*found.a2_of_halves_rad)[1]);
    }
    if (found.fixed_lines > 0) fmt::print("# fixed lines taken out before the search: {}\n", found.fixed_lines);
    if (job.output.empty()) {
        fmt::print("[recipe]\na2_rad = {:.4f}\na3_rad = {:.4f}\n", found.a2_rad, found.a3_rad);
        return;
    }
    fmt::print(
        "# a2_rad {:.4f}, a3_rad {:.4f}, in the file with what the scan had already; leave out gdd_fs2 and tod_fs3\n",
        found.a2_rad, found.a3_rad);
    fmt::print("[calibration]\ndispersion = \"{}\"\ndispersion_holds = \"theta\"\n\n", pasted(job.output));
    fmt::print("[recipe]\na2_rad = 0\na3_rad = 0\n");
}

// "A0:A1,Z0:Z1"; either half may be left empty.
void choose_region(DispersionJob& job, const std::string& text) {
    const std::size_t comma = text.find(',');
    if (comma == std::string::npos) {
        throw Error(ErrorCode::bad_setting, "'" + text + "' is not understood", "--region",
                    "write A0:A1,Z0:Z1: A-scans, then depth rows; 0: stands for all");
    }
    std::tie(job.a_scans.begin, job.a_scans.end) = parsed_interval(text.substr(0, comma), "--region");
    std::tie(job.rows.begin, job.rows.end) = parsed_interval(text.substr(comma + 1), "--region");
}

void add_dispersion(CLI::App& calibrate) {
    auto job = std::make_shared<DispersionJob>();
    auto region = std::make_shared<std::string>();
    CLI::App* command = calibrate.add_subcommand("dispersion", "Search the dispersion that makes a B-scan sharpest");
    command->add_option("SCAN", job->scan, "scan TOML")->required()->type_name("");
    command->add_option("--b-scan", job->b_scan, "of the first volume [the middle one]")->type_name("N");
    command
        ->add_option(
            "--region", *region,
            "A-scans and depth rows around one reflector, with room for its blur: nothing else has a say [all]")
        ->type_name("A0:A1,Z0:Z1");
    command->add_option("--range", job->search.range_rad, "of a2 and a3 on either side of zero [80]")
        ->check(positive())
        ->type_name("RAD");
    command->add_option("--lines", job->search.lines, "most A-scans that are looked at [64]")
        ->check(positive())
        ->type_name("N");
    command->add_option("-o,--output", job->output, "the phase on the k grid, instead of coefficients")
        ->type_name("FILE.csv");
    add_plot_option(*command, job->plot, "also draw the B-scan and its mean A-scan before and after");
    add_backend_option(*command, job->search.processor.backend);
    add_recipe_option(*command, job->settings);
    add_set_option(*command, job->settings);
    command->callback([job, region] {
        if (!region->empty()) choose_region(*job, *region);
        TerminalProgress progress;
        print_dispersion(*job, run(*job, progress));
    });
}

void print_roll_off(const RollOffFound& found) {
    const char* unit = found.bin_um > 0 ? "um" : "bins";
    const double of_bin = found.bin_um > 0 ? found.bin_um : 1;
    for (const RolledMirror& mirror : found.mirrors) {
        const MirrorReading& r = mirror.reading;
        fmt::print("{}: bin {:.2f}", mirror.name, r.bin);
        if (found.bin_um > 0) fmt::print(", {:.1f} um", r.bin * of_bin);
        fmt::print("; level {:.2f} dB, SNR {:.2f} dB{}", r.level_db, r.snr_db,
                   mirror.lines == 1 ? " of one line or mean" : "");
        if (mirror.sensitivity_db) fmt::print(", sensitivity {:.2f} dB", *mirror.sensitivity_db);
        fmt::print("; FWHM {:.3f} {}{}\n", r.fwhm_bins * of_bin, unit,
                   mirror.is_opposite ? "; beyond zero delay: dispersion with its sign turned" : "");
    }
    if (!found.fall_off) return fmt::print("roll-off: needs mirrors at depths a tenth of the range apart\n");
    if (found.six_db_bin) {
        const std::string extrapolation = found.extrapolation(of_bin, unit);
        fmt::print("6 dB are lost at {:.1f} {}{}{}", *found.six_db_bin * of_bin, unit, extrapolation.empty() ? "" : " ",
                   extrapolation);
    } else {
        fmt::print("6 dB are not lost within the range of {:.1f} {}", static_cast<double>(found.bins) * of_bin, unit);
    }
    fmt::print("; the fall-off ({}resolution {:.2f} samples) leaves {:.2f} dB rms\n",
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
    command->add_option("--scan", job->scan, "whose calibration and recipe process them [each mirror's own]")
        ->type_name("SCAN");
    command->add_option("--background", job->background, "without the mirror [calibration.background]")
        ->type_name("SCAN|FILE");
    command
        ->add_option("--each", *each,
                     "every A-scan, or B-scan, of a scan is a mirror at a depth of its own; where --background has as "
                     "many, each has its own")
        ->check(quiet(CLI::IsMember({"a-scan", "b-scan"})))
        ->type_name("a-scan|b-scan");
    command
        ->add_option("--depths", *depths,
                     "bins in which mirrors are looked for [past the first twentieth of the range]")
        ->type_name("Z0:Z1");
    CLI::Option* attenuation =
        command
            ->add_option("--attenuation-db", job->attenuation_db,
                         "loss of power in the sample arm, there and back together: sensitivity is SNR and this")
            ->type_name("DB");
    command
        ->add_flag("--single-pass", *is_single_pass,
                   "that loss is of one pass through a filter that light passes twice: it counts double")
        ->needs(attenuation);
    command->add_option("-o,--output", job->output, "a table")->type_name("FILE.csv");
    add_plot_option(*command, job->plot, "also draw mirrors, fall-off, sensitivity and width over depth");
    add_recipe_option(*command, job->settings);
    add_set_option(*command, job->settings);
    command->callback([job, is_single_pass, each, depths] {
        RollOffJob wanted = *job;
        if (!each->empty()) wanted.mirror_per = *each == "a-scan" ? MirrorPer::a_scan : MirrorPer::b_scan;
        if (!depths->empty()) std::tie(wanted.depths.begin, wanted.depths.end) = parsed_interval(*depths, "--depths");
        if (*is_single_pass) wanted.attenuation_db = 2 * job->attenuation_db.value_or(0);
        TerminalProgress progress;
        const RollOffFound found = run(wanted, progress);
        print_warnings(found.warnings);
        print_roll_off(found);
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
}

}  // namespace echolux
