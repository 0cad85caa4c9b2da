// Scans: layout of recorded spectra and how to process them, and the device and part named by a user.
#pragma once

#include <cstdint>
#include <string>

#include "python/src/work.h"

namespace echolux::python {

using Scan = Shared<api::Scan>;

// Parses "auto", "cpu", "cuda", "cuda:1".
echolux_device device_of(const std::string& name);

// B-scan positions [begin, end) of a volume; `end` 0: to the last.
echolux_part part_of(std::int64_t volume, std::int64_t begin, std::int64_t end);

}  // namespace echolux::python
