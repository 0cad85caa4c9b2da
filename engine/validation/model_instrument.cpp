#include "engine/validation/model_instrument.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <numeric>

#include "compute/calibrate/mirrors.h"
#include "engine/validation/topics.h"

namespace echolux {
namespace {

using std::numbers::pi;

constexpr double lobes_step = 0.125, lobes_reach = 40;  // in bins

// The model instrument has the simulator's default settings, except for the number of samples.
Simulation model() {
    Simulation simulation;
    simulation.samples = ModelInstrument::samples;
    return simulation;
}

}  // namespace

std::vector<double> share_of_grid(const std::vector<double>& points) {
    std::vector<double> share;
    for (std::size_t p = 0; p < points.size(); ++p) {
        const std::size_t left = p == 0 ? 0 : p - 1, right = std::min(p + 1, points.size() - 1);
        share.push_back(std::abs(points[right] - points[left]) / static_cast<double>(right - left));
    }
    return share;
}

ModelInstrument::ModelInstrument() : spectrometer_(model()) {
    const double min = k_per_um().back(), max = k_per_um().front();
    for (const double k : k_per_um()) {
        points_.push_back((k - min) / (max - min) * static_cast<double>(samples - 1));
    }
    share_ = share_of_grid(points_);
}

ReconstructionSpec ModelInstrument::spec(std::int64_t lines) const {
    ReconstructionSpec spec = bare_spec(samples, lines);
    spec.calibration.wavelengths_nm = spectrometer_.wavelengths_nm;
    spec.recipe.window = Window::hann;
    return spec;
}

std::vector<float> ModelInstrument::fringe(double depth_um) const {
    std::vector<float> line;
    for (std::size_t p = 0; p < source().size(); ++p) {
        line.push_back(static_cast<float>(source()[p] * std::cos(2 * k_per_um()[p] * depth_um)));
    }
    return line;
}

Envelope envelope_of(const ModelInstrument& instrument) {
    Envelope envelope{instrument.points(), {}};
    const auto last = static_cast<double>(ModelInstrument::samples - 1);
    for (std::size_t p = 0; p < envelope.points.size(); ++p) {
        const double hann = std::pow(std::sin(pi * envelope.points[p] / last), 2);
        envelope.weights.push_back(hann * instrument.source()[p] * instrument.share()[p]);
    }
    return envelope;
}

double Envelope::at(double distance_bins, double length) const {
    std::complex<double> sum;
    for (std::size_t p = 0; p < points.size(); ++p) {
        sum += weights[p] * std::polar(1.0, 2 * pi * distance_bins * points[p] / length);
    }
    return std::abs(sum) / std::accumulate(weights.begin(), weights.end(), 0.0);
}

double Envelope::fwhm(double length) const {
    double inside = 0, outside = 0.25;
    while (at(outside, length) > 0.5) inside = std::exchange(outside, outside * 1.5);
    for (int step = 0; step < 40; ++step) {
        const double middle = (inside + outside) / 2;
        (at(middle, length) > 0.5 ? inside : outside) = middle;
    }
    return 2 * inside;
}

double Envelope::main_lobe_bins(double length) const {
    double distance = 0;
    while (distance < lobes_reach && at(distance + lobes_step, length) < at(distance, length)) distance += lobes_step;
    return distance;
}

double Envelope::side_lobe_db(double length) const {
    double max = 0;
    for (double distance = main_lobe_bins(length); distance < lobes_reach; distance += lobes_step) {
        max = std::max(max, at(distance, length));
    }
    return decibels(max);
}

double Envelope::mean_response(double bin, double length, const std::function<double(double)>& response) const {
    const std::vector<double> share = share_of_grid(points);
    double sum = 0, all = 0;
    for (std::size_t p = 0; p < points.size(); ++p) {
        sum += weights[p] * response(bin / length * share[p]);
        all += weights[p];
    }
    return sum / all;
}

PointResponse point_response(std::span<const double> profile, double padding, double main_lobe_bins,
                             std::ptrdiff_t begin) {
    const DepthPeak peak = strongest_peak(profile, begin, std::ssize(profile));
    PointResponse response{peak.bin / padding, peak.height, peak.fwhm / padding, 0};
    double max = 0;
    for (std::ptrdiff_t i = begin; i < std::ssize(profile); ++i) {
        const double distance_bins = std::abs(static_cast<double>(i) - peak.bin) / padding;
        if (distance_bins >= main_lobe_bins) max = std::max(max, profile[static_cast<std::size_t>(i)]);
    }
    response.side_lobe_db = decibels(max / peak.height);
    return response;
}

double worst_artefact_db(std::span<const double> profile, std::ptrdiff_t distance) {
    const std::ptrdiff_t top = std::ranges::max_element(profile) - profile.begin();
    double max = 0;
    for (std::ptrdiff_t i = 0; i < std::ssize(profile); ++i) {
        if (std::abs(i - top) > distance) max = std::max(max, profile[static_cast<std::size_t>(i)]);
    }
    return decibels(max / profile[static_cast<std::size_t>(top)]);
}

}  // namespace echolux
