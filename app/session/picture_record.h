// The record that a picture carries beside the session that it restores: what made it, from which bytes. With both it
// can be made again, bit for bit on the same device. Pictures of the command line and of the window carry the same
// text.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compute/plan/describe.h"
#include "engine/io/picture_file.h"
#include "engine/version.h"

namespace echolux {

struct Scan;
struct TissueSettings;
struct View;
struct Channel;
struct VolumeSource;
struct WhatIsOpen;

// Section [picture].
struct PictureRecord {
    std::string program = version;
    std::string device{};        // that rendered
    std::string backend{};       // that reconstructed; empty: the input is a volume
    std::string input_hash{};    // fingerprints: of session.file,
    std::string spectra_hash{};  // of the spectra that it describes,
    std::string flow{};          // of this volume file, which was shown over it
    std::string flow_hash{};
    std::string channel_hashes{};  // of the files of the view's channels, a line each; "-": it has none
    std::int64_t bits = 8;         // of a channel
    std::int64_t samples = 0;      // rays a pixel; 0: as view.samples says
    std::vector<double> range{};   // of values, low and high, that the first volume of its series chose; empty: its own
    double flow_range = 0;         // of a running source's flow, where the view leaves it open: 0
    double flow_threshold = -1;    // likewise
    std::string made_by{};         // what the input file says of itself, one line a key
};

template <>
const std::vector<Field<PictureRecord>>& describe<PictureRecord>();

void note_flow(PictureRecord& record, const View& wanted, const View& drawn);
void note_range(PictureRecord& record, const std::optional<ValueRange>& chosen);
std::optional<ValueRange> chosen_range(const PictureRecord& record);

// Of a channel: that of its volume, `volume`, and of the file of its curve where it has one.
std::string hashes_of(const Channel& channel, const std::string& volume);

// Fingerprints of what its channels show.
void note_channels(PictureRecord& record, const View& view);

// Fingerprints of the file that a picture is made of, and of the spectra where that is a scan; nothing where it was no
// file. Reads all of them.
void note_input(PictureRecord& record, const VolumeSource& source);

// "key = value", one a line.
std::string text_of_map(const std::map<std::string, std::string>& map);

// The session of a picture: everything of the view, and of the recipe where the input is a scan, as it was in use.
// `scan` may be null; of `tissue` what is not as by default. Files that the view names become absolute; its curve
// stands in the text itself.
std::string picture_session(const WhatIsOpen& open, const PictureRecord& record, const View& view, const Scan* scan,
                            const TissueSettings& tissue);

// `session` with the section [picture] at its end.
std::string with_record(const std::string& session, const PictureRecord& record);

PictureTexts texts_of_picture(const std::string& session);

}  // namespace echolux
