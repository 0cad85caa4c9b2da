#include "app/session/session_text.h"

#include <algorithm>
#include <sstream>

#include "app/session/tissue_settings.h"
#include "app/transfer/transfer_text.h"
#include "compute/error.h"
#include "compute/plan/describe.h"
#include "render/view/view.h"

namespace echolux {
namespace {

constexpr std::int64_t newest_version = 1;

// Objects for everything that a session's text may contain.
struct Scratch {
    WhatIsOpen open;
    View view;
    WindowSettings window;
    TransferText transfer;
    SourceSettings source;
    Scan scan;
    PictureRecord picture;
    TissueSettings tissue;
    Settings settings;

    Scratch() {
        settings.bind("session", open);
        settings.bind("view", view);
        settings.bind("window", window);
        settings.bind("transfer", transfer);
        settings.bind("source", source);
        settings.bind("picture", picture);
        bind(settings, scan);
        bind(settings, tissue);
    }
};

}  // namespace

template <>
const std::vector<Field<WhatIsOpen>>& describe<WhatIsOpen>() {
    using S = WhatIsOpen;
    constexpr Effect effect = Effect::file;
    constexpr double far_um = 1e9;
    static const std::vector<Field<S>> fields{
        integer("version", &S::version, 1, newest_version, "", effect, "of this format"),
        text("file", &S::file, effect, "volume, series or scan that is open"),
        text("source", &S::source, effect, "live source that is open"),
        text("scan", &S::scan, effect, "TOML that describes what the source sends"),
        text("assignments", &S::assignments, effect, "settings that it was opened with, one per line"),
        numbers("cross_um", &S::cross_um, -far_um, far_um, "um", effect, "position of the cross-hair"),
        integer("step", &S::step, 0, std::int64_t{1} << 50, "", effect, "time point of the series"),
    };
    return fields;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
        if (!line.empty()) lines.push_back(line);
    }
    return lines;
}

std::string text_of_lines(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += (text.empty() ? "" : "\n") + line;
    return text;
}

std::string session_toml(const WhatIsOpen& open, const View& view, const std::string& settings) {
    WhatIsOpen said = open;
    Settings session;
    session.bind("session", said);
    std::vector<std::string> parts{session.toml(true), settings};
    if (view.transfer.empty()) parts.push_back(toml_of(view.transfer_curve));
    std::string text = session_head;
    for (const std::string& part : parts) {
        if (!part.empty()) text += "\n" + part;
    }
    return text;
}

bool is_of_scan(std::string_view key) {
    const std::string_view section = section_of(key);
    return section == "calibration" || is_recipe_section(section);
}

RestoredSession session_of(const std::vector<TomlEntry>& entries, const std::string& where) {
    Scratch scratch;
    scratch.settings.take(entries);
    if (scratch.open.cross_um.size() != 3) {
        throw Error(ErrorCode::bad_setting, "expected three numbers", where + ", session.cross_um");
    }
    RestoredSession session{scratch.open, scratch.source, {}, {}, scratch.picture};
    for (const TomlEntry& entry : entries) {
        const std::string_view section = section_of(entry.name);
        if (section == "view" || section == "window" || is_tissue_section(section))
            session.view_values[entry.name] = entry.value;
        if (is_of_scan(entry.name)) session.scan[entry.name] = entry.value;
    }
    if (!scratch.transfer.colours.empty()) {
        session.view_values[std::string(curve_key)] = toml_of(curve_of(scratch.transfer, where));
    }
    return session;
}

std::vector<std::string> assignments_of(const RestoredSession& session) {
    std::vector<std::string> assignments = lines_of(session.open.assignments);
    for (const auto& [key, value] : session.scan) assignments.push_back(assignment_of(key, value));
    return assignments;
}

View view_of(const RestoredSession& session) {
    View view;
    Settings settings;
    settings.bind("view", view);
    std::vector<TomlEntry> entries;
    for (const auto& [key, value] : session.view_values) {
        if (section_of(key) == "view" && key != curve_key) entries.push_back({key, value, "session"});
    }
    settings.take(entries);
    const auto curve = session.view_values.find(std::string(curve_key));
    if (curve != session.view_values.end()) view.transfer_curve = curve_of_toml(std::get<std::string>(curve->second));
    return view;
}

}  // namespace echolux
