// Proposed format of a raw file without a description: sample format, samples per line, lines per B-scan, and B-scans.
// Derived from the file size and the similarity of neighbouring rows at each width. The user decides with the help of a
// preview of the spectra and of a first reconstruction.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/io/png_file.h"
#include "engine/io/raw_guess.h"
#include "engine/scan/scan.h"
#include "ui/workspace/workspace.h"

namespace echolux {

struct Workspace::RawProposal {
    std::filesystem::path file;
    std::vector<RawGuess> guesses;    // by likeness; the best one is selected
    std::vector<std::string> doubts;  // reasons why the best one is uncertain
    Scan scan;                        // description to be written; edited through `settings`
    Settings settings;                // bound to `scan`
    Picture preview;                  // gray: spectra above their reconstruction; empty: none yet
    std::string problem;              // why it cannot be opened; otherwise empty
    bool is_stale = true;             // the preview must be computed again

    void take(const RawGuess& guess);  // replaces the current settings
};

struct RawPreview {
    Picture picture;
    std::string problem;  // why it cannot be opened; otherwise empty
};

// Returns the preview of the format in `scan`. Errors of the format take its place.
RawPreview preview_of(Scan scan, Progress& progress);

}  // namespace echolux
