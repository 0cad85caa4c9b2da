#include "compute/cpu/nufft.h"

#include "compute/cpu/moved_spreading.h"
#include "compute/cpu/sample_spreading.h"

namespace echolux::cpu {

NufftLine::NufftLine(const NufftTables& tables, const MovedSamples* moved, const LineFormat& format,
                     std::int64_t rolling_width)
    : tables_(tables), moved_(moved), subtract_(format, rolling_width), spectrum_(tables.weights.size()),
      weighted_(tables.real ? 0 : tables.weights.size()),
      transform_(tables.real ? Fft::Kind::real_forward : Fft::Kind::complex_forward, tables.grid),
      bins_(tables.correction.size()), bins_of_line_(bins_.data()) {}

// Subtract, spread over the finer grid, transform, and correct the kept bins for the kernel.
std::span<const std::complex<float>* const> NufftLine::reconstruct(std::span<const RawLine> lines) {
    subtract_(lines.front(), spectrum_.data());
    if (moved_ != nullptr)
        spread_moved(moved_->jitter.of(lines.front().number));
    else if (tables_.real)
        spread_real();
    else
        spread_complex();
    transform_.execute();
    const std::complex<float>* found = transform_.complex_out();
    std::int64_t bin = bin_of_grid(tables_.first_bin, tables_.middle, tables_.grid);
    for (std::size_t z = 0; z < bins_.size(); ++z) {
        bins_[z] = found[bin] * tables_.correction[z];
        if (++bin == tables_.grid) bin = 0;
    }
    return {&bins_of_line_, 1};
}

void NufftLine::spread_moved(const LineMap& map) {
    if (tables_.real)
        to_grid(*moved_, map, spectrum_.data(), transform_.real());
    else
        to_grid(*moved_, map, spectrum_.data(), transform_.complex_in());
}

void NufftLine::spread_real() {
    for (std::size_t p = 0; p < spectrum_.size(); ++p) spectrum_[p] *= tables_.weights[p].real();
    to_grid(tables_.spread, spectrum_.data(), transform_.real());
}

void NufftLine::spread_complex() {
    for (std::size_t p = 0; p < spectrum_.size(); ++p) weighted_[p] = spectrum_[p] * tables_.weights[p];
    to_grid(tables_.spread, weighted_.data(), transform_.complex_in());
}

}  // namespace echolux::cpu
