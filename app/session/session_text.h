// A session as TOML: what is open, its settings, its view. The sections are those of the settings;
// [session] says what is open, [transfer] holds a curve that was drawn by hand. Pictures carry the same text.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/session/picture_record.h"
#include "app/session/window_settings.h"
#include "engine/acquire/source.h"
#include "engine/scan/settings.h"

namespace echolux {

struct View;

// How each begins.
inline constexpr const char* session_head = "# A session of Echolux. Open it in the window.\n";

// Section [session].
struct WhatIsOpen {
    std::int64_t version = 1;   // of this format
    std::string file{};         // a volume, series or scan; absolute
    std::string source{};       // as `echolux live` names it
    std::string scan{};         // that describes what the source sends
    std::string assignments{};  // "recipe.window=hann", of opening it; one a line
    std::vector<double> cross_um{0, 0, 0};
    std::int64_t step = 0;  // of a series

    bool is_nothing() const { return file.empty() && source.empty(); }
};

template <>
const std::vector<Field<WhatIsOpen>>& describe<WhatIsOpen>();

std::vector<std::string> lines_of(const std::string& text);
std::string text_of_lines(const std::vector<std::string>& lines);

// `settings`: the sections of everything that differs from its default, as SettingsBook::toml() writes them.
std::string session_toml(const WhatIsOpen& open, const View& view, const std::string& settings);

// What a session's text says; what it leaves out has its default.
struct RestoredSession {
    WhatIsOpen open;
    SourceSettings source;
    Values view_values;  // of view and window, the curve among them, and of what is made of tissue
    Values scan;         // of calibration, recipe and flow
    PictureRecord picture{};
};

// As a command line gives them, one each.
std::vector<std::string> assignments_of(const RestoredSession& session);

// The view that it restores, over the defaults.
View view_of(const RestoredSession& session);

bool is_of_scan(std::string_view key);  // calibration, recipe, flow

// Every key is checked. Throws Error{bad_setting} naming file and key.
RestoredSession session_of(const std::vector<TomlEntry>& entries, const std::string& where);

}  // namespace echolux
