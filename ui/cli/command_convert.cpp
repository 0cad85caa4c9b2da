// `echolux convert IN OUT`: converts volumes and series between formats, or joins the parts of a volume.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/jobs/convert_job.h"
#include "compute/counted.h"
#include "engine/io/volume_file.h"
#include "ui/cli/commands.h"
#include "ui/cli/parse_text.h"
#include "ui/cli/setting_options.h"
#include "ui/cli/standard_streams.h"
#include "ui/cli/telling.h"
#include "ui/cli/terminal_progress.h"

namespace echolux {
namespace {

struct ConvertOptions {
    std::string input, place, output, time, type, range, compression = "automatic", ome_version;
    bool overwrites = false;
};

// Returns f32 for every other name; the option has checked it.
VoxelType voxel_type_named(const std::string& name) {
    if (name == "u8") return VoxelType::u8;
    if (name == "u16") return VoxelType::u16;
    return name == "i16" ? VoxelType::i16 : VoxelType::f32;
}

Compression compression_named(const std::string& name) {
    for (const Compression compression :
         {Compression::none, Compression::gzip, Compression::zstd, Compression::blosc}) {
        if (name == name_of(compression)) return compression;
    }
    return Compression::automatic;
}

void convert(const ConvertOptions& options) {
    ConvertJob job;
    // OUT and -o are two spellings of the same argument.
    if (options.place.empty() == options.output.empty()) {
        throw UsageError("one output is needed", "OUT", "name it after the input, or by -o");
    }
    job.input = input_named(options.input, ".npy");
    job.output = output_named(options.place.empty() ? options.output : options.place, ".npy");
    job.overwrites = options.overwrites;
    if (!options.time.empty()) {
        const auto [begin, end] = parsed_interval(options.time, "--time");
        job.time_points = {begin, end};
    }
    if (!options.type.empty()) job.type = voxel_type_named(options.type);
    if (!options.range.empty()) job.range = parsed_range(options.range, "--range");
    job.storage = {compression_named(options.compression), options.ome_version};
    TerminalProgress progress;
    const Converted done = run(job, progress);
    print_warnings(done.warnings);
    if (done.parts > 1) close_with("joined from {} each\n", counted(done.parts, "parts"));
    close_with("{}\n", job.output.string());
    give({{"files", names_of({job.output})}, {"parts", done.parts}});
}

}  // namespace

void add_convert(CLI::App& program) {
    auto options = std::make_shared<ConvertOptions>();
    CLI::App* command = program.add_subcommand("convert", "Volumes and series from one format into another");
    command
        ->add_option("IN", options->input,
                     "volume or series of any format; a folder of volumes or a pattern (\"scan_*.nrrd\") is a "
                     "series, or the parts of `echolux reconstruct --blocks`, which are joined; - for standard input")
        ->required()
        ->type_name("");
    command
        ->add_option(
            "OUT", options->place,
            "output; the ending decides the format: " + endings_written() + "; - for standard output, as NumPy")
        ->type_name("");
    command->add_option("-o,--output", options->output, "the same")->type_name("OUT");
    add_data_folder_option(*command);
    add_overwrite_option(*command, options->overwrites);
    command->add_option("--time", options->time, "time points A to B-1, counted from 0 [all]")->type_name("A:B");
    command->add_option("--type", options->type, "voxels of this type [as they are]")
        ->check(one_of({"u8", "u16", "i16", "f32"}))
        ->type_name("u8|u16|i16|f32");
    command->add_option("--range", options->range, "values that the integer codes span, from the lowest to the highest")
        ->type_name("LOW:HIGH");
    command
        ->add_option("--compression", options->compression, "compression, where the format offers a choice [automatic]")
        ->check(one_of({"automatic", "none", "gzip", "zstd", "blosc"}))
        ->type_name("none|gzip|zstd|blosc");
    command
        ->add_option("--ome-version", options->ome_version,
                     "version of OME-Zarr: 0.4 uses Zarr 2, 0.5 uses Zarr 3 [0.4]")
        ->check(one_of({"0.4", "0.5"}))
        ->type_name("0.4|0.5");
    command->callback([options] { convert(*options); });
}

}  // namespace echolux
