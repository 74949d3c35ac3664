// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/report/canvas.hpp"

namespace lodestone::io::report {

/// Collects the body of a page, which stands in one file, and writes each picture also as PNG.
class Page {
 public:
  /// `pictures`: the folder of the PNG files, which exists.
  explicit Page(std::filesystem::path pictures) : pictures_(std::move(pictures)) {}

  void heading(const std::string& id, const std::string& text);
  void html(const std::string& text) { body_ += text; }
  void paragraph(const std::string& text);
  /// errors of both: FileError.
  void figure(const Canvas& canvas, const std::string& name, const std::string& caption);
  void png(const Canvas& canvas, const std::string& name) const {
    canvas.write_png(pictures_ / (name + ".png"));
  }
  /// Returns the whole page.
  [[nodiscard]] std::string text(const std::string& title, const std::string& lead) const;

 private:
  std::filesystem::path pictures_;
  std::string body_, navigation_;
};

}  // namespace lodestone::io::report
