#include "harness/expression_parser.h"

#include <charconv>

#include "harness/functions.h"

namespace barchan {

namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

class Parser {
 public:
  Parser(const std::string& text, const Source& source) : text_(text), source_(source) {}

  Operation whole() {
    Operation root = sum();
    if (at_ < text_.size()) reject_here(fmt::format("'{}' is not expected here", text_[at_]));
    return root;
  }

 private:
  [[noreturn]] void reject_here(const std::string& why) const {
    reject_character(source_, text_, at_, why);
  }

  // The next character that is no space; 0 at the end.
  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) {
      ++at_;
    }
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool take(char wanted) {
    if (peek() != wanted) return false;
    ++at_;
    return true;
  }

  static Operation call(std::string function, std::size_t at, std::vector<Operation> arguments) {
    Operation operation;
    operation.kind = Operation::Kind::call;
    operation.function = std::move(function);
    operation.arguments = std::move(arguments);
    operation.at = at;
    return operation;
  }

  // left op right op right ..., from the left.
  Operation chain(const std::string& operators, Operation (Parser::*next)()) {
    Operation left = (this->*next)();
    while (peek() != '\0' && operators.find(peek()) != std::string::npos) {
      const std::size_t at = at_;
      const std::string symbol(1, text_[at_++]);
      Operation right = (this->*next)();
      left = call(symbol, at, {std::move(left), std::move(right)});
    }
    return left;
  }

  Operation sum() { return chain("+-", &Parser::product); }
  Operation product() { return chain("*/", &Parser::sign); }

  Operation sign() {
    // Every way down passes here: one place to keep the stack bounded.
    constexpr int kDeepest = 64;
    if (++depth_ > kDeepest) reject_here("nested more than 64 deep");
    const bool is_negative = take('-');
    const std::size_t at = at_;
    Operation operation = is_negative ? call("negative", at, {sign()}) : power();
    --depth_;
    return operation;
  }

  Operation power() {
    Operation base = atom();
    if (peek() != '^') return base;
    const std::size_t at = at_++;
    Operation exponent = sign();
    return call("^", at, {std::move(base), std::move(exponent)});
  }

  Operation atom() {
    const char next = peek();
    if (next == '\0') reject_here("something is missing at the end");
    if (is_digit(next) || next == '.') return number();
    if (is_letter(next) || next == '\'') return name_or_call();
    if (!take('(')) reject_here(fmt::format("expected a number, a name or '(', not '{}'", next));
    Operation inner = sum();
    if (!take(')')) reject_here("expected ')'");
    return inner;
  }

  Operation number() {
    Operation operation;
    operation.at = at_;
    const char* begin = text_.data() + at_;
    const auto [end, code] = std::from_chars(begin, text_.data() + text_.size(), operation.number);
    if (code != std::errc()) reject_here("this is no number");
    at_ += static_cast<std::size_t>(end - begin);
    return operation;
  }

  std::string part() {
    if (take('\'')) {
      const std::size_t end = text_.find('\'', at_);
      if (end == std::string::npos) reject_here("a closing ' is missing");
      std::string quoted = text_.substr(at_, end - at_);
      at_ = end + 1;
      return quoted;
    }
    const std::size_t begin = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
    if (at_ == begin) reject_here("expected a name after '.'");
    return text_.substr(begin, at_ - begin);
  }

  Operation name_or_call() {
    Operation operation;
    operation.kind = Operation::Kind::name;
    operation.at = at_;
    operation.name.push_back(part());
    while (at_ < text_.size() && text_[at_] == '.') {
      ++at_;
      operation.name.push_back(part());
    }
    if (!take('(')) return operation;
    std::vector<Operation> arguments;
    if (!take(')')) {
      do {
        arguments.push_back(sum());
      } while (take(','));
      if (!take(')')) reject_here("expected ',' or ')'");
    }
    const std::string function = joined(operation.name);
    const std::string fault = fault_of_call(function, arguments.size());
    if (!fault.empty()) reject_character(source_, text_, operation.at, fault);
    return call(function, operation.at, std::move(arguments));
  }

  const std::string& text_;
  const Source& source_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

std::string joined(const Name& name) {
  std::string out;
  for (const std::string& part : name) out += (out.empty() ? "" : ".") + part;
  return out;
}

void reject_character(const Source& source, const std::string& text, std::size_t at,
                      const std::string& why) {
  reject_at(source, "character {} of \"{}\": {}", at + 1, text, why);
}

Operation parse_operations(const std::string& text, const Source& source) {
  return Parser(text, source).whole();
}

}  // namespace barchan
