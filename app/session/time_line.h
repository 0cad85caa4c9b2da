// Key frames as they are edited: what is set at which moment, as tables of a file of key frames. Each edit keeps the
// tables in their order of time, and none empty.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/session/key_frame_file.h"

namespace echolux {

class TimeLine {
  public:
    TimeLine() = default;

    // Of TOML; "": no keys. Throws as key_frames_of().
    explicit TimeLine(const std::string& text);

    std::string toml() const;
    const std::vector<KeyFrame>& keys() const { return keys_; }
    bool is_empty() const { return keys_.empty(); }
    double last_s() const { return keys_.empty() ? 0 : keys_.back().time_s; }

    // Names of the settings that have keys, in the order of the view's fields.
    std::vector<std::string> names() const;

    KeyFrames key_frames() const { return joined(keys_); }
    View at(const View& view, double time_s) const { return key_frames().at(view, time_s); }

    // The view at a moment: its camera, and every other setting in which it differs from what is there then. A setting
    // that had no key gets one at the first moment too, of its default, from which it leaves. Sizes are no part of it.
    void take(double time_s, const View& view);

    void set(double time_s, const std::string& name, const Value& value);

    // Of one setting, or "" of all; nothing where there is no such key. What lies at the other moment gives way.
    void move(double from_s, double to_s, const std::string& name = "");
    void copy(double from_s, double to_s, const std::string& name = "");
    void erase(double time_s, const std::string& name = "");
    void ease(double time_s, Ease ease);

    // Two moments that are nearer are one.
    static constexpr double apart_s = 1e-3;

  private:
    std::vector<KeyFrame>::iterator find(double time_s);
    KeyFrame& at_moment(double time_s);
    void tidy();

    std::vector<KeyFrame> keys_;
};

}  // namespace echolux
