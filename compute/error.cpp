#include "compute/error.h"

namespace echolux {
namespace {

std::string joined(const std::string& what, const std::string& where, const std::string& remedy) {
    return (where.empty() ? "" : where + ": ") + what + (remedy.empty() ? "" : " (" + remedy + ")");
}

}  // namespace

Error::Error(ErrorCode code, std::string what, std::string where, std::string remedy)
    : std::runtime_error(joined(what, where, remedy)), code_(code), problem_(std::move(what)), where_(std::move(where)),
      remedy_(std::move(remedy)) {}

}  // namespace echolux
