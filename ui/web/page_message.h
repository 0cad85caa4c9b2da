// What a page says, as text: JSON objects with a "type". Pure, and a fuzz target: whatever comes, it is one of these or
// an Error. docs/serve.md describes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/io/video_stream.h"
#include "ui/window/native_window.h"

namespace echolux {

struct PageHello {
    std::vector<StreamCodec> codecs;  // that the page decodes, the best first
    std::string page;                 // of one that was loaded once, however often it connects; empty: it does not say
};
struct PageSize {
    std::int64_t width = 0, height = 0;  // of the picture, pixels; even
    double scale = 1;                    // of text and controls
};
struct PageInput {
    std::uint32_t number = 0;  // of this page, from 1
    std::vector<WindowEvent> events;
};
struct PageShown {
    std::uint32_t picture = 0;
};
struct PageSteer {
    enum class What { ask, give, keep };
    What what = What::ask;
};
struct PageClipboard {
    std::string text;
};
struct PageDropped {
    std::vector<std::string> names;  // of files that were uploaded
};
struct PageAction {
    std::string id;
};
struct PageQuality {
    std::optional<int> level;  // nothing: by the line
};
using PageMessage = std::variant<PageHello, PageSize, PageInput, PageShown, PageSteer, PageClipboard, PageDropped,
                                 PageAction, PageQuality>;

// Throws Error{bad_setting}: not one of them, or out of bounds.
PageMessage parsed_page_message(std::string_view text);

// Whether it is for the remote control: an object, or a list of objects, that has "jsonrpc". Looks no deeper.
bool is_for_control(std::string_view text);

}  // namespace echolux
