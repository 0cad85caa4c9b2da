// `echolux calibrate background SCAN -o FILE | k MIRROR1 MIRROR2 --background FILE -o FILE | dispersion SCAN`
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "compute/error.h"
#include "ui/app/calibrate_job.h"
#include "ui/cli/commands.h"
#include "ui/cli/setting_options.h"
#include "ui/cli/terminal_progress.h"

namespace echolux {
namespace {

// Checks, but says nothing in the help.
CLI::Validator quiet(CLI::Validator validator) {
    return validator.description("");
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

void print_mirrors(const MirrorJob& job, const MirrorCalibration& found) {
    for (const std::size_t m : {0U, 1U}) {
        fmt::print(
            "mirror {}: bin {:.2f}, width {:.2f} bins as recorded, {:.2f} with the k map, {:.2f} compensated; a2 "
            "{:.2f} rad\n",
            m + 1, found.bin[m], found.fwhm_before[m], found.fwhm_mapped[m], found.fwhm[m], found.a2_of_each_rad[m]);
    }
    fmt::print("\n[calibration]\nk_map = \"{}\"\n", job.k_map.string());
    if (found.depth_pitch_um > 0) fmt::print("depth_pitch_um = {}\n", found.depth_pitch_um);
    if (found.centre_wavelength_nm > 0) fmt::print("centre_wavelength_nm = {}\n", found.centre_wavelength_nm);
    if (!job.dispersion.empty()) {
        fmt::print("dispersion = \"{}\"\ndispersion_holds = \"theta\"\n", job.dispersion.string());
    } else {
        fmt::print("\n[recipe]\na2_rad = {}\na3_rad = {}\n", found.a2_rad, found.a3_rad);
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
        ->check(quiet(CLI::NonNegativeNumber))
        ->type_name("UM");
    command->add_option("--centre-wavelength", job->centre_wavelength_nm, "of the middle of the k range")
        ->check(quiet(CLI::NonNegativeNumber))
        ->type_name("NM");
    command->add_option("-o,--output", job->k_map, "the k map")->required()->type_name("FILE.csv");
    command->add_option("--dispersion", job->dispersion, "also write the phase, else coefficients are printed")
        ->type_name("FILE.csv");
    command->callback([job, sides] {
        job->sides = *sides == "same" ? MirrorSides::same : MirrorSides::opposite;
        TerminalProgress progress;
        print_mirrors(*job, run(*job, progress));
    });
}

void add_dispersion(CLI::App& calibrate) {
    auto job = std::make_shared<DispersionJob>();
    CLI::App* command = calibrate.add_subcommand("dispersion", "Search the dispersion that makes a B-scan sharpest");
    command->add_option("SCAN", job->scan, "scan TOML")->required()->type_name("");
    command->add_option("--b-scan", job->b_scan, "of the first volume [the middle one]")->type_name("N");
    command->add_option("--range", job->search.range_rad, "of a2 and a3 on either side of zero [80]")
        ->check(quiet(CLI::PositiveNumber))
        ->type_name("RAD");
    command->add_option("--lines", job->search.lines, "most A-scans that are looked at [64]")
        ->check(quiet(CLI::PositiveNumber))
        ->type_name("N");
    add_set_option(*command, job->settings);
    command->callback([job] {
        TerminalProgress progress;
        const DispersionFound found = run(*job, progress);
        fmt::print("# entropy over depth: {:.4f} before, {:.4f} now\n[recipe]\na2_rad = {:.4f}\na3_rad = {:.4f}\n",
                   found.entropy_before, found.entropy, found.a2_rad, found.a3_rad);
    });
}

}  // namespace

void add_calibrate(CLI::App& program) {
    CLI::App* calibrate = program.add_subcommand("calibrate", "Background, k map and dispersion from recordings");
    calibrate->require_subcommand(1);
    add_background(*calibrate);
    add_k(*calibrate);
    add_dispersion(*calibrate);
}

}  // namespace echolux
