// `echolux batch [VERB] FILE... -o FOLDER`: processes many files and writes every part exactly once. The work is done
// by the Python module (python/echolux/cluster), which replaces this process (execvp). Without a verb, scans are
// reconstructed.
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
#include <string_view>

#include "compute/error.h"
#include "engine/io/output_rule.h"
#include "engine/scan/scan.h"
#include "ui/cli/options.h"
#include "ui/cli/output.h"
#include "ui/cli/program.h"

namespace echolux {

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

}  // namespace echolux
