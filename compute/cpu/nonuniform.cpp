#include "compute/cpu/nonuniform.h"

#include <algorithm>

#include "compute/indexing.h"
#include "compute/parallel_for.h"

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

namespace {

// Lines multiplied by one row of a panel in registers.
constexpr std::int64_t lines_in_registers = 4;

// Samples accumulated before adding to the sums in memory. Short runs keep a panel in the L1 cache and avoid the
// rounding error of long sums, because addends are rarely much smaller than the sum.
constexpr std::int64_t run_of_samples = 128;

// sums[l] += sum over p < count of spectra[l][p] * rows[p]. Unrolled so that all products stay in registers.
void add_products(const NudftPanels::Row* rows, const float* spectra, std::int64_t samples, std::int64_t count,
                  NudftPanels::Row* sums) {
    NudftPanels::Row products[lines_in_registers] = {};
    for (std::int64_t p = 0; p < count; ++p) {
#pragma GCC unroll 4
        for (std::int64_t l = 0; l < lines_in_registers; ++l) {
            const float sample = spectra[l * samples + p];
#pragma GCC unroll 3
            for (std::int64_t i = 0; i < NudftPanels::eights; ++i) products[l].values[i] += rows[p].values[i] * sample;
        }
    }
#pragma GCC unroll 4
    for (std::int64_t l = 0; l < lines_in_registers; ++l) {
#pragma GCC unroll 3
        for (std::int64_t i = 0; i < NudftPanels::eights; ++i) sums[l].values[i] += products[l].values[i];
    }
}

}  // namespace

NudftPanels::NudftPanels(const NudftMatrix& matrix)
    : depth_(matrix.depth()), samples_(matrix.samples()), rows_(index(count() * samples_), Row{}) {
    parallel_for(0, samples_, [&](std::int64_t p) {
        for (std::int64_t z = 0; z < depth_; ++z) {
            const std::complex<double> element = matrix.at(z, p);
            Eight& eight = rows_[index(z / bins * samples_ + p)].values[z % bins / 4];
            eight[z % 4 * 2] = static_cast<float>(element.real());
            eight[z % 4 * 2 + 1] = static_cast<float>(element.imag());
        }
    });
}

NudftLines::NudftLines(const NudftPanels& matrix, const LineFormat& format, std::int64_t rolling_width)
    : matrix_(matrix), subtract_(format, rolling_width), spectra_(index(max_lines * matrix.samples()), 0.0f),
      bins_(index(max_lines * matrix.count() * NudftPanels::bins)) {
    for (std::int64_t l = 0; l < max_lines; ++l) {
        bins_of_line_.push_back(bins_.data() + l * matrix.count() * NudftPanels::bins);
    }
}

std::span<const std::complex<float>* const> NudftLines::reconstruct(std::span<const RawLine> lines) {
    const std::int64_t count = std::ssize(lines);
    for (std::int64_t l = 0; l < count; ++l) {
        subtract_(lines[index(l)], spectra_.data() + l * matrix_.samples());
    }
    const std::int64_t whole = (count + lines_in_registers - 1) / lines_in_registers * lines_in_registers;
    for (std::int64_t i = 0; i < matrix_.count(); ++i) {
        NudftPanels::Row sums[max_lines] = {};
        multiply(matrix_.panel(i), whole, sums);
        for (std::int64_t l = 0; l < count; ++l) {
            std::complex<float>* bins = bins_.data() + (l * matrix_.count() + i) * NudftPanels::bins;
            for (std::int64_t z = 0; z < NudftPanels::bins; ++z) {
                const NudftPanels::Eight& sum = sums[l].values[z / 4];
                bins[z] = {sum[z % 4 * 2], sum[z % 4 * 2 + 1]};
            }
        }
    }
    return {bins_of_line_.data(), lines.size()};
}

void NudftLines::multiply(const NudftPanels::Row* panel, std::int64_t lines, NudftPanels::Row* sums) const {
    const std::int64_t samples = matrix_.samples();
    for (std::int64_t first = 0; first < samples; first += run_of_samples) {
        const std::int64_t run = std::min(run_of_samples, samples - first);
        for (std::int64_t l = 0; l < lines; l += lines_in_registers) {
            add_products(panel + first, spectra_.data() + l * samples + first, samples, run, sums + l);
        }
    }
}

}  // namespace echolux::cpu
