#include "engine/analysis/intensity.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <type_traits>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/parallel_for.h"
#include "engine/io/volume_file.h"

namespace echolux {
namespace {

// Smooths `count` values that are `stride` apart.
void smooth_line(float* first, std::int64_t count, std::int64_t stride, const std::vector<float>& weights,
                 std::vector<float>& copy) {
    const std::int64_t reach = std::ssize(weights) / 2;
    copy.resize(index(count + 2 * reach));
    for (std::int64_t i = 0; i < std::ssize(copy); ++i) {
        copy[index(i)] = first[std::clamp<std::int64_t>(i - reach, 0, count - 1) * stride];
    }
    for (std::int64_t i = 0; i < count; ++i) {
        float sum = 0;
        for (std::size_t d = 0; d < weights.size(); ++d) sum += weights[d] * copy[index(i) + d];
        first[i * stride] = sum;
    }
}

// Returns linear intensity of a code.
float intensity_of(double code, const VolumeGrid& grid) {
    const double value = code * grid.scale + grid.offset;
    double linear = value;
    if (grid.quantity == "db") linear = std::pow(10.0, value / 10);
    if (grid.quantity == "amplitude") linear = value * value;
    return static_cast<float>(linear);
}

// Table of the values of all codes, for volumes with more voxels than codes.
template <class Code>
class CodeTable {
  public:
    static constexpr std::int64_t codes = std::int64_t{1} << (8 * sizeof(Code));

    template <class Computed>
    explicit CodeTable(const Computed& computed) : values_(index(codes)) {
        for (std::int64_t i = 0; i < codes; ++i) values_[index(i)] = computed(static_cast<Code>(least + i));
    }

    float operator()(Code code) const { return values_[index(code - least)]; }

  private:
    static constexpr std::int64_t least = std::numeric_limits<Code>::min();
    std::vector<float> values_;
};

}  // namespace

std::vector<float> linear_intensity(const Volume& volume) {
    const VolumeGrid& grid = volume.grid;
    if (grid.type == VoxelType::complex64) {
        throw Error(ErrorCode::bad_setting, "complex voxels have no intensity", "recipe.quantity",
                    "reconstruct db, intensity or amplitude");
    }
    std::vector<float> intensity(index(grid.voxels()));
    with_voxels(volume, [&](const auto* voxels) {
        using Code = std::remove_cv_t<std::remove_pointer_t<decltype(voxels)>>;
        const auto each = [&](const auto& intensity_of_code) {
            parallel_for(0, grid.b_scans, [&](std::int64_t b) {
                const std::int64_t slice = grid.depth * grid.a_scans;
                for (std::int64_t i = b * slice; i < (b + 1) * slice; ++i)
                    intensity[index(i)] = intensity_of_code(voxels[i]);
            });
        };
        const auto computed = [&](Code code) { return intensity_of(static_cast<double>(code), grid); };
        if constexpr (std::is_integral_v<Code>) {
            if (grid.voxels() > CodeTable<Code>::codes) {
                const CodeTable<Code> table(computed);
                return each([&](Code code) { return table(code); });
            }
        }
        each(computed);
    });
    return intensity;
}

std::vector<float> gaussian_weights(double sigma) {
    const auto reach = static_cast<std::int64_t>(std::ceil(3 * sigma));
    std::vector<float> weights;
    double sum = 0;
    for (std::int64_t d = -reach; d <= reach; ++d) {
        const double x = static_cast<double>(d) / sigma;
        weights.push_back(static_cast<float>(std::exp(-x * x / 2)));
        sum += static_cast<double>(weights.back());
    }
    for (float& weight : weights) weight /= static_cast<float>(sum);
    return weights;
}

void smooth(std::vector<float>& values, const Size3& size, const std::array<double, 3>& sigma) {
    const std::array<std::int64_t, 3> stride{1, size[0], size[0] * size[1]};
    for (std::size_t axis = 0; axis < 3; ++axis) {
        if (sigma[axis] <= 0) continue;
        const std::vector<float> weights = gaussian_weights(sigma[axis]);
        const std::size_t inner = axis == 0 ? 1 : 0;  // the faster of the other two axes
        const std::size_t outer = axis == 2 ? 1 : 2;  // the slower one
        parallel_for(0, size[outer], [&](std::int64_t o) {
            std::vector<float> copy;
            for (std::int64_t i = 0; i < size[inner]; ++i) {
                smooth_line(values.data() + o * stride[outer] + i * stride[inner], size[axis], stride[axis], weights,
                            copy);
            }
        });
    }
}

// Returns the phase of a phasor stored as two signed bytes.
static float phase(const std::byte* code) {
    std::int8_t parts[2];
    std::memcpy(parts, code, sizeof(parts));
    return std::atan2(static_cast<float>(parts[1]), static_cast<float>(parts[0]));
}

// Returns the value of a half float.
static float half(const std::byte* code) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, code, sizeof(bits));
    return value_of_half(bits);
}

Volume flow_values(const Volume& codes) {
    Volume values{codes.grid, {}, codes.provenance};
    values.grid.type = VoxelType::f32;
    values.voxels.resize(index(values.grid.bytes()));
    const bool is_phasor = codes.grid.type == VoxelType::phasor8;
    const bool is_velocity = is_phasor && codes.grid.v_max > 0;
    const auto per_rad = is_velocity ? static_cast<float>(codes.grid.v_max / std::numbers::pi) : 1.0f;
    if (is_phasor) {
        values.grid.quantity = is_velocity ? "velocity" : "phase";
        values.grid.unit = is_velocity ? "mm/s" : "rad";
    }
    for (std::int64_t i = 0; i < codes.grid.voxels(); ++i) {
        const std::byte* code = codes.voxels.data() + 2 * i;
        const float value = is_phasor ? phase(code) * per_rad : half(code);
        std::memcpy(values.voxels.data() + 4 * i, &value, sizeof(value));
    }
    return values;
}

}  // namespace echolux
