// Flow in the slots of a live ring gives the same pictures as flow from a file: complete and rolling, as phasors and as
// numbers, over the structure and alone.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "compute/steps/depth.h"
#include "rendering.h"
#include "tests/support/set_fields.h"

namespace echolux::test {
namespace {

constexpr std::int64_t edge = 24;

// Modes that mix flow into samples, draw it over the picture, and in front of a surface.
constexpr std::array some_modes{ViewMode::composite, ViewMode::mip, ViewMode::isosurface};

using Codes = std::vector<std::byte>;

template <class Code>
Codes packed(const VolumeGrid& grid, const std::function<Code(std::int64_t, std::int64_t, std::int64_t)>& code_at) {
    Codes codes(index(grid.bytes()));
    std::byte* next = codes.data();
    for (std::int64_t b = 0; b < grid.b_scans; ++b) {
        for (std::int64_t a = 0; a < grid.a_scans; ++a) {
            for (std::int64_t z = 0; z < grid.depth; ++z, next += sizeof(Code)) {
                const Code code = code_at(z, a, b);
                std::memcpy(next, &code, sizeof code);
            }
        }
    }
    return codes;
}

VolumeGrid flow_grid(VoxelType type, const std::string& quantity = "doppler") {
    VolumeGrid grid = db_grid(edge, edge, edge, type);
    grid.scale = 1;
    grid.offset = 0;
    grid.quantity = quantity;
    grid.unit = "mm/s";
    return grid;
}

// A vessel along the B-scans with a phase that increases across it; unknown outside.
Codes phasors(int seed) {
    return packed<std::array<std::int8_t, 2>>(
        flow_grid(VoxelType::phasor8), [=](std::int64_t z, std::int64_t a, std::int64_t b) {
            const double across = std::hypot(static_cast<double>(z) - 12, static_cast<double>(a) - 10 - seed);
            if (across > 7) return std::array<std::int8_t, 2>{0, 0};
            const double phase = 0.35 * (across - 3) * (seed == 0 ? 1 : -1) + 0.05 * static_cast<double>(b);
            return std::array{static_cast<std::int8_t>(std::lround(127 * std::cos(phase))),
                              static_cast<std::int8_t>(std::lround(127 * std::sin(phase)))};
        });
}

// Integers from -20 to 20, mostly 0.
Codes velocities(int seed) {
    return packed<std::uint16_t>(flow_grid(VoxelType::f16), [=](std::int64_t z, std::int64_t a, std::int64_t b) {
        const bool is_flow = z > 6 && z < 12 && (a / 5 + seed) % 2 == 0;
        return Half{}(is_flow ? std::floor(40 * static_cast<float>(noise(z, a + 50 * seed, b))) - 20 : 0);
    });
}

Codes structure(int seed) {
    const VolumeGrid grid = db_grid(edge, edge, edge, VoxelType::u8);
    return voxels(grid, [=](std::int64_t z, std::int64_t a, std::int64_t b) {
        return 40 * noise(z + 100 * seed, a, b) * static_cast<double>(z) / edge;
    });
}

Codes joined(const Codes& below, const Codes& above, std::int64_t filled_to) {
    Codes codes = above;
    std::copy_n(below.begin(), std::ssize(below) / edge * filled_to, codes.begin());
    return codes;
}

class LiveFlow : public Rendering {
  protected:
    void SetUp() override {
        Rendering::SetUp();
        view_ = voxel_view(grid_, 40, 36);
        set(view_, "low=0 high=45");
    }

    void make(const VolumeGrid& flow) {
        flow_ = flow;
        SlotRequest wanted{.grid = grid_, .flow = flow, .range = {0, 45}, .count = 3};
        slots_ = renderer().make_slots(wanted).writer;
    }

    static void copy(const VoxelTarget& place, const Codes& codes, std::int64_t first, std::int64_t end) {
        std::memcpy(static_cast<std::byte*>(place.data) + first * place.b_scan_bytes,
                    codes.data() + first * place.b_scan_bytes, index((end - first) * place.b_scan_bytes));
    }

    void write(std::size_t slot, const Codes& codes, const Codes& flow, std::int64_t first, std::int64_t end) {
        const VoxelTargets targets = slots_->targets(slot);
        copy(targets.structure, codes, first, end);
        copy(targets.flow.value(), flow, first, end);
        slots_->publish(slot, ++written_, first, end);
    }

    Image picture(std::size_t slot, std::uint64_t serial, std::int64_t filled_to = edge,
                  std::optional<DisplayedSlot> previous = {}) {
        const DisplayedSlots shown{{slot, serial, filled_to}, previous, written_, ++read_};
        return renderer().read(renderer().draw(view_, shown));
    }

    Image picture_of_files(const Codes& codes, const Codes& flow) {
        renderer().set_volume(grid_, codes.data());
        renderer().set_flow(flow_, flow.data());
        return renderer().render(view_);
    }

