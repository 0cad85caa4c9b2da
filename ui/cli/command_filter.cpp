// Commands that process or measure volumes: register, attenuation and flow.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/jobs/attenuation_job.h"
#include "app/jobs/flow_job.h"
#include "app/jobs/register_job.h"
#include "compute/plural.h"
#include "engine/io/volume_file.h"
#include "engine/scan/settings.h"
#include "ui/cli/options.h"
#include "ui/cli/output.h"
#include "ui/cli/program.h"

namespace echolux {

// ---- register -------------------------------------------------------------------------------------------------------

// `echolux register IN... -o OUT`: removes motion from volumes, against a reference, a crossing volume or neighbouring
// B-scans.

namespace {

struct RegisterOptions {
    std::vector<std::string> inputs;
    std::string output, table, reference, across;
    RegisterJob job;
};

// Returns a summary such as "1490 of 1536 B-scans have a place (40 saccade, 6 weak_match)".
std::string result_line(const RegisteredVolumes& result) {
    std::string others;
    std::int64_t placed = 0;
    for (const auto& [reason, count] : result.reasons) {
        if (reason == name_of(RowReason::ok)) {
            placed = count;
            continue;
        }
        others += fmt::format("{}{} {}", others.empty() ? " (" : ", ", count, reason);
    }
    if (!others.empty()) others += ")";
    return fmt::format("{} of {} have a place{}", placed, plural(result.b_scans, "B-scans"), others);
}

void register_volumes(RegisterOptions& options) {
    RegisterJob& job = options.job;
    for (const std::string& input : options.inputs) job.inputs.push_back(input_named(input, ".npy"));
    job.reference = options.reference;
    job.across = options.across;
    if (!options.output.empty()) job.output = output_named(options.output, ".npy");
    if (!options.table.empty()) job.table = output_named(options.table, ".csv", false);
    TerminalProgress progress;
    const RegisteredVolumes result = run(job, progress);
    print_warnings(result.warnings);
    close_with("{}\n", result_line(result));
    close_with("registered in {:.2f} s on the {}\n", result.seconds, name_of(result.used.backend));
    close_with("{}\n", !result.is_within ? "motion of the reference itself stays"
                       : result.crosses > 0
                           ? fmt::format("aligned to {} that run across", plural(result.crosses, "B-scans"))
                           : "aligned to neighbours: slopes of the tissue and slow motion stay");
    for (const auto& file : {job.output, job.table}) {
        if (!file.empty()) close_with("{}\n", file.string());
    }
    print_json({{"files", names_of({job.output, job.table})},
                {"volumes", result.volumes},
                {"b_scans", result.b_scans},
                {"reasons", result.reasons},
                {"saccades", result.saccades},
                {"seconds", result.seconds},
                {"backend", word_for(result.used.backend)},
                {"warnings", lines_of(result.warnings)}});
}

}  // namespace

void add_register(CLI::App& program) {
    auto options = std::make_shared<RegisterOptions>();
    CLI::App* command = program.add_subcommand(
        "register", "Take motion out of volumes: to a reference, or between neighbouring B-scans");
    command
        ->add_option("IN", options->inputs,
                     "volumes, series, folders or patterns (\"scan_*.nrrd\") of one size; a single volume is aligned "
                     "to its own neighbours; - for standard input")
        ->required()
        ->type_name("");
    command
        ->add_option("-o,--output", options->output,
                     "mean of the registered volumes, NaN where nothing came; the ending decides the format: " +
                         endings_written() + "; - for standard output, as NumPy")
        ->type_name("OUT");
    command->add_option("--table", options->table, "place, quality and reason of every B-scan; - for standard output")
        ->type_name("FILE.csv");
    command->add_option("--reference", options->reference, "volume that all are registered to [one of them]")
        ->type_name("FILE");
    command
        ->add_option("--reference-volume", options->job.reference_volume,
                     "number of the volume that is the reference, counted from 0 [0]")
        ->check(not_negative())
        ->excludes("--reference")
        ->type_name("N");
    command
        ->add_option("--across", options->across,
                     "volume of the same place whose B-scans run across those of IN (scan.protocol raster_y): a single "
                     "volume is aligned to it")
        ->excludes("--reference")
        ->excludes("--reference-volume")
        ->type_name("FILE");
    add_data_folder_option(*command);
    add_stored_as_option(*command, options->job.stored_as);
    add_overwrite_option(*command, options->job.overwrites);
    add_backend_option(*command, options->job.backend.backend, "registers");
    RegistrationSettings registration;
    Settings settings;
    settings.bind("registration", registration);
    add_setting_options(*command, settings, "registration", "Registration (each also as --set registration.KEY=VALUE)",
                        options->job.settings);
    add_set_option(*command, options->job.settings);
    command->callback([options] { register_volumes(*options); });
}

// ---- attenuation ----------------------------------------------------------------------------------------------------

// `echolux attenuation VOLUME|scan.toml -o COEFFICIENTS`: estimates the attenuation coefficient of each voxel in 1/mm.

namespace {

struct AttenuationOptions {
    AttenuationJob job;
    std::string input, output;
    std::int64_t volume = 0;
    std::vector<std::string> assignments;
};

// `attenuation.*` settings configure the estimate; all other settings configure the reconstruction of a scan.
AttenuationJob job_from(const AttenuationOptions& options) {
    AttenuationJob job = options.job;
    job.input = input_named(options.input, ".npy");
    job.output = output_named(options.output, ".npy");
    job.part.volume = options.volume;
    Settings settings;
    settings.bind("attenuation", job.recipe);
    job.settings = set_own(settings, options.assignments);
    return job;
}

void attenuation(const AttenuationOptions& options) {
    TerminalProgress progress;
    const AttenuationJob job = job_from(options);
    const AttenuationFile done = run(job, progress);
    print_warnings(done.warnings);
    close_with("{:.1f} % of the voxels have a value, over a noise floor of {:.1f} dB; found in {:.2f} s\n",
               100 * done.stats.known, done.stats.noise_floor_db, done.seconds);
    close_with("{}\n", job.output.string());
    print_json({{"files", names_of({job.output})},
                {"known", done.stats.known},
                {"no_tail", done.stats.no_tail},
                {"noise_floor_db", done.stats.noise_floor_db},
                {"seconds", done.seconds},
                {"warnings", lines_of(done.warnings)}});
}

}  // namespace

void add_attenuation(CLI::App& program) {
    auto options = std::make_shared<AttenuationOptions>();
    CLI::App* command =
        program.add_subcommand("attenuation", "Attenuation coefficients of tissue in 1/mm, voxel by voxel");
    command->add_option("INPUT", options->input, "volume file or scan; - for standard input")
        ->required()
        ->type_name("");
    command
        ->add_option("-o,--output", options->output,
                     "volume of f32, 1/mm; the ending decides the format: " + endings_written() +
                         "; - for standard output, as NumPy")
        ->required()
        ->type_name("VOLUME");
    command->add_option("--volume", options->volume, "volume of a scan or series, counted from 0 [0]")->type_name("N");
    add_data_folder_option(*command);
    add_stored_as_option(*command, options->job.stored_as);
    add_overwrite_option(*command, options->job.overwrites);
    add_recipe_option(*command, options->assignments);
    add_set_option(*command, options->assignments);
    AttenuationRecipe defaults;
    Settings settings;
    settings.bind("attenuation", defaults);
    add_setting_options(*command, settings, "attenuation", "Attenuation (each also as --set attenuation.KEY=VALUE)",
                        options->assignments);
    command->callback([options] { attenuation(*options); });
}

// ---- flow -----------------------------------------------------------------------------------------------------------

// `echolux flow VELOCITY... [--through A,B,ROW] [-o TABLE] [--plot FIGURE]`: measures volume flow through a vessel in
// ul/s over time, and the heart rate.

namespace {

struct FlowOptions {
    std::vector<std::string> inputs;
    std::string structure, table, through, towards, each = "volume";
    FlowJob job;
};

// Parses "80,64,210.5": A-scan, B-scan, depth row. Returns nullopt for an empty text. Throws UsageError.
std::optional<VoxelPosition> place_from(const std::string& text, const char* option) {
    if (text.empty()) return std::nullopt;
    VoxelPosition place;
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
    nlohmann::ordered_json summary = {
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
    return summary;
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
        course.is_given ? std::string("as given") : fmt::format("by a fit to {}", plural(course.planes, "planes")));
    const bool is_sure = std::isfinite(found.error_ul_s);
    close_with("flow {:.4g} {} ul/s, mean of {}{}\n", found.flow_ul_s,
               is_sure ? fmt::format("± {:.2g}", found.error_ul_s) : std::string("(error unknown)"),
               plural(std::ssize(found.rows), "values"),
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
    print_json(object_of(found, job));
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
