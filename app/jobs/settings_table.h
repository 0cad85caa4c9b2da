// Every setting of the program as a Markdown table, made from the descriptions.
#pragma once

#include <string>

namespace echolux {

std::string settings_table();

}  // namespace echolux
