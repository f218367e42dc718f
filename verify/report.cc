#include "posgauge/verify/report.h"

#include <algorithm>
#include <cmath>

#include "posgauge/schemes/base/error.h"

namespace posgauge {

namespace {

// JSON has no infinity: null stands for a NaN and for an error where none is allowed.
nlohmann::ordered_json Finite(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

nlohmann::ordered_json ToJson(const Witness& witness) {
  return {{"position", witness.positioned ? Finite(witness.position) : nullptr},
          {"where", witness.where},
          {"got", witness.got},
          {"want", witness.want},
          {"use", Finite(witness.use)}};
}

nlohmann::ordered_json ToJson(const Cause& cause) {
  return {{"fault", cause.id},
          {"what", cause.what},
          {"fix", cause.fix},
          {"share", cause.share},
          {"shows_from", cause.shows_from < 0 ? nullptr : Finite(cause.shows_from)},
          {"twins", cause.twins},
          {"runner_up", cause.runner_up},
          {"runner_up_share", cause.runner_up_share},
          {"links", cause.links}};
}

nlohmann::ordered_json ToJson(const MinimalRecord& minimal) {
  return {{"case", minimal.text},
          {"matters", minimal.matters},
          {"does_not_matter", minimal.does_not_matter},
          {"calls", minimal.calls},
          {"complete", minimal.complete},
          {"repro", minimal.repro},
          {"repro_is_minimal", minimal.repro_is_minimal},
          {"files", minimal.files},
          {"note", minimal.note}};
}

nlohmann::ordered_json ToJson(const Verdict& verdict) {
  nlohmann::ordered_json json = {
      {"check", verdict.check},
      {"subject", verdict.subject},
      {"outcome", std::string(VariantName(verdict.outcome))},
      {"failure", nullptr},
      {"claim", verdict.claim},
      {"note", verdict.note},
      {"values", verdict.use.count()},
      {"over", verdict.use.over()},
      {"use", {{"max", Finite(verdict.use.max())}, {"p99_9", Finite(verdict.use.Quantile(0.999))}}},
      {"first_failure", nullptr},
      {"worst", nullptr},
      {"cause", nullptr},
      {"repro", verdict.repro},
      {"minimal", nullptr}};
  if (verdict.failure) json["failure"] = std::string(VariantName(*verdict.failure));
  if (verdict.first_failure) json["first_failure"] = ToJson(*verdict.first_failure);
  if (verdict.worst) json["worst"] = ToJson(*verdict.worst);
  if (verdict.cause) json["cause"] = ToJson(*verdict.cause);
  if (verdict.minimal) json["minimal"] = ToJson(*verdict.minimal);
  return json;
}

std::string XmlEscape(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        // XML 1.0 has no other control characters.
        escaped += static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' ? '?' : c;
    }
  }
  return escaped;
}

std::string Describe(std::string_view title, const Witness& witness) {
  const std::string use = std::isfinite(witness.use)
                              ? fmt::format("{:.3g} x the limit", witness.use)
                              : "no limit allows it";
  const std::string position =
      witness.positioned ? fmt::format("position {}, ", witness.position) : "";
  return fmt::format("  {:<22} {}{}\n    got   {}\n    exact {}   ({})\n", title, position,
                     witness.where, witness.got, witness.want, use);
}

std::string Describe(const Cause& cause) {
  std::string text = fmt::format("  cause                  {}\n", cause.what);
  text +=
      fmt::format("    {}, explains {:.3g} % of the values that tell", cause.id, 100 * cause.share);
  if (cause.shows_from >= 0) text += fmt::format(", shows from position {}", cause.shows_from);
  text += "\n";
  if (!cause.twins.empty()) {
    constexpr size_t kMost = 6;
    const size_t shown = std::min(kMost, cause.twins.size());
    text += fmt::format(
        "    these inputs cannot tell it from {}{}\n",
        fmt::join(cause.twins.begin(), cause.twins.begin() + static_cast<std::ptrdiff_t>(shown),
                  ", "),
        shown < cause.twins.size() ? fmt::format(" and {} more", cause.twins.size() - shown) : "");
  }
  if (!cause.runner_up.empty()) {
    text +=
        fmt::format("    next best: {}, {:.3g} %\n", cause.runner_up, 100 * cause.runner_up_share);
  }
  text += fmt::format("  fix                    {}\n", cause.fix);
  for (const std::string& link : cause.links) text += fmt::format("    seen in {}\n", link);
  return text;
}

std::string Describe(const MinimalRecord& minimal) {
  std::string text;
  const auto line = [&](std::string_view title, const std::string& what) {
    if (!what.empty()) text += fmt::format("  {:<22} {}\n", title, what);
  };
  line("minimal", minimal.text);
  line("  matters", fmt::format("{}", fmt::join(minimal.matters, ", ")));
  line("  does not matter", fmt::format("{}", fmt::join(minimal.does_not_matter, ", ")));
  if (minimal.calls > 0) {
    line("  found", fmt::format("by {} calls{}", minimal.calls,
                                minimal.complete ? "" : "; a limit ended the search"));
  }
  line("  note", minimal.note);
  line(minimal.repro_is_minimal ? "  repro" : "  nearest repro", minimal.repro);
  for (const std::string& file : minimal.files) line("  file", file);
  return text;
}

}  // namespace

