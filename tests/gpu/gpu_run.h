// Runs a plan block by block on any backend, from any kind of memory to any kind of place, and the fixture that skips
// GPU tests with the reason if there is no usable GPU.
#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "compute/backend.h"
#include "compute/indexing.h"
#include "compute/voxel_target.h"
#include "tests/oracle/chain.h"

namespace echolux {

class GpuTest : public testing::Test {
  protected:
    void SetUp() override {
        if (surveyed_gpus().usable.empty()) GTEST_SKIP() << surveyed_gpus().refusal;
    }
};

// Owns device memory, filled with 0xcd.
class OnDevice {
  public:
    explicit OnDevice(std::size_t bytes) {
        if (cudaMalloc(&data_, bytes) != cudaSuccess) throw std::bad_alloc();
        cudaMemset(data_, 0xcd, bytes);
        cudaDeviceSynchronize();  // the streams of a reconstructor do not wait for the default stream
    }
    ~OnDevice() { cudaFree(data_); }
    OnDevice(const OnDevice&) = delete;
    OnDevice& operator=(const OnDevice&) = delete;

    std::byte* data() const { return static_cast<std::byte*>(data_); }

  private:
    void* data_ = nullptr;
};

struct GpuRun {
    BackendChoice choice{.backend = Backend::cuda};
    std::int64_t block_b_scans = 1;
    MemoryKind from = MemoryKind::host;
};

inline GpuRun run_on_cpu(std::int64_t block_b_scans = 1) {
    return {.choice = {.backend = Backend::cpu}, .block_b_scans = block_b_scans};
}

inline GpuRun run_on_gpu(bool fused, std::int64_t block_b_scans = 1, int streams = 3) {
    GpuRun run{.block_b_scans = block_b_scans};
    run.choice.fused = fused;
    run.choice.streams = streams;
    return run;
}

// The path through the kernels that a plan takes.
inline std::string way_of(const ReconstructionSpec& spec, const BackendChoice& choice = {.backend = Backend::cuda}) {
    return make_reconstructor(spec, choice)->backend_description();
}

inline bool takes(const ReconstructionSpec& spec, const std::string& way) {
    return way_of(spec).find(way) != std::string::npos;
}

template <class Value>
bool same_bits(const std::vector<Value>& a, const std::vector<Value>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(Value)) == 0;
}

// Differences between the codes of two volumes.
struct CodeDifference {
    std::int64_t voxels = 0, different = 0, most = 0;

    template <class Code>
    void add(const std::vector<Code>& a, const std::vector<Code>& b) {
        ASSERT_EQ(a.size(), b.size());
        voxels += std::ssize(a);
        for (std::size_t i = 0; i < a.size(); ++i) {
            const std::int64_t difference = std::abs(static_cast<std::int64_t>(a[i]) - static_cast<std::int64_t>(b[i]));
            different += difference != 0;
            most = std::max(most, difference);
        }
    }
    // No code differs by more than one, and at most this share of them and `spare` codes differ.
    void expect_within_limits(double most_of_them = 1e-4, std::int64_t spare = 0) const {
        testing::Test::RecordProperty("different_codes", std::to_string(different) + " of " + std::to_string(voxels));
        EXPECT_LE(most, 1);
        EXPECT_LE(static_cast<double>(different),
                  most_of_them * static_cast<double>(voxels) + static_cast<double>(spare));
    }
};

inline std::int64_t b_scan_bytes(const ReconstructionSpec& spec) {
    return spec.geometry.b_repeats * spec.geometry.lines_per_b_scan() * line_bytes(spec.format, spec.geometry);
}

