#include "compute/cpu/plain.h"

#include "compute/cpu/four.h"

namespace echolux::cpu {
namespace {

// out[j] = weight[j] * spectrum[j], four points at a time. Returns the number of points processed.
std::int64_t weigh_by_fours(const std::complex<float>* weight, const float* spectrum, std::complex<float>* out,
                            std::int64_t points) {
    const auto* w = reinterpret_cast<const float*>(weight);
    auto* o = reinterpret_cast<float*>(out);
    std::int64_t j = 0;
    for (; j + 4 <= points; j += 4) {
        const Four s = load(spectrum + j);
        store(load(w + 2 * j) * __builtin_shufflevector(s, s, 0, 0, 1, 1), o + 2 * j);
        store(load(w + 2 * j + 4) * __builtin_shufflevector(s, s, 2, 2, 3, 3), o + 2 * j + 4);
    }
    return j;
}

}  // namespace

PlainLine::PlainLine(const PlainTables& tables, const LineFormat& format, std::int64_t first_bin)
    : tables_(tables), k_linear_(tables, format),
      transform_(tables.weight.real ? Fft::Kind::real_forward : Fft::Kind::complex_forward, tables.lengths.transform),
      kept_(transform_.complex_out() + first_bin) {}

std::span<const std::complex<float>* const> PlainLine::reconstruct(std::span<const RawLine> lines) {
    weigh(k_linear_(lines.front()));
    transform_.execute();
    return {&kept_, 1};
}

void PlainLine::weigh(const float* spectrum) {
    const std::int64_t points = tables_.lengths.points;
    if (tables_.weight.real) {
        const float* weight = tables_.real_weight.data();
        float* out = transform_.real();
        for (std::int64_t j = 0; j < points; ++j) out[j] = weight[j] * spectrum[j];
    } else {
        const std::complex<float>* weight = tables_.weight.values.data();
        std::complex<float>* out = transform_.complex_in();
        const std::int64_t done = weigh_by_fours(weight, spectrum, out, points);
        for (std::int64_t j = done; j < points; ++j) out[j] = weight[j] * spectrum[j];
    }
}

}  // namespace echolux::cpu
