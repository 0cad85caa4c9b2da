// Rates of all methods beside the plain chain, and of some methods on several GPUs. Methods are the shipped recipes,
// and `cost` only reduces the volume on a CPU, so that no method takes minutes.
#include <fmt/format.h>

#include "bench/benches.h"
#include "bench/rates.h"
#include "bench/targets.h"
#ifdef ECHOLUX_RENDER
#include "bench/display.h"
#endif

namespace echolux {
namespace {

const BenchCase plain{.key = "plain/2048", .meaning = "Lagrange-3, dispersion, Hann"};
const BenchCase defr{
    .key = "defr/2048", .meaning = "DEFR, 10 iterations, up-sampled by two", .recipe = "defr", .cost = 50};
const BenchCase nufft{
    .key = "nufft/2048", .meaning = "NUFFT, Kaiser-Bessel, R = 2, W = 3", .recipe = "nufft", .cost = 4};

BenchCase ao_oct(const std::string& key, bool from_host) {
    return {.key = key,
            .meaning = "AO-OCT chain, up-sampled by two, volumes of 240 x 240",
            .recipe = "ao-oct",
            .cost = 3,
            .samples = 832,
            .a_scans = 240,
            .b_scans = 240,
            .block_b_scans = 48,
            .from_host = from_host};
}

const BenchCase compressive{.key = "compressive/2048",
                            .meaning = "NUFFT-CS, 15 iterations, 30 % of the samples",
                            .recipe = "compressive",
                            .cost = 100};
const BenchCase mnudft{.key = "mnudft/2048",
                       .meaning = "MNUDFT-CS, the same through the exact matrix",
                       .recipe = "compressive",
                       .changes = {"compressive.transform=exact"},
                       .cost = 1000};

// Methods without half precision run exactly even with precision = fast.
BenchCase fast(BenchCase method) {
    method.key.insert(method.key.find('/'), ".fast");
    method.meaning += ", precision = fast";
    method.changes.emplace_back("recipe.precision=fast");
    return method;
}

std::vector<BenchCase> all_methods(bool on_gpu) {
    std::vector<BenchCase> methods{plain};
    for (const BenchCase& method : {defr, nufft, compressive, mnudft}) {
        methods.push_back(method);
        if (on_gpu) methods.push_back(fast(method));
    }
    methods.insert(methods.end(),
                   {{.key = "nufft/832", .meaning = nufft.meaning, .recipe = "nufft", .cost = 2, .samples = 832},
                    {.key = "nudft/2048", .meaning = "exact NUDFT", .recipe = "nudft", .cost = 30},
                    ao_oct("ao-oct/832", false),
                    ao_oct("ao-oct.arriving/832", true)});
    return methods;
}

// Returns why voxels cannot be written to textures; "" if they can.
std::string why_no_texture([[maybe_unused]] const BenchProcessor& processor,
                           [[maybe_unused]] const std::string& device) {
#ifdef ECHOLUX_RENDER
    return processor.is_gpu() ? texture_refusal(processor.choice, device) : "a CPU reconstructs";
#else
    return "this build has no renderer";
#endif
}

// Writes voxels to textures if possible, otherwise measures from memory to memory.
class MethodsBench {
  public:
    MethodsBench(BenchBook& book, const BenchStart& start, const std::string& device)
        : book_(book), run_(start.extent.size), processor_(start.processor), device_(device),
          refusal_(why_no_texture(processor_, device_)) {}

    std::string backend_note() const {
        return refusal_.empty() ? "into the texture" : "memory to memory (" + refusal_ + ")";
    }

    void measure(const BenchCase& one) {
        if (refusal_.empty()) return into_texture(one);
        if (one.from_host && !processor_.is_gpu()) {
            return book_.skip(one.key, one.meaning, "nothing has to arrive: a CPU reads spectra where they are");
        }
        echolux::measure(book_, one, run_, processor_, {{plain.key}});
    }

  private:
    void into_texture([[maybe_unused]] const BenchCase& one) {
#ifdef ECHOLUX_RENDER
        const BenchSize size = size_of(one, run_, processor_.is_gpu());
        const char* from = one.from_host ? processor_.source_name() : processor_.home_name();
        book_.figure(one.key, fmt::format("{}, {} into the texture", one.meaning, from), "A-scans/s",
                     [&] {
                         const auto spectra = spectra_of(one, size, processor_);
                         return texture_rates(book_, size, spec_of(one, size), processor_.choice, device_,
                                              spectra.front());
                     },
                     {{plain.key}});
#endif
    }

    BenchBook& book_;
    BenchSize run_;
    BenchProcessor processor_;
    std::string device_;
    std::string refusal_;  // why textures cannot be written
};

// Measures submission, which one thread does block by block for all GPUs.
void measure_submission(BenchBook& book, BenchSize run, BenchProcessor processor) {
    processor.choice.gpus = 1;
    run.b_scans = run.block_b_scans;
    const BenchSize size = size_of(plain, run, processor.is_gpu());
    book.figure("gpus.submission", "what the host takes to submit a block to a GPU that has room", "s", [&] {
        return seconds_until(BlockState::submitted, book, spec_of(plain, size), processor,
                             spectra_of(plain, size, processor));
    });
}

}  // namespace

void run_methods(const BenchJob& job, BenchReport& report, Progress& progress) {
    BenchStart start = start_of(job, report);
    BenchBook book(report, start.extent.effort, progress);
    MethodsBench bench(book, start, job.device);
    report.conditions = fmt::format(
        "The shipped recipes, u16 to dB in u8, {}; beside the plain chain. Costly ones have smaller volumes on a CPU",
        bench.backend_note());
    const std::vector<BenchCase> methods = all_methods(start.processor.is_gpu());
    book.begin("methods", std::ssize(methods));
    for (const BenchCase& one : methods) bench.measure(one);
    book.end();
    if (start.processor.is_gpu() && !job.quick) report.targets = judged_methods(report);
}

// Blocks are large so that a single thread can submit to all GPUs in time.
void run_scaling(const BenchJob& job, BenchReport& report, Progress& progress) {
    const int gpus = job.gpus->gpus;
    require_backend({.backend = job.backend, .gpus = 0});
    chosen_gpus({.gpus = gpus}, surveyed_gpus());
    BenchStart start = start_of(job, report);
    start.extent.size.block_b_scans *= 4;
    report.block_b_scans = start.extent.size.block_b_scans;
    BenchBook book(report, start.extent.effort, progress);
    report.conditions = "Spectra and voxels in the memory of each GPU, 2048 samples, u16 to dB in u8";
    BenchProcessor processor = start.processor;
    processor.choice.gpus = gpus;
    const auto counts = doubled_to(std::ssize(processor.each()));
    const std::pair<const char*, const BenchCase*> methods[] = {{"linear", &plain}, {"nufft", &nufft}, {"defr", &defr}};
    book.begin("several GPUs", std::ssize(counts) * 3 + 1);
    measure_submission(book, start.extent.size, processor);
    for (const auto& [name, method] : methods) {
        for (const std::int64_t count : counts) {
            BenchCase one = *method;
            one.key = fmt::format("gpus.{}/{}", name, count);
            processor.choice.gpus = static_cast<int>(count);
            measure(book, one, start.extent.size, processor, {{fmt::format("gpus.{}/1", name)}});
        }
    }
    book.end();
    if (!job.quick) report.targets = judged_scaling(report, static_cast<int>(counts.back()));
}

}  // namespace echolux
