// Key frames in a TOML file, and their editing. The file has [[key]] tables, each with `time_s`, an optional `ease`,
// and the keys of section [view] that it sets.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "compute/plan/describe.h"
#include "render/key_frames.h"

namespace echolux {

// ---- Files

// Content of one table.
struct KeyFrame {
    double time_s = 0;
    Ease ease = Ease::smooth;
    std::map<std::string, Value> values{};
    std::string where{};
};

// Throws Error{bad_file} if the file is missing or not TOML, and Error{bad_setting} with file, line and key.
KeyFrames read_key_frames(const std::filesystem::path& path);

// Parses a text; `where` is its name in errors.
std::vector<KeyFrame> key_frames_of(std::string_view text, const std::string& where);

KeyFrames joined(const std::vector<KeyFrame>& frames);

// ---- Editing: settings by moment, stored as the tables of a key frame file. Each edit keeps the tables sorted by time
// and removes empty ones.

class TimeLine {
  public:
    TimeLine() = default;

    // Parses TOML; "": no keys. Throws like key_frames_of().
    explicit TimeLine(const std::string& text);

    std::string toml() const;
    const std::vector<KeyFrame>& keys() const { return keys_; }
    bool is_empty() const { return keys_.empty(); }
    double last_s() const { return keys_.empty() ? 0 : keys_.back().time_s; }

    // Names of the settings with keys, in the order of the view's fields.
    std::vector<std::string> names() const;

    KeyFrames key_frames() const { return joined(keys_); }
    View at(const View& view, double time_s) const { return key_frames().at(view, time_s); }

    // Stores the view at a moment: its camera, and all other settings that differ from the current state there. A
    // setting without keys also gets one at the first moment, with its default value. Picture sizes are not stored.
    void take(double time_s, const View& view);

    void set(double time_s, const std::string& name, const Value& value);

    // Apply to one setting, or to all if the name is "". Without such a key nothing happens. A key at the target moment
    // is replaced.
    void move(double from_s, double to_s, const std::string& name = "");
    void copy(double from_s, double to_s, const std::string& name = "");
    void erase(double time_s, const std::string& name = "");
    void ease(double time_s, Ease ease);

    // Moments closer than this are the same.
    static constexpr double apart_s = 1e-3;

  private:
    std::vector<KeyFrame>::iterator find(double time_s);
    KeyFrame& at_moment(double time_s);
    void tidy();

    std::vector<KeyFrame> keys_;
};

}  // namespace echolux
