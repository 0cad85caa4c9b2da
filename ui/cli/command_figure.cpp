// `echolux figure VOLUME|scan.toml -o FIGURE.pdf|.svg|.png [--layout volume+bscan+enface]` draws a figure. With
// --a-scan or --psf it writes a table: -o TABLE.csv
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/figure/figure_job.h"
#include "compute/error.h"
#include "engine/scan/settings.h"
#include "ui/cli/commands.h"
#include "ui/cli/parse_text.h"
#include "ui/cli/setting_options.h"
#include "ui/cli/standard_streams.h"
#include "ui/cli/telling.h"
#include "ui/cli/terminal_progress.h"

namespace echolux {
namespace {

struct FigureOptions {
    std::string input, output, layout, en_face, a_scan, rows, view_file, size, device;
    std::int64_t volume = 0;
    bool overwrites = false;
    std::optional<std::int64_t> b_scan;
    bool from_surface = false, psf = false;
    std::vector<std::string> assignments;
};

bool makes_table(const FigureOptions& options) {
    return options.psf || !options.a_scan.empty();
}

// Returns the layout that the options imply. Without any, a B-scan is drawn beside an en-face projection.
std::string layout_of(const FigureOptions& options) {
    if (!options.layout.empty()) return options.layout;
    const bool has_en_face = !options.en_face.empty() || options.from_surface;
    if (options.b_scan) return has_en_face ? "bscan+enface" : "bscan";
    return has_en_face ? "enface" : "bscan+enface";
}

// `view.*` and `figure.*` settings configure the drawing; all other settings configure the reconstruction.
FigureJob figure_from(const FigureOptions& options) {
    FigureJob job;
    job.input = input_named(options.input, ".npy");
    job.output = output_named(options.output, ".png");
    job.overwrites = options.overwrites;
    job.made_from = {options.view_file};
    job.part.volume = options.volume;
    job.device.name = options.device;
    job.content.layout = parsed_layout(layout_of(options));
    job.content.b_scan = options.b_scan;
    job.content.from_surface = options.from_surface;
    if (!options.en_face.empty()) {
        const auto [begin, end] = parsed_interval(options.en_face, "--en-face");
        job.content.en_face = {begin, end};
    }
    Settings settings;
    settings.bind("view", job.view);
    settings.bind("figure", job.style);
    if (!options.view_file.empty()) settings.read_toml(options.view_file);
    for (const std::string& assignment : options.assignments) {
        if (assignment.starts_with("view.") || assignment.starts_with("figure."))
            settings.set_assignment(assignment);
        else
            job.settings.push_back(assignment);
    }
    if (!options.size.empty()) {
        const auto [width, height] = parsed_size(options.size, "--size");
        settings.set("view.width", std::to_string(width), "--size");
        settings.set("view.height", std::to_string(height), "--size");
    }
    return job;
}

TableJob table_from(const FigureOptions& options) {
    if (options.psf && !options.a_scan.empty()) {
        throw Error(ErrorCode::bad_setting, "a table holds one A-scan, or the strongest echoes of all", "--psf",
                    "leave out --a-scan or --psf");
    }
    TableJob job;
    job.input = input_named(options.input, ".npy");
    job.output = output_named(options.output, ".csv", false);
    job.overwrites = options.overwrites;
    job.part.volume = options.volume;
    job.settings = options.assignments;
    if (!options.a_scan.empty()) {
        job.a_scan = parsed_pixel(options.a_scan, "--a-scan", "X,Y: A-scan and B-scan, counted from 0, e.g. 120,64");
    }
    job.b_scan = options.b_scan;
    if (!options.rows.empty()) {
        const auto [begin, end] = parsed_interval(options.rows, "--rows");
        job.rows = {begin, end};
    }
    return job;
}

void figure(const FigureOptions& options) {
    TerminalProgress progress;
    const auto draw = [&](const auto& job) {
        const std::vector<std::string> warnings = run(job, progress);
        print_warnings(warnings);
        close_with("{}\n", job.output.string());
        give({{"files", names_of({job.output})}, {"warnings", lines_of(warnings)}});
    };
    if (makes_table(options))
        draw(table_from(options));
    else
        draw(figure_from(options));
}

void add_contents(CLI::App& command, FigureOptions& options) {
    command
        .add_option(
            "--layout", options.layout,
            "parts, side by side with + and below each other with /: volume+bscan/enface [as the options below imply]")
        ->type_name("volume+bscan+enface");
    command.add_option("--b-scan", options.b_scan, "B-scan to show, counted from 0 [the middle one]")->type_name("N");
    command.add_option("--en-face", options.en_face, "en-face mean over these depth rows [all]")->type_name("Z0:Z1");
    command.add_flag("--from-surface", options.from_surface, "count those rows from the surface of the tissue");
    command.add_option("--a-scan", options.a_scan, "one A-scan as a table: A-scan and B-scan, counted from 0")
        ->type_name("X,Y");
    command.add_flag("--psf", options.psf,
                     "depth, height, width and side lobe of the strongest echo of each A-scan as a table");
    command.add_option("--rows", options.rows, "depth rows in which --psf searches [all]")->type_name("Z0:Z1");
}

}  // namespace

void add_figure(CLI::App& program) {
    auto options = std::make_shared<FigureOptions>();
    CLI::App* command = program.add_subcommand("figure", "B-scans and projections with axes, or tables of A-scans");
    command->add_option("INPUT", options->input, "volume file or scan; - for standard input")
        ->required()
        ->type_name("");
    command
        ->add_option("-o,--output", options->output,
                     "a figure, or, with --a-scan or --psf, a table; - for standard output")
        ->required()
        ->type_name("FILE.pdf|.svg|.png|.csv");
    add_data_folder_option(*command);
    add_overwrite_option(*command, options->overwrites);
    add_contents(*command, *options);
    command->add_option("--volume", options->volume, "volume of a scan or series, counted from 0 [0]")->type_name("N");
    command->add_option("--view", options->view_file, "a file with a section [view], for the part `volume`")
        ->type_name("FILE.toml");
    command->add_option("--size", options->size, "size of the part `volume` in pixels [1024x1024]")->type_name("WxH");
    command->add_option("--device", options->device, "part of the Vulkan device's name [the fastest kind]")
        ->type_name("NAME");
    add_recipe_option(*command, options->assignments);
    add_set_option(*command, options->assignments);
    FigureStyle style;
    Settings settings;
    settings.bind("figure", style);
    add_setting_options(*command, settings, "figure", "Looks (each also as --set figure.KEY=VALUE)",
                        options->assignments);
    command->callback([options] { figure(*options); });
}

}  // namespace echolux
