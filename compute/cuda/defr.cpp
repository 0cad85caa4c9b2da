#include "compute/cuda/defr.h"

#include <complex>
#include <vector>

#include "compute/cuda/half_tables.h"
#include "compute/cuda/transform_size.h"

namespace echolux::cuda {
namespace {

template <class Real>
DeviceBuffer uploaded_as(const std::vector<std::complex<double>>& values) {
    return uploaded(std::vector<std::complex<Real>>(values.begin(), values.end()));
}

std::vector<float2> as_floats(const std::vector<std::complex<double>>& values) {
    std::vector<float2> floats;
    for (const std::complex<double> value : values) {
        floats.push_back({static_cast<float>(value.real()), static_cast<float>(value.imag())});
    }
    return floats;
}

// At most sixteen bits: no sum on the way to a bin exceeds the largest half.
bool has_half_samples(SampleFormat format) {
    return format != SampleFormat::u32 && format != SampleFormat::f32;
}

}  // namespace

DefrDeviceTables::DefrDeviceTables(const ReconstructionSpec& spec, const PlainTables& plain, const DefrTables& tables,
                                   DepthRange bins, bool fused)
    : windowed(plain, std::vector<float>(tables.window.begin(), tables.window.end()), fused),
      points(std::ssize(tables.window)), threshold(tables.threshold), recipe(spec.defr), kept(bins),
      on_chip(fused && !recipe.double_precision && search_fits_on_chip(points)),
      in_halves(on_chip && wants_halves(spec) && has_half_samples(spec.format.sample_format)) {
    if (in_halves) {
        rotation = uploaded(halves_of(as_floats(tables.rotation)));
        twiddles = uploaded(halves_of(transform_twiddles(points)));
    } else {
        rotation = recipe.double_precision ? uploaded_as<double>(tables.rotation) : uploaded_as<float>(tables.rotation);
        if (on_chip) twiddles = uploaded(transform_twiddles(points));
    }
}

DefrLines::DefrLines(const DefrDeviceTables& tables, const LineFormat& format, std::int64_t max_lines,
                     cudaStream_t stream)
    : windowed_(tables.windowed, format, max_lines, stream),
      search_(tables.on_chip ? search_on_chip(tables, stream)
                             : search_in_passes(tables, windowed_.lines_at_once(), stream)),
      depth_(tables.kept.end - tables.kept.begin), bins_(lines_at_once() * depth_ * std::int64_t{sizeof(float2)}) {}

DeviceBins DefrLines::enqueue(const std::byte* raw, std::int64_t lines, const DeviceBackground& background) {
    const std::byte* spectra = windowed_.enqueue(raw, lines, background);
    search_->enqueue(reinterpret_cast<const float*>(spectra), lines, bins_.as<float2>());
    return {bins_.as<float2>(), depth_};
}

}  // namespace echolux::cuda
