#include "bench/papers.h"

#include <fmt/format.h>

#include "assets/table.h"
#include "bench/benches.h"
#include "bench/rates.h"
#include "compute/error.h"
#include "compute/gpu_backend.h"

namespace echolux {
namespace {

std::vector<PublishedFigure> figures_of(const char* file) {
    std::vector<PublishedFigure> all;
    for (const std::vector<std::string>& row : shipped_table(file)) {
        all.push_back(
            {row.at(0), row.at(1), row.at(2), row.at(3), std::stod(row.at(4)), std::stoll(row.at(5)), row.at(6)});
    }
    return all;
}

// Matches the shapes and timing of the papers: spectra come from the host and voxels return to it, or neither.
BenchCase there_and_back(BenchCase one) {
    one.from_host = true;
    one.voxels = VoxelDestination::host;
    return one;
}

BenchCase ao_oct_set(const std::string& prefix) {
    return there_and_back({.key = prefix + "ao-oct/set",
                           .meaning = "AO-OCT, volumes of 240 x 240 A-scans of 832 samples",
                           .recipe = "ao-oct",
                           .cost = 3,
                           .samples = 832,
                           .a_scans = 240,
                           .b_scans = 240,
                           .block_b_scans = 48});
}

BenchCase swept_source(std::int64_t frame) {
    return there_and_back({.key = fmt::format("ss-oct/{}", frame),
                           .meaning = fmt::format("swept source, 1024 samples, frames of {} A-scans", frame),
                           .recipe = "ss-oct",
                           .samples = 1024,
                           .a_scans = frame,
                           .block_b_scans = 1,
                           .is_batch = true});
}

BenchCase full_range(const std::string& key, int iterations, bool in_double, std::int64_t batch, int upsample) {
    return there_and_back(
        {.key = key,
         .meaning = fmt::format("DEFR, {} iterations, {}{}, frames of {} A-scans", iterations,
                                in_double ? "double" : "single", upsample == 2 ? ", up-sampled by two" : "", batch),
         .recipe = "defr",
         .changes = {fmt::format("defr.iterations={}", iterations), fmt::format("defr.double_precision={}", in_double),
                     fmt::format("recipe.upsample={}", upsample)},
         .cost = 10.0 + 4.0 * iterations * (in_double ? 2 : 1),
         .a_scans = batch,
         .block_b_scans = 1});
}

BenchCase compressive(const std::string& transform, int iterations, double cost) {
    const bool is_later = iterations == 10;  // of the samples, 40 %
    return {.key = fmt::format("cs.{}/{}", transform, iterations),
            .meaning = fmt::format("compressive, {}, {} iterations, {} % of the samples, B-scans of 1000 A-scans",
                                   transform, iterations, is_later ? 40 : 30),
            .recipe = "compressive",
            .changes = {"compressive.transform=" + transform, fmt::format("compressive.iterations={}", iterations),
                        is_later ? "compressive.share=0.4" : "compressive.share=0.3"},
            .cost = cost,
            .a_scans = 1000,
            .block_b_scans = 1};
}

// Tables 1 and 2 of Wang 2012. `prefix` is that of our keys.
std::vector<BenchCase> full_range_tables(const std::string& prefix) {
    std::vector<BenchCase> cases;
    for (const bool in_double : {false, true}) {
        for (const int n : published_iterations) {
            const std::string key = fmt::format("{}defr{}/{}", prefix, in_double ? ".double" : "", n);
            cases.push_back(full_range(key, n, in_double, 512, 2));
        }
    }
    return cases;
}

// Cases for the selected processor.
std::vector<BenchCase> chosen_cases() {
    std::vector<BenchCase> cases{ao_oct_set("")};
    for (const std::int64_t frame : published_frames) cases.push_back(swept_source(frame));
    for (const BenchCase& one : full_range_tables("")) cases.push_back(one);
    for (const std::int64_t batch : published_batches) {
        cases.push_back(full_range(fmt::format("defr.batch/{}", batch), 10, false, batch, 1));
        cases.back().is_batch = true;
    }
    cases.push_back({.key = "structure/2048", .meaning = "the plain chain"});
    cases.push_back({.key = "doppler/2048", .meaning = "structure and Doppler", .recipe = "doppler", .cost = 2});
    for (const int iterations : {15, 10}) {
        cases.push_back(compressive("exact", iterations, 1000));
        cases.push_back(compressive("nufft", iterations, 100));
        cases.push_back(compressive("fft", iterations, 50));
    }
    return cases;
}

// Additional CPU cases if a GPU is selected.
std::vector<BenchCase> cpu_cases() {
    std::vector<BenchCase> cases = full_range_tables("cpu.");
    cases.push_back(ao_oct_set("cpu."));
    return cases;
}

// Measures the GPU memory that 1024 A-scans of a block need, in all buffers of one block in flight.
void measure_memory(BenchBook& book, const BenchProcessor& processor) {
    const char* key = "defr.memory/1024";
    const char* meaning = "memory of the GPU for 1024 A-scans of DEFR, not up-sampled";
    if (!processor.is_gpu()) return book.skip(key, meaning, "of a GPU's memory");
    BackendChoice choice = processor.choice;
    choice.streams = 1;
    const auto bytes_of = [&](std::int64_t lines) {
        const BenchCase one = full_range("", 10, false, lines, 1);
        const std::int64_t before = free_device_memory(choice.gpu);
        const auto planned = make_reconstructor(spec_of(one, {one.samples, lines, 1, 1}), choice);
        return static_cast<double>(before - free_device_memory(choice.gpu));
    };
    book.figure(key, meaning, "B", [&] {
        constexpr std::int64_t few = 8 * 1024, many = 40 * 1024;
        bytes_of(few);  // the first one also loads kernels; the difference of two sizes cancels all constant memory
        return std::vector{(bytes_of(many) - bytes_of(few)) / ((many - few) / 1024)};
    });
}

// Measures the two published methods for the mean spectrum, and ours.
void measure_means(BenchBook& book, const BenchProcessor& processor) {
    if (!processor.is_gpu()) return book.skip("mean.serial", "published ways to the mean spectrum", "needs a GPU");
    try {
        required_gpu().measure_frame_means(processor.choice.gpu, {}, book.effort(), [&](const Ceiling& ceiling) {
            book.figure(ceiling.key, ceiling.meaning, ceiling.unit, [&] { return ceiling.rates; }, {{"mean.serial"}});
        });
    } catch (const Error& error) {
        if (error.code() == ErrorCode::cancelled) throw;
        book.skip("mean", "published ways to the mean spectrum", error.line());
    }
}

}  // namespace

const std::vector<PublishedFigure>& published_figures() {
    static const std::vector<PublishedFigure> figures = figures_of("published/rates.txt");
    return figures;
}

const std::vector<PublishedFigure>& published_tissue_figures() {
    static const std::vector<PublishedFigure> figures = figures_of("published/tissue.txt");
    return figures;
}

std::vector<BenchComparison> beside_the_papers(const BenchReport& report, bool on_gpu) {
    return beside_the_papers(report, on_gpu, published_figures());
}

std::vector<BenchComparison> beside_the_papers(const BenchReport& report, bool on_gpu,
                                               const std::vector<PublishedFigure>& figures) {
    std::vector<BenchComparison> rows;
    for (const PublishedFigure& one : figures) {
        // Without a GPU, the cases of the selected processor are the CPU's own and have no prefix.
        const bool is_cpus = one.figure.starts_with("cpu.");
        const std::string key = is_cpus && !on_gpu ? one.figure.substr(4) : one.figure;
        BenchComparison row{one.paper, one.what, one.hardware, one.unit, one.value, key, 0, 0};
        if (const BenchFigure* figure = report.find(key); figure != nullptr && figure->spread.median > 0) {
            const double median = figure->spread.median;
            // Papers that report seconds for a set are compared by its number of A-scans. A factor above 1 is faster.
            row.ours = one.lines > 0 ? static_cast<double>(one.lines) / median : median;
            row.factor = one.unit == "A-scans/s" ? row.ours / row.published : row.published / row.ours;
        }
        rows.push_back(row);
    }
    return rows;
}

void run_papers(const BenchJob& job, BenchReport& report, Progress& progress) {
    const auto [processor, extent] = start_of(job, report);
    report.conditions =
        "What the papers' times contain: for Shafer, Rasakanthan and Wang spectra come from the host and voxels go "
        "back, for the others nothing is transferred. VolRec interpolates volumes, ours come from spectra. Seconds are "
        "A-scans over the rate, several blocks under way";
    BenchBook book(report, extent.effort, progress);
    const std::vector<BenchCase> cases = chosen_cases();
    book.begin("papers", std::ssize(cases) + (processor.is_gpu() ? 4 : 2));  // memory, mean spectra
    for (const BenchCase& one : cases) measure(book, one, extent.size, processor);
    measure_memory(book, processor);
    measure_means(book, processor);
    book.end();
    if (processor.is_gpu()) {
        const auto [size, effort] = extent_of(false, job.quick);
        BenchBook beside(report, effort, progress);
        const std::vector<BenchCase> slow = cpu_cases();
        beside.begin("papers, CPU", std::ssize(slow));
        for (const BenchCase& one : slow) measure(beside, one, size, {{.backend = Backend::cpu}});
        beside.end();
    }
    report.published = beside_the_papers(report, processor.is_gpu());
}

}  // namespace echolux
