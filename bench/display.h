// Rates and latency of the way to the screen: spectra to textures that the renderer samples, over and over, with and
// without pictures. Only where there is a renderer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/live/volume_path.h"
#include "bench/run.h"
#include "bench/spectra.h"

namespace echolux {

// Submits the first `end` blocks of volume `number`. While every slot is in use it tries again, as rates are of volumes
// that are not dropped. Throws Error{device} after ten seconds.
void feed_volume(VolumePath& path, const std::vector<Block>& blocks, std::int64_t number, std::size_t end);

// Why there is no way into textures; "": there is one.
std::string texture_refusal(const BackendChoice& choice, const std::string& device);

// A-scans a second. Throws what VolumePath throws.
std::vector<double> texture_rates(BenchBook& book, const BenchSize& size, const ReconstructionSpec& spec,
                                  const BackendChoice& choice, const std::string& device, const BenchSpectra& spectra);

struct BenchDisplay {
    std::string device;  // part of the Vulkan device's name; "": the GPU's own
    std::int64_t width = 1920;
    std::int64_t height = 1080;
    double pictures_per_second = 60;
    int volumes = 60;  // of the latency
};

// texture/N, texture.fast/N (GPU), doppler/N, pinned/N (GPU), rendering/N, pictures/N, latency/N, packed12/N, direct/N
// (GPU). Returns how voxels reach the renderer.
std::string measure_display(BenchBook& book, const BenchSize& size, const BenchProcessor& processor,
                            const BenchDisplay& display);
constexpr std::int64_t display_figures = 9;

}  // namespace echolux
