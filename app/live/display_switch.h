// Where a session sends its blocks while displays come and go: a graphics device may be lost and come back, or another
// take its place, and neither acquisition nor a recording notices. Without a display, volumes are dropped.
#pragma once

#include <shared_mutex>

#include "engine/live/block_sink.h"

namespace echolux {

class DisplaySwitch : public BlockSink {
  public:
    // Both wait until the session has done what it does with the display before.
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
    // Nothing while displays change: whoever asks may be who draws.
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
