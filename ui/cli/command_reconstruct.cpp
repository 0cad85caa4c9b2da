// Commands that make volumes: simulate, reconstruct, batch and convert.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>

#include "app/jobs/convert_job.h"
#include "app/jobs/reconstruct_job.h"
#include "app/jobs/simulate_job.h"
#include "compute/error.h"
#include "compute/plural.h"
#include "engine/io/image_format.h"
#include "engine/io/output_rule.h"
#include "engine/io/volume_file.h"
#include "engine/scan/scan.h"
#include "engine/scan/settings.h"
#include "engine/simulate/simulator.h"
#include "ui/cli/options.h"
#include "ui/cli/output.h"
#include "ui/cli/program.h"

namespace echolux {

// ---- simulate -------------------------------------------------------------------------------------------------------

// `echolux simulate SCENE -o DIR/scan.toml`: simulates the spectra of a scene, with ground truth.

namespace {

void simulate_scene(const SimulateJob& job) {
    TerminalProgress progress;
    run(job, progress);
    close_with("{}\n", job.scan.string());
    if (!job.velocity.empty()) close_with("{}\n", job.velocity.string());
    print_json({{"files", names_of({job.scan, job.velocity})}});
}

}  // namespace

void add_simulate(CLI::App& program) {
    auto job = std::make_shared<SimulateJob>();
    CLI::App* command = program.add_subcommand("simulate", "Simulate a scan with known ground truth");
    Simulation simulation;
    Settings settings;
    settings.bind("simulation", simulation);
    command->add_option("SCENE", job->scene, "vessel, retina, layers, capillary, mirror, or a scene of your own")
        ->required()
        ->type_name("");
    command
        ->add_option("-o,--output,--out", job->scan,
                     "scan TOML to write; spectra and ground truth are written beside it")
        ->required()
        ->type_name("DIR/scan.toml");
    command
        ->add_option("--velocity", job->velocity,
                     "also write the true axial velocity, in mm/s, on the voxels of the scan's flow")
        ->type_name("VOLUME");
    add_overwrite_option(*command, job->overwrites);
    add_setting_options(*command, settings, "simulation", "Simulation", job->settings, {"scene"});
    add_set_option(*command, job->settings);
    command->callback([job] { simulate_scene(*job); });
}

// ---- reconstruct ----------------------------------------------------------------------------------------------------

// `echolux reconstruct scan.toml -o VOLUME | B-SCAN.png --b-scan N | EN-FACE.png --en-face Z0:Z1`: reconstructs spectra
// into a volume, a series or a picture.

namespace {

struct ReconstructOptions {
    std::string scan, output, flow, repeats, volume, blocks, b_scan, en_face, range;
    BackendChoice backend;
    bool overwrites = false;
    std::vector<std::string> assignments;
};

Interval interval(const std::string& text, const char* option) {
    const auto [begin, end] = parsed_interval(text, option);
    return {begin, end};
}

// Without --volume, the first volume is reconstructed; `--volume all` leaves job.volume unset.
ReconstructJob job_from(const ReconstructOptions& options) {
    ReconstructJob job;
    const bool makes_picture = !options.b_scan.empty() || !options.en_face.empty();
    job.scan = options.scan;
    job.output = output_named(options.output, makes_picture ? ".png" : ".npy");
    job.overwrites = options.overwrites;
    job.flow = options.flow;
    job.repeats = options.repeats;
    job.settings = options.assignments;
    job.backend = options.backend;
    if (options.volume.empty())
        job.volume = 0;
    else if (options.volume != "all")
        job.volume = parsed_number(options.volume, "--volume", "a number, or all");
    if (!options.blocks.empty()) job.b_scans = interval(options.blocks, "--blocks");
    if (!options.b_scan.empty()) job.b_scan = parsed_number(options.b_scan, "--b-scan", "a whole number");
    if (!options.en_face.empty()) job.en_face = interval(options.en_face, "--en-face");
    if (!options.range.empty()) {
        const auto [black, white] = parsed_range(options.range, "--range");
        job.gray = GrayRange{black, white};
    }
    return job;
}

void reconstruct(const ReconstructOptions& options) {
    TerminalProgress progress;
    const ReconstructedFiles done = run(job_from(options), progress);
    print_warnings(done.warnings);
    const double rate = static_cast<double>(done.stats.a_scans) / done.stats.seconds / 1e3;
    close_with("{}: {} in {:.2f} s, {:.0f} k A-scans/s\n", done.stats.backend, plural(done.stats.a_scans, "A-scans"),
               done.stats.seconds, rate);
    if (options.volume.empty() && done.volumes > 1)
        close_with("volume 0 of {}; --volume all makes a series of all of them\n", done.volumes);
    for (const auto& file : done.files) close_with("{}\n", file.string());
    print_json({{"files", names_of(done.files)},
                {"backend", done.stats.backend},
                {"a_scans", done.stats.a_scans},
                {"seconds", done.stats.seconds},
                {"volumes_in_scan", done.volumes},
                {"warnings", lines_of(done.warnings)}});
}

}  // namespace

void add_reconstruct(CLI::App& program) {
    auto options = std::make_shared<ReconstructOptions>();
    CLI::App* command = program.add_subcommand("reconstruct", "Reconstruct volumes, B-scans or en-face pictures");
    command->add_option("SCAN", options->scan, "scan TOML, or a raw file that describes itself (SD01RAW2)")
        ->required()
        ->type_name("");
    command
        ->add_option("-o,--output", options->output,
                     "volume to write; the ending decides the format: " + endings_written() +
                         "; *.png with --b-scan or --en-face; - for standard output, as NumPy or PNG")
        ->required()
        ->type_name("FILE");
    command->add_option("--flow", options->flow, "also write the flow of flow.method, as velocities or contrast")
        ->type_name("VOLUME");
    command
        ->add_option("--repeats", options->repeats,
                     "also write where the repeats of each B-scan lay, and which were left out, as flow.align found")
        ->type_name("FILE.csv");
    command->add_option("--volume", options->volume, "volume, counted from 0, or all as one series [0]")
        ->type_name("N|all");
    command->add_option("--blocks", options->blocks, "only B-scans A to B-1; parts are bit-identical to the whole")
        ->type_name("A:B");
    command->add_option("--b-scan", options->b_scan, "write a picture of this B-scan")->type_name("N");
    command->add_option("--en-face", options->en_face, "write a picture of the mean over depth rows Z0 to Z1-1")
        ->type_name("Z0:Z1");
    command->add_option("--range", options->range, "values shown as black and white [0.3 and 99.7 percentiles]")
        ->type_name("LOW:HIGH");
    add_overwrite_option(*command, options->overwrites);
    add_backend_option(*command, options->backend.backend);
    add_gpus_option(*command, options->backend);
    add_recipe_option(*command, options->assignments);
    add_set_option(*command, options->assignments);
    Recipe recipe;
    Settings settings;
    settings.bind("recipe", recipe);
    add_setting_options(*command, settings, "recipe", "Recipe (each also as --set recipe.KEY=VALUE)",
                        options->assignments);
    command->callback([options] { reconstruct(*options); });
}

// ---- batch ----------------------------------------------------------------------------------------------------------

// `echolux batch [VERB] FILE... -o FOLDER`: processes many files and writes every part exactly once. The work is done
// by the Python module (python/echolux/cluster), which replaces this process (execvp). Without a verb, scans are
// reconstructed.

namespace {

struct Verb {
    std::string_view name, what;
    // whether the verb accepts --recipe
    bool accepts_recipe;
};
// Same order and words as in python/echolux/cluster/verbs.py; tests/python/cluster/test_command.py compares the two.
constexpr std::array<Verb, 7> verbs{{
    {"reconstruct", "Reconstruct many scans into one OME-Zarr each; the default", true},
    {"flow", "Reconstruct many scans with their flow, a second OME-Zarr each", true},
    {"calibrate", "Find the calibration of many scans, as a table that reconstructs them", true},
    {"convert", "Convert many volumes", false},
    {"figures", "Draw a figure of each of many volumes", false},
    {"movie", "Make a movie whose pictures are shared among workers", false},
    {"map", "Apply a function of yours to many volumes", false},
}};

std::string help_of_verbs() {
    std::string text = "Commands (echolux batch COMMAND --help explains one):\n";
    for (const Verb& one : verbs) text += fmt::format("  {:12} {}\n", one.name, one.what);
    return text;
}

struct BatchOptions {
    std::vector<std::string> scans;
    std::string output, require, dask, share;
    int workers = -1, threads = 0, slurm = 0, retries = 2;
    double part_seconds = 0;
    std::int64_t part_memory = 0, part_b_scans = 0;  // if 0, the Python module's default
    bool overwrites = false, verifies = false;
    std::vector<std::string> slurm_options, assignments;
};

// Returns the interpreter: $ECHOLUX_PYTHON if set, else "python3".
std::string python() {
    const char* chosen = std::getenv("ECHOLUX_PYTHON");
    return chosen == nullptr ? "python3" : chosen;
}

// Replaces this process. Returns only if the program cannot be started.
void become(const std::vector<std::string>& words) {
    std::vector<char*> pointers;
    for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
    pointers.push_back(nullptr);
    execvp(pointers.front(), pointers.data());
}

// Runs a command in a child process and returns true if it exits with status 0.
bool ends_well(const std::vector<std::string>& words) {
    const pid_t child = fork();
    if (child == 0) {
        become(words);
        _exit(1);
    }
    int status = 1;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    return child > 0 && status == 0;
}

// Returns the command line of `python3 -m echolux.cluster reconstruct` for these options.
std::vector<std::string> command_of(const BatchOptions& options) {
    std::vector<std::string> words{python(), "-m", "echolux.cluster", "reconstruct", "-o", options.output};
    const auto add = [&](const char* name, const std::string& value) {
        if (!value.empty()) words.push_back(fmt::format("{}={}", name, value));
    };
    add("--require", options.require);
    add("--dask", options.dask);
    add("--share", options.share);
    if (options.workers >= 0) add("--workers", std::to_string(options.workers));
    if (options.threads > 0) add("--threads", std::to_string(options.threads));
    if (options.slurm > 0) add("--slurm", std::to_string(options.slurm));
    if (options.part_seconds > 0) add("--part-seconds", fmt::format("{}", options.part_seconds));
    if (options.part_memory > 0) add("--part-memory", std::to_string(options.part_memory));
    if (options.part_b_scans > 0) add("--part-b-scans", std::to_string(options.part_b_scans));
    add("--retries", std::to_string(options.retries));
    for (const std::string& one : options.slurm_options) add("--slurm-option", one);
    for (const std::string& one : options.assignments) add("--set", one);
    if (options.overwrites) words.emplace_back("--overwrite");
    if (options.verifies) words.emplace_back("--verify");
    if (output_options().is_quiet) words.emplace_back("--quiet");
    if (output_options().is_json) words.emplace_back("--json");
    words.emplace_back("--");
    words.insert(words.end(), options.scans.begin(), options.scans.end());
    return words;
}

// Checks that the module can be imported, then replaces this process. Throws Error if that fails; never returns.
[[noreturn]] void continue_as(const std::vector<std::string>& words) {
    const bool is_there = ends_well(
        {python(), "-c", "import importlib.util, sys; sys.exit(importlib.util.find_spec('echolux') is None)"});
    if (!is_there) {
        throw Error(ErrorCode::bad_setting, "needs the Python module of Echolux, which is not there", python(),
                    "pip install 'echolux[cluster]', or name the Python that has it: ECHOLUX_PYTHON=venv/bin/python3");
    }
    std::fflush(nullptr);
    become(words);
    throw Error(ErrorCode::bad_setting, fmt::format("cannot be started: {}", std::strerror(errno)), python(),
                "install Python 3");
}

// Replaces `--recipe NAME` by the --set options of that recipe, because the module does not know recipes.
std::vector<std::string> without_recipe(const std::vector<std::string>& arguments) {
    constexpr std::string_view option = "--recipe";
    std::vector<std::string> settings, others;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string& one = arguments[i];
        const bool is_apart = one == option && i + 1 < arguments.size();
        if (!is_apart && !one.starts_with(fmt::format("{}=", option))) {
            others.push_back(one);
            continue;
        }
        const std::string name = is_apart ? arguments[++i] : one.substr(option.size() + 1);
        for (const std::string& setting : assignments_of_recipe(name)) settings.push_back("--set=" + setting);
    }
    settings.insert(settings.end(), others.begin(), others.end());
    return settings;
}

void batch(const BatchOptions& options) {
    // Addresses such as s3://... are checked by the module.
    if (options.output.find("://") == std::string::npos) {
        const auto is_folder = [](const std::filesystem::path& path) { return std::filesystem::is_directory(path); };
        check_outputs({{options.output, is_folder}}, {options.scans.begin(), options.scans.end()}, options.overwrites);
        if (std::filesystem::exists(options.output) && !is_folder(options.output)) {
            throw Error(ErrorCode::output, "is not a folder", options.output, "name a folder for the results");
        }
    }
    continue_as(command_of(options));
}

}  // namespace

