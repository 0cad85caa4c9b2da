#include "compute/cuda/defr.h"

#include <complex>
#include <vector>

#include "compute/cuda/transform.h"

namespace echolux::cuda {
namespace {

template <class Real>
DeviceBuffer uploaded_as(const std::vector<std::complex<double>>& values) {
    return uploaded(std::vector<std::complex<Real>>(values.begin(), values.end()));
}

}  // namespace

DefrDeviceTables::DefrDeviceTables(const ReconstructionSpec& spec, const PlainTables& plain, DepthRange bins,
                                   const GpuPath& path)
    : DefrDeviceTables(spec, plain, defr_tables(spec), bins, path) {}

DefrDeviceTables::DefrDeviceTables(const ReconstructionSpec& spec, const PlainTables& plain, const DefrTables& tables,
                                   DepthRange bins, const GpuPath& path)
    : windowed(plain, std::vector<float>(tables.window.begin(), tables.window.end()), path.grid_on_chip),
      points(std::ssize(tables.window)), threshold(tables.threshold), recipe(spec.defr), kept(bins),
      on_chip(path.kernels == GpuKernels::full_range_on_chip),
      rotation(recipe.double_precision ? uploaded_as<double>(tables.rotation) : uploaded_as<float>(tables.rotation)) {
    if (!on_chip) return;
    const std::vector<float2> factors = transform_twiddles(points);
    twiddles = uploaded(factors);
    if (!path.in_halves) return;
    half_twiddles = uploaded(halves_of(factors));
    half_rotation = uploaded(halves_of(tables.rotation));
    half_scale = half_spectrum_scale(spec.format, tables.window, half_peaks);
}

DefrLines::DefrLines(const DefrDeviceTables& tables, const LineFormat& format, std::int64_t max_lines,
                     cudaStream_t stream)
    : windowed_(tables.windowed, format, max_lines, stream),
      search_(tables.on_chip ? search_on_chip(tables, stream)
                             : search_in_passes(tables, windowed_.lines_at_once(), stream)),
      depth_(tables.kept.end - tables.kept.begin), bins_(lines_at_once() * depth_ * std::int64_t{sizeof(float2)}) {}

DeviceBins DefrLines::enqueue(const RawLines& lines) {
    const std::byte* spectra = windowed_.enqueue(lines);
    search_->enqueue(reinterpret_cast<const float*>(spectra), lines.count, bins_.as<float2>());
    return {bins_.as<float2>(), depth_};
}

}  // namespace echolux::cuda
