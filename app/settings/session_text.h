// A session as TOML: the open file or source, its settings and its view. The sections are those of the settings. In
// addition, [session] describes what is open, and [transfer] contains a curve drawn by hand. Pictures carry the same
// text.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/settings/settings_book.h"
#include "compute/plan/describe.h"
#include "engine/acquire/source.h"
#include "engine/build.h"
#include "engine/io/picture_file.h"
#include "engine/scan/settings.h"

namespace echolux {

// ---- Record that a picture carries in addition to its session: the program, devices and input fingerprints. Together
// they allow rendering it again, bit for bit on the same device. Pictures of the command line and of the window carry
// the same text.

struct VolumeSource;
struct OpenDocument;

// Section [picture].
struct PictureRecord {
    std::string program = version;
    std::string device{};        // device that rendered
    std::string backend{};       // backend that reconstructed; empty for volume files
    std::string input_hash{};    // fingerprint of session.file
    std::string spectra_hash{};  // fingerprint of the spectra it describes
    std::string flow{};          // volume file that was shown over it
    std::string flow_hash{};
    std::string channel_hashes{};  // fingerprints of the files of the view's channels, one per line; "-": none
    std::int64_t bits = 8;         // per channel
    std::int64_t samples = 0;      // rays per pixel; 0: as in view.samples
    std::vector<double> range{};   // low and high of the range set by the first volume of the series; empty: own range
    double flow_range = 0;         // of a running source's flow, if view leaves it open (0)
    double flow_threshold = -1;    // likewise
    std::string made_by{};         // provenance of the input file, one key per line
};

template <>
const std::vector<Field<PictureRecord>>& describe<PictureRecord>();

void note_flow(PictureRecord& record, const View& wanted, const View& drawn);
void note_range(PictureRecord& record, const std::optional<ValueRange>& chosen);
std::optional<ValueRange> chosen_range(const PictureRecord& record);

// Fingerprints of a channel: that of its volume, `volume`, and of its curve's file if it has one.
std::string hashes_of(const Channel& channel, const std::string& volume);

// Adds the fingerprints of the view's channels.
void note_channels(PictureRecord& record, const View& view);

// Adds the fingerprints of the input file and, for a scan, of its spectra; none if the input is not a file. Reads all
// of these files.
void note_input(PictureRecord& record, const VolumeSource& source);

// Lines of "key = value".
std::string text_of_map(const std::map<std::string, std::string>& map);

// Returns the session text of a picture: the whole view and, for a scan, the recipe in use. `scan` may be null. Of
// `tissue`, only values that differ from their defaults are included. Files named by the view become absolute; its
// curve is part of the text.
std::string picture_session(const OpenDocument& open, const PictureRecord& record, const View& view, const Scan* scan,
                            const TissueSettings& tissue);

// Returns `session` with the section [picture] appended.
std::string with_record(const std::string& session, const PictureRecord& record);

PictureTexts texts_of_picture(const std::string& session);

// ---- Sessions

// Section [session].
struct OpenDocument {
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
const std::vector<Field<OpenDocument>>& describe<OpenDocument>();

std::vector<std::string> lines_of(const std::string& text);
std::string text_of_lines(const std::vector<std::string>& lines);

// `settings`: sections with the values that differ from their defaults, as written by SettingsBook::toml().
std::string session_toml(const OpenDocument& open, const View& view, const std::string& settings);

// Content of a session's text. Missing values have their default.
struct RestoredState {
    OpenDocument open;
    SourceSettings source;
    Values view_values;  // of view (with its curve), window and tissue
    Values scan;         // of calibration, recipe and flow
    PictureRecord picture{};
};

// Returns the settings as command-line assignments.
std::vector<std::string> assignments_of(const RestoredState& session);

// Returns the restored view, on top of the defaults.
View view_of(const RestoredState& session);

bool is_of_scan(std::string_view key);  // calibration, recipe, flow

// Checks every key. Throws Error{bad_setting} with file and key.
RestoredState session_of(const std::vector<TomlEntry>& entries, const std::string& where);

}  // namespace echolux
