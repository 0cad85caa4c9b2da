#include "rendering.h"
#include "tests/support/set_fields.h"
#include "tests/support/validation.h"

#include <cmath>
#include <cstring>
#include <filesystem>

namespace echolux::test {

GpuDevice validated_device(const VolumeLimits& limits) {
    GpuDevice choice;
    choice.validation = validates();
    choice.on_message = [](const std::string& text) { ADD_FAILURE() << "validation layer: " << text; };
    choice.volume_limits = limits;
    return choice;
}

std::unique_ptr<Renderer> renderer_with(const VolumeLimits& limits) {
    return std::make_unique<Renderer>(validated_device(limits));
}

int largest_difference(const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b) {
    if (a.size() != b.size()) return 256;
    int largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
    return largest;
}

std::vector<std::uint16_t> codes_of_16_bits(Renderer& renderer, const View& view) {
    std::vector<std::uint16_t> codes;
    renderer.render(view, PictureBits::sixteen, [&](const PictureRows& rows) {
        const std::size_t before = codes.size();
        codes.resize(before + rows.pixels.size() / 2);
        std::memcpy(codes.data() + before, rows.pixels.data(), rows.pixels.size());
    });
    return codes;
}

PanePicture followed_to_rest(Renderer& renderer, const View& view, double& now_s, std::size_t pane) {
    PanePicture shown = renderer.follow(view, now_s += 0.1, pane);
    for (int i = 0; i < 1000 && !shown.is_final; ++i) {
        renderer.read(shown.drawing);  // waits for the part that was submitted last
        shown = renderer.follow(view, now_s += 0.1, pane);
    }
    EXPECT_TRUE(shown.is_final);
    return shown;
}

std::ptrdiff_t open_descriptors() {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

VolumeGrid db_grid(std::int64_t depth, std::int64_t a_scans, std::int64_t b_scans, VoxelType type) {
    VolumeGrid grid{.depth = depth,
                    .a_scans = a_scans,
                    .b_scans = b_scans,
                    .type = type,
                    .spacing_um = {1, 1, 1},
                    .quantity = "db",
                    .unit = "dB above noise floor"};
    if (type == VoxelType::u8) grid.scale = 50.0 / 255;
    if (type == VoxelType::u16) grid.scale = 50.0 / 65535;
    if (type != VoxelType::f32) grid.offset = -5;
    return grid;
}

std::vector<std::byte> voxels(const VolumeGrid& grid, const ValueAt& value) {
    std::vector<std::byte> bytes(index(grid.bytes()));
    std::byte* next = bytes.data();
    const auto put = [&](auto code) {
        std::memcpy(next, &code, sizeof code);
        next += sizeof code;
    };
    for (std::int64_t b = 0; b < grid.b_scans; ++b) {
        for (std::int64_t a = 0; a < grid.a_scans; ++a) {
            for (std::int64_t z = 0; z < grid.depth; ++z) {
                const double code = (value(z, a, b) - grid.offset) / grid.scale;
                if (grid.type == VoxelType::f32) put(static_cast<float>(code));
                if (grid.type == VoxelType::u16) put(static_cast<std::uint16_t>(std::lround(code)));
                if (grid.type == VoxelType::u8) put(static_cast<std::uint8_t>(std::lround(code)));
            }
        }
    }
    return bytes;
}

ValueAt ball(const VolumeGrid& grid, double radius) {
    return [=](std::int64_t z, std::int64_t a, std::int64_t b) {
        const auto from_middle = [](std::int64_t i, std::int64_t n) {
            return static_cast<double>(i) + 0.5 - 0.5 * static_cast<double>(n);
        };
        const double distance =
            std::hypot(from_middle(z, grid.depth), from_middle(a, grid.a_scans), from_middle(b, grid.b_scans));
        return std::max(0.0, 40 * (1 - distance / radius));
    };
}

double noise(std::int64_t x, std::int64_t y, std::int64_t z) {
    std::uint64_t h = static_cast<std::uint64_t>(x * 73856093 + y * 19349663 + z * 83492791);
    for (int round = 0; round < 3; ++round) {
        h ^= h >> 29;
        h *= 0x9E3779B97F4A7C15ULL;
    }
    return static_cast<double>(h >> 40) / static_cast<double>(1 << 24);
}

View voxel_view(const VolumeGrid& grid, std::int64_t width, std::int64_t height) {
    View view = with(View{}, "projection=orthographic azimuth_deg=0 elevation_deg=0 box=false lighting=false");
    view.width = width;
    view.height = height;
    const double diagonal = std::sqrt(
        static_cast<double>(grid.depth * grid.depth + grid.a_scans * grid.a_scans + grid.b_scans * grid.b_scans));
    view.zoom = diagonal / static_cast<double>(std::min(width, height));
    return view;
}

}  // namespace echolux::test
