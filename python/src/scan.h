// A scan: how spectra were recorded, and how to process them; and the device that a user names.
#pragma once

#include <string>

#include "python/src/work.h"

namespace echolux::python {

using Scan = Shared<api::Scan>;

// "auto", "cpu", "cuda", "cuda:1".
echolux_device device_of(const std::string& name);

}  // namespace echolux::python
