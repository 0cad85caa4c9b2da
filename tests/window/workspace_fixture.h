// A workspace without a window, with its own files. Any message of the validation layer fails the test.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "app/viewer/view_source.h"
#include "compute/plan/describe.h"
#include "engine/io/volume_file.h"
#include "own_home.h"
#include "temporary_folder.h"
#include "tests/support/set_fields.h"
#include "tests/support/validation.h"
#include "tests/support/volumes.h"
#include "ui/workspace/workspace.h"

namespace echolux::test {

class WorkspaceTest : public testing::Test {
  protected:
    void SetUp() override { work_ = make("state"); }
    void TearDown() override {
        work_.reset();
        const std::scoped_lock lock(mutex_);
        for (const std::string& text : messages_) ADD_FAILURE() << "validation layer: " << text;
    }

    Workspace& work() { return *work_; }
    const TemporaryFolder& folder() const { return folder_; }

    std::unique_ptr<Workspace> make(const std::string& state, const std::vector<std::string>& assignments = {}) {
        WorkspaceOptions options;
        options.device.validation = validates();
        options.device.on_message = [this](const std::string& text) {
            const std::scoped_lock lock(mutex_);
            messages_.push_back(text);
        };
        options.device.loses = [this] { return loses_; };
        options.backend.backend = Backend::cpu;
        options.state_folder = folder_ / state;
        options.assignments = assignments;
        return std::make_unique<Workspace>(options);
    }
    void remake(const std::string& state = "state") {
        work_.reset();
        work_ = make(state);
    }

    // Runs one turn of a window's loop: draws a small picture of the volume and one of a section.
    static void turn(Workspace& work) {
        static const auto start = std::chrono::steady_clock::now();
        const double now_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        work.update(now_s);
        ViewSource* view_source = work.viewer().view_source();
        if (view_source == nullptr) return;
        View view = with(work.view(), "width=48 height=40");
        view_source->follow(view, now_s, 0);
        set(view, "show=slice plane=b-scan");
        view.plane_offset_um = work.cross_um()[2];
        view_source->follow(view, now_s, 1);
    }

    static void turn(Workspace& work, double& now_s) {
        turn(work);
        now_s = work.now_s();
    }

    // Turns until `is_so()` returns true. Returns false after two minutes.
    static bool until(Workspace& work, const std::function<bool()>& is_so) {
        const auto start = std::chrono::steady_clock::now();
        while (!is_so()) {
            if (std::chrono::steady_clock::now() - start > std::chrono::minutes(2)) return false;
            turn(work);
            std::this_thread::yield();
        }
        return true;
    }
    bool until(const std::function<bool()>& is_so) { return until(work(), is_so); }
    void settle() {
        EXPECT_TRUE(until([this] { return !work().is_busy(); }));
    }

    // A ball in a volume of 24 x 20 x 16 voxels of 10 um.
    std::filesystem::path volume_file(const std::string& name = "ball.nii") const {
        Volume volume = make_volume({.depth = 24,
                                     .a_scans = 20,
                                     .b_scans = 16,
                                     .spacing_um = {10, 10, 10},
                                     .quantity = "db",
                                     .unit = "dB above noise floor"});
        std::vector<float> values;
        for (int b = 0; b < 16; ++b) {
            for (int a = 0; a < 20; ++a) {
                for (int z = 0; z < 24; ++z) {
                    values.push_back(static_cast<float>(40 - 4 * std::hypot(z - 11.5, a - 9.5, b - 7.5)));
                }
            }
        }
        std::memcpy(volume.voxels.data(), values.data(), volume.voxels.size());
        write_volume(folder_ / name, volume);
        return folder_ / name;
    }
    void open_volume() {
        work().open(volume_file());
        settle();
        ASSERT_TRUE(work().viewer().is_open()) << troubles();
    }

    // A small simulated scene that runs as fast as possible.
    static SourceRequest small_source(const std::string& scene = "sim:vessel") {
        SourceRequest wanted;
        wanted.name = scene;
        wanted.assignments = {"simulation.samples=128", "simulation.a_scans=24", "simulation.b_scans=12",
                              "simulation.line_rate_hz=2000"};
        return wanted;
    }
    void open_source() {
        work().open_source(small_source());
        settle();
        ASSERT_TRUE(work().viewer().is_open()) << troubles();
    }

    // Call it after a simulated device loss, which destroys objects that the device still uses.
    void forget_messages() {
        const std::scoped_lock lock(mutex_);
        messages_.clear();
    }

    Value value(const std::string& key) { return work().settings().field(key)->get(); }

    std::string troubles() {
        std::string lines;
        for (const Notice& notice : work().notices().all()) {
            if (notice.is_problem) lines += notice.place + ": " + notice.line + "\n";
        }
        return lines;
    }
    std::string standing(const std::string& place) {
        const Notice* notice = work().notices().standing(place);
        return notice == nullptr ? "" : notice->line;
    }

    bool loses_ = false;  // the next submission loses the graphics device

  private:
    TemporaryFolder folder_;
    OwnHome home_{folder_ / "home"};
    std::mutex mutex_;
    std::vector<std::string> messages_;
    std::unique_ptr<Workspace> work_;
};

}  // namespace echolux::test
