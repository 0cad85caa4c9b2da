#include "engine/live/recording.h"

#include <algorithm>
#include <utility>

namespace echolux {

// Marks a recorder that creates its files, without blocking offer() and stats().
class Recording::Beginning {
  public:
    explicit Beginning(Recording& recording) : recording_(recording) {
        const std::scoped_lock lock(recording_.mutex_);
        if (recording_.recorder_ || recording_.is_beginning_)
            throw Error(ErrorCode::bad_setting, "a recording is under way", "record", "stop it first");
        recording_.is_beginning_ = true;
    }
    ~Beginning() {
        const std::scoped_lock lock(recording_.mutex_);
        recording_.is_beginning_ = false;
    }
    Beginning(const Beginning&) = delete;
    Beginning& operator=(const Beginning&) = delete;

  private:
    Recording& recording_;
};

std::string Recording::begin(RecordingWanted wanted, const RecordingTools& tools) {
    const Beginning beginning(*this);
    auto recorder = std::make_unique<Recorder>(std::move(wanted), tools);
    std::string notice = recorder->notice();
    const std::scoped_lock lock(mutex_);
    recorder_ = std::move(recorder);
    missing_said_ = 0;
    return notice;
}

std::optional<RecorderStats> Recording::end() {
    std::unique_ptr<Recorder> ending;
    {
        const std::scoped_lock lock(mutex_);
        ending = std::move(recorder_);
    }
    if (!ending) return {};
    ending->finish();
    return ending->stats();
}

std::optional<Error> Recording::offer(const Block& block) {
    const std::scoped_lock lock(mutex_);
    if (!recorder_ || recorder_->offer(block)) return {};
    const std::int64_t missing = std::max<std::int64_t>(recorder_->stats().missing_blocks, 1);
    if (missing_said_ > 0 && missing < 10 * missing_said_) return {};
    missing_said_ = missing;
    return recorder_->problem();
}

void Recording::note_lost(std::int64_t blocks) {
    const std::scoped_lock lock(mutex_);
    if (recorder_) recorder_->note_lost(blocks);
}

void Recording::note_interruption() {
    const std::scoped_lock lock(mutex_);
    if (recorder_) recorder_->note_interruption();
}

std::optional<RecorderStats> Recording::stats() const {
    const std::scoped_lock lock(mutex_);
    if (!recorder_) return {};
    return recorder_->stats();
}

}  // namespace echolux
