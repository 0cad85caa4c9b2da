// Rates and latency of the way to the screen: spectra to textures that the renderer samples, with and without pictures.
#pragma once

#include <string>

#include "bench/book.h"
#include "bench/processor.h"
#include "bench/scan.h"

namespace echolux {

struct BenchDisplay {
    std::string device;  // part of the Vulkan device's name; "": the GPU's own
    std::int64_t width = 1920;
    std::int64_t height = 1080;
    double pictures_per_second = 60;
    int volumes = 60;  // of the latency
};

// texture/N, doppler/N, pinned/N (GPU), rendering/N, pictures/N, latency/N, packed12/N, direct/N (GPU). Returns how
// voxels reach the renderer.
std::string bench_display(BenchBook& book, const BenchSize& size, const BenchProcessor& processor,
                          const BenchDisplay& display);
constexpr std::int64_t display_figures = 8;

}  // namespace echolux
