// `echolux bench`: measures the speed of this machine and how close Echolux comes to its limits. docs/performance.md
// describes the JSON.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <filesystem>
#include <memory>
#include <vector>

#include "bench/benches.h"
#include "compute/error.h"
#include "compute/plural.h"
#include "engine/io/atomic_file.h"
#include "engine/io/output_rule.h"
#include "ui/cli/options.h"
#include "ui/cli/output.h"
#include "ui/cli/program.h"

namespace echolux {

namespace {

// A measurement instead of the plain one.
struct BenchKind {
    const char* option;
    const char* help;
    void (*run)(const BenchJob&, BenchReport&, Progress&);  // null if this build cannot
    bool takes_volumes = false;
};

#ifdef ECHOLUX_RENDER
#define ECHOLUX_DRAWING(run) run
#else
#define ECHOLUX_DRAWING(run) nullptr
#endif

constexpr BenchKind live_kind{"--live",
                              "benchmark a live system at a fixed rate, and published scan protocols, instead",
                              ECHOLUX_DRAWING(run_live)};
constexpr BenchKind bench_kinds[] = {
    {"--rendering", "benchmark rendering time against volume and image size instead", ECHOLUX_DRAWING(run_rendering),
     true},
    {"--light",
     "benchmark path tracing per pixel and path, after changes of curve or volume, and the time to a converged "
     "path-traced image, instead",
     ECHOLUX_DRAWING(run_light), true},
    {"--movie", "benchmark a turntable movie against rendering only and encoding only instead",
     ECHOLUX_DRAWING(run_movie)},
    {"--methods", "benchmark the shipped recipe of every method against the plain chain, 2048 samples, instead",
     run_methods},
    {"--papers", "benchmark the work of five published papers instead", run_papers},
    {"--precision", "measure the errors of recipe.precision = fast instead", run_precision},
    {"--processing", "benchmark post-processing of volumes (filters, surfaces) instead", run_processing}};

struct BenchOptions {
    BenchJob job;
    const BenchKind* kind = nullptr;  // the last one chosen; they exclude each other
    std::string json;
    bool markdown = false;
    bool overwrites = false;
};

// The transform lengths must be even and within 128 to 65536 samples.
void check_lengths(const std::vector<std::int64_t>& lengths) {
    for (const std::int64_t length : lengths) {
        if (length >= 128 && length <= 65536 && length % 2 == 0) continue;
        throw Error(ErrorCode::bad_setting, fmt::format("{} cannot be measured", plural(length, "samples")),
                    "--lengths", "choose even numbers from 128 to 65536");
    }
    if (lengths.empty()) throw Error(ErrorCode::bad_setting, "no length to measure", "--lengths", "name one");
}

// Throws Error{bad_setting} if this build or the options do not allow the measurement.
void measure(const BenchOptions& options, BenchReport& report, Progress& progress) {
    const BenchJob& job = options.job;
    if (options.kind != nullptr) {
        if (options.kind->run == nullptr) {
            throw Error(ErrorCode::bad_setting, "this build has no renderer", options.kind->option,
                        "build with ECHOLUX_RENDER");
        }
        return options.kind->run(job, report, progress);
    }
    if (job.gpus) {
        if (!job.gpus->named_gpus.empty())
            throw Error(ErrorCode::bad_setting, "GPU numbers are only supported with --live", "--gpus",
                        "give how many GPUs to use");
        return run_scaling(job, report, progress);
    }
    check_lengths(job.lengths);
    run_throughput(job, report, progress);
}

void bench(const BenchOptions& options) {
    if (!options.job.volumes.empty() && (options.kind == nullptr || !options.kind->takes_volumes)) {
        throw Error(ErrorCode::bad_setting, "volumes are measured by --rendering and --light", "--volume",
                    "add one of them");
    }
    const std::string json = output_named(options.json, ".json", false);
    // Recognizes a report by its first and last keys, so that a repeated run may replace it without --overwrite.
    const auto is_own = [](const std::filesystem::path& path) {
        return begins_with(path, "{\n \"echolux\": \"") && holds_near_an_end(path, "\"ceilings\": ");
    };
    check_outputs({{json, is_own, {".json"}}}, options.job.volumes, options.overwrites);
    if (!json.empty()) check_can_be_written(json);
    BenchReport report;
    std::exception_ptr interruption;
    try {
        TerminalProgress progress;
        measure(options, report, progress);
    } catch (const Error& error) {
        if (error.code() != ErrorCode::cancelled || (report.figures.empty() && report.ceilings.empty())) throw;
        report.is_interrupted = true;
        interruption = std::current_exception();
    }
    if (!json.empty()) write_text(json, json_of(report) + "\n");
    print_answer(options.markdown ? markdown_of(report) : text_of(report));
    if (interruption) std::rethrow_exception(interruption);
}

// Makes the alternative measurements exclude each other and the option that only the plain bench accepts.
void exclude_each_other(const std::vector<CLI::Option*>& instead, CLI::Option* of_plain) {
    for (auto one = instead.begin(); one != instead.end(); ++one) {
        (*one)->excludes(of_plain);
        for (auto other = std::next(one); other != instead.end(); ++other) (*one)->excludes(*other);
    }
}

}  // namespace

void add_bench(CLI::App& program) {
    auto options = std::make_shared<BenchOptions>();
    CLI::App* command =
        program.add_subcommand("bench", "Measure how fast Echolux is on this machine, and how close to its limits");
    command->footer(examples_text({"echolux bench --quick"}));
    command->add_option("--json", options->json, "write all results here as JSON; - for standard output")
        ->type_name("FILE");
    add_overwrite_option(*command, options->overwrites);
    command->add_flag("--markdown", options->markdown, "print tables in Markdown");
    command->add_flag("--quick", options->job.quick,
                      "volumes of 64 x 16 A-scans, ceilings with 8 MiB, 3 repetitions of 5 ms, 5 pictures for the "
                      "latency: only checks that it runs");
    const auto add_kind = [&](const BenchKind& kind) {
        return command->add_flag_callback(
            kind.option, [options, &kind] { options->kind = &kind; }, kind.help);
    };
    std::vector<CLI::Option*> kinds;
    for (const BenchKind& kind : bench_kinds) kinds.push_back(add_kind(kind));
    CLI::Option* gpus = add_gpus_option(
        *command, [options](const BackendChoice& choice) { options->job.gpus = choice; },
        "repeat the benchmark on 1, 2, 4 ... N GPUs instead, 0: all; with --live also by their numbers: 0,1");
    CLI::Option* live = add_kind(live_kind);
    command->add_option("--seconds", options->job.seconds, "length of each run of --live [60]")
        ->check(positive())
        ->type_name("S")
        ->needs(live);
    command
        ->add_option("--only", options->job.only, "run only the cases whose keys begin with this, e.g. live.gpus.u16/2")
        ->type_name("KEY")
        ->needs(live)
        ->needs(gpus);
    command
        ->add_option("--volume", options->job.volumes,
                     "also measure these volumes: their samples with --rendering, their noise with --light")
        ->type_name("FILE");
    CLI::Option* lengths =
        command->add_option("--lengths", options->job.lengths, "samples of a spectrum [1024,2048,4096]")
            ->delimiter(',')
            ->type_name("N,N");
    for (CLI::Option* other : {gpus, live}) {
        std::vector<CLI::Option*> all = kinds;
        all.push_back(other);
        exclude_each_other(all, lengths);
    }
    add_backend_option(*command, options->job.backend);
    command->add_option("--gpu", options->job.gpu, "part of the GPU's name [the first usable one]")->type_name("NAME");
    command->add_option("--device", options->job.device, "part of the Vulkan device's name [the GPU's own]")
        ->type_name("NAME");
    command->callback([options] { bench(*options); });
}

}  // namespace echolux
