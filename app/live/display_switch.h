// Block sink of a session whose display may change. A graphics device may be lost and restored, or another display may
// take its place, without affecting acquisition or a recording. Without a display, volumes are dropped.
#pragma once

#include <shared_mutex>

#include "engine/live/display_queue.h"

namespace echolux {

class DisplaySwitch : public BlockSink {
  public:
    // Both wait until the session has finished its current call into the display.
    void attach(BlockSink& display) { turn_to(&display); }
    void detach() { turn_to(nullptr); }

    bool feed(const Block& block) override {
        return given(false, [&](BlockSink& display) { return display.feed(block); });
    }
    bool rework(const Block& block) override {
        return given(false, [&](BlockSink& display) { return display.rework(block); });
    }
    void collect() override {
        given(true, [](BlockSink& display) { return display.collect(), true; });
    }
    void finish() override {
        given(true, [](BlockSink& display) { return display.finish(), true; });
    }
    void change(const ReconstructionSpec& plan) override {
        given(true, [&](BlockSink& display) { return display.change(plan), true; });
    }
    bool take_change(Moment moment) override {
        return given(false, [&](BlockSink& display) { return display.take_change(moment); });
    }
    // Returns nothing while the display is being changed: the caller may be the drawing thread and must not wait.
    std::vector<News> take_news() override {
        const std::shared_lock lock(turning_, std::try_to_lock);
        return lock.owns_lock() && display_ != nullptr ? display_->take_news() : std::vector<News>{};
    }

  private:
    void turn_to(BlockSink* display) {
        const std::unique_lock lock(turning_);
        display_ = display;
    }

    template <class Call>
    bool given(bool otherwise, const Call& call) {
        const std::shared_lock lock(turning_);
        return display_ == nullptr ? otherwise : call(*display_);
    }

    std::shared_mutex turning_;
    BlockSink* display_ = nullptr;
};

}  // namespace echolux
