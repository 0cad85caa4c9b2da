// The library together with a caller's own GPU work: it runs after work that was enqueued before on the caller's
// stream, later work sees the voxels, and the host never waits.
#include <atomic>
#include <chrono>

#include "compute/indexing.h"
#include "echolux/echolux.hpp"
#include "tests/gpu/copy_recorder.h"
#include "tests/gpu/gpu_run.h"
#include "tests/unit/await.h"

namespace echolux {
namespace {

constexpr std::int64_t samples = 1024, a_scans = 32, b_scans = 8;
constexpr std::size_t spectra_bytes = samples * a_scans * b_scans * 2;

struct CallerStream {
    CallerStream() { cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking); }
    ~CallerStream() { cudaStreamDestroy(stream); }
    cudaStream_t stream = nullptr;
};

// Blocks a stream until open() is called or a timeout expires.
class Gate {
  public:
    explicit Gate(cudaStream_t stream) {
        cudaLaunchHostFunc(
            stream, [](void* gate) { static_cast<Gate*>(gate)->wait(); }, this);
    }
    void open() { is_open_ = true; }
    bool took_too_long() const { return took_too_long_; }

  private:
    void wait() {
        took_too_long_ = !becomes_true([this] { return is_open_.load(); }, std::chrono::seconds(10));
    }

    std::atomic<bool> is_open_ = false, took_too_long_ = false;
};

class CallerStreams : public GpuTest {
  protected:
    void SetUp() override {
        GpuTest::SetUp();
        if (IsSkipped()) return;
        scan_.emplace(api::Scan::create(samples, a_scans, b_scans, "u16",
                                        {"recipe.levels=fixed", "recipe.low=20", "recipe.high=120"}));
        const auto device = [] {
            auto one = api::make<echolux_device>();
            one.kind = ECHOLUX_DEVICE_CUDA;
            return one;
        };
        work_.emplace(*scan_, device());
        spectra_ = moving_reflectors(samples, a_scans * b_scans);
        voxel_bytes_ = index(work_->grid().bytes);
        from_.emplace(spectra_bytes);
        to_.emplace(voxel_bytes_);
        pinned_ = block_memory(static_cast<std::int64_t>(spectra_bytes));
        std::memcpy(pinned_.data, spectra_.data(), spectra_bytes);
        back_ = block_memory(static_cast<std::int64_t>(voxel_bytes_));
    }

    echolux_block block() const {
        auto one = api::make<echolux_block>();
        one.data = from_->data();
        one.bytes = spectra_bytes;
        one.memory = ECHOLUX_ON_DEVICE;
        one.b_scans = b_scans;
        return one;
    }
    echolux_place place() const {
        auto one = api::make<echolux_place>();
        one.data = to_->data();
        one.bytes = static_cast<std::int64_t>(voxel_bytes_);
        one.memory = ECHOLUX_ON_DEVICE;
        return one;
    }

    // Reconstructs from and to host memory and waits for everything.
    std::vector<std::byte> expected() {
        std::vector<std::byte> voxels(voxel_bytes_);
        auto from = api::make<echolux_block>();
        from.data = spectra_.data();
        from.bytes = spectra_bytes;
        from.b_scans = b_scans;
        auto to = api::make<echolux_place>();
        to.data = voxels.data();
        to.bytes = static_cast<std::int64_t>(voxel_bytes_);
        work_->wait(work_->submit(from, to));
        return voxels;
    }

    void bring_spectra(cudaStream_t stream) {
        cudaMemcpyAsync(from_->data(), pinned_.data, spectra_bytes, cudaMemcpyHostToDevice, stream);
    }
    void fetch_voxels(cudaStream_t stream) {
        cudaMemcpyAsync(back_.data, to_->data(), voxel_bytes_, cudaMemcpyDeviceToHost, stream);
    }
    std::vector<std::byte> fetched() const { return {back_.data, back_.data + voxel_bytes_}; }

