// Volumes of spectra fed to the renderer's textures, over and over. Only where there is a renderer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/live/volume_path.h"
#include "bench/book.h"
#include "bench/scan.h"

namespace echolux {

// The first `end` blocks of volume `number`. Every slot in use: tried again, as rates are those of volumes which are
// not dropped. Throws Error{device} where it stays so.
void feed_volume(VolumePath& path, const std::vector<Block>& blocks, std::int64_t number, std::size_t end);

// Why there is no way into textures; "": there is one.
std::string texture_refusal(const BackendChoice& choice, const std::string& device);

// A-scans a second. Throws what VolumePath throws.
std::vector<double> texture_rates(BenchBook& book, const BenchSize& size, const ReconstructionSpec& plan,
                                  const BackendChoice& choice, const std::string& device, const BenchSpectra& spectra);

}  // namespace echolux
