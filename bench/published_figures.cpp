#include "bench/published_figures.h"

#include <fmt/format.h>

namespace echolux {
namespace {

using Figures = std::vector<PublishedFigure>;

// Adaptive-optics OCT: transfers are in the GPU's time.
void add_shafer(Figures& all) {
    constexpr std::int64_t set = std::int64_t{240} * 240 * 11;
    const std::string paper = "Shafer (AO-OCT)", what = "11 volumes, 240 x 240 A-scans, 832 samples";
    all.push_back({paper, what, "a GPU", "s", 1.450, set, "ao-oct/set"});
    all.push_back({paper, what, "a CPU, C++", "s", 47.026, set, "cpu.ao-oct/set"});
    all.push_back({paper, what + " (more than)", "a CPU, MATLAB", "s", 47 * 60, set, "cpu.ao-oct/set"});
}

// Swept source, 1024 samples: from host memory and back.
void add_rasakanthan(Figures& all) {
    const auto add = [&](const std::string& what, double rate, std::int64_t batch) {
        all.push_back({"Rasakanthan 2011", what, "Tesla C1060", "A-scans/s", rate, 0, fmt::format("ss-oct/{}", batch)});
    };
    add("frames of 240 A-scans", 377'768, 240);
    add("frames of 1836 A-scans", 524'205, 1836);
    add("batches of 3500 to 4500 A-scans", 694'330, 4000);
    add("the best batch, up to 20000 A-scans (more than)", 724'314, 20000);
}

// Full range, 2048 samples up-sampled by two, frames of 512 A-scans (tables 1 and 2, totals), and batches without
// up-sampling.
void add_wang(Figures& all) {
    struct Column {
        double gpu_s, cpu_s, gpu_double_percent, cpu_double_percent;
    };
    constexpr std::array<Column, 5> columns{{{0.01640, 0.6712, 162.33, 118.98},
                                             {0.03043, 1.9874, 182.41, 115.50},
                                             {0.04392, 3.2845, 188.35, 113.62},
                                             {0.05682, 4.7613, 190.86, 108.23},
                                             {0.06961, 6.0698, 191.77, 108.06}}};
    const std::string paper = "Wang 2012", gpu = "GeForce GTX 580", cpu = "a CPU";
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const auto [gpu_s, cpu_s, gpu_percent, cpu_percent] = columns[i];
        const int n = published_iterations[i];
        const auto add = [&](const char* precision, const std::string& on, double seconds, const std::string& key) {
            all.push_back({paper, fmt::format("512 A-scans, {} iterations, {}", n, precision), on, "s", seconds, 512,
                           fmt::format("{}/{}", key, n)});
        };
        add("single", gpu, gpu_s, "defr");
        add("double", gpu, gpu_s * gpu_percent / 100, "defr.double");
        add("single", cpu, cpu_s, "cpu.defr");
        add("double", cpu, cpu_s * cpu_percent / 100, "cpu.defr.double");
    }
    all.push_back({paper, "the best batch (3584), 10 iterations", gpu, "A-scans/s", 21e3, 0, "defr.batch/3584"});
    all.push_back({paper, "memory for 1024 A-scans, not up-sampled", gpu, "B", 152e6, 0, "defr.memory/1024"});
    all.push_back({paper, "20 iterations", "a CPU, MATLAB", "A-scans/s", 89, 0, "cpu.defr/20"});
}

void add_sylwestrzak(Figures& all) {
    const std::string paper = "Sylwestrzak 2012", gpu = "GeForce GTX 580";
    all.push_back({paper, "structure, without transfers", gpu, "A-scans/s", 800e3, 0, "structure/2048"});
    all.push_back({paper, "Doppler, without transfers", gpu, "A-scans/s", 550e3, 0, "doppler/2048"});
}

// One A-scan of 2048 samples, in B-scans of 1000, without transfers. With 10 iterations: derived from the frame rates
// of three GPUs.
void add_xu(Figures& all) {
    const auto add = [&](const char* name, int iterations, double us, const char* key) {
        all.push_back({"Xu 2014", fmt::format("{}, {} iterations, an A-scan", name, iterations), "GeForce GTX 580", "s",
                       us * 1e-6, 1, fmt::format("{}/{}", key, iterations)});
    };
    add("MNUDFT-CS", 15, 626.67, "cs.exact");
    add("NUFFT-CS (less than)", 15, 125, "cs.nufft");
    add("FFT-CS", 15, 47.2, "cs.fft");
    add("MNUDFT-CS (derived)", 10, 462, "cs.exact");
    add("NUFFT-CS (derived)", 10, 89.6, "cs.nufft");
    add("FFT-CS (less than, derived)", 10, 43, "cs.fft");
}

}  // namespace

const std::vector<PublishedFigure>& published_figures() {
    static const Figures figures = [] {
        Figures all;
        add_shafer(all);
        add_rasakanthan(all);
        add_wang(all);
        add_sylwestrzak(all);
        add_xu(all);
        return all;
    }();
    return figures;
}

}  // namespace echolux