    std::optional<api::Scan> scan_;
    std::optional<OnDevice> from_, to_;
    BlockMemory pinned_, back_;
    std::vector<std::uint16_t> spectra_;
    std::size_t voxel_bytes_ = 0;
    std::optional<api::Reconstructor> work_;
};

TEST_F(CallerStreams, VoxelsFollowOrderOfStream) {
    const auto right = expected();
    const CallerStream caller;
    Gate gate(caller.stream);
    bring_spectra(caller.stream);  // runs after the gate opens
    auto to = place();
    to.sync = ECHOLUX_SYNC_STREAM;
    to.cuda = caller.stream;
    work_->submit(block(), to);
    fetch_voxels(caller.stream);
    gate.open();
    ASSERT_EQ(cudaStreamSynchronize(caller.stream), cudaSuccess);
    EXPECT_EQ(fetched(), right);
}

TEST_F(CallerStreams, VoxelsFollowOrderOfEvents) {
    const auto right = expected();
    const CallerStream before, after;
    cudaEvent_t ready = nullptr, done = nullptr;
    cudaEventCreateWithFlags(&ready, cudaEventDisableTiming);
    cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
    Gate gate(before.stream);
    bring_spectra(before.stream);
    cudaEventRecord(ready, before.stream);
    auto from = block();
    from.sync = ECHOLUX_SYNC_EVENT;
    from.cuda = ready;
    auto to = place();
    to.sync = ECHOLUX_SYNC_EVENT;
    to.cuda = done;
    work_->submit(from, to);
    cudaStreamWaitEvent(after.stream, done);
    fetch_voxels(after.stream);
    gate.open();
    ASSERT_EQ(cudaStreamSynchronize(after.stream), cudaSuccess);
    EXPECT_EQ(fetched(), right);
    cudaEventDestroy(ready);
    cudaEventDestroy(done);
}

// Submits many more blocks than the reconstructor has streams while none can complete.
TEST_F(CallerStreams, SubmittingNeverWaits) {
    const auto right = expected();
    const CallerStream caller;
    Gate gate(caller.stream);
    bring_spectra(caller.stream);
    auto to = place();
    to.sync = ECHOLUX_SYNC_STREAM;
    to.cuda = caller.stream;
    std::uint64_t first = 0, last = 0;
    for (int i = 0; i < 20; ++i) {
        last = work_->submit(block(), to);
        if (i == 0) first = last;
    }
    gate.open();
    work_->wait(first);
    work_->wait(last);
    EXPECT_FALSE(gate.took_too_long());
    fetch_voxels(caller.stream);
    ASSERT_EQ(cudaStreamSynchronize(caller.stream), cudaSuccess);
    EXPECT_EQ(fetched(), right);
}

TEST_F(CallerStreams, NoCallSynchronisesDevice) {
    const CallerStream caller;
    bring_spectra(caller.stream);
    auto to = place();
    to.sync = ECHOLUX_SYNC_STREAM;
    to.cuda = caller.stream;
    work_->submit(block(), to);  // initialises what the first block needs
    ASSERT_EQ(cudaStreamSynchronize(caller.stream), cudaSuccess);
    const CopyRecorder recorder;
    for (int i = 0; i < 20; ++i) work_->submit(block(), to);
    const RecordedCopies seen = recorder.recorded();
    EXPECT_EQ(seen.host_waits, 0);
    EXPECT_EQ(seen.device_waits, 0);
    EXPECT_EQ(seen.copies, 0);
    EXPECT_EQ(seen.lost_records, 0);
    cudaDeviceSynchronize();
    cudaStreamSynchronize(caller.stream);
    EXPECT_EQ(recorder.recorded().device_waits, 1) << "one that is planted is seen";
    EXPECT_EQ(recorder.recorded().host_waits, 2);
}

TEST_F(CallerStreams, RejectsHostMemory) {
    const CallerStream caller;
    auto from = block();
    from.data = spectra_.data();
    from.memory = ECHOLUX_HOST;
    from.sync = ECHOLUX_SYNC_STREAM;
    from.cuda = caller.stream;
    EXPECT_THROW(work_->submit(from, place()), api::Error);
    std::vector<std::byte> voxels(voxel_bytes_);
    auto to = place();
    to.data = voxels.data();
    to.memory = ECHOLUX_HOST;
    to.sync = ECHOLUX_SYNC_STREAM;
    to.cuda = caller.stream;
    EXPECT_THROW(work_->submit(block(), to), api::Error);
}

// Spectra in pinned memory may be overwritten in stream order.
TEST_F(CallerStreams, PinnedBlocksFollowOrderOfStream) {
    const auto right = expected();
    const CallerStream caller;
    auto from = block();
    from.data = pinned_.data;
    from.memory = ECHOLUX_PINNED;
    from.sync = ECHOLUX_SYNC_STREAM;
    from.cuda = caller.stream;
    auto to = place();
    to.sync = ECHOLUX_SYNC_STREAM;
    to.cuda = caller.stream;
    work_->submit(from, to);
    cudaLaunchHostFunc(
        caller.stream, [](void* data) { std::memset(data, 0, spectra_bytes); }, pinned_.data);
    fetch_voxels(caller.stream);
    ASSERT_EQ(cudaStreamSynchronize(caller.stream), cudaSuccess);
    EXPECT_EQ(fetched(), right);
}

// Earlier blocks are still running when the capture starts.
TEST_F(CallerStreams, GraphCapturesBlock) {
    const auto right = expected();
    const CallerStream caller;
    auto to = place();
    to.sync = ECHOLUX_SYNC_STREAM;
    to.cuda = caller.stream;
    Gate gate(caller.stream);
    for (int i = 0; i < 5; ++i) work_->submit(block(), to);
    gate.open();
    cudaGraph_t graph = nullptr;
    ASSERT_EQ(cudaStreamBeginCapture(caller.stream, cudaStreamCaptureModeGlobal), cudaSuccess);
    const std::uint64_t captured = work_->submit(block(), to);
    fetch_voxels(caller.stream);
    work_->wait(captured);
    ASSERT_EQ(cudaStreamEndCapture(caller.stream, &graph), cudaSuccess);
    cudaGraphExec_t runs = nullptr;
    ASSERT_EQ(cudaGraphInstantiate(&runs, graph, 0), cudaSuccess);
    for (int i = 0; i < 3; ++i) {
        cudaMemsetAsync(from_->data(), 0, spectra_bytes, caller.stream);
        cudaGraphLaunch(runs, caller.stream);
        ASSERT_EQ(cudaStreamSynchronize(caller.stream), cudaSuccess);
        EXPECT_NE(fetched(), right);
        bring_spectra(caller.stream);
        cudaGraphLaunch(runs, caller.stream);
        ASSERT_EQ(cudaStreamSynchronize(caller.stream), cudaSuccess);
        EXPECT_EQ(fetched(), right);
    }
    cudaGraphExecDestroy(runs);
    cudaGraphDestroy(graph);
    cudaMemsetAsync(to_->data(), 0, voxel_bytes_, caller.stream);
    for (int i = 0; i < 5; ++i) work_->wait(work_->submit(block(), to));  // also works without a graph
    fetch_voxels(caller.stream);
    ASSERT_EQ(cudaStreamSynchronize(caller.stream), cudaSuccess);
    EXPECT_EQ(fetched(), right);
}

TEST_F(CallerStreams, GraphRejectsHostMemory) {
    const CallerStream caller;
    auto from = block();
    from.data = pinned_.data;
    from.memory = ECHOLUX_PINNED;
    from.sync = ECHOLUX_SYNC_STREAM;
    from.cuda = caller.stream;
    std::vector<std::byte> voxels(voxel_bytes_);
    auto to = place();
    to.data = voxels.data();
    to.memory = ECHOLUX_HOST;
    ASSERT_EQ(cudaStreamBeginCapture(caller.stream, cudaStreamCaptureModeGlobal), cudaSuccess);
    EXPECT_THROW(work_->submit(from, to), api::Error);
    cudaGraph_t graph = nullptr;
    ASSERT_EQ(cudaStreamEndCapture(caller.stream, &graph), cudaSuccess) << "the capture goes on";
    cudaGraphDestroy(graph);
}

}  // namespace
}  // namespace echolux
