// Noise and changed codes of half precision: the same spectra with recipe.precision = exact and fast. Noise is compared
// on linear amplitudes, because a strong reflector adds noise to its whole line; codes are those that users see.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <random>
#include <vector>

#include "bench/benches.h"
#include "bench/spectra.h"
#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/parallel_for.h"
#include "compute/voxel_target.h"

namespace echolux {
namespace {

// Codes or intensities of a volume in both precisions.
template <class Voxel>
struct BothPrecisions {
    std::vector<Voxel> exact, fast;
};

struct CodeShares {
    double by_one = 0, by_more = 0;  // percentage of codes that differ
};

template <class Code>
CodeShares shares_of(const BothPrecisions<Code>& codes) {
    CodeShares shares;
    const double each = 100 / static_cast<double>(codes.exact.size());
    for (std::size_t i = 0; i < codes.exact.size(); ++i) {
        const int difference = std::abs(int{codes.exact[i]} - int{codes.fast[i]});
        shares.by_one += difference == 1 ? each : 0;
        shares.by_more += difference > 1 ? each : 0;
    }
    return shares;
}

// Power of the amplitude difference relative to the line's power, as dB below it.
double noise_below_db(const BothPrecisions<float>& amplitudes) {
    double added = 0, all = 0;
    for (std::size_t i = 0; i < amplitudes.exact.size(); ++i) {
        const double exact = amplitudes.exact[i], difference = double{amplitudes.fast[i]} - exact;
        added += difference * difference;
        all += exact * exact;
    }
    return 10 * std::log10(all / added);
}

struct Scene {
    std::string name;
    ReconstructionSpec spec;
    std::vector<Block> blocks;
    BlockMemory memory{};  // memory of the blocks, unless they own it
};

constexpr double mean_counts = 2000, noise_counts = 2;

// One reflector in noise; its peak is `above_noise_db` above the mean noise of a depth bin.
Scene mirror(const BenchSize& size, double above_noise_db) {
    Scene scene{fmt::format("mirror, {} dB above the noise", above_noise_db), chain_spec(size), {}};
    scene.spec.recipe.a2_rad = scene.spec.recipe.a3_rad = 0;
    const auto n = static_cast<double>(size.samples);
    // Sample positions between samples, so that taps matter, and equidistant, so that a fringe becomes a sharp peak.
    for (std::int64_t j = 0; j < size.samples; ++j) {
        scene.spec.calibration.k_positions[index(j)] = 0.37 + static_cast<double>(j) * (n - 2) / n;
    }
    // For a Hann window (sum w)^2 = n^2 / 4 and sum w^2 = 3 n / 8; a fringe of height h has a peak of (h sum w / 2)^2.
    const double noise_of_bin = 1.5 / n * noise_counts * noise_counts;
    const double height = 2 * std::sqrt(std::pow(10, above_noise_db / 10) * noise_of_bin);
    scene.spec.recipe.noise_floor_db = 10 * std::log10(noise_of_bin);
    scene.memory = block_memory(size.lines() * size.samples * 2, MemoryKind::host);
    auto* samples = reinterpret_cast<std::uint16_t*>(scene.memory.data);
    parallel_for(0, size.lines(), [&](std::int64_t line) {
        std::mt19937 random(static_cast<std::uint32_t>(line));
        std::normal_distribution<double> noise(0, noise_counts);
        const double depth = 100.3 + static_cast<double>(line % 800), phase = static_cast<double>(line);
        for (std::int64_t p = 0; p < size.samples; ++p) {
            const double fringe = std::cos(2 * std::numbers::pi * depth * static_cast<double>(p) / n + phase);
            samples[line * size.samples + p] =
                static_cast<std::uint16_t>(std::lround(mean_counts + height * fringe + noise(random)));
        }
    });
    Block& block = scene.blocks.emplace_back();
    block.data = scene.memory.data;
    block.bytes = scene.memory.bytes;
    block.memory = scene.memory.kind;
    block.b_scans = size.b_scans;
    block.keeper = scene.memory.keeper;
    return scene;
}

Scene tissue(const BenchSize& size) {
    return {"layered tissue", chain_spec(size), BenchSpectra(size, SampleFormat::u16, MemoryKind::host).blocks()};
}

template <class Voxel>
BothPrecisions<Voxel> voxels_of(const Scene& scene, const BenchProcessor& processor, Quantity quantity,
                                VoxelType type) {
    const auto with = [&](Precision precision) {
        ReconstructionSpec spec = scene.spec;
        spec.recipe.quantity = quantity;
        spec.recipe.voxel = type;
        spec.recipe.precision = precision;
        const auto reconstructor = make_reconstructor(spec, processor.choice);
        std::vector<Voxel> voxels(index(reconstructor->grid().voxels()));
        for (const Block& block : scene.blocks) {
            reconstructor->wait(reconstructor->submit(block, {packed_target(voxels.data(), reconstructor->grid())}));
        }
        return voxels;
    };
    return {with(Precision::exact), with(Precision::fast)};
}

}  // namespace

void run_precision(const BenchJob& job, BenchReport& report, Progress& progress) {
    BenchStart start = start_of(job, report);
    if (!start.processor.is_gpu()) {
        throw Error(ErrorCode::device, "half precision needs a GPU: a CPU does everything exactly", "bench",
                    surveyed_gpus().refusal);
    }
    BenchSize size = start.extent.size;
    size.samples = 2048;
    size.block_b_scans = size.b_scans = std::min<std::int64_t>(size.b_scans, 16);
    report.b_scans = report.block_b_scans = size.b_scans;
    report.conditions =
        "recipe.precision = fast beside exact, both on the GPU; 2048 samples, codes from 5 dB below the "
        "noise to 45 dB above it";
    BenchSheet noise{"Noise added to a line", "dB", {"below the power of the line"}, {}};
    BenchSheet codes{"Codes that differ", "%", {"u8 by one", "u8 by more", "u16 by one", "u16 by more"}, {}};
    const std::vector<std::function<Scene()>> scenes{[&] { return tissue(size); }, [&] { return mirror(size, 40); },
                                                     [&] { return mirror(size, 50); }, [&] { return mirror(size, 60); },
                                                     [&] { return mirror(size, 70); }};
    progress.begin("precision", std::ssize(scenes), "scenes");
    for (const auto& make : scenes) {
        const Scene scene = make();
        const BenchProcessor& on = start.processor;
        const auto amplitudes = voxels_of<float>(scene, on, Quantity::amplitude, VoxelType::f32);
        const CodeShares bytes = shares_of(voxels_of<std::uint8_t>(scene, on, Quantity::db, VoxelType::u8));
        const CodeShares words = shares_of(voxels_of<std::uint16_t>(scene, on, Quantity::db, VoxelType::u16));
        noise.rows.push_back({scene.name, {noise_below_db(amplitudes)}});
        codes.rows.push_back({scene.name, {bytes.by_one, bytes.by_more, words.by_one, words.by_more}});
        progress.advance(1);
    }
    progress.end();
    report.sheets = {noise, codes};
}

}  // namespace echolux
