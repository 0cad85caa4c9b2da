// A simulated recording read without the product's readers; depth profiles are computed by direct summation instead of
// a transform.
#pragma once

#include <complex>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numbers>
#include <string>
#include <vector>

#include "compute/indexing.h"
#include "engine/simulate/simulator.h"
#include "engine/simulate/spectrometer.h"
#include "temporary_folder.h"

namespace echolux::test {

inline std::vector<char> file_bytes(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

template <class T>
std::vector<T> file_values(const std::filesystem::path& path) {
    const std::vector<char> bytes = file_bytes(path);
    std::vector<T> values(bytes.size() / sizeof(T));
    std::copy_n(bytes.data(), values.size() * sizeof(T), reinterpret_cast<char*>(values.data()));
    return values;
}

class SimulatedRecording {
  public:
    explicit SimulatedRecording(const Simulation& simulation) : s_(with_scene_defaults(simulation)), spectrometer_(s_) {
        SilentProgress silent;
        simulate(simulation, folder_ / "scan.toml", silent);
        background_ = file_values<float>(folder_ / "scan.background.f32");
        const std::vector<char> raw = file_bytes(folder_ / "scan.raw");
        const auto line_bytes = index(2 * s_.samples);
        const std::size_t frame_bytes = line_bytes * index(s_.a_scans * s_.a_repeats);
        for (std::size_t frame = 0; frame + 32 + frame_bytes <= raw.size(); frame += 32 + frame_bytes) {
            for (std::size_t line = 0; line < frame_bytes; line += line_bytes) {
                std::vector<std::uint16_t>& counts = lines_.emplace_back(index(s_.samples));
                std::copy_n(raw.data() + frame + 32 + line, line_bytes, reinterpret_cast<char*>(counts.data()));
            }
        }
    }

    const Simulation& simulation() const { return s_; }
    const Spectrometer& spectrometer() const { return spectrometer_; }
    const std::filesystem::path& folder() const { return folder_.path(); }
    const std::vector<float>& background() const { return background_; }
    const std::vector<std::vector<std::uint16_t>>& lines() const { return lines_; }
    double depth_range_um() const { return spectrometer_.z_max_um() / s_.refractive_index; }

    // Effective wavenumber of phase shifts: the centroid of the windowed source.
    double centroid_per_um() const {
        const std::vector<double>& k = spectrometer_.k_per_um;
        double sum = 0;
        double weights = 0;
        for (std::size_t p = 1; p + 1 < k.size(); ++p) {
            const double weight = window(p) * spectrometer_.source[p];
            sum += weight * k[p];
            weights += weight;
        }
        return sum / weights;
    }

    // Hann window over k, times dk.
    double window(std::size_t p) const {
        const std::vector<double>& k = spectrometer_.k_per_um;
        const double edge = (k[p] - k.back()) / (k.front() - k.back());
        return (k[p - 1] - k[p + 1]) * (1 - std::cos(2 * std::numbers::pi * edge));
    }

    // Complex amplitude at a geometric depth: the sum of exp(-2i k z - i theta) over the fringes, with the forward sign
    // of the conventions, weighted with dk and a Hann window over k.
    std::complex<double> amplitude(std::size_t line, double depth_um, double theta_sign = 1) const {
        const std::vector<double>& k = spectrometer_.k_per_um;
        std::complex<double> sum = 0;
        double weights = 0;
        for (std::size_t p = 1; p + 1 < k.size(); ++p) {
            const double weight = window(p);
            const double phase = 2 * k[p] * depth_um * s_.refractive_index + theta_sign * spectrometer_.theta_rad[p];
            sum += weight * (lines_[line][p] - static_cast<double>(background_[p])) * std::polar(1.0, -phase);
            weights += weight;
        }
        return sum / weights;
    }

  private:
    TemporaryFolder folder_;
    Simulation s_;
    Spectrometer spectrometer_;
    std::vector<float> background_;
    std::vector<std::vector<std::uint16_t>> lines_;
};

}  // namespace echolux::test
