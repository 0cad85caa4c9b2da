// `echolux bench`: what this machine can do, and how near Echolux comes to it. The JSON is described in
// docs/performance.md.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "compute/error.h"
#include "engine/io/atomic_file.h"
#include "engine/version.h"
#include "ui/app/bench_job.h"
#include "ui/cli/commands.h"
#include "ui/cli/parse_text.h"
#include "ui/cli/terminal_progress.h"

namespace echolux {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
    BenchJob job;
    std::string backend = "auto", json;
    bool markdown = false;
};

Json json_of(const BenchFigure& figure) {
    Json json{{"key", figure.key}, {"meaning", figure.meaning}};
    if (!figure.skipped.empty()) {
        json["skipped"] = figure.skipped;
        return json;
    }
    json["unit"] = figure.unit;
    json["median"] = figure.spread.median;
    json["low"] = figure.spread.low;
    json["high"] = figure.spread.high;
    json["repetitions"] = figure.spread.count;
    json["ratios"] = Json::object();
    for (const BenchRatio& ratio : figure.ratios) json["ratios"][ratio.of] = ratio.value;
    return json;
}

Json json_of(const BenchReport& report) {
    const BenchMachine& machine = report.machine;
    Json json{
        {"echolux", version},
        {"schema", 1},
        {"machine",
         {{"processor", machine.processor},
          {"threads", machine.threads},
          {"backend", machine.backend},
          {"driver", machine.driver},
          {"display", machine.display}}},
        {"volume", {{"a_scans", report.a_scans}, {"b_scans", report.b_scans}, {"block_b_scans", report.block_b_scans}}},
        {"quick", report.quick},
        {"ceilings", Json::array()},
        {"figures", Json::array()},
        {"targets", Json::array()}};
    for (const BenchFigure& figure : report.ceilings) json["ceilings"].push_back(json_of(figure));
    for (const BenchFigure& figure : report.figures) json["figures"].push_back(json_of(figure));
    for (const BenchTarget& target : report.targets) {
        json["targets"].push_back({{"name", target.name},
                                   {"reached", target.reached},
                                   {"unit", target.unit},
                                   {"relation", target.relation},
                                   {"bound", target.bound},
                                   {"met", target.met}});
    }
    return json;
}

void write_json(const std::string& path, const BenchReport& report) {
    AtomicFile file(path);
    std::ofstream out(file.temporary());
    out << json_of(report).dump(1) << '\n';
    out.close();
    if (!out) throw Error(ErrorCode::output, "could not be written", path, "check the folder and the free space");
    file.commit();
}

void bench(const Options& options) {
    BenchJob job = options.job;
    job.backend = parsed_backend(options.backend);
    if (!options.json.empty()) check_can_be_written(options.json);
    TerminalProgress progress;
    const BenchReport report = run(job, progress);
    if (!options.json.empty()) write_json(options.json, report);
    fmt::print("{}", options.markdown ? markdown_of(report) : text_of(report));
}

}  // namespace

void add_bench(CLI::App& program) {
    auto options = std::make_shared<Options>();
    CLI::App* command = program.add_subcommand("bench", "Measure this machine and how near Echolux comes to it");
    command->add_option("--json", options->json, "write everything here, for programs")->type_name("FILE");
    command->add_flag("--markdown", options->markdown, "print tables in Markdown");
    command->add_flag("--quick", options->job.quick, "small volumes, few repetitions: that it runs, not how fast");
    command->add_option("--lengths", options->job.lengths, "samples of a spectrum [1024,2048,4096]")
        ->delimiter(',')
        ->type_name("N,N");
    command->add_option("--backend", options->backend, "what computes [auto]")
        ->check(CLI::IsMember({"auto", "cpu", "cuda"}).description(""))
        ->type_name("auto|cpu|cuda");
    command->add_option("--gpu", options->job.gpu, "part of the GPU's name [the first that can be used]")
        ->type_name("NAME");
    command->add_option("--device", options->job.device, "part of the Vulkan device's name [the GPU's own]")
        ->type_name("NAME");
    command->callback([options] { bench(*options); });
}

}  // namespace echolux
