// `echolux flow VELOCITY... [--through A,B,ROW] [-o TABLE] [--plot FIGURE]`: measures volume flow through a vessel in
// ul/s over time, and the heart rate.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/jobs/flow_job.h"
#include "compute/counted.h"
#include "engine/scan/settings.h"
#include "ui/cli/commands.h"
#include "ui/cli/parse_text.h"
#include "ui/cli/setting_options.h"
#include "ui/cli/standard_streams.h"
#include "ui/cli/telling.h"
#include "ui/cli/terminal_progress.h"

namespace echolux {
namespace {

struct FlowOptions {
    std::vector<std::string> inputs;
    std::string structure, table, through, towards, each = "volume";
    FlowJob job;
};

// Parses "80,64,210.5": A-scan, B-scan, depth row. Returns nullopt for an empty text. Throws UsageError.
std::optional<VoxelPlace> place_from(const std::string& text, const char* option) {
    if (text.empty()) return std::nullopt;
    VoxelPlace place;
    char rest = 0;
    if (std::sscanf(text.c_str(), "%lf,%lf,%lf%c", &place.a_scan, &place.b_scan, &place.row, &rest) != 3 ||
        !std::isfinite(place.a_scan + place.b_scan + place.row)) {
        throw UsageError("expected A,B,ROW, got " + text, option,
                         "give A-scan, B-scan and depth row of a point in the vessel, e.g. 64,40,210");
    }
    return place;
}

FlowJob job_of(const FlowOptions& options) {
    FlowJob job = options.job;
    for (const std::string& input : options.inputs) job.inputs.push_back(input_named(input, ".nrrd"));
    job.structure = options.structure;
    if (!options.table.empty()) job.table = output_named(options.table, ".csv", false);
    job.spec.through = place_from(options.through, "--through");
    job.spec.towards = place_from(options.towards, "--towards");
    job.spec.each = options.each == "b-scan" ? FlowEach::b_scan : FlowEach::volume;
    return job;
}

// Returns null for NaN and infinities, which JSON lacks.
nlohmann::ordered_json number_or_null(double value) {
    return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

nlohmann::ordered_json object_of(const MeasuredFlow& found, const FlowJob& job) {
    nlohmann::ordered_json told = {
        {"files", names_of({job.table, job.plot, job.arrows, job.streaks})},
        {"volumes", found.volumes},
        {"through", {found.place.a_scan, found.place.b_scan, found.place.row}},
        {"flow_ul_s", number_or_null(found.flow_ul_s)},
        {"error_ul_s", number_or_null(found.error_ul_s)},
        {"en_face_ul_s", number_or_null(found.en_face_ul_s)},
        // The tilt is measured from the en-face plane, the printed angle from the beam.
        {"angle_deg", 90 - found.course.tilt_deg},
        {"angle_fit_error_deg", found.course.tilt_error_deg},
        {"angle_error", found.angle_error},
        // order: A-scans, B-scans, depth
        {"direction", {found.course.direction[1], found.course.direction[2], found.course.direction[0]}},
        {"planes", found.course.planes},
        {"snr_db", number_or_null(found.snr_db)},
        {"heart_rate_hz", number_or_null(found.heart.hz)},
        {"heart_rate_error_hz", number_or_null(found.heart.error_hz)},
        {"pulsatility", found.heart.pulsatility},
        {"no_heart_rate", found.heart.problem},
        {"warnings", lines_of(found.warnings)}};
    return told;
}

void measure_flow(const FlowOptions& options) {
    const FlowJob job = job_of(options);
    TerminalProgress progress;
    const MeasuredFlow found = run(job, progress);
    print_warnings(found.warnings);
    const VesselCourse& course = found.course;
    close_with(
        "vessel at A-scan {:.0f}, B-scan {:.0f}, row {:.0f}: {:.2f} ± {:.2f} degrees to the beam, {}\n",
        found.place.a_scan, found.place.b_scan, found.place.row, 90 - course.tilt_deg, found.angle_error_deg,
        course.is_given ? std::string("as given") : fmt::format("by a fit to {}", counted(course.planes, "planes")));
    const bool is_sure = std::isfinite(found.error_ul_s);
    close_with("flow {:.4g} {} ul/s, mean of {}{}\n", found.flow_ul_s,
               is_sure ? fmt::format("± {:.2g}", found.error_ul_s) : std::string("(error unknown)"),
               counted(std::ssize(found.rows), "values"),
               std::isfinite(found.en_face_ul_s)
                   ? fmt::format("; {:.4g} ul/s through planes of constant depth", found.en_face_ul_s)
                   : std::string());
    if (found.heart.is_found()) {
        close_with("heart rate {:.4g} ± {:.2g} Hz ({:.0f} per minute), pulsatility {:.2f}\n", found.heart.hz,
                   found.heart.error_hz, 60 * found.heart.hz, found.heart.pulsatility);
    } else {
        close_with("no heart rate: {}\n", found.heart.problem);
    }
    for (const auto& file : {job.table, job.plot, job.arrows, job.streaks}) {
        if (!file.empty()) close_with("{}\n", file.string());
    }
    give(object_of(found, job));
}

}  // namespace

void add_flow(CLI::App& program) {
    auto options = std::make_shared<FlowOptions>();
    CLI::App* command = program.add_subcommand("flow", "Flow through a vessel in ul/s, over time, and the heart rate");
    command
        ->add_option("VELOCITY", options->inputs,
                     "velocities as `echolux reconstruct --flow` writes them: volumes, series, folders or patterns; - "
                     "for standard input")
        ->required()
        ->type_name("");
    command->add_option("-o,--output", options->table, "flow, error and reason of each value; - for standard output")
        ->type_name("FILE.csv");
    command->add_option("--plot", options->job.plot, "flow over time and along the vessel")
        ->type_name("FILE.pdf|.svg|.png");
    command
        ->add_option("--arrows", options->job.arrows,
                     "view with arrows along the vessel, for `echolux render --view` and the window")
        ->type_name("FILE.toml");
    command
        ->add_option("--streaks", options->job.streaks,
                     "view with streaks that move along the vessel with its blood and its pulse, for `echolux render "
                     "--view` and the window")
        ->type_name("FILE.toml");
    command->add_option("--arrow-count", options->job.spec.arrow_count, "number of arrows [6]")
        ->check(between(1, 1000))
        ->type_name("N");
    command
        ->add_option("--through", options->through,
                     "point of the vessel where the section is: A-scan, B-scan and depth row [where it is fastest]")
        ->type_name("A,B,ROW");
    command
        ->add_option("--towards", options->towards,
                     "another point of the vessel's axis: its course is not fitted, but goes there")
        ->needs("--through")
        ->type_name("A,B,ROW");
    command
        ->add_option("--each", options->each,
                     "a value for each volume, or for each B-scan along the vessel at its own time [volume]")
        ->check(one_of({"volume", "b-scan"}))
        ->type_name("volume|b-scan");
    command
        ->add_option("--structure", options->structure,
                     "structure of the same reconstruction: undoes the blur of bright blood, and its signal-to-noise "
                     "ratio is checked")
        ->type_name("VOLUME");
    command->add_option("--step", options->job.step_s, "time from one volume to the next [as the files say]")
        ->check(positive())
        ->type_name("SECONDS");
    add_data_folder_option(*command);
    add_overwrite_option(*command, options->job.overwrites);
    CrossSectionRecipe recipe;
    Settings settings;
    settings.bind("cross_section", recipe);
    add_setting_options(*command, settings, "cross_section", "Section (each also as --set cross_section.KEY=VALUE)",
                        options->job.settings);
    add_set_option(*command, options->job.settings);
    command->callback([options] { measure_flow(*options); });
}

}  // namespace echolux
