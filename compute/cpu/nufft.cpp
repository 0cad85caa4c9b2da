#include "compute/cpu/nufft.h"

#include "compute/indexing.h"

namespace echolux {
namespace {

float as(const std::complex<float>& weight, float) {
    return weight.real();
}

std::complex<float> as(const std::complex<float>& weight, std::complex<float>) {
    return weight;
}

}  // namespace

NufftLine::NufftLine(const NufftTables& tables, const LineFormat& format, std::int64_t samples,
                     std::int64_t rolling_width)
    : tables_(tables), subtract_(format, rolling_width), spectrum_(index(samples)),
      transform_(tables.real ? Fft::Kind::real_forward : Fft::Kind::complex_forward, tables.grid),
      bins_(tables.correction.size()), bins_of_line_(bins_.data()) {}

std::span<const std::complex<float>* const> NufftLine::reconstruct(std::span<const RawLine> lines) {
    subtract_(lines.front(), spectrum_.data());
    if (tables_.real)
        gather(transform_.real());
    else
        gather(transform_.complex_in());
    transform_.execute();
    const std::complex<float>* kept = transform_.complex_out() + tables_.first_bin;
    for (std::size_t z = 0; z < bins_.size(); ++z) bins_[z] = kept[z] * tables_.correction[z];
    return {&bins_of_line_, 1};
}

template <class Point>
void NufftLine::gather(Point* grid) const {
    for (std::int64_t g = 0; g < tables_.grid; ++g) {
        Point sum{};
        for (std::int32_t i = tables_.begin[index(g)]; i < tables_.begin[index(g + 1)]; ++i) {
            const auto entry = static_cast<std::size_t>(i);
            sum += as(tables_.weights[entry], Point{}) * spectrum_[static_cast<std::size_t>(tables_.samples[entry])];
        }
        grid[g] = sum;
    }
}

}  // namespace echolux
