// Rules for output files, checked by all commands and the window before work begins:
// - An output must not be an input of the same work, a file that belongs to an input (its spectra, its calibration), or
//   another output. `overwrite` does not lift this rule.
// - A file of a running recording is never replaced. `overwrite` does not lift this rule either.
// - An existing file is replaced only if this program made it as a result of the same kind, or if the user allows it.
// - A missing folder is created if only the last part of its name is missing.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace echolux {

struct Output {
    std::filesystem::path path;  // empty: not requested
    // Returns whether this program made the existing file as a result of this kind. Empty: cannot be determined, so the
    // file is replaced only with the user's permission.
    std::function<bool(const std::filesystem::path&)> is_own{};
    std::vector<std::string> endings{};  // permitted endings, e.g. ".csv"; empty: checked by the writer
};

using FileNames = std::vector<std::filesystem::path>;

// Checks all outputs against the rules. `inputs` are files and folders; empty names are ignored. Throws Error{output}
// naming the output.
void check_outputs(const std::vector<Output>& outputs, const FileNames& inputs, bool overwrites);

}  // namespace echolux
