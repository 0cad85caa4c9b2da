// Slots of a live ring give the same pictures as a volume from a file: complete and in part, one after the other, and
// when the writer is gone.
#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <limits>
#include <thread>
#include <utility>

#include "render/vk/image.h"
#include "render/vk/memory.h"
#include "render/vk/queue.h"
#include "slots_fixture.h"
#include "tests/support/set_fields.h"

namespace echolux::test {
namespace {

using testing::HasSubstr;

TEST_F(Slots, HalfFloatsKeepTheirValues) {
    VolumeGrid grid = db_grid(2, 1, 1, VoxelType::f16);
    grid.scale = 1;
    make(grid);
    const std::array<std::uint16_t, 2> codes{0x4D00, 0xC900};  // 20, -10
    const auto bytes = std::as_bytes(std::span(codes));
    write(0, {bytes.begin(), bytes.end()});
    EXPECT_EQ(renderer().read_slot(whole(0, 1)), std::vector(bytes.begin(), bytes.end()));
    renderer().set_volume(grid, codes.data());
    View view = voxel_view(grid, 1, 2);
    view.mode = ViewMode::mip;
    const std::vector<RayMeasure> rays = renderer().measure(view);
    EXPECT_NEAR(rays[0].value, 15, 1e-3);
    EXPECT_NEAR(rays[1].value, -15, 1e-3);
}

TEST_F(Slots, EachVolumeIsFetchedOnce) {
    make(small_grid());
    const View view = small_view();
    const std::vector<std::byte> first = noise_voxels(grid_, 1);
    const std::vector<std::byte> second = noise_voxels(grid_, 2);
    write(0, first);
    const Image before = picture(whole(0, 1), view);
    write(0, second);
    EXPECT_EQ(picture(whole(0, 1), view).pixels, before.pixels);  // its serial says that the volume is unchanged
    const Image after = picture(whole(0, 2), view);
    EXPECT_EQ(after.pixels, picture_of_file(second, view).pixels);
    EXPECT_NE(after.pixels, before.pixels);
}

TEST_F(Slots, LightFollowsVolumesOfSlot) {
    make(db_grid(24, 24, 24));
    View view = with(small_view(), "ambient_occlusion=1 shadows=1 lamp=free");
    const std::vector<std::byte> first = voxels(grid_, ball(grid_, 8));
    const std::vector<std::byte> second = voxels(grid_, ball(grid_, 12));
    write(0, first);
    const Image before = picture(whole(0, 1), view);
    write(0, second);
    const Image after = picture(whole(0, 2), view);  // without a picture in between that would rebuild the lighting
    EXPECT_EQ(before.pixels, picture_of_file(first, view).pixels);
    EXPECT_EQ(after.pixels, picture_of_file(second, view).pixels);
}

// The first slices from one volume, the others from another.
std::vector<std::byte> joined(const VolumeGrid& grid, const std::vector<std::byte>& below,
                              const std::vector<std::byte>& above, std::int64_t filled_to) {
    std::vector<std::byte> codes = above;
    std::copy_n(below.begin(), filled_to * grid.bytes() / grid.b_scans, codes.begin());
    return codes;
}

// Rays within slices touch only one of the two volumes: the picture equals exactly that of the joined volume.
TEST_F(Slots, SlowRollingShowsNewSlicesBelowPreviousOnes) {
    make(small_grid());
    View view = voxel_view(grid_, 18, 12);
    view.elevation_deg = 90;
    const std::vector<std::byte> above = noise_voxels(grid_, 1);
    const std::vector<std::byte> below = noise_voxels(grid_, 2);
    write(0, above);
    picture(whole(0, 1), view);
    std::int64_t last = 0;
    for (const std::int64_t filled_to : {1, 3, 8, 11}) {
        write(2, below, last, filled_to);
        DisplayedSlots both = shown(2, 2, filled_to);
        both.previous = DisplayedSlot{0, 1, grid_.b_scans};
        for (const ViewMode mode : all_modes) {
            view.mode = mode;
            const Image seen = picture(both, view);
            both.signal = ++read_;
            EXPECT_EQ(seen.pixels, picture_of_file(joined(grid_, below, above, filled_to), view).pixels)
                << "filled to " << filled_to;
        }
        last = filled_to;
    }
    write(2, below, last, grid_.b_scans);
    EXPECT_EQ(picture(whole(2, 2), view).pixels, picture_of_file(below, view).pixels);
    write(1, below, 0, 5);  // without a previous volume, the rest is empty
    const auto nothing = voxels(grid_, [](auto...) { return -5.0; });
    EXPECT_EQ(picture(shown(1, 3, 5), view).pixels, picture_of_file(joined(grid_, below, nothing, 5), view).pixels);
}

// Oblique rays: skipping bricks changes nothing, even if bricks of both volumes are in one run.
TEST_F(Slots, RollingSkipsNoVisibleVoxel) {
    make(db_grid(24, 24, 24));
    View view = small_view();
    view.lighting = false;
    const auto dark = voxels(grid_, [](auto...) { return -5.0; });
    const auto ball_codes = voxels(grid_, ball(grid_, 11));
    for (const bool ball_above : {false, true}) {
        const auto& above = ball_above ? ball_codes : dark;
        const auto& below = ball_above ? dark : ball_codes;
        const std::uint64_t serial = ball_above ? 3 : 1;
        write(0, above);
        write(1, below, 0, 12);
        DisplayedSlots both = shown(1, serial + 1, 12);
        both.previous = DisplayedSlot{0, serial, grid_.b_scans};
        const Image seen = picture(both, view);
        const Image expected = picture_of_file(joined(grid_, below, above, 12), view);
        std::size_t different = 0;
        for (std::size_t i = 0; i < seen.pixels.size(); ++i) {
            // At the seam, values are not interpolated.
            different += std::abs(seen.pixels[i] - expected.pixels[i]) > 12 ? 1 : 0;
        }
        EXPECT_LT(different, seen.pixels.size() / 50) << "ball above: " << ball_above;
    }
}

// Earlier contents of the slot are invisible from all directions.
TEST_F(Slots, UnfilledPartIsInvisible) {
    make(db_grid(24, 24, 24));
    View view = small_view();
    const auto shown_after = [&](int seed, std::uint64_t serial) {
        write(0, noise_voxels(grid_, seed));
        write(0, noise_voxels(grid_, 9), 0, 10);
        return picture(shown(0, serial, 10), view).pixels;
    };
    for (const ViewMode mode : all_modes) {
        view.mode = mode;
        view.ambient_occlusion = mode == ViewMode::composite ? 1 : 0;
        EXPECT_EQ(shown_after(1, 1), shown_after(2, 2)) << "mode " << static_cast<int>(mode);
    }
}

// The writer should not produce such voxels, but nothing breaks, and rays that do not come near them are unchanged.
TEST_F(Slots, NonFiniteVoxelsLeaveOthersUnchanged) {
    View view = voxel_view(db_grid(16, 16, 16), 16, 16);
    const auto value = [](std::int64_t z, std::int64_t a, std::int64_t b) { return 40 * noise(z, a, b); };
    make(db_grid(16, 16, 16));
    for (const double wrong :
         {std::nan(""), std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()}) {
        written_ = read_ = 0;
        make(grid_);
        write(0, voxels(grid_, value));
        write(1, voxels(grid_, [&](std::int64_t z, std::int64_t a, std::int64_t b) {
                  return a == 3 && z == 8 ? wrong : value(z, a, b);
              }));
        for (const ViewMode mode : all_modes) {
            view.mode = mode;
            const Image expected = picture(whole(0, 1), view);
            const Image found = picture(whole(1, 2), view);
            for (std::size_t i = 0; i < found.pixels.size(); ++i) {
                if (i / 4 % 16 < 6) continue;  // A-scans 2 to 4, and those next to them
                ASSERT_EQ(found.pixels[i], expected.pixels[i]) << "mode " << static_cast<int>(mode);
            }
        }
    }
}

TEST_F(Slots, PendingPicturesKeepTheirPixels) {
    make(small_grid());
    write(0, noise_voxels(grid_, 1));
    const View view = small_view();
    View other = view;
    other.azimuth_deg += 90;
    const Drawing first = renderer().draw(view, whole(0, 1));
    const Drawing second = renderer().draw(other, whole(0, 1));
    const Image first_picture = renderer().read(first);
    EXPECT_NE(first_picture.pixels, renderer().read(second).pixels);
    EXPECT_EQ(picture(whole(0, 1), view).pixels, first_picture.pixels);
    EXPECT_THROW(renderer().read(first), Error);  // a later picture has replaced it
}

// The renderer is notified that the writer is gone.
TEST_F(Slots, WaitingPicturesAreReleased) {
    make(small_grid());
    DisplayedSlots never = whole(0, 1);
    never.wait = 7;
    const Drawing drawing = renderer().draw(small_view(), never);
    EXPECT_FALSE(renderer().is_finished(drawing));
    renderer().abandon_writing(7);
    renderer().wait(drawing);
}

// Without a notice, the picture ends after a timeout and the next one is an error.
TEST_F(Slots, AbandonedRingEndsInError) {
    make(small_grid());
    DisplayedSlots never = whole(0, 1);
    never.wait = 7;
    renderer().wait(renderer().draw(small_view(), never));
    const Error error = refusal_of([&] { renderer().draw(small_view(), whole(0, 1)); });
    EXPECT_EQ(error.code(), ErrorCode::device);
    EXPECT_THAT(error.line(), HasSubstr("stopped answering"));
}

// The host waits for a picture before it writes its slot again, but not forever.
TEST_F(Slots, EndlessPictureIsError) {
    make(small_grid());
    write(0, noise_voxels(grid_, 1));
    picture(whole(0, 1), small_view());
    slots_->begin(0, read_);
    const Error error = refusal_of([&] { slots_->begin(0, read_ + 1); });
    EXPECT_EQ(error.code(), ErrorCode::device);
    EXPECT_THAT(error.line(), HasSubstr("no frame was completed within 1.5 s"));
    renderer().abandon_reading(read_ + 1);
    slots_->begin(0, read_ + 1);
}

TEST_F(Slots, ReportReasonOfUpload) {
    SlotRequest wanted;
    wanted.grid = small_grid();
    wanted.share = [](const auto& slots, const auto& written, const auto& read) -> std::unique_ptr<SlotWriter> {
        close_handles(slots);
        close_handle(written.handle);
        close_handle(read.handle);
        throw Error(ErrorCode::device, "no thanks", "test");
    };
    const LiveSlots slots = renderer().make_slots(wanted);
    EXPECT_EQ(slots.kind, SlotKind::upload);
    EXPECT_THAT(slots.remark, testing::AllOf(HasSubstr("textures are not shared: "), HasSubstr("buffers")));
}

TEST_F(Slots, RejectOversizedVolumes) {
    SlotRequest wanted;
    wanted.grid = db_grid(2048, 2048, 2048);
    EXPECT_THROW(renderer().make_slots(wanted), Error);
    EXPECT_THROW(renderer().draw(small_view(), whole(0, 1)), Error);
}

// ---- Copies of live volumes to the host while pictures are drawn ----

class SlotCopies : public Slots {};

// The copy is requested before the volume is written, and the caller does not wait.
TEST_F(SlotCopies, BeginWithoutWaiting) {
    for (const VoxelType type : {VoxelType::u8, VoxelType::f32}) {
        make(small_grid(type));
        written_ = read_ = 0;
        const std::vector<std::byte> voxels = noise_voxels(grid_, 1);
        DisplayedSlots early = whole(0, 1);
        early.wait = 1;
        const auto codes = renderer().copy_slot(early);
        write(0, voxels);
        EXPECT_EQ(codes(), voxels);
    }
}

// Each copy has separate memory until it is released, for any thread and order.
TEST_F(SlotCopies, AreReadInAnyOrderOnAnyThread) {
    make(small_grid(VoxelType::u16), 6);
    std::vector<std::vector<std::byte>> voxels;
    std::vector<std::function<std::vector<std::byte>()>> copies;
    for (std::size_t i = 0; i < 6; ++i) {
        voxels.push_back(noise_voxels(grid_, static_cast<int>(i)));
        write(i, voxels.back());
        copies.push_back(renderer().copy_slot(whole(i, i + 1)));
        if (i % 3 == 2) picture(whole(i, i + 1), small_view());  // also uses the memory of later copies
    }
    copies[4] = {};  // released without being read
    std::vector<std::vector<std::byte>> taken(copies.size());
    {
        std::vector<std::jthread> takers;
        for (std::size_t i = copies.size(); i-- > 0;) {
            if (copies[i]) takers.emplace_back([&, i] { taken[i] = std::exchange(copies[i], {})(); });
        }
    }
    for (const std::size_t i : {0, 1, 2, 3, 5}) EXPECT_EQ(taken[i], voxels[i]) << i;
    EXPECT_EQ(renderer().read_slot(whole(5, 6)), voxels[5]);
    EXPECT_EQ(renderer().bytes_read_back(), 2 * 72 * 56 * 4 + 7 * 2 * grid_.voxels());
}

// ---- Sharing with another API ----

// Exports memory as another API would import it, as far as this device allows.
TEST(SharedMemory, IsExportedAndLeaksNoDescriptor) {
    const gpu::Device device(validated_device());
    gpu::Queue queue(device);
    const gpu::ImageShape shape{.type = vk::ImageType::e3D,
                                .format = vk::Format::eR16Unorm,
                                .extent = {33, 17, 9},
                                .usage = vk::ImageUsageFlagBits::eSampled | vk::ImageUsageFlagBits::eTransferDst,
                                .sharing = gpu::Sharing::exported};
    if (!gpu::can_export(device, shape)) GTEST_SKIP() << device.name() << " exports no textures";
    const std::ptrdiff_t before = open_descriptors();
    for (int i = 0; i < 20; ++i) {
        const gpu::DeviceImage image(device, shape, "texture");
        EXPECT_GE(image.memory_bytes(), 33 * 17 * 9 * 2);
        gpu::Handle handle = image.exported();
        const gpu::ExportedBuffer buffer(device, 4711);
        gpu::Handle other = buffer.exported();
        EXPECT_GT(open_descriptors(), before);
        queue.run([&](const vk::raii::CommandBuffer& commands) {
            image.record_first_use(commands);
            image.record_release(commands);
            buffer.record_release(commands);
        });
        queue.run([&](const vk::raii::CommandBuffer& commands) {
            image.record_acquire(commands);
            buffer.record_acquire(commands);
        });
    }
    EXPECT_EQ(open_descriptors(), before);
}

}  // namespace
}  // namespace echolux::test
