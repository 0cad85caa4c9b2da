// Data of the open document that never arrived, until the user has acknowledged it: how much, and where on its time
// line. A passing notice would not be enough, because a measurement with a hole may be worthless.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "app/viewer/viewer.h"

namespace echolux {

struct Loss {
    double at_s = 0;          // since the source was started
    std::int64_t volume = 0;  // that was being received
    std::int64_t blocks = 0;  // lost by the source, or missing in the recording
};

class Losses {
  public:
    // Call once per frame.
    void update(Viewer& viewer);

    // Number that was not acknowledged: blocks of a live source, or incomplete volumes of a recorded scan.
    std::int64_t unseen() const { return unseen_; }
    // Number since the document was opened, acknowledged or not.
    std::int64_t total() const { return total_; }
    std::string short_text() const;  // "3 lost"
    std::string text() const;        // "3 blocks lost", or after an acknowledgement "3 blocks lost (20 in all)"
    void acknowledge() { unseen_ = 0; }

    // Losses of the live source since it was started, oldest first. Losses within a second are one.
    const std::deque<Loss>& all() const { return all_; }
    bool has_any() const { return !all_.empty() || volumes_ > 0; }

    // Selects the next loss on the time line. A recorded scan shows that volume.
    void show_next(Viewer& viewer);
    const Loss* selected() const { return selected_ < all_.size() ? &all_[selected_] : nullptr; }

    // Takes over the losses of a live source. Called by update().
    void follow(const LiveStats& stats);

  private:
    std::weak_ptr<const void> life_;          // of the document
    std::int64_t source_ = 0, recorder_ = 0;  // blocks already counted
    double seconds_ = 0;
    std::int64_t unseen_ = 0, total_ = 0;
    std::int64_t volumes_ = 0;  // incomplete volumes of a recorded scan
    std::deque<Loss> all_;
    std::size_t selected_ = static_cast<std::size_t>(-1);
};

}  // namespace echolux
