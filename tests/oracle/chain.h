// Runs the whole chain through its public interface, with a plan that changes only what a test specifies.
#pragma once

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "compute/indexing.h"
#include "compute/reconstructor.h"
#include "tests/support/set_fields.h"

namespace echolux {

// A plan for `lines` f32 spectra that are linear in k: the bare transform, which returns complex A / samples.
inline ReconstructionSpec plain_spec(std::int64_t samples, std::int64_t lines) {
    ReconstructionSpec spec;
    set(spec,
        "sample_format=f32 b_scans=1 background=none resample=none window=rect dispersion=false "
        "quantity=complex voxel=complex64 levels=fixed");
    spec.geometry.samples = samples;
    spec.geometry.a_scans = lines;
    return spec;
}

template <class Sample>
std::span<const std::byte> bytes_of_lines(const std::vector<Sample>& lines) {
    return std::as_bytes(std::span(lines));
}

inline Block block_of(std::span<const std::byte> spectra, std::int64_t first_b_scan, std::int64_t b_scans) {
    Block block{.data = spectra.data(), .bytes = std::ssize(spectra), .first_b_scan = first_b_scan, .b_scans = b_scans};
    return block;
}

template <class Voxel>
VoxelTarget place_of(std::vector<Voxel>& voxels, const VolumeGrid& grid) {
    return packed_target(voxels.data(), grid);
}

// Reconstructs one volume from one block.
template <class Voxel>
std::vector<Voxel> reconstructed(ReconstructionSpec spec, std::span<const std::byte> spectra) {
    spec.block_b_scans = spec.geometry.b_scans;
    const auto reconstructor = plan_on_cpu(spec);
    const VolumeGrid& grid = reconstructor->grid();
    std::vector<Voxel> voxels(index(grid.bytes()) / sizeof(Voxel));
    reconstructor->wait(reconstructor->submit(block_of(spectra, 0, spec.geometry.b_scans), place_of(voxels, grid)));
    return voxels;
}

template <class Voxel, class Sample>
std::vector<Voxel> reconstructed(const ReconstructionSpec& spec, const std::vector<Sample>& lines) {
    return reconstructed<Voxel>(spec, bytes_of_lines(lines));
}

// Amplitudes of complex voxels in double.
inline std::vector<double> amplitudes(const std::vector<std::complex<float>>& field) {
    std::vector<double> values;
    values.reserve(field.size());
    for (const std::complex<float>& a : field) values.push_back(std::abs(std::complex<double>(a)));
    return values;
}

// Returns the distance of measured values from expected ones, relative to the norm of these. Calculates in double.
template <class Measured = std::complex<float>, class Expected = std::complex<double>>
double relative_l2(const std::vector<Measured>& measured, const std::vector<Expected>& expected) {
    double error = 0, norm = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        error += std::norm(std::complex<double>(measured.at(i)) - std::complex<double>(expected[i]));
        norm += std::norm(std::complex<double>(expected[i]));
    }
    return std::sqrt(error / norm);
}

}  // namespace echolux