std::string FailureText(const Verdict& verdict) {
  std::string text = fmt::format(
      "FAIL {}  {}{}\n  claim: {}\n", verdict.check, verdict.subject,
      verdict.failure ? fmt::format("  {}", VariantName(*verdict.failure)) : "", verdict.claim);
  if (!verdict.note.empty()) text += fmt::format("  note: {}\n", verdict.note);
  if (verdict.cause) text += Describe(*verdict.cause);
  if (verdict.first_failure) text += Describe("first failing", *verdict.first_failure);
  if (verdict.worst &&
      (!verdict.first_failure || verdict.worst->position != verdict.first_failure->position ||
       verdict.worst->where != verdict.first_failure->where)) {
    text += Describe("worst", *verdict.worst);
  }
  if (verdict.use.count() > 0) {
    text += fmt::format("  how far                {} of {} values fail\n", verdict.use.over(),
                        verdict.use.count());
  }
  if (!verdict.repro.empty()) text += fmt::format("  repro                  {}\n", verdict.repro);
  if (verdict.minimal) text += Describe(*verdict.minimal);
  return text;
}

std::string ToText(const Report& report) {
  std::string text = fmt::format("posgauge {}  {}\n", report.command, report.target);
  for (const std::string& fact : report.facts) text += fmt::format("  {}\n", fact);
  text += "\n";
  for (const std::string& summary : report.summaries) text += summary + "\n";
  text += "\n";
  for (const Verdict& verdict : report.verdicts) {
    if (verdict.outcome == Outcome::fail) text += FailureText(verdict) + "\n";
  }
  for (const std::string& line : report.conclusion) text += line + "\n";
  return text;
}

nlohmann::ordered_json ToJson(const Report& report) {
  nlohmann::ordered_json json = {
      {"posgauge_report", 1},        {"command", report.command},
      {"target", report.target},     {"exit_code", report.exit_code},
      {"facts", report.facts},       {"conclusion", report.conclusion},
      {"kernels", report.kernels},   {"left_out", report.left_out},
      {"coverage", report.coverage}, {"verdicts", nlohmann::ordered_json::array()}};
  for (const Verdict& verdict : report.verdicts) json["verdicts"].push_back(ToJson(verdict));
  return json;
}

std::string ToJunit(const Report& report) {
  size_t failures = 0, skipped = 0;
  std::string cases;
  for (const Verdict& verdict : report.verdicts) {
    cases += fmt::format("  <testcase classname=\"{}\" name=\"{}\"", XmlEscape(verdict.subject),
                         XmlEscape(verdict.check));
    switch (verdict.outcome) {
      case Outcome::pass:
        cases += "/>\n";
        break;
      case Outcome::fail:
        ++failures;
        cases +=
            fmt::format(">\n    <failure type=\"{}\" message=\"{}\">{}</failure>\n  </testcase>\n",
                        verdict.failure ? VariantName(*verdict.failure) : "values",
                        XmlEscape(verdict.claim), XmlEscape(FailureText(verdict)));
        break;
      case Outcome::unsupported:
      case Outcome::blind:
      case Outcome::not_run:
        ++skipped;
        cases += fmt::format(">\n    <skipped message=\"{}: {}\"/>\n  </testcase>\n",
                             VariantName(verdict.outcome), XmlEscape(verdict.note));
        break;
    }
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"posgauge {}\" tests=\"{}\" "
      "failures=\"{}\" skipped=\"{}\">\n{}</testsuite>\n",
      XmlEscape(report.command), report.verdicts.size(), failures, skipped, cases);
}

std::string ToMarkdown(const Report& report, size_t limit) {
  // A kernel's own words may not end the fence.
  const auto fenced = [](std::string lines) {
    for (size_t at; (at = lines.find("```")) != lines.npos;) lines.replace(at, 3, "'''");
    return "```text\n" + lines + "```\n\n";
  };
  std::string head = fmt::format("## posgauge {} {}\n\n", report.command, report.target);
  std::string lines;
  for (const std::string& line : report.conclusion) lines += line + "\n";
  head += fenced(lines);
  lines.clear();
  for (const std::string& line : report.facts) lines += line + "\n";
  for (const std::string& line : report.summaries) lines += line + "\n";
  std::string text;
  size_t left_out = 0;
  // The last line's own room.
  constexpr size_t kCount = 64;
  const auto add = [&](const std::string& part) {
    if (text.size() + part.size() + kCount > limit) {
      ++left_out;
    } else {
      text += part;
    }
  };
  add(head);
  add(fenced(lines));
  for (const Verdict& verdict : report.verdicts) {
    if (verdict.outcome != Outcome::fail) continue;
    add(fmt::format("<details><summary>{} of {} fails</summary>\n\n{}</details>\n\n",
                    XmlEscape(verdict.check), XmlEscape(verdict.subject),
                    fenced(FailureText(verdict))));
  }
  if (left_out > 0 && limit >= kCount) {
    text += fmt::format("{} more parts do not fit here\n", left_out);
  }
  return text;
}

}  // namespace posgauge
