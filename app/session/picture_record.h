// The record that a picture carries in addition to its session: the program, devices and input fingerprints. Together
// they allow to render it again, bit for bit on the same device. Pictures of the command line and of the window carry
// the same text.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compute/plan/describe.h"
#include "engine/build.h"
#include "engine/io/picture_file.h"

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
std::string picture_session(const WhatIsOpen& open, const PictureRecord& record, const View& view, const Scan* scan,
                            const TissueSettings& tissue);

// Returns `session` with the section [picture] appended.
std::string with_record(const std::string& session, const PictureRecord& record);

PictureTexts texts_of_picture(const std::string& session);

}  // namespace echolux
