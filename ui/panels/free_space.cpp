#include "ui/panels/free_space.h"

#include <chrono>
#include <system_error>

namespace echolux {
namespace {

constexpr double every_s = 2;

std::optional<std::int64_t> bytes_free(const std::filesystem::path& folder) {
    std::error_code problem;
    const auto space = std::filesystem::space(folder, problem);
    if (problem) return std::nullopt;
    return static_cast<std::int64_t>(space.available);
}

}  // namespace

std::optional<std::int64_t> FreeSpace::bytes(const std::filesystem::path& folder, double now_s) {
    using std::chrono::seconds;
    if (asked_.valid() && asked_.wait_for(seconds(0)) == std::future_status::ready) known_ = asked_.get();
    const bool is_due = folder != folder_ || now_s >= asked_at_s_ + every_s;
    if (!asked_.valid() && is_due) {
        if (folder != folder_) known_.reset();
        folder_ = folder;
        asked_at_s_ = now_s;
        asked_ = std::async(std::launch::async, bytes_free, folder.empty() ? "." : folder);
    }
    return known_;
}

}  // namespace echolux
