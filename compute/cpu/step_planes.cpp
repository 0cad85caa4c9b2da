#include "compute/cpu/step_planes.h"

#include <algorithm>

#include "compute/indexing.h"

namespace echolux::cpu {
namespace {

// Sums over the depth window as shifted additions of whole lines, which vectorize.
void sum_along(const std::vector<float>& in, std::int64_t width, const std::vector<float>& shares,
               std::vector<float>& out) {
    const std::int64_t depth = std::ssize(in);
    std::fill(out.begin(), out.end(), 0.0f);
    const float* from = in.data();
    float* sum = out.data();
    for (std::int64_t d = -(width / 2); d < width - width / 2; ++d) {
        for (std::int64_t z = std::max<std::int64_t>(0, -d); z < std::min(depth, depth - d); ++z) sum[z] += from[z + d];
    }
    for (std::size_t z = 0; z < out.size(); ++z) out[z] *= shares[z];
}

}  // namespace

StepPlanes::StepPlanes(std::int64_t depth) : re(index(depth)), im(re.size()), power(re.size()) {}

void StepPlanes::clear() {
    std::fill(re.begin(), re.end(), 0.0f);
    std::fill(im.begin(), im.end(), 0.0f);
    std::fill(power.begin(), power.end(), 0.0f);
}

void StepPlanes::add(const float* earlier, const float* later, Phasor bulk) {
    for (std::size_t z = 0; z < re.size(); ++z) {
        const auto i = static_cast<std::int64_t>(z);
        const PhaseStep step = phase_step(bin(earlier, i), bin(later, i), bulk);
        re[z] += step.product.re;
        im[z] += step.product.im;
        power[z] += step.power;
    }
}

void StepPlanes::add(const StepPlanes& other, float weight) {
    for (std::size_t z = 0; z < re.size(); ++z) re[z] += weight * other.re[z];
    for (std::size_t z = 0; z < re.size(); ++z) im[z] += weight * other.im[z];
    for (std::size_t z = 0; z < re.size(); ++z) power[z] += weight * other.power[z];
}

void StepPlanes::sum_along_depth(const StepPlanes& other, std::int64_t width, const std::vector<float>& shares) {
    sum_along(other.re, width, shares, re);
    sum_along(other.im, width, shares, im);
    sum_along(other.power, width, shares, power);
}

PositionSteps::PositionSteps(std::int64_t depth, std::int64_t kept)
    : steps_(index(kept), StepPlanes(depth)), held_(steps_.size(), -1) {}

void PositionSteps::begin(const PositionBins& bins) {
    bins_ = bins;
    std::fill(held_.begin(), held_.end(), -1);
}

// A ring buffer indexed by position: windows of consecutive A-scans overlap in all but one position.
const StepPlanes& PositionSteps::of(std::int64_t position) {
    const std::size_t slot = index(position) % steps_.size();
    StepPlanes& steps = steps_[slot];
    if (held_[slot] == position) return steps;
    held_[slot] = position;
    steps.clear();
    const Repeats& repeats = bins_.repeats;
    for (std::int64_t pair = 0; pair < repeats.pairs(); ++pair) {
        const std::int64_t series = pair / (repeats.count - 1), repeat = pair % (repeats.count - 1);
        const Phasor bulk = bins_.bulk == nullptr ? Phasor{1, 0} : bins_.bulk[position * bins_.bulk_stride + pair];
        steps.add(bins_.line(repeats.line(position, series, repeat)),
                  bins_.line(repeats.line(position, series, repeat + 1)), bulk);
    }
    return steps;
}

}  // namespace echolux::cpu
