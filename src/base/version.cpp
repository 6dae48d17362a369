#include "barchan/version.h"

namespace barchan {

const char* version() {
  return BARCHAN_VERSION;
}

}  // namespace barchan
