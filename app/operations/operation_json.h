// Descriptions of operations as JSON, for the C and Python interfaces and for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "app/operations/operation.h"

namespace echolux {

// {name, summary, details, inputs, arguments, outputs, results, backend}:
// inputs:    {name, help, required, many, scans, file}; file: it cannot be a volume in memory
// arguments: {key, name, section, scan, unit, type, help, default, required}, numbers also {min, max}, texts with a
//            fixed set also {choices}. section: "" for arguments of the operation itself. scan: a setting of the scan,
//            checked when it is opened. type: bool, integer, number, text or numbers
// outputs:   {name, kind, help, required, file}; kind: volume, table, figure, volume_or_figure, volume_or_table or
//            file; file: it cannot be kept in memory
// results:   {name, type, unit, help}; type as in ResultText
nlohmann::ordered_json description_of(const OperationInfo& info);

// All operations, in alphabetical order.
nlohmann::ordered_json descriptions_of_operations();

}  // namespace echolux
