// The only error type of Echolux. Every error states the problem, its location (file, key, A-scan) and a remedy, so
// that any front end can display it as a single line.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace echolux {

enum class ErrorCode {
    bad_setting,    // an invalid value, key or combination
    bad_file,       // missing, truncated, malformed or of the wrong size
    output,         // a result could not be written
    out_of_memory,  //
    device,         // a compute or graphics device failed or is missing
    cancelled,      // the user stopped the work
};

class Error : public std::runtime_error {
  public:
    // `where` and `remedy` may be empty. Texts start in lower case and have no full stop.
    Error(ErrorCode code, std::string what, std::string where = {}, std::string remedy = {});

    ErrorCode code() const { return code_; }
    const std::string& problem() const { return problem_; }  // `what` without location and remedy
    const std::string& where() const { return where_; }
    const std::string& remedy() const { return remedy_; }

    // Returns "where: what (remedy)", the same text as what().
    std::string line() const { return std::runtime_error::what(); }

  private:
    ErrorCode code_;
    std::string problem_;
    std::string where_;
    std::string remedy_;
};

// Returns the name of an error code for programs: "bad_setting".
constexpr std::string_view name_of(ErrorCode code) {
    switch (code) {
        case ErrorCode::bad_setting: return "bad_setting";
        case ErrorCode::bad_file: return "bad_file";
        case ErrorCode::output: return "output";
        case ErrorCode::out_of_memory: return "out_of_memory";
        case ErrorCode::device: return "device";
        case ErrorCode::cancelled: return "cancelled";
    }
    return "";
}

}  // namespace echolux
