#include "engine/scan/provenance.h"

#include "compute/plan/describe.h"
#include "engine/io/file_hash.h"
#include "engine/scan/settings.h"
#include "engine/version.h"

namespace echolux {

std::map<std::string, std::string> provenance_of(const Scan& scan, const std::string& backend) {
    Scan described = scan;
    Settings settings;
    bind(settings, described);
    std::map<std::string, std::string> lines{
        {"echolux", version}, {"backend", backend}, {"source", scan.path.filename().string()}};
    for (const BoundField& field : settings.fields()) {
        const Value value = field.get();
        if (value != field.default_value) lines[field.key()] = spelled(value);
        const auto* file = std::get_if<std::string>(&value);
        const bool names_calibration = field.section == "calibration" && file != nullptr && field.choices.empty();
        if (names_calibration && !file->empty()) {
            lines[field.key() + "_fnv1a64"] = file_hash(scan.path.parent_path() / *file);
        }
    }
    return lines;
}

}  // namespace echolux
