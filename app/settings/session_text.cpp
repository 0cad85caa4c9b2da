#include "app/settings/session_text.h"

#include <filesystem>
#include <sstream>
#include <utility>

#include "app/open/open_volume.h"
#include "app/settings/settings_book.h"
#include "app/transfer/transfer_file.h"
#include "compute/error.h"
#include "compute/plan/describe.h"
#include "engine/io/regular_file.h"
#include "engine/scan/raw_spectra.h"
#include "engine/scan/scan.h"
#include "engine/scan/settings.h"
#include "render/transfer_function.h"
#include "render/view/view.h"

namespace echolux {

// ---- Records of pictures

template <>
const std::vector<Field<PictureRecord>>& describe<PictureRecord>() {
    using P = PictureRecord;
    constexpr Effect effect = Effect::file;
    static const std::vector<Field<P>> fields{
        text("program", &P::program, effect, "version of Echolux that made the picture"),
        text("device", &P::device, effect, "device that rendered it"),
        text("backend", &P::backend, effect, "backend that reconstructed the volume; empty: it was read from a file"),
        text("input_hash", &P::input_hash, effect,
             "64-bit FNV-1a of session.file; of a folder, of the names and sizes in it"),
        text("spectra_hash", &P::spectra_hash, effect, "64-bit FNV-1a of the raw spectra"),
        text("flow", &P::flow, effect, "volume file that was shown over the structure"),
        text("flow_hash", &P::flow_hash, effect, "64-bit FNV-1a of session.flow"),
        text("channel_hashes", &P::channel_hashes, effect,
             "64-bit FNV-1a of the files of view.channel_2_file and view.channel_2_curve and the following, a channel "
             "per line; empty: none"),
        integer("bits", &P::bits, 8, 16, "bits", effect, "bits per channel"),
        integer("samples", &P::samples, 0, 1 << 20, "rays", effect, "rays per pixel; 0: as view.samples"),
        numbers("range", &P::range, lowest_value, highest_value, "", effect,
                "range of values, low and high, chosen by the first volume of its series; empty: by the volume itself"),
        number("flow_range", &P::flow_range, 0, 1e9, "speed", effect,
               "range of the colours of flow, as chosen by the flow before it; 0: that of the view"),
        number("flow_threshold", &P::flow_threshold, -1, 1e9, "speed", effect,
               "threshold of flow, as chosen by the flow before it; -1: that of the view"),
        text("made_by", &P::made_by, effect, "provenance of the input file, one key per line"),
    };
    return fields;
}

namespace {

// First line of each session.
constexpr const char* session_head = "# A session of Echolux. Open it in the window.\n";

std::string absolute_name(const std::string& file) {
    return std::filesystem::absolute(file).lexically_normal().string();
}

View self_contained(View view) {
    for (std::string* file : {&view.top_from, &view.bottom_from, &view.flatten}) {
        if (!file->empty() && *file != "surface" && !file->starts_with("layers:")) *file = absolute_name(*file);
    }
    for (Channel& channel : view.channels) {
        if (!channel.file.empty()) channel.file = absolute_name(channel.file);
        if (names_file(channel)) channel.curve = absolute_name(channel.curve);
    }
    if (view.transfer_curve) view.transfer.clear();
    return view;
}

}  // namespace

void note_flow(PictureRecord& record, const View& wanted, const View& drawn) {
    if (wanted.flow_range == 0) record.flow_range = drawn.flow_range;
    if (wanted.flow_threshold < 0) record.flow_threshold = drawn.flow_threshold;
}

void note_range(PictureRecord& record, const std::optional<ValueRange>& chosen) {
    record.range.clear();
    if (chosen) record.range = {chosen->low, chosen->high};
}

std::optional<ValueRange> chosen_range(const PictureRecord& record) {
    if (record.range.size() != 2 || !(record.range[0] < record.range[1])) return {};
    return ValueRange{record.range[0], record.range[1]};
}

std::string hashes_of(const Channel& channel, const std::string& volume) {
    return names_file(channel) ? volume + " " + file_hash(channel.curve) : volume;
}

void note_channels(PictureRecord& record, const View& view) {
    record.channel_hashes.clear();
    std::vector<std::string> hashes;
    bool has_some = false;
    for (const Channel& channel : view.channels) {
        has_some |= channel.volume != nullptr;
        hashes.push_back(channel.volume ? hashes_of(channel, channel.volume->hash) : "-");
    }
    if (has_some) record.channel_hashes = text_of_lines(hashes);
}

void note_input(PictureRecord& record, const VolumeSource& source) {
    if (source.input.empty()) return;
    record.input_hash = file_hash(source.input);
    if (!is_scan_name(source.input)) return;
    record.spectra_hash = raw_hash(open_scan(source.input, source.settings));
}

std::string text_of_map(const std::map<std::string, std::string>& map) {
    std::vector<std::string> lines;
    for (const auto& [key, value] : map) lines.push_back(key + " = " + value);
    return text_of_lines(lines);
}

std::string picture_session(const OpenDocument& open, const PictureRecord& record, const View& view, const Scan* scan,
                            const TissueSettings& tissue) {
    std::vector<std::string> parts{section_toml("session", open), section_toml("view", self_contained(view))};
    if (view.transfer_curve) parts.push_back(toml_of(view.transfer_curve));
    if (scan != nullptr) {
        Scan wanted = *scan;
        Settings settings;
        bind_recipe(settings, wanted);
        parts.push_back(settings.toml(true));
    }
    TissueSettings shown = tissue;
    Settings of_tissue;
    bind(of_tissue, shown);
    if (const std::string changed = of_tissue.toml(); !changed.empty()) parts.push_back(changed);
    std::string text = session_head;
    for (const std::string& part : parts) text += "\n" + part;
    return with_record(text, record);
}

std::string with_record(const std::string& session, const PictureRecord& record) {
    return session + "\n" + section_toml("picture", record);
}

PictureTexts texts_of_picture(const std::string& session) {
    return {{text_program, version}, {text_session, session}};
}

// ---- Sessions

namespace {

constexpr std::int64_t newest_version = 1;

// Objects for everything that a session's text may contain.
struct Scratch {
    OpenDocument open;
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
const std::vector<Field<OpenDocument>>& describe<OpenDocument>() {
    using S = OpenDocument;
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

std::string session_toml(const OpenDocument& open, const View& view, const std::string& settings) {
    OpenDocument saved = open;
    Settings session;
    session.bind("session", saved);
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

RestoredState session_of(const std::vector<TomlEntry>& entries, const std::string& where) {
    Scratch scratch;
    scratch.settings.take(entries);
    if (scratch.open.cross_um.size() != 3) {
        throw Error(ErrorCode::bad_setting, "expected three numbers", where + ", session.cross_um");
    }
    RestoredState session{scratch.open, scratch.source, {}, {}, scratch.picture};
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

std::vector<std::string> assignments_of(const RestoredState& session) {
    std::vector<std::string> assignments = lines_of(session.open.assignments);
    for (const auto& [key, value] : session.scan) assignments.push_back(assignment_of(key, value));
    return assignments;
}

View view_of(const RestoredState& session) {
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
