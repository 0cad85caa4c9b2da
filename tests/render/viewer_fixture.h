// A viewer with validation of the renderer, several things to open on it, and a clock controlled by the test.
#pragma once

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "app/viewer/viewer.h"
#include "rendering.h"
#include "tests/unit/await.h"
#include "tests/unit/temporary_folder.h"

namespace echolux::test {

inline const BackendChoice on_cpu{.backend = Backend::cpu};

inline View stage_view() {
    return sized_view(48, 40);
}

class ViewerTest : public Rendering {
  protected:
    void SetUp() override {
        Rendering::SetUp();
        make_stage({});
    }
    void make_stage(const VolumeLimits& limits) {
        viewer_.reset();
        GpuDevice device = validated_device(limits);
        device.loses = [this] { return lost_.load(); };
        viewer_ = std::make_unique<Viewer>(device, on_cpu);
    }

    void open(const std::filesystem::path& path, const std::vector<std::string>& assignments = {},
              const SeriesBudget& budget = {}) {
        SilentProgress progress;
        viewer_->show(open_source_view(path, assignments, on_cpu, budget, progress));
    }
    std::string refusal(const std::filesystem::path& path, const std::vector<std::string>& assignments = {}) {
        return error_of([&] { open(path, assignments); }).line;
    }

    ViewSource& view_source() { return *viewer_->view_source(); }

    // Draws pictures until `is_so()`.
    template <class Condition>
    void turn_until(const Condition& is_so) {
        for (const auto start = std::chrono::steady_clock::now(); !is_so();) {
            ASSERT_LT(std::chrono::steady_clock::now() - start, std::chrono::minutes(1)) << "it never came to that";
            view_source().update(now_s_);
            view_source().follow(stage_view(), now_s_, 0);
            std::this_thread::yield();
        }
    }
    void turn_until_there() {
        turn_until([&] { return view_source().grid().has_value(); });
    }
    void turn_until_shown(std::int64_t step) {
        turn_until([&] { return view_source().timeline()->shown() == step; });
    }

    // Returns the fully refined picture of a pane.
    Image followed(std::size_t pane = 0) {
        std::optional<PanePicture> picture;
        for (TestTimeout timeout; timeout.lasts() && (!picture || !picture->is_final);) {
            now_s_ += 0.1;
            view_source().update(now_s_);
            picture = view_source().follow(stage_view(), now_s_, pane);
        }
        viewer_->renderer().wait(picture->drawing);
        return viewer_->renderer().read(picture->drawing);
    }

    // Finishes pending work first, because a simulated loss does not stop the device.
    void lose_the_device() {
        view_source().still(stage_view());
        lost_ = true;
        EXPECT_EQ(error_of([&] { view_source().still(stage_view()); }).code, ErrorCode::device);
    }

    TemporaryFolder folder_;
    std::atomic<bool> lost_ = false;
    double now_s_ = 0;
    std::unique_ptr<Viewer> viewer_;
};

}  // namespace echolux::test