    VolumeGrid grid_ = db_grid(edge, edge, edge, VoxelType::u8);
    VolumeGrid flow_;
    View view_;
    SlotWriter* slots_ = nullptr;
    std::uint64_t written_ = 0, read_ = 0;
};

// Phasors of two bytes per voxel give the same picture as two floats, also after filtering.
TEST_F(LiveFlow, SmallPhasorsAreFilteredLikeLargeOnes) {
    flow_ = flow_grid(VoxelType::phasor8);
    view_.mode = ViewMode::mip;
    view_.zoom *= 5;
    view_.flow_threshold = 0.2;
    const Codes small = phasors(0);
    const Image found = picture_of_files(structure(0), small);
    flow_.type = VoxelType::complex64;
    Codes large(index(flow_.bytes()));
    for (std::size_t i = 0; i < small.size(); ++i) {
        const float part = static_cast<float>(std::to_integer<std::int8_t>(small[i])) / 127;
        std::memcpy(large.data() + sizeof part * i, &part, sizeof part);
    }
    const Image expected = picture_of_files(structure(0), large);
    std::size_t differing = 0;
    for (std::size_t i = 0; i < found.pixels.size(); ++i) {
        differing += std::abs(found.pixels[i] - expected.pixels[i]) > 2 ? 1 : 0;
    }
    EXPECT_LT(differing, found.pixels.size() / 500);  // where the phase wraps
    renderer().clear_flow();
    EXPECT_NE(found.pixels, renderer().render(view_).pixels);
}

// The new flow below the edge, that of the previous volume above it: exact for rays within slices.
TEST_F(LiveFlow, RollingFollowsStructure) {
    for (const VoxelType type : {VoxelType::phasor8, VoxelType::f16}) {
        make(flow_grid(type));
        written_ = read_ = 0;
        const auto flow = [&](int seed) { return type == VoxelType::f16 ? velocities(seed) : phasors(seed); };
        view_.elevation_deg = 90;
        view_.flow_range = type == VoxelType::f16 ? 20 : 3;
        view_.flow_threshold = 0.1 * view_.flow_range;
        write(0, structure(0), flow(0), 0, edge);
        picture(0, 1);
        std::int64_t last = 0;
        for (const std::int64_t filled_to : {1, 17}) {
            write(2, structure(1), flow(1), last, filled_to);
            last = filled_to;
            for (const ViewMode mode : some_modes) {
                view_.mode = mode;
                const Image shown = picture(2, 2, filled_to, DisplayedSlot{0, 1, edge});
                const Codes codes = joined(structure(1), structure(0), filled_to);
                EXPECT_EQ(shown.pixels, picture_of_files(codes, joined(flow(1), flow(0), filled_to)).pixels)
                    << "filled to " << filled_to << ", mode " << static_cast<int>(mode);
            }
        }
    }
}

// With an automatic range, the range follows the flow as for a file, as soon as speeds have been counted. Small changes
// do not move it.
TEST_F(LiveFlow, AutomaticRangeFollowsFlow) {
    for (const VoxelType type : {VoxelType::phasor8, VoxelType::f16}) {
        make(flow_grid(type));
        written_ = read_ = 0;
        const Codes flow = type == VoxelType::f16 ? velocities(0) : phasors(0);
        write(0, structure(0), flow, 0, edge);
        const double before = renderer().flow_scale(view_)->range;
        for (int i = 0; i < 3; ++i) {  // starts counting, reads the count, counts the new pictures
            renderer().look_at_flow({{0, 1, edge}, {}, written_, ++read_});
            picture(0, 1);
        }
        const double after = renderer().flow_scale(view_)->range;
        EXPECT_NE(before, after);
        const Image shown = picture(0, 1);
        EXPECT_EQ(shown.pixels, picture_of_files(structure(0), flow).pixels) << after;
    }
}

// The earlier contents of the slot must not be visible.
TEST_F(LiveFlow, IsHiddenUntilFirstVolumeIsFilled) {
    make(flow_grid(VoxelType::phasor8));
    set(view_, "azimuth_deg=40 elevation_deg=20");
    const auto shown = [&](int seed, std::uint64_t serial) {
        write(0, structure(seed), phasors(seed), 0, edge);
        write(0, structure(2), phasors(2), 0, 10);
        return picture(0, serial, 10).pixels;
    };
    for (const ViewMode mode : some_modes) {
        view_.mode = mode;
        EXPECT_EQ(shown(0, 1), shown(1, 2)) << "mode " << static_cast<int>(mode);
    }
}

TEST_F(LiveFlow, UsesMaximumVelocityOfFlow) {
    flow_ = flow_grid(VoxelType::phasor8);
    const auto shown = [&](double of_flow, double of_view) {
        flow_.v_max = of_flow;
        set(view_, "flow_range=4 flow_threshold=1");
        view_.flow_v_max = of_view;
        return picture_of_files(structure(0), phasors(0)).pixels;
    };
    const auto expected = shown(0, 12);
    EXPECT_EQ(shown(12, 0), expected);
    EXPECT_EQ(shown(3, 12), expected);
    EXPECT_NE(shown(3, 0), expected);
}

// An angiogram shown instead of the structure is displayed like any other volume.
TEST_F(LiveFlow, IsShownAloneLikeVolume) {
    make(flow_grid(VoxelType::f16, "omag"));
    write(0, structure(0), velocities(1), 0, edge);
    set(view_, "low=1 high=20");
    for (const ViewMode mode : {ViewMode::composite, ViewMode::depth_mip}) {
        view_.mode = mode;
        view_.show = mode == ViewMode::depth_mip ? ViewContent::en_face : ViewContent::volume;
        view_.flow_shown = FlowDisplay::alone;
        const Image alone = picture(0, 1);
        view_.flow_shown = FlowDisplay::overlay;
        EXPECT_NE(alone.pixels, picture(0, 1).pixels);
        renderer().set_volume(flow_, velocities(1).data());
        EXPECT_EQ(alone.pixels, renderer().render(view_).pixels);
    }
    make(flow_grid(VoxelType::phasor8));
    view_.flow_shown = FlowDisplay::alone;
    EXPECT_THROW(picture(0, 1), Error);
}

TEST_F(LiveFlow, RejectsOtherSizesAndQuantities) {
    VolumeGrid flow = flow_grid(VoxelType::phasor8);
    flow.b_scans += 1;
    EXPECT_THROW(make(flow), Error);
    EXPECT_THROW(make(flow_grid(VoxelType::f16, "db")), Error);
}

}  // namespace
}  // namespace echolux::test
