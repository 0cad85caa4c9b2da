// What programs ask for over OpenIGTLink, as the JSON-RPC requests of docs/control.md: the same methods, names and
// checks, in the words of COMMAND and STRING.
#pragma once

#include <span>
#include <string>

#include "engine/igtl/message_reader.h"

namespace echolux {

// A COMMAND is named after its method; its text holds the parameters: a JSON object or list, nothing, or of `set` and
// `get` lines as "view.mode=mip" and "view.mode". A STRING is such lines, or a whole request. The id is the command's
// number, else 0. Throws Error{bad_setting}: it is no such text.
std::string rpc_of(const igtl::Request& request);

// An answer with bytes beside it, as one text: they are in the `data` field of its result, as base64.
std::string with_data(const std::string& answer, std::span<const std::byte> data);

}  // namespace echolux
