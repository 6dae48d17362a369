// Where `barchan view` and `barchan run --view` listen.
#pragma once

#include "api/view_feed.h"

namespace CLI {
class App;
}

namespace barchan {

// --host and --port
void add_view_place(CLI::App& command, ViewPlace& place);

// $BARCHAN_VIEW_TOKEN keeps the address when the server is started again; no option, because others
// see those. "" where there is none; rejects one that is easy to guess.
std::string chosen_token();

}  // namespace barchan
