#include "bench/run.h"

#include <fmt/format.h>

#include <chrono>
#include <fstream>

#include "app/seconds_since.h"
#include "compute/error.h"
#include "compute/parallel_for.h"
#ifdef ECHOLUX_RENDER
#include "render/renderer.h"
#endif

namespace echolux {
namespace {

// Returns the text after `label` on the first line of a file that contains it; otherwise "".
std::string text_after(const std::string& path, const std::string& label) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        const std::size_t at = line.find(label);
        if (at == std::string::npos) continue;
        const std::size_t begin = line.find_first_not_of(" \t:", at + label.size());
        return begin == std::string::npos ? std::string() : line.substr(begin);
    }
    return {};
}

// Name reported by the operating system; "" if it reports none.
std::string processor_name() {
    return text_after("/proc/cpuinfo", "model name");
}

std::string first_word(const std::string& text) {
    return text.substr(0, text.find(' '));
}

// `name` is a part of the GPU's name; "" matches the first GPU.
const Gpu& gpu_named(const std::string& name, const GpuSurvey& survey) {
    for (const Gpu& gpu : survey.usable) {
        if (gpu.name.find(name) != std::string::npos) return gpu;
    }
    const std::string reason = survey.refusal.empty() ? "there is none" : survey.refusal;
    throw Error(ErrorCode::device,
                name.empty() ? "no GPU can be used: " + reason : fmt::format("no GPU is called '{}'", name), "bench",
                "see nvidia-smi -L, or choose `backend` cpu");
}

// The processor is chosen once, so that all figures are measured on the same one.
BenchProcessor chosen_processor(const BenchJob& job) {
    BackendChoice choice;
    const GpuSurvey& survey = surveyed_gpus();
    const bool none = survey.usable.empty() && job.gpu.empty();
    choice.backend = job.backend == Backend::automatic ? (none ? Backend::cpu : Backend::cuda) : job.backend;
    if (choice.backend == Backend::cuda) choice.gpu = gpu_named(job.gpu, survey).id;
    return {choice};
}

// Throws Error{device} before measuring if the requested device is missing.
void check_display([[maybe_unused]] const BenchJob& job) {
#ifdef ECHOLUX_RENDER
    if (job.device.empty()) return;
    GpuDevice wanted;
    wanted.name = job.device;
    const Renderer renderer(wanted);
#endif
}

// Only a reconstructor can describe its backend, for example the library of its transforms, so a tiny one is made.
std::string backend_of(const BackendChoice& choice) {
    const BenchSize tiny{512, 8, 1, 1};
    return make_reconstructor(chain_spec(tiny), choice)->backend_description();
}

// The open driver writes "Open Kernel Module for x86_64  560.35", the proprietary one "x86_64 Kernel Module  535.129".
std::string driver_version() {
    const std::string version = first_word(text_after("/proc/driver/nvidia/version", "Kernel Module for x86_64"));
    return version.empty() ? first_word(text_after("/proc/driver/nvidia/version", "Kernel Module")) : version;
}

}  // namespace

BenchReport report_of(const std::string& backend, bool quick) {
    BenchReport report;
    report.machine.processor = processor_name();
    report.machine.threads = thread_count();
    report.machine.backend = backend;
    report.quick = quick;
    return report;
}

double seconds_of(const std::function<void()>& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return seconds_since(start);
}

// Each extent is {samples (set later), A-scans, B-scans, B-scans per block} and the effort {bytes, repetitions,
// seconds}. Volumes of a GPU exceed its caches.
BenchExtent extent_of(bool gpu, bool quick) {
    constexpr std::int64_t mib = std::int64_t{1} << 20;
    if (quick) return {{0, 64, 16, 4}, {8 * mib, 3, 0.005}};
    if (gpu) return {{0, 512, 512, 16}, {512 * mib, 15, 0.1}};
    return {{0, 256, 64, 8}, {256 * mib, 9, 0.2}};
}

BenchStart start_of(const BenchJob& job, BenchReport& report) {
    check_display(job);
    BenchStart start;
    start.processor = chosen_processor(job);
    start.extent = extent_of(start.processor.is_gpu(), job.quick);
    report = report_of(backend_of(start.processor.choice), job.quick);
    if (start.processor.is_gpu()) report.machine.driver = driver_version();
    // A user who expects GPU figures learns here why there are none.
    if (job.backend == Backend::automatic && !start.processor.is_gpu()) {
        report.machine.remark = surveyed_gpus().refusal;
    }
    report.a_scans = start.extent.size.a_scans;
    report.b_scans = start.extent.size.b_scans;
    report.block_b_scans = start.extent.size.block_b_scans;
    return start;
}

void BenchBook::begin(const std::string& task, std::int64_t count) {
    progress_.begin(task, count, "figures");
}

BenchFigure& BenchBook::figure(const std::string& key, const std::string& meaning, const std::string& unit,
                               const std::function<std::vector<double>()>& values,
                               std::initializer_list<BenchLimit> limits) {
    BenchFigure figure{key, meaning, unit, {}, {}, {}};
    try {
        figure.spread = spread_of(values());
        if (figure.spread.count == 0) figure.skipped = "the benchmark returned no figures";
        for (const BenchLimit& limit : limits) {
            const BenchFigure* other = report_.find(limit.of);
            if (other == nullptr || other->spread.median <= 0) continue;
            figure.ratios.push_back({limit.of, figure.spread.median * limit.each / other->spread.median});
        }
    } catch (const Error& error) {
        if (error.code() == ErrorCode::cancelled) throw;
        figure.skipped = error.line();
    }
    report_.figures.push_back(figure);
    progress_.advance(1);
    return report_.figures.back();
}

void BenchBook::ceiling(const Ceiling& ceiling) {
    report_.ceilings.push_back({ceiling.key, ceiling.meaning, ceiling.unit, spread_of(ceiling.rates), {}, {}});
    progress_.advance(1);
}

std::vector<double> BenchBook::repeated(int warm_up, int count, const std::function<std::optional<double>(int)>& work) {
    std::vector<double> values;
    // The first calls also allocate memory, build plans and fill caches.
    for (int i = -warm_up; i < count; ++i) {
        poll();
        const std::optional<double> value = work(i);
        if (i >= 0 && value) values.push_back(*value);
    }
    return values;
}

void BenchBook::skip(const std::string& key, const std::string& meaning, const std::string& reason) {
    report_.figures.push_back({key, meaning, "", {}, {}, reason});
    progress_.advance(1);
}

}  // namespace echolux
