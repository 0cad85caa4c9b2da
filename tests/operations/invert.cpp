// Operation `invert` of the tests: output = offset - input. parity_test.py checks that this file and its name in
// ECHOLUX_MORE_OPERATIONS are all that an operation needs in order to appear in every interface.
#include <cstring>

#include "app/operations/operation.h"
#include "compute/indexing.h"

namespace echolux {
namespace {

struct Invert {
    VolumeInput input;
    double offset = 0;
    OperationOutput output;
    std::int64_t voxels = 0;

    void run(Context& context) {
        Volume volume = context.volume_to_change(input);
        std::vector<float> values = finite_values(volume);
        voxels = volume.grid.voxels();
        const std::int64_t in_b_scan = volume.grid.a_scans * volume.grid.depth;
        context.progress.begin("invert", volume.grid.b_scans, "B-scans");
        for (std::int64_t i = 0; i < voxels; ++i) {
            values[index(i)] = static_cast<float>(offset) - values[index(i)];
            if ((i + 1) % in_b_scan == 0) context.progress.advance(1);
        }
        context.progress.end();
        volume.grid.type = VoxelType::f32;
        volume.grid.scale = 1;
        volume.grid.offset = 0;
        volume.voxels.resize(index(volume.grid.bytes()));
        std::memcpy(volume.voxels.data(), values.data(), volume.voxels.size());
        context.write(output, std::move(volume));
    }

    static void describe(OperationParts<Invert>& parts) {
        parts.info.summary = "Negative of a volume, for tests";
        parts.info.examples = {"input=v.nrrd output=negative.nrrd"};
        parts.input({.name = "input", .help = "volume file or scan"}, &Invert::input)
            .argument(number("offset", &Invert::offset, -1e6, 1e6, "", Effect::file, "value from which it subtracts"))
            .output({.name = "output", .help = "volume of f32", .is_required = true}, &Invert::output)
            .result("voxels", "", "number of voxels", &Invert::voxels);
    }
};

}  // namespace

ECHOLUX_OPERATION(invert, Invert)

}  // namespace echolux
