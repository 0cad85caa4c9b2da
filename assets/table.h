// Tables of figures as text: a row a line, its cells between bars, remarks after #.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace echolux {

// Cells without the spaces around them. `path`: of a shipped file.
std::vector<std::vector<std::string>> shipped_table(std::string_view path);

// A published error of the fast transform of samples where they lie: relative l2, of three kernels
// (docs/transforms.md 7).
struct PublishedNufftError {
    double oversampling = 0;
    long width = 0;              // points of the grid
    std::vector<double> errors;  // Gaussian, Kaiser-Bessel, exponential of a semicircle
};
std::vector<PublishedNufftError> published_nufft_errors();

}  // namespace echolux
