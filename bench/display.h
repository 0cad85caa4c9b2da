// Rates and latency of the path to the screen: spectra are reconstructed to textures that the renderer samples, with
// and without pictures. Only in builds with the renderer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/live/live_pipeline.h"
#include "bench/run.h"
#include "bench/spectra.h"

namespace echolux {

// Submits the first `end` blocks of volume `number`. Retries while all slots are in use, so that rates contain no
// dropped volumes. Throws Error{device} after ten seconds.
void feed_volume(LivePipeline& path, const std::vector<Block>& blocks, std::int64_t number, std::size_t end);

// Returns why textures cannot be written; "" if they can.
std::string texture_refusal(const BackendChoice& choice, const std::string& device);

// A-scans per second, one value per repetition. Throws like LivePipeline.
std::vector<double> texture_rates(BenchBook& book, const BenchSize& size, const ReconstructionSpec& spec,
                                  const BackendChoice& choice, const std::string& device, const BenchSpectra& spectra);

struct BenchDisplay {
    std::string device;  // part of the Vulkan device's name; "": the reconstructing GPU
    std::int64_t width = 1920;
    std::int64_t height = 1080;
    double pictures_per_second = 60;
    int volumes = 60;  // for latency
};

// Measures texture/N, texture.fast/N (GPU), doppler/N, pinned/N (GPU), rendering/N, pictures/N, latency/N, packed12/N
// and direct/N (GPU). Returns a description of how voxels reach the renderer.
std::string measure_display(BenchBook& book, const BenchSize& size, const BenchProcessor& processor,
                            const BenchDisplay& display);
constexpr std::int64_t display_figures = 9;

}  // namespace echolux
