// A GPU that fails while writing to shared textures, and a display that is lost while the GPU waits for it: the result
// is an error or a fallback, never a hang.
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <thread>

#include "sharing.h"

namespace echolux::test {
namespace {

using testing::HasSubstr;

// Fails when `lasts` volumes have begun, like a lost device.
class Failing : public SlotWriter {
  public:
    Failing(std::unique_ptr<SlotWriter> slots, int lasts) : slots_(std::move(slots)), left_(lasts) {}

    VoxelTargets targets(std::size_t slot) const override { return slots_->targets(slot); }
    void begin(std::size_t slot, std::uint64_t value) override {
        if (left_-- == 0) throw Error(ErrorCode::device, "lost for a test", "test");
        slots_->begin(slot, value);
    }
    void publish(std::size_t slot, std::uint64_t value, std::int64_t first, std::int64_t end) override {
        slots_->publish(slot, value, first, end);
    }
    SettleResult settle(std::chrono::milliseconds timeout) noexcept override { return slots_->settle(timeout); }
    void release_readers(std::uint64_t value) noexcept override { slots_->release_readers(value); }

  private:
    std::unique_ptr<SlotWriter> slots_;
    int left_;
};

TEST_F(Sharing, RetriesFailedGpuThenReplacesIt) {
    const ReconstructionSpec spec = spec_of({512, 37, 11, 0, 0}, VoxelType::u8);
    LivePipelineOptions options;
    options.share = [](const auto& slots, const auto& written, const auto& read) -> std::unique_ptr<SlotWriter> {
        return std::make_unique<Failing>(share(slots, written, read), 3);
    };
    LivePipeline path(spec, {}, {}, options);
    std::array<std::string, 10> ways;
    for (std::size_t volume = 0; volume < ways.size(); ++volume) {
        const PinnedSpectra spectra(spec, static_cast<std::int64_t>(volume));
        feed(path, spec, spectra, static_cast<std::int64_t>(volume));
        if (const auto picture = path.display.picture(from_above(path.feeder.grid()))) path.display.wait(*picture);
        ways[volume] = path.feeder.describe();
    }
    EXPECT_THAT(ways[2], HasSubstr("cuda ("));
    EXPECT_THAT(ways[3], testing::AllOf(HasSubstr("cuda ("), HasSubstr("lost for a test")));
    EXPECT_THAT(ways[9], testing::AllOf(testing::StartsWith("cpu ("), HasSubstr("lost for a test")));
    EXPECT_EQ(path.display.read_volume()->stamp.volume, 9);
    EXPECT_THROW(
        {
            LivePipeline demanded(spec, on_gpu, {}, options);
            const PinnedSpectra spectra(spec, 0);
            for (std::int64_t volume = 0; volume < 5; ++volume) feed(demanded, spec, spectra, volume);
        },
        Error);
}

TEST_F(Sharing, FailedRecoveryIsPermanentError) {
    const ReconstructionSpec spec = spec_of({512, 37, 11, 0, 0}, VoxelType::u8);
    int calls = 0;
    LivePipelineOptions options;
    options.share = [&](const auto& slots, const auto& written, const auto& read) -> std::unique_ptr<SlotWriter> {
        if (calls++ == 0) return std::make_unique<Failing>(share(slots, written, read), 1);
        close_handles(slots);
        close_handle(written.handle);
        close_handle(read.handle);
        throw Error(ErrorCode::bad_setting, "not again", "test");  // no other kind of slot to try
    };
    LivePipeline path(spec, {}, {}, options);
    const PinnedSpectra spectra(spec, 0);
    feed(path, spec, spectra, 0);
    for (std::int64_t volume = 1; volume < 4; ++volume) EXPECT_THROW(feed(path, spec, spectra, volume), Error);
    EXPECT_EQ(calls, 2);
    EXPECT_THROW(path.feeder.kind(), Error);
    EXPECT_THROW(path.feeder.describe(), Error);
    EXPECT_THROW(path.display.picture(from_above(path.feeder.grid())), Error);
    EXPECT_THROW(path.display.read_volume(), Error);
    EXPECT_EQ(path.feeder.statistics().published, 1);
}

// Ends the program if a test hangs.
class Deadline {
  public:
    Deadline()
        : thread_([](const std::stop_token& stop) {
              std::mutex mutex;
              std::condition_variable_any over;
              std::unique_lock lock(mutex);
              over.wait_for(lock, stop, std::chrono::seconds(60), [] { return false; });
              if (stop.stop_requested()) return;
              std::fputs("a minute is over: the test hangs\n", stderr);
              std::_Exit(1);
          }) {}

  private:
    std::jthread thread_;
};

// A ring of two slots whose display is lost while it draws one of them. The other slot is full, so the next write waits
// for that picture.
struct LostDisplay {
    explicit LostDisplay(SlotKind kind) : spec(spec_of({512, 37, 11, 0, 0}, VoxelType::u8)), spectra(spec, 0) {
        LivePipelineOptions options{.slots = 2, .first_kind = kind};
        GpuDevice device;
        device.loses = [this] { return lost.load(); };
        path = std::make_unique<LivePipeline>(spec, on_gpu, device, options);
        EXPECT_EQ(path->feeder.kind(), kind);
        feed(*path, spec, spectra, 0);
        path->display.wait(path->display.picture(from_above(path->feeder.grid())).value());
        lost = true;
        picture = path->display.picture(from_above(path->feeder.grid())).value();
        feed(*path, spec, spectra, 1);
    }

    ReconstructionSpec spec;
    PinnedSpectra spectra;
    std::atomic<bool> lost = false;
    LivePicture picture;
    std::unique_ptr<LivePipeline> path;
};

TEST_F(Sharing, LostDisplayReleasesReconstructingGpu) {
    using Hear = std::function<void(LostDisplay&)>;
    const std::array<Hear, 4> ways{[](LostDisplay& display) { display.path->display.wait(display.picture); },
                                   [](LostDisplay& display) { display.path->display.is_finished(display.picture); },
                                   [](LostDisplay& display) { display.path->display.read(display.picture); },
                                   [](LostDisplay& display) { display.path->display.read_volume(); }};
    for (const SlotKind kind : {SlotKind::surface, SlotKind::buffer, SlotKind::upload}) {
        for (const Hear& hear : ways) {
            SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(kind));
            const Deadline deadline;
            LostDisplay display(kind);
            LivePipeline& path = *display.path;
            const bool waits = kind != SlotKind::upload;  // on the GPU; uploads would wait on the host
            if (waits) {
                EXPECT_TRUE(path.feeder.feed(display.spectra.block(display.spec, 2, 0, 3)));
            }
            EXPECT_THROW(hear(display), Error);
            for (std::int64_t volume = 3; volume < 20; ++volume) feed(path, display.spec, display.spectra, volume);
            path.feeder.finish();
            EXPECT_EQ(path.feeder.statistics().published, 2 + 17);
        }
    }
}

TEST_F(Sharing, UndetectedLostDisplayBlocksNoThread) {
    for (const SlotKind kind : {SlotKind::surface, SlotKind::buffer}) {
        const Deadline deadline;
        LostDisplay display(kind);
        EXPECT_TRUE(display.path->feeder.feed(display.spectra.block(display.spec, 2, 0, 3)));
        display.path.reset();
    }
}

}  // namespace
}  // namespace echolux::test
