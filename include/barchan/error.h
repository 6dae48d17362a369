// What Barchan throws. One message, written for the person who must act on it.
#pragma once

#include <stdexcept>
#include <string>

namespace barchan {

// Whose move it is: the caller's input was wrong (exit code 2), or the work failed (exit code 1).
enum class Fault { input, failed };

class Error : public std::runtime_error {
 public:
  Error(Fault fault, const std::string& message) : std::runtime_error(message), fault_(fault) {}
  Fault fault() const { return fault_; }
  int exit_code() const { return fault_ == Fault::input ? 2 : 1; }

 private:
  Fault fault_;
};

}  // namespace barchan
