#include "compute/calibrate/recording_statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compute/indexing.h"

namespace echolux {

// The number of stored bits, less the sign bit and the shift, limited by the mask.
std::optional<double> full_scale(const RawFormat& format) {
    if (format.sample_format == SampleFormat::f32) return std::nullopt;
    const bool has_sign = format.sample_format == SampleFormat::i16;
    const std::int64_t stored = sample_bits(format.sample_format) - (has_sign ? 1 : 0) - format.shift;
    const bool is_masked = format.bits > 0 && !has_sign;
    return std::ldexp(1.0, static_cast<int>(is_masked ? std::min(format.bits, stored) : stored)) - 1;
}

std::int64_t lines_of(const Block& block, const ScanGeometry& geometry) {
    return block.b_scans * geometry.b_repeats * geometry.lines_per_b_scan();
}

const std::byte* line_at(const Block& block, const RawFormat& format, const ScanGeometry& geometry, std::int64_t line) {
    const std::int64_t lines = geometry.lines_per_b_scan(), bytes = line_bytes(format, geometry);
    return block.data + frame_offset(block.frames, line / lines, lines * bytes) + line % lines * bytes;
}

SpectrumSurvey::SpectrumSurvey(const RawFormat& format, const ScanGeometry& geometry)
    : format_(format), geometry_(geometry), reader_(format, geometry), full_scale_(full_scale(format)),
      sum_(index(geometry.samples), 0.0), min_(sum_.size(), std::numeric_limits<double>::max()),
      max_(sum_.size(), std::numeric_limits<double>::lowest()) {}

void SpectrumSurvey::add(const Block& block, const LineRange& range) {
    const double full = full_scale_.value_or(std::numeric_limits<double>::max());
    reader_.with_reader([&](const auto& read) {
        for (std::int64_t line = range.first; line < range.first + range.count; ++line) {
            const std::byte* samples = line_at(block, format_, geometry_, line);
            for (std::size_t p = 0; p < sum_.size(); ++p) {
                const auto value = static_cast<double>(read(samples, static_cast<std::int64_t>(p)));
                sum_[p] += value;
                min_[p] = std::min(min_[p], value);
                max_[p] = std::max(max_[p], value);
                clipped_ += value >= full ? 1 : 0;
            }
        }
    });
    lines_ += range.count;
}

std::vector<double> SpectrumSurvey::mean() const {
    std::vector<double> mean = sum_;
    for (double& value : mean) value /= static_cast<double>(lines_);
    return mean;
}

namespace {

// Returns the spec with uncropped float amplitudes as output.
ReconstructionSpec for_amplitudes(ReconstructionSpec spec) {
    spec.flow = {};
    spec.calibration.noise_floor.clear();
    spec.geometry.depth_flip = false;
    spec.recipe.depth_begin = 0;
    spec.recipe.depth_end = 0;
    spec.recipe.noise_floor = NoiseFloor::none;
    spec.recipe.quantity = Quantity::amplitude;
    spec.recipe.voxel = VoxelType::f32;
    spec.recipe.levels = Levels::fixed;
    return spec;
}

}  // namespace

MeanProfile::MeanProfile(const ReconstructionSpec& spec) : reconstructor_(plan_on_cpu(for_amplitudes(spec))) {
    amplitudes_.resize(index(grid().depth * grid().a_scans * spec.block_b_scans));
    sum_.resize(index(grid().depth));
    power_.resize(sum_.size());
}

void MeanProfile::add(const Block& block) {
    reconstructor_->wait(reconstructor_->submit(block, packed_place(amplitudes_.data(), grid(), block.first_b_scan)));
    const std::int64_t lines = block.b_scans * grid().a_scans;
    for (std::int64_t line = 0; line < lines; ++line) {
        const float* of_line = amplitudes_.data() + line * grid().depth;
        for (std::size_t z = 0; z < sum_.size(); ++z) {
            const auto a = static_cast<double>(of_line[z]);
            sum_[z] += a;
            power_[z] += a * a;
        }
    }
    lines_ += lines;
}

std::vector<double> MeanProfile::mean(const std::vector<double>& sum) const {
    std::vector<double> mean = sum;
    for (double& value : mean) value /= static_cast<double>(lines_);
    return mean;
}

std::vector<double> MeanProfile::amplitude() const {
    return mean(sum_);
}

std::vector<double> MeanProfile::root_mean_power() const {
    std::vector<double> root = mean(power_);
    for (double& value : root) value = std::sqrt(value);
    return root;
}

}  // namespace echolux
