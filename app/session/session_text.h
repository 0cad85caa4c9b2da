// A session as TOML: the open file or source, its settings and its view. The sections are those of the settings. In
// addition, [session] describes what is open, and [transfer] contains a curve drawn by hand. Pictures carry the same
// text.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/session/picture_record.h"
#include "app/session/window_settings.h"
#include "compute/plan/describe.h"
#include "engine/acquire/source.h"
#include "engine/scan/settings.h"

namespace echolux {

struct View;

// First line of each session.
inline constexpr const char* session_head = "# A session of Echolux. Open it in the window.\n";

// Section [session].
struct WhatIsOpen {
    std::int64_t version = 1;   // of this format
    std::string file{};         // a volume, series or scan; absolute
    std::string source{};       // source name as for `echolux live`
    std::string scan{};         // scan file that describes the data of the source
    std::string assignments{};  // "recipe.window=hann", used when it was opened; one per line
    std::vector<double> cross_um{0, 0, 0};
    std::int64_t step = 0;  // of a series

    bool is_nothing() const { return file.empty() && source.empty(); }
};

template <>
const std::vector<Field<WhatIsOpen>>& describe<WhatIsOpen>();

std::vector<std::string> lines_of(const std::string& text);
std::string text_of_lines(const std::vector<std::string>& lines);

// `settings`: sections with the values that differ from their defaults, as written by SettingsBook::toml().
std::string session_toml(const WhatIsOpen& open, const View& view, const std::string& settings);

// Content of a session's text. Missing values have their default.
struct RestoredSession {
    WhatIsOpen open;
    SourceSettings source;
    Values view_values;  // of view (with its curve), window and tissue
    Values scan;         // of calibration, recipe and flow
    PictureRecord picture{};
};

// Returns the settings as command-line assignments.
std::vector<std::string> assignments_of(const RestoredSession& session);

// Returns the restored view, on top of the defaults.
View view_of(const RestoredSession& session);

bool is_of_scan(std::string_view key);  // calibration, recipe, flow

// Checks every key. Throws Error{bad_setting} with file and key.
RestoredSession session_of(const std::vector<TomlEntry>& entries, const std::string& where);

}  // namespace echolux
