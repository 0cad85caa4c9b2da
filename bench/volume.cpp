#include "bench/volume.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <random>

#include "compute/indexing.h"
#include "compute/parallel_for.h"

namespace echolux {
namespace {

constexpr double offset_db = -10, range_db = 60;
constexpr std::int64_t tile = 64;  // edge of the speckle tile in voxels; the tile repeats

using Field = std::vector<std::complex<double>>;

std::size_t place_of(std::int64_t z, std::int64_t a, std::int64_t b) {
    return index(((b & (tile - 1)) * tile + (a & (tile - 1))) * tile + (z & (tile - 1)));
}

// Blurs along one axis with the weights 1 2 1. Three passes give grains of two voxels, as a well-sampled instrument
// resolves them.
Field blurred(const Field& field, std::int64_t dz, std::int64_t da, std::int64_t db) {
    Field result(field.size());
    for (std::int64_t b = 0; b < tile; ++b) {
        for (std::int64_t a = 0; a < tile; ++a) {
            for (std::int64_t z = 0; z < tile; ++z) {
                result[place_of(z, a, b)] = field[place_of(z - dz, a - da, b - db)] + 2.0 * field[place_of(z, a, b)] +
                                            field[place_of(z + dz, a + da, b + db)];
            }
        }
    }
    return result;
}

// Intensities of fully developed speckle, in dB relative to their mean.
std::vector<float> synthetic_speckle() {
    std::mt19937_64 random(1);
    std::normal_distribution<double> part;
    Field field(index(tile * tile * tile));
    for (auto& amplitude : field) amplitude = {part(random), part(random)};
    field = blurred(blurred(blurred(field, 1, 0, 0), 0, 1, 0), 0, 0, 1);
    double mean = 0;
    for (const auto& amplitude : field) mean += std::norm(amplitude) / static_cast<double>(field.size());
    std::vector<float> db(field.size());
    std::ranges::transform(field, db.begin(), [&](const auto& amplitude) {
        return static_cast<float>(10 * std::log10(std::max(std::norm(amplitude) / mean, 1e-6)));
    });
    return db;
}

// Scattering at a relative position, in dB above the noise floor; none above the surface. 32 dB at the surface, 45 dB
// less over the whole depth, layers of +-4 dB every 12 % of the depth, and a vessel that is 15 dB darker.
double tissue_db(double depth, double a, double b) {
    constexpr double turn = 2 * std::numbers::pi;
    const double surface = 0.27 + 0.03 * std::sin(turn * 1.3 * a) + 0.02 * std::sin(turn * (0.8 * b + 0.4 * a));
    const double below = depth - surface;
    if (below < 0) return -100;
    const double layers = 4 * std::sin(turn * below / 0.12);
    const double across = std::hypot(below - 0.18, a - 0.5 - 0.1 * std::sin(turn * b));
    const double vessel = across < 0.06 ? -15 : 0;
    return 32 + layers + vessel - 45 * below;
}

}  // namespace

BenchVolume speckled_tissue(const std::array<std::int64_t, 3>& size) {
    const auto [depth, a_scans, b_scans] = size;
    BenchVolume volume;
    volume.grid.depth = depth;
    volume.grid.a_scans = a_scans;
    volume.grid.b_scans = b_scans;
    volume.grid.type = VoxelType::u8;
    volume.grid.spacing_um = {4, 4, 4};
    volume.grid.quantity = "db";
    volume.grid.unit = "dB above noise floor";
    volume.grid.scale = range_db / 255;
    volume.grid.offset = offset_db;
    volume.voxels.resize(index(volume.grid.bytes()));
    static const std::vector<float> speckle = synthetic_speckle();
    parallel_for(0, a_scans * b_scans, [&](std::int64_t line) {
        std::byte* voxel = volume.voxels.data() + line * depth;
        const double a = static_cast<double>(line % a_scans) / static_cast<double>(a_scans);
        const double b = static_cast<double>(line / a_scans) / static_cast<double>(b_scans);
        for (std::int64_t z = 0; z < depth; ++z) {
            const double mean = std::max(0.0, tissue_db(static_cast<double>(z) / static_cast<double>(depth), a, b));
            const double db = mean + double{speckle[place_of(z, line % a_scans, line / a_scans)]};
            voxel[z] = static_cast<std::byte>(std::clamp(std::lround((db - offset_db) / range_db * 255), 0L, 255L));
        }
    });
    return volume;
}

}  // namespace echolux
