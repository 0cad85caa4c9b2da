// Rates how well typed words match a named item. Each typed word must be the beginning of one of its words or synonyms,
// or be contained in its title.
#pragma once

#include <string>
#include <string_view>

namespace echolux {

struct Named {
    std::string_view title;  // such as "Play or pause"
    std::string_view id;     // such as "timeline.play"
    std::string_view group;  // such as "Time"
    std::string_view words;  // synonyms: "start stop movie"
    std::string_view help;   // a sentence with the lowest weight
};

// Returns 0 if a typed word does not match, otherwise more for better matches. An empty text matches everything.
int points_of(std::string_view typed, const Named& named);

// Returns the synonyms of an action or setting; may be empty.
std::string_view search_words(std::string_view id);

// Returns the ids that have synonyms, for tests.
std::string_view id_with_words(std::size_t index);  // empty after the last one

}  // namespace echolux