void hand_over_batch_verb(std::vector<std::string>& arguments) {
    if (arguments.size() < 2 || arguments[0] != "batch") return;
    const auto verb = std::ranges::find(verbs, arguments[1], &Verb::name);
    if (verb == verbs.end()) return;
    // `batch reconstruct` is handled by add_batch() like `batch`, so only the verb is removed.
    if (verb == verbs.begin()) {
        arguments.erase(arguments.begin() + 1);
        return;
    }
    const std::vector<std::string> given(arguments.begin() + 2, arguments.end());
    std::vector<std::string> words{python(), "-m", "echolux.cluster", arguments[1]};
    const std::vector<std::string> rest = verb->accepts_recipe ? without_recipe(given) : given;
    words.insert(words.end(), rest.begin(), rest.end());
    continue_as(words);
}

void add_batch(CLI::App& program) {
    auto options = std::make_shared<BatchOptions>();
    CLI::App* command = program.add_subcommand("batch",
                                               "Reconstruct many scans, or convert, draw or measure many volumes: on "
                                               "this machine, a Dask cluster or with Slurm; "
                                               "goes on where it was stopped");
    command->footer(help_of_verbs());
    command
        ->add_option("SCAN", options->scans,
                     "scans, patterns in quotes, or tables (.csv, .parquet) with one scan and its settings per row")
        ->required()
        ->type_name("");
    command
        ->add_option("-o,--output", options->output,
                     "folder or address (s3://...) of the results, one OME-Zarr per scan")
        ->required()
        ->type_name("FOLDER");
    command
        ->add_option("--workers", options->workers,
                     "processes on this machine; 0: run in this process [one per GPU, or 1]")
        ->type_name("N");
    command->add_option("--threads", options->threads, "threads of each worker, on cores of its own [all]")
        ->type_name("N");
    command->add_option("--require", options->require, "cuda: only workers with a GPU take part; cpu: no GPU is used")
        ->check(one_of({"cuda", "cpu"}))
        ->type_name("cuda|cpu");
    CLI::Option* dask = command->add_option("--dask", options->dask, "running scheduler of Dask: tcp://host:8786");
    CLI::Option* slurm = command->add_option("--slurm", options->slurm, "submit an array job of so many tasks instead")
                             ->check(positive());
    CLI::Option* share = command->add_option("--share", options->share, "only every N-th part, from the I-th (from 0)");
    dask->type_name("ADDRESS")->excludes(slurm)->excludes(share);
    slurm->type_name("TASKS")->excludes(share);
    share->type_name("I/N");
    command
        ->add_option("--slurm-option", options->slurm_options,
                     "option handed to sbatch: --slurm-option=--partition=gpu; may be repeated")
        ->type_name("OPTION");
    command->add_option("--part-seconds", options->part_seconds, "how long a part may take [10]")
        ->check(positive())
        ->type_name("S");
    command->add_option("--part-memory", options->part_memory, "voxels of a part [1024]")
        ->check(positive())
        ->type_name("MIB");
    command->add_option("--part-b-scans", options->part_b_scans, "B-scans of a part instead, whole shards")
        ->check(positive())
        ->type_name("N");
    command->add_option("--retries", options->retries, "more tries of what failed [2]")
        ->check(not_negative())
        ->type_name("N");
    command->add_flag("--verify", options->verifies, "compare the checksums of all that is there first");
    add_overwrite_option(*command, options->overwrites);
    add_recipe_option(*command, options->assignments);
    add_set_option(*command, options->assignments);
    command->callback([options] { batch(*options); });
}

// ---- convert --------------------------------------------------------------------------------------------------------

// `echolux convert IN OUT`: converts volumes and series between formats, or joins the parts of a volume.

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
    if (done.parts > 1) close_with("joined from {} each\n", plural(done.parts, "parts"));
    close_with("{}\n", job.output.string());
    print_json({{"files", names_of({job.output})}, {"parts", done.parts}});
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
