// Similarity of two pictures: mean structural similarity of their luminance (Z. Wang et al., "Image quality assessment:
// from error visibility to structural similarity", IEEE TIP 13(4), 2004), windows of 8 x 8 pixels.
#pragma once

#include "render/renderer.h"

namespace echolux::test {

inline double similarity(const Image& a, const Image& b) {
    constexpr std::int64_t window = 8;
    constexpr double c1 = 0.01 * 255 * 0.01 * 255, c2 = 0.03 * 255 * 0.03 * 255, count = window * window;
    const auto gray = [](const Image& image, std::int64_t x, std::int64_t y) {
        const std::uint8_t* pixel = image.pixels.data() + 4 * (y * image.width + x);
        return 0.2126 * pixel[0] + 0.7152 * pixel[1] + 0.0722 * pixel[2];
    };
    double sum = 0;
    std::int64_t windows = 0;
    for (std::int64_t top = 0; top + window <= a.height; top += 2) {
        for (std::int64_t left = 0; left + window <= a.width; left += 2) {
            double sa = 0, sb = 0, saa = 0, sbb = 0, sab = 0;
            for (std::int64_t y = top; y < top + window; ++y) {
                for (std::int64_t x = left; x < left + window; ++x) {
                    const double p = gray(a, x, y), q = gray(b, x, y);
                    sa += p, sb += q, saa += p * p, sbb += q * q, sab += p * q;
                }
            }
            const double ma = sa / count, mb = sb / count;
            const double va = saa / count - ma * ma, vb = sbb / count - mb * mb, covariance = sab / count - ma * mb;
            sum += (2 * ma * mb + c1) * (2 * covariance + c2) / ((ma * ma + mb * mb + c1) * (va + vb + c2));
            ++windows;
        }
    }
    return sum / static_cast<double>(windows);
}

}  // namespace echolux::test
