// Translates OpenIGTLink messages of type COMMAND and STRING to the JSON-RPC requests of docs/control.md, with the same
// methods, names and checks.
#pragma once

#include <span>
#include <string>

#include "engine/igtl/message_reader.h"

namespace echolux {

// Returns the request for a message.
//
// The name of a COMMAND is the method. Its text holds the parameters: a JSON object or list, nothing, or, for `set` and
// `get`, lines such as "view.mode=mip" and "view.mode". A STRING holds such lines or a complete JSON request. The id is
// the number of the COMMAND, or 0. Throws Error{bad_setting} if the text has none of these forms.
std::string rpc_of(const igtl::Request& request);

// Adds binary data to a response as base64, in the member `data` of its result.
std::string with_data(const std::string& answer, std::span<const std::byte> data);

}  // namespace echolux
