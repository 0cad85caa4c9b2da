// Finds the layers of a volume, writes their surfaces and prints their thickness.
// Usage: layers volume.nrrd surfaces.nrrd [KEY=VALUE ...]; keys are settings such as layers.count=5.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <echolux/echolux.hpp>

namespace lux = echolux::api;

namespace {

// Mean of the known values of a map; unknown ones are NaN.
double mean_of(const lux::Span<const float>& map, std::size_t begin, std::size_t count) {
    double sum = 0, known = 0;
    for (std::size_t i = begin; i < begin + count; ++i) {
        if (std::isnan(map[i])) continue;
        sum += map[i];
        ++known;
    }
    return sum / known;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) return std::fprintf(stderr, "usage: layers VOLUME SURFACES [KEY=VALUE ...]\n"), 2;
    try {
        const lux::Volume volume = lux::Volume::open(argv[1]);
        const lux::Tissue tissue(lux::Assignments(argv + 3, argv + argc), "layers");
        const lux::Surfaces surfaces = lux::segment(volume, tissue);
        surfaces.volume().write(argv[2]);
        const std::vector<std::string> names = surfaces.names();
        const lux::Volume maps = surfaces.thickness();
        // One map per layer, stored one after another.
        const auto map = static_cast<std::size_t>(maps.grid().depth * maps.grid().a_scans);
        for (std::size_t i = 0; i + 1 < names.size(); ++i) {
            std::printf("%s to %s: %.1f %s\n", names[i].c_str(), names[i + 1].c_str(),
                        mean_of(maps.voxels<float>(), i * map, map), maps.grid().unit);
        }
    } catch (const lux::Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
