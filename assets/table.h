// Tables of figures as text: one row per line, cells separated by bars, comments after #.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace echolux {

// Returns the cells of a shipped file, without surrounding spaces. `path` is that of the file.
std::vector<std::vector<std::string>> shipped_table(std::string_view path);

// Published errors of the nonuniform FFT: relative l2 error of three kernels (docs/transforms.md 7).
struct PublishedNufftError {
    double oversampling = 0;
    long width = 0;              // in grid points
    std::vector<double> errors;  // Gaussian, Kaiser-Bessel, exponential of a semicircle
};
std::vector<PublishedNufftError> published_nufft_errors();

}  // namespace echolux
