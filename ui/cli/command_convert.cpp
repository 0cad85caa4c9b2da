// `echolux convert IN OUT`
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "app/jobs/convert_job.h"
#include "engine/io/volume_file.h"
#include "ui/cli/commands.h"
#include "ui/cli/parse_text.h"
#include "ui/cli/terminal_progress.h"

namespace echolux {
namespace {

struct Options {
    std::string input, output, time, type, range, compression = "automatic", ome_version;
};

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

void convert(const Options& options) {
    ConvertJob job;
    job.input = options.input;
    job.output = options.output;
    if (!options.time.empty()) {
        const auto [begin, end] = parsed_interval(options.time, "--time");
        job.time_points = {begin, end};
    }
    if (!options.type.empty()) job.type = voxel_type_named(options.type);
    if (!options.range.empty()) job.range = parsed_range(options.range, "--range");
    job.storage = {compression_named(options.compression), options.ome_version};
    TerminalProgress progress;
    const std::int64_t parts = run(job, progress);
    if (parts > 1) fmt::print("joined of {} parts each\n", parts);
    fmt::print("{}\n", options.output);
}

}  // namespace

void add_convert(CLI::App& program) {
    auto options = std::make_shared<Options>();
    CLI::App* command = program.add_subcommand("convert", "Volumes and series from one format into another");
    command
        ->add_option("IN", options->input,
                     "volume or series of any format; a folder of volumes or a pattern (\"scan_*.nrrd\") is a "
                     "series, or the parts of `echolux reconstruct --blocks`, which are joined")
        ->required()
        ->type_name("");
    command->add_option("OUT", options->output, "by its ending: " + endings_written())->required()->type_name("");
    command->add_option("--time", options->time, "time points A to B-1, counted from 0 [all]")->type_name("A:B");
    command->add_option("--type", options->type, "voxels of this type [as they are]")
        ->check(CLI::IsMember({"u8", "u16", "i16", "f32"}).description(""))
        ->type_name("u8|u16|i16|f32");
    command->add_option("--range", options->range, "values that integers cover, from the least code to the greatest")
        ->type_name("LOW:HIGH");
    command->add_option("--compression", options->compression, "where the format leaves a choice [automatic]")
        ->check(CLI::IsMember({"automatic", "none", "gzip", "zstd", "blosc"}).description(""))
        ->type_name("none|gzip|zstd|blosc");
    command->add_option("--ome-version", options->ome_version, "of OME-Zarr: 0.4 is Zarr 2, 0.5 is Zarr 3 [0.4]")
        ->check(CLI::IsMember({"0.4", "0.5"}).description(""))
        ->type_name("0.4|0.5");
    command->callback([options] { convert(*options); });
}

}  // namespace echolux
