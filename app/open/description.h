// Summary of a file as the program understands it: a scan with defaults filled in and what is missing, a volume, or the
// record of a picture.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "compute/types.h"
#include "engine/scan/settings.h"

namespace echolux {

// A line of a description: "depth pitch", 1.34, "um".
struct Fact {
    std::string name;
    std::variant<std::monostate, std::int64_t, double, std::string> value;  // monostate: unknown
    std::string unit;
    std::string remark;
};

struct Description {
    std::string kind;  // "scan", "volume" or "picture"
    std::vector<Fact> facts;
    std::vector<BoundField> settings;  // of a scan; their get() is valid for the lifetime of the description
    std::vector<std::string> missing;  // suggestions to improve the result, and how to apply them
    std::shared_ptr<void> keeper;      // owns the object that `settings` refer to
};

// `assignments` as in open_scan. Throws Error{bad_file, bad_setting}.
Description described(const std::filesystem::path& path, const std::vector<std::string>& assignments);

}  // namespace echolux
