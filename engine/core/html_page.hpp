// SPDX-License-Identifier: Apache-2.0
// Small on purpose: reports of runs and pictures of programs look alike.
#pragma once

#include <string>

namespace lodestone::core {

/// Collects the body of a page, which stands in one file and needs no other.
class HtmlPage {
 public:
  void heading(const std::string& id, const std::string& text);
  void html(const std::string& text) { body_ += text; }
  void paragraph(const std::string& text);
  /// Returns the whole page.
  [[nodiscard]] std::string text(const std::string& title, const std::string& lead) const;

 private:
  std::string body_, navigation_;
};

}  // namespace lodestone::core
