// A session without a window, steered by programs: of the methods of a window (ui/control/methods.h) those that a
// session can do. It answers at once, on any thread.
#pragma once

#include <string>

#include "app/live/live_steering.h"
#include "engine/igtl/message_reader.h"

namespace echolux {

// The answer to what a program asks over OpenIGTLink (ui/control/igtl_request.h); empty: none is wanted. Never an
// error.
std::string live_answer(LiveSteering& session, const igtl::Request& request, bool may_steer);

}  // namespace echolux
