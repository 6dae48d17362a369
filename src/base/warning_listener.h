// For who wants to show the program's warnings (base/log.h) elsewhere, too.
#pragma once

#include <functional>
#include <string>

namespace barchan {

// Told of each warning, also of those that quiet keeps back; {} for nobody. Comes on the thread
// that warns.
void set_warning_listener(std::function<void(const std::string&)> listener);

}  // namespace barchan
