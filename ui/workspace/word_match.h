// How well typed words fit something that has a name: every word must begin a word of it, or of what people call it
// otherwise, or be found inside its title; letters that are spread over several words mean nothing.
#pragma once

#include <string>
#include <string_view>

namespace echolux {

struct Named {
    std::string_view title;  // "Play or pause"
    std::string_view id;     // "timeline.play"
    std::string_view group;  // "Time"
    std::string_view words;  // what people call it besides: "start stop movie"
    std::string_view help;   // a sentence; counts least
};

// 0: some word is not there. An empty text fits everything.
int points_of(std::string_view typed, const Named& named);

// What people call actions and settings besides their titles; "" where nothing is known.
std::string_view search_words(std::string_view id);

// All ids with such words, for tests.
std::string_view id_with_words(std::size_t index);  // "": no more

}  // namespace echolux
