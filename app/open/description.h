// What the program understood of a file: the scan with its defaults filled in, and what is missing; the volume; or how
// a picture was made.
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
    std::variant<std::monostate, std::int64_t, double, std::string> value;  // nothing: unknown
    std::string unit;
    std::string remark;
};

struct Description {
    std::string kind;  // "scan", "volume" or "picture"
    std::vector<Fact> facts;
    std::vector<BoundField> settings;  // of a scan; their get() stays valid as long as the description
    std::vector<std::string> missing;  // what would make the result better, and how to give it
    std::shared_ptr<void> keeper;      // holds what `settings` read from
};

// `assignments` as for open_scan. Throws Error{bad_file, bad_setting}.
Description described(const std::filesystem::path& path, const std::vector<std::string>& assignments);

}  // namespace echolux
