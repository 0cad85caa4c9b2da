// Runs a plan for flow on either backend: arbitrary bins in, structure and flow out.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <memory>
#include <numbers>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "compute/indexing.h"
#include "tests/oracle/chain.h"
#include "tests/support/set_fields.h"

namespace echolux {

// A backend under test: CPU in oracle_tests, CUDA in gpu_tests.
struct FlowMachine {
    std::string name;
    std::unique_ptr<Reconstructor> (*plan)(const ReconstructionSpec&);
};

inline std::ostream& operator<<(std::ostream& out, const FlowMachine& one) {
    return out << one.name;
}

inline double number_of_half(std::uint16_t half) {
    const int exponent = half >> 10 & 31, fraction = half & 1023;
    const double size = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    return half >> 15 ? -size : size;
}

// Decodes a phasor8 voxel; its length is 0 where flow is unknown.
inline std::complex<double> phasor_of(std::uint16_t code) {
    const auto part = [](int byte) { return (byte < 128 ? byte : byte - 256) / 127.0; };
    return {part(code & 255), part(code >> 8)};
}

struct FlowVolumes {
    VolumeGrid grid;               // of the flow
    std::vector<float> structure;  // [b_scan][a_scan][depth]
    std::vector<std::uint16_t> flow;

    std::int64_t at(std::int64_t a, std::int64_t z, std::int64_t b = 0) const {
        return (b * grid.a_scans + a) * grid.depth + z;
    }
    std::complex<double> phasor(std::int64_t a, std::int64_t z, std::int64_t b = 0) const {
        return phasor_of(flow[index(at(a, z, b))]);
    }
    double value(std::int64_t a, std::int64_t z, std::int64_t b = 0) const {
        return number_of_half(flow[index(at(a, z, b))]);
    }
};

// Reconstructs one volume, `block_b_scans` positions at a time (0: all at once), with an f32 structure.
inline FlowVolumes flow_of(const FlowMachine& machine, ReconstructionSpec spec, std::span<const std::byte> spectra,
                           std::int64_t block_b_scans = 0) {
    spec.block_b_scans = block_b_scans == 0 ? spec.geometry.b_scans : block_b_scans;
    const auto reconstructor = machine.plan(spec);
    const std::size_t b_scan_bytes = spectra.size() / index(spec.geometry.b_scans);
    FlowVolumes volumes;
    volumes.structure.resize(index(reconstructor->grid().voxels()));
    VoxelTargets targets(place_of(volumes.structure, reconstructor->grid()));
    if (reconstructor->flow_grid()) {
        volumes.grid = *reconstructor->flow_grid();
        volumes.flow.resize(index(volumes.grid.voxels()));
        targets.flow = place_of(volumes.flow, volumes.grid);
    }
    Completion last;
    for (std::int64_t b = 0; b < spec.geometry.b_scans; b += spec.block_b_scans) {
        const std::int64_t count = std::min(spec.block_b_scans, spec.geometry.b_scans - b);
        const auto part = spectra.subspan(index(b) * b_scan_bytes, index(count) * b_scan_bytes);
        last = reconstructor->submit(block_of(part, b, count), targets);
        reconstructor->wait(last);
    }
    return volumes;
}

// Bins of acquired lines in time order, [line][bin]. Bin 0, which is real, stays empty.
struct LineBins {
    std::int64_t bins;
    std::vector<std::complex<double>> values;

    LineBins(std::int64_t lines, std::int64_t depth) : bins(depth), values(index(lines * depth)) {}
    std::complex<double>& at(std::int64_t line, std::int64_t z) { return values[index(line * bins + z)]; }
    std::int64_t lines() const { return std::ssize(values) / bins; }
};

// Spectra with 2 x bins samples, linear in k, whose scaled depth bins are the fields: the inverse sum of the transform.
inline std::vector<float> spectra_of(const LineBins& fields) {
    const std::int64_t samples = 2 * fields.bins;
    std::vector<double> cosine(index(samples)), sine(cosine.size());
    for (std::size_t i = 0; i < cosine.size(); ++i) {
        cosine[i] = std::cos(2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(samples));
        sine[i] = std::sin(2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(samples));
    }
    std::vector<float> spectra;
    for (std::int64_t line = 0; line < fields.lines(); ++line) {
        for (std::int64_t j = 0; j < samples; ++j) {
            double sum = 0;
            for (std::int64_t z = 1; z < fields.bins; ++z) {
                const std::complex<double> value = fields.values[index(line * fields.bins + z)];
                const auto turn = index(j * z % samples);
                sum += value.real() * cosine[turn] - value.imag() * sine[turn];
            }
            spectra.push_back(static_cast<float>(2 * sum));
        }
    }
    return spectra;
}

// A plan whose scaled bins are those fields, without a noise floor, so that only the test decides what is masked.
inline ReconstructionSpec field_spec(const LineBins& fields, FlowMethod method) {
    ReconstructionSpec spec = plain_spec(2 * fields.bins, fields.lines());
    set(spec, "line_rate_hz=70000 centre_wavelength_nm=840 quantity=intensity voxel=f32 noise_floor_db=-300");
    spec.flow.method = method;
    return spec;
}

// Treats the lines as b_repeats of one B-scan.
inline ReconstructionSpec repeats_spec(const LineBins& fields, FlowMethod method, std::int64_t repeats) {
    ReconstructionSpec spec = field_spec(fields, method);
    spec.geometry.a_scans = fields.lines() / repeats;
    spec.geometry.b_repeats = repeats;
    spec.recipe.average = Average::power;
    return spec;
}

// Circular complex normal numbers of mean power 1.
class ComplexNormal {
  public:
    explicit ComplexNormal(unsigned seed) : random_(seed) {}
    std::complex<double> operator()() {
        const double re = value_(random_);
        return {re, value_(random_)};
    }

  private:
    std::mt19937 random_;
    std::normal_distribution<double> value_{0, std::sqrt(0.5)};
};

}  // namespace echolux
