// What a raw file without a description might be: sample format, samples a line, lines a B-scan, B-scans; found from
// the file's size and from how alike neighbouring rows are at each width. The user decides; a picture of the raw
// spectra and of a first reconstruction says whether it is right.
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
    std::vector<RawGuess> guesses;  // by likeness; the one that fits best was taken
    Scan scan;                      // what would be written; edited by the dialog through `settings`
    Settings settings;              // bound to `scan`
    Picture preview;                // gray: spectra above, their reconstruction below; empty: none yet
    std::string problem;            // why it cannot be opened like this; empty: it can
    bool is_stale = true;           // set after an edit: the preview is made anew

    void take(const RawGuess& guess);  // in place of what was set
};

}  // namespace echolux