// Copies the spectra to the requested kind of memory, which the block owns.
inline Block held_block(std::span<const std::byte> spectra, MemoryKind kind, std::int64_t first, std::int64_t b_scans) {
    Block block = block_of(spectra, first, b_scans);
    if (kind == MemoryKind::device) {
        const auto memory = std::make_shared<OnDevice>(spectra.size());
        copy_memory(memory->data(), spectra.data(), std::ssize(spectra));  // and waits
        block.data = memory->data();
        block.memory = kind;
        block.keeper = memory;
        return block;
    }
    const BlockMemory memory = block_memory(std::ssize(spectra), kind);
    std::memcpy(memory.data, spectra.data(), spectra.size());
    block.data = memory.data;
    block.memory = memory.kind;
    block.keeper = memory.keeper;
    return block;
}

// Reconstructs all volumes of a scan in order. `place` is that of the first volume; the others follow every
// `volume_bytes`.
inline void run_scan(Reconstructor& reconstructor, const ReconstructionSpec& spec, std::span<const std::byte> spectra,
                     const GpuRun& run, VoxelTarget place, std::int64_t volume_bytes) {
    std::vector<Completion> completions;
    std::uint64_t sequence = 0;
    for (std::int64_t volume = 0; volume < spec.geometry.volumes; ++volume) {
        for (std::int64_t first = 0; first < spec.geometry.b_scans; first += run.block_b_scans) {
            const std::int64_t count = std::min(run.block_b_scans, spec.geometry.b_scans - first);
            const auto begin = index((volume * spec.geometry.b_scans + first) * b_scan_bytes(spec));
            Block block = held_block(spectra.subspan(begin, index(count * b_scan_bytes(spec))), run.from, first, count);
            block.volume = volume;
            block.sequence = sequence++;
            completions.push_back(reconstructor.submit(block, place));
        }
        place.data = static_cast<std::byte*>(place.data) + volume_bytes;
    }
    for (const Completion completion : completions) reconstructor.wait(completion);
}

// Reconstructs all volumes of a scan to pageable host memory.
template <class Voxel>
std::vector<Voxel> voxels_of(ReconstructionSpec spec, std::span<const std::byte> spectra, const GpuRun& run) {
    spec.block_b_scans = run.block_b_scans;
    const auto reconstructor = make_reconstructor(spec, run.choice);
    const std::int64_t bytes = reconstructor->grid().bytes();
    std::vector<Voxel> voxels(index(spec.geometry.volumes * bytes) / sizeof(Voxel));
    run_scan(*reconstructor, spec, spectra, run, place_of(voxels, reconstructor->grid()), bytes);
    return voxels;
}

// Returns `lines` u16 spectra of `samples` values: a source spectrum, moving reflectors and noise.
inline std::vector<std::uint16_t> moving_reflectors(std::int64_t samples, std::int64_t lines, unsigned seed = 5) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> uniform(0, 1);
    std::vector<std::uint16_t> spectra(index(samples * lines));
    for (std::int64_t line = 0; line < lines; ++line) {
        const float depth = 0.05f + 0.35f * uniform(random), phase = 6.28f * uniform(random);
        for (std::int64_t p = 0; p < samples; ++p) {
            const float x = static_cast<float>(p) / static_cast<float>(samples);
            const float fringe = std::cos(6.2831853f * depth * static_cast<float>(p) + phase);
            const float value = 2000 + 1500 * x * (1 - x) * (1 + 0.5f * fringe) + 40 * (uniform(random) - 0.5f);
            spectra[index(line * samples + p)] = static_cast<std::uint16_t>(value);
        }
    }
    return spectra;
}

template <class Value>
double normalised_error(const std::vector<Value>& found, const std::vector<Value>& expected) {
    double error = 0, norm = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        if constexpr (std::is_same_v<Value, std::complex<float>>) {
            error += std::norm(std::complex<double>(found[i]) - std::complex<double>(expected[i]));
            norm += std::norm(std::complex<double>(expected[i]));
        } else {
            const double difference = static_cast<double>(found[i]) - static_cast<double>(expected[i]);
            error += difference * difference;
            norm += static_cast<double>(expected[i]) * static_cast<double>(expected[i]);
        }
    }
    return error / norm;
}

}  // namespace echolux
