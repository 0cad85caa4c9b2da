#include "bench/spectra.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <numbers>
#include <random>
#include <span>

#include "compute/backend.h"
#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/parallel_for.h"
#include "compute/voxel_target.h"

namespace echolux {
namespace {

constexpr double mean_counts = 2000;         // about half of the 12-bit range
constexpr std::int64_t pattern_b_scans = 4;  // number of different B-scans; the others repeat them

// Adds the fringe of a reflector, a cosine of `depth` periods over the line.
void add_fringe(std::span<float> line, double depth, double height, double phase) {
    const std::complex<double> step = std::polar(1.0, 2 * std::numbers::pi * depth / static_cast<double>(line.size()));
    std::complex<double> turn = std::polar(height, phase);
    for (float& sample : line) {
        sample += static_cast<float>(turn.real());
        turn *= step;
    }
}

void make_noise(std::span<float> line, std::mt19937& random) {
    std::normal_distribution<float> noise(0, 12);
    for (float& sample : line) sample = static_cast<float>(mean_counts) + noise(random);
}

// Air, a bright surface, layers that darken with depth, speckle, noise. Heights are in counts, depths in bins. Layers
// of 6 % of the depth range have full and 40 % amplitude in turn. The factors of the seeds are primes, so that A-scans,
// B-scans and repeats do not share random numbers.
void make_line(std::span<float> line, std::int64_t a, std::int64_t b, std::int64_t repeat) {
    constexpr int reflectors = 32;
    const auto seed = static_cast<std::uint32_t>(b * 100003 + a);
    std::mt19937 random(seed), of_repeat(seed + static_cast<std::uint32_t>(repeat) * 50'000'017U);
    std::uniform_real_distribution<double> uniform(0, 1);
    make_noise(line, random);
    if (repeat > 0) make_noise(line, of_repeat);
    const double bins = static_cast<double>(line.size()) / 2;
    const double surface = bins * (0.15 + 0.03 * std::sin(0.03 * static_cast<double>(a)));
    add_fringe(line, surface, 120, 2 * std::numbers::pi * uniform(random));
    for (int i = 0; i < reflectors; ++i) {
        const double below = uniform(random) * 0.5;
        const double height = 60 * std::exp(-6 * below) * (std::fmod(below, 0.12) < 0.06 ? 1 : 0.4);
        add_fringe(line, surface + bins * below, height, 2 * std::numbers::pi * uniform(random));
    }
}

void store(std::span<const float> line, SampleFormat format, std::byte* to) {
    const auto count = [](float x) { return static_cast<std::uint32_t>(std::clamp(x + 0.5f, 0.0f, 4095.0f)); };
    if (format == SampleFormat::packed12) {
        for (std::size_t p = 0; p + 1 < line.size(); p += 2) {
            const std::uint32_t pair = count(line[p]) | count(line[p + 1]) << 12;
            for (std::size_t i = 0; i < 3; ++i) to[p / 2 * 3 + i] = static_cast<std::byte>(pair >> 8 * i & 0xff);
        }
        return;
    }
    for (std::size_t p = 0; p < line.size(); ++p) {
        const auto value = static_cast<std::uint16_t>(count(line[p]));
        std::memcpy(to + 2 * p, &value, 2);
    }
}

void fill(std::byte* to, const BenchSize& size, SampleFormat format, std::int64_t bytes_a_line) {
    const std::int64_t made = std::min(size.b_scans, pattern_b_scans);
    parallel_for(0, made * size.repeats * size.a_scans, [&](std::int64_t i) {
        std::vector<float> line(index(size.samples));
        const std::int64_t frame = i / size.a_scans;
        make_line(line, i % size.a_scans, frame / size.repeats, frame % size.repeats);
        store(line, format, to + i * bytes_a_line);
    });
    const std::int64_t b_scan_bytes = size.repeats * size.a_scans * bytes_a_line;
    for (std::int64_t b = made; b < size.b_scans; ++b) {
        std::memcpy(to + b * b_scan_bytes, to + b % made * b_scan_bytes, index(b_scan_bytes));
    }
}

}  // namespace

ReconstructionSpec chain_spec(const BenchSize& size, SampleFormat format) {
    ReconstructionSpec spec;
    spec.format.sample_format = format;
    spec.geometry.samples = size.samples;
    spec.geometry.a_scans = size.a_scans;
    spec.geometry.b_scans = size.b_scans;
    spec.geometry.b_repeats = size.repeats;
    // A k map that bends by 4 % of the samples, and dispersion of some tens of rad, so that no step can be skipped.
    const auto last = static_cast<double>(size.samples - 1);
    for (std::int64_t j = 0; j < size.samples; ++j) {
        const double u = 2 * static_cast<double>(j) / last - 1;
        spec.calibration.k_positions.push_back(last * (0.5 + 0.5 * (u + 0.08 * (u * u - 1))));
    }
    spec.calibration.background.assign(index(size.samples), mean_counts);
    spec.recipe.a2_rad = 38;
    spec.recipe.a3_rad = -9;
    spec.recipe.voxel = VoxelType::u8;
    // White noise of 12 counts, as a live system would have measured before starting. The noise power of a bin is
    // sigma^2 sum w^2 / (sum w)^2, with sum w^2 / (sum w)^2 = 1.5 / n for the Hann window.
    spec.recipe.noise_floor_db = 10 * std::log10(12.0 * 12.0 * 1.5 / static_cast<double>(size.samples));
    spec.block_b_scans = size.block_b_scans;
    return spec;
}

ReconstructionSpec angiography_spec(const BenchSize& size) {
    ReconstructionSpec spec = chain_spec(size);
    spec.calibration.centre_wavelength_nm = bench_wavelength_nm;
    spec.geometry.line_rate_hz = bench_line_rate_hz;
    spec.recipe.average = Average::power;
    spec.flow.method = FlowMethod::speckle_variance;
    spec.flow.align = true;
    return spec;
}

BenchSpectra::BenchSpectra(const BenchSize& size, SampleFormat format, MemoryKind memory, const DeviceId& gpu) {
    const ReconstructionSpec spec = chain_spec(size, format);
    const std::int64_t bytes_a_line = line_bytes(spec.format, spec.geometry);
    const std::int64_t bytes = bytes_a_line * size.lines();
    memory_ = block_memory(bytes, memory == MemoryKind::device ? MemoryKind::host : memory);
    if (memory == MemoryKind::pinned && memory_.kind != MemoryKind::pinned) {
        throw Error(ErrorCode::device, fmt::format("{} bytes of host memory cannot be pinned", bytes), "bench",
                    surveyed_gpus().usable.empty() ? "needs a GPU" : "see ulimit -l and the free memory");
    }
    fill(memory_.data, size, format, bytes_a_line);
    if (memory == MemoryKind::device) {
        const BlockMemory on_gpu = device_memory(bytes, gpu);
        copy_memory(on_gpu.data, memory_.data, bytes);
        memory_ = on_gpu;
    }
    std::uint64_t sequence = 0;
    for (std::int64_t b = 0; b < size.b_scans; b += size.block_b_scans) {
        Block block;
        block.b_scans = std::min(size.block_b_scans, size.b_scans - b);
        block.first_b_scan = b;
        block.data = memory_.data + b * size.repeats * size.a_scans * bytes_a_line;
        block.bytes = block.b_scans * size.repeats * size.a_scans * bytes_a_line;
        block.memory = memory_.kind;
        block.sequence = sequence++;
        block.keeper = memory_.keeper;
        blocks_.push_back(block);
    }
}

}  // namespace echolux
