// "Did you mean ...?"
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace barchan {

// The candidate nearest to `name` by edit distance, or "" where none is near enough to help.
std::string nearest_name(std::string_view name, std::span<const std::string> candidates);

}  // namespace barchan
