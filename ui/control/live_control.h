// Remote control of a session without a window: the subset of methods (ui/control/methods.h) that applies to it.
// Requests are answered immediately, on any thread.
#pragma once

#include <string>

#include "app/live/live_job.h"
#include "engine/igtl/messages.h"

namespace echolux {

// Returns the response to an OpenIGTLink request (ui/control/message.h), or an empty text for a notification. Errors
// are part of the response; nothing is thrown.
std::string live_answer(LiveSteering& session, const igtl::Request& request, bool may_steer);

}  // namespace echolux
