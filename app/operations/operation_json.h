// Descriptions of operations as JSON, for the C and Python interfaces and for programs, and as Markdown, for
// docs/operations.md.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "app/operations/operation.h"

namespace echolux {

// The object that echolux_operations_json() of include/echolux/operations.h describes.
nlohmann::ordered_json description_of(const OperationInfo& info);

// All operations, in alphabetical order.
nlohmann::ordered_json descriptions_of_operations();

// One chapter of Markdown per operation with its inputs, arguments, outputs and results.
std::string operations_page(const std::vector<const OperationInfo*>& some);

}  // namespace echolux
