// Passes the spectra of a scan to a reconstructor block by block, and receives voxels in our own memory.
// Usage: blocks scan.toml
#include <cstdio>
#include <string>
#include <vector>

#include <echolux/echolux.hpp>

namespace lux = echolux::api;

int main(int argc, char** argv) {
    if (argc != 2) return std::fprintf(stderr, "usage: blocks scan.toml\n"), 2;
    try {
        const lux::Scan scan = lux::Scan::open(argv[1], {"recipe.voxel=f32"});
        const echolux_scan_shape shape = scan.shape();
        lux::Reconstructor reconstructor(scan, lux::make<echolux_device>(), 1);  // one B-scan per block
        const echolux_grid grid = reconstructor.grid();
        std::vector<std::byte> spectra(static_cast<std::size_t>(shape.b_scan_bytes));
        std::vector<float> voxels(static_cast<std::size_t>(grid.bytes) / sizeof(float));

        for (std::int64_t b = 0; b < shape.b_scans; ++b) {
            scan.read(0, b, 1, spectra);
            // A struct must have its size set; make() does that and clears the rest.
            auto block = lux::make<echolux_block>();
            block.data = spectra.data();
            block.bytes = shape.b_scan_bytes;
            block.first_b_scan = b;
            block.b_scans = 1;
            auto place = lux::make<echolux_place>();  // contiguous
            place.data = voxels.data();
            place.bytes = grid.bytes;
            reconstructor.wait(reconstructor.submit(block, place));
        }

        double sum = 0;
        for (const float voxel : voxels) sum += voxel;
        std::printf("%s: mean %.3f %s\n", reconstructor.device().c_str(), sum / static_cast<double>(voxels.size()),
                    grid.unit);
    } catch (const lux::Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
