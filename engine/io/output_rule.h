// The one rule of what may be written where, for every command and for the window, asked before work begins. An output
// is never an input of the same work, a file that belongs to one (its spectra, its calibration), or another output. A
// file that is there is replaced only where this program made it as a result of that very kind, or where the user says
// so; the user's word never covers an input. A folder is made for it where only the last part of its name is missing.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace echolux {

struct Output {
    std::filesystem::path path;  // empty: not wanted
    // Whether what is there was made by this program as a result of this kind. Empty: nothing tells, so it is replaced
    // only where the user says so.
    std::function<bool(const std::filesystem::path&)> is_own{};
    std::vector<std::string> endings{};  // that its name may have, e.g. ".csv"; empty: whoever writes it knows
};

using FileNames = std::vector<std::filesystem::path>;

// `inputs` are files and folders; empty names are none. Throws Error{output} naming the output.
void check_outputs(const std::vector<Output>& outputs, const FileNames& inputs, bool overwrites);

}  // namespace echolux
