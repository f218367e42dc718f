#include "posgauge/cli/minimize.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "posgauge/cli/case_folder.h"
#include "posgauge/cli/case_judgement.h"
#include "posgauge/cli/check_options.h"
#include "posgauge/cli/law_check.h"
#include "posgauge/cli/minimal_program.h"
#include "posgauge/verify/atomic_file.h"
#include "posgauge/verify/minimal_case.h"
#include "posgauge/verify/plain_case.h"
#include "posgauge/verify/tensor_file.h"

namespace posgauge::cli {

namespace {

// Cases that the check may have failed at, the most telling ones first: the first failing position
// alone, then all of them, or, of attention, where each is a call of its own, one after the other.
std::vector<std::vector<double>> Candidates(const FailedCheck& failed, const Verdict& verdict) {
  constexpr size_t kBlock = 1536, kMostCalls = 64;
  std::vector<std::vector<double>> candidates;
  if (verdict.first_failure && verdict.first_failure->positioned) {
    candidates.push_back({verdict.first_failure->position});
  }
  const KernelInfo& info = failed.subject.info();
  const std::vector<double> served = ServedPositions(info, failed.plan.positions);
  const size_t block = info.IsOfAttention() ? 1 : kBlock;
  for (size_t begin = 0; begin < served.size() && candidates.size() < kMostCalls; begin += block) {
    const size_t end = std::min(begin + block, served.size());
    candidates.emplace_back(served.begin() + static_cast<std::ptrdiff_t>(begin),
                            served.begin() + static_cast<std::ptrdiff_t>(end));
  }
  return candidates;
}

std::optional<MinimalCase> Find(const FailedCheck& failed, const Verdict& verdict,
                                const JudgedBy& judged_by) {
  const KernelInfo& info = failed.subject.info();
  if (info.quantity == "frequencies") {
    return Minimize(info, {failed.subject.scheme(), info.quantity, {}, {}, {}}, judged_by, {});
  }
  CheckPlan plan = failed.plan;
  plan.heads = failed.id.heads;
  for (std::vector<double>& positions : Candidates(failed, verdict)) {
    plan.positions = std::move(positions);
    try {
      std::optional<MinimalCase> minimal =
          Minimize(info, CaseFor(failed.subject, plan), judged_by, {});
      if (minimal && minimal->failure == verdict.failure) return minimal;
    } catch (const ParameterError&) {
      // The scheme has no such position.
    }
  }
  return std::nullopt;
}

// The id under which the minimal case fails but for its values, which ids draw; nothing where none
// of a few seeds shows it.
std::optional<ReproId> MinimalId(const FailedCheck& failed, const MinimalCase& minimal,
                                 double spacings) {
  constexpr uint64_t kSeeds = 8;
  ReproId id = failed.id;
  id.scheme = minimal.asked.scheme;
  const PlainCase plain = PlainCase::Of(minimal.asked);
  id.positions = 0.0;
  id.heads = std::max<int64_t>(CallHeads(plain), 1);
  for (const auto& [name, tensor] : plain.inputs.tensors) {
    if (name != "positions" && name != "query_positions") continue;
    if (tensor.shape[0] != 1) return std::nullopt;
    id.positions = *std::ranges::max_element(tensor.values, {},
                                             [](double position) { return std::fabs(position); });
  }
  const Subject subject(failed.subject.info(), id.scheme);
  for (uint64_t seed = failed.id.seed; seed < failed.id.seed + kSeeds; ++seed) {
    id.seed = seed;
    const KernelCheck check =
        CheckKernels({subject}, {id.Positions(), id.heads, id.seed, spacings}).front();
    const Verdict& verdict =
        id.check == "adequate" && check.adequate ? *check.adequate : check.keeps_contract;
    if (verdict.outcome == Outcome::fail && verdict.failure == minimal.failure) return id;
  }
  return std::nullopt;
}

// Case, answer and program; what of them there is not is noted.
void Write(const FailedCheck& failed, const MinimalCase& minimal, const JudgedBy& judged_by,
           const std::string& folder, MinimalRecord& record) {
  const Subject subject(failed.subject.info(), minimal.asked.scheme);
  const JudgedCase judged(subject, minimal.asked);
  MakeFolder(folder);
  const std::filesystem::path in = folder;
  std::vector<std::string> notes;
  const auto written = [&](const std::filesystem::path& path) {
    record.files.push_back(path.string());
    return path;
  };
  const bool has_case = minimal.asked.quantity != "frequencies";
  if (has_case) {
    WriteCaseFile(written(CasePath(in, failed.name, "safetensors")), minimal.asked);
  } else {
    notes.emplace_back("frequencies have no case file");
  }
  if (has_case && !minimal.answer.empty()) {
    Safetensors answer;
    for (const Named& named : minimal.answer) answer.tensors[named.name] = named.tensor;
    const std::filesystem::path path = in / (failed.name + ".safetensors");
    WriteTensorFile(written(path), answer);
    const bool of_floats = IsFloat(subject.io());
    const CaseJudgement judgement =
        JudgeCase(minimal.asked, answer, path.string(),
                  {of_floats ? subject.info().ContractText() : "", judged_by.spacings,
                   subject.info().Declares("rowshift")});
    const Finding& finding = judged_by.budget ? judgement.budget : judgement.contract;
    if (finding.use.over() > 0) {
      std::string line = fmt::format("posgauge compare {} {}", ShellWord(record.files[0]),
                                     ShellWord(path.string()));
      if (of_floats) line += " --contract " + ShellWord(subject.info().ContractText());
      if (judged_by.budget) line += " --require adequate";
      notes.push_back("judged by " + line);
    } else {
      notes.emplace_back(
          "compare allows the answer, since it knows nothing of what was handed to the kernel");
    }
  }
  const std::string title =
      fmt::format("{} of {}: {}", failed.id.check, failed.id.kernel,
                  minimal.failure ? VariantName(*minimal.failure) : "values over their limit");
  if (const auto program = MinimalProgram(judged, minimal, judged_by, title)) {
    WriteFileAtomically(written(in / (failed.name + ".cc")), *program);
  } else {
    notes.emplace_back("no program: no element alone is over its limit");
  }
  record.note = fmt::format("{}", fmt::join(notes, "; "));
}

}  // namespace

void MinimizeOptions::AddTo(CLI::App& command) {
  command.add_flag(
      "--minimize", minimize,
      "look for the smallest case that fails in the same way, and what does not matter");
  command
      .add_option("--minimal-case", folder,
                  "write it to this folder, as a case that compare judges and as a C++ program")
      ->check(NotEmpty());
}

void MinimizeCase(const FailedCheck& failed, const MinimizeOptions& options, Verdict& verdict) {
  const JudgedBy judged_by{verdict.check == "adequate", failed.plan.budget};
  MinimalRecord& record = verdict.minimal.emplace();
  record.repro = verdict.repro;
  const std::optional<MinimalCase> minimal = Find(failed, verdict, judged_by);
  if (!minimal) {
    record.note = "none: no single call of the plan failed again";
    return;
  }
  record.text = minimal->text;
  record.matters = minimal->matters;
  record.does_not_matter = minimal->does_not_matter;
  record.calls = static_cast<uint64_t>(minimal->calls);
  record.complete = minimal->complete;
  if (const auto id = MinimalId(failed, *minimal, judged_by.spacings)) {
    record.repro = fmt::format("posgauge repro {}{}", id->Text(), failed.repro_options);
    record.repro_is_minimal = true;
  }
  if (!options.folder.empty()) Write(failed, *minimal, judged_by, options.folder, record);
}

void MinimizeLaw(const FailedCheck& failed, const std::vector<KernelInfo>& kernels,
                 Verdict& verdict) {
  constexpr double kSeconds = 20;
  constexpr uint64_t kCalls = 60;
  const auto begin = std::chrono::steady_clock::now();
  MinimalRecord& record = verdict.minimal.emplace();
  ReproId current = failed.id;
  const auto tries = [&](const ReproId& id) {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    if (record.calls >= kCalls || elapsed.count() > kSeconds) {
      record.complete = false;
      return false;
    }
    std::vector<Subject> subjects;
    const Subject* subject = nullptr;
    for (const KernelInfo& info : kernels) {
      if (info.Serves(id.scheme)) subjects.emplace_back(info, id.scheme);
    }
    for (const Subject& candidate : subjects) {
      if (candidate.info().name == id.kernel) subject = &candidate;
    }
    if (subject == nullptr) return false;
    ++record.calls;
    const CheckPlan plan{{}, id.heads, id.seed, failed.plan.budget};
    const auto verdicts =
        CheckLawsOf(*subject, subjects, plan, std::get<ReproId::Plan>(id.positions).largest,
                    RunDeadline(), id.check);
    const bool fails = std::ranges::any_of(verdicts, [&](const Verdict& law) {
      return law.outcome == Outcome::fail && law.failure == verdict.failure;
    });
    if (fails) current = id;
    return fails;
  };
  const auto with_fields = [&](const nlohmann::ordered_json& fields) {
    ReproId id = current;
    const std::optional<Scheme> scheme = WithFields(current.scheme, fields);
    if (!scheme || *scheme == current.scheme) return false;
    id.scheme = *scheme;
    return tries(id);
  };
  SmallestFailing(1, 1, failed.id.heads, [&](int64_t heads) {
    ReproId id = current;
    id.heads = heads;
    return tries(id);
  });
  SmallestFailing(1, 1, std::get<ReproId::Plan>(failed.id.positions).largest, [&](int64_t largest) {
    ReproId id = current;
    ReproId::Plan& plan = std::get<ReproId::Plan>(id.positions);
    plan = {std::min(plan.count, largest), largest, std::nullopt};
    return tries(id);
  });
  if (IsRotary(current.scheme)) {
    SmallestFailing(2, 2, RotaryOf(failed.id.scheme).rotary_dim, [&](int64_t width) {
      return with_fields({{"head_dim", width}, {"rotary_dim", width}, {"rotary_offset", 0}});
    });
  }
  const nlohmann::ordered_json defaults =
      ToJson(SchemeFromJson({{"scheme", Name(current.scheme)}}));
  const nlohmann::ordered_json fields = ToJson(current.scheme);
  for (const auto& [name, value] : fields.items()) {
    if (name == "head_dim" || name == "rotary_dim" || !defaults.contains(name) ||
        value == defaults[name]) {
      continue;
    }
    if (with_fields({{name, defaults[name]}})) record.does_not_matter.push_back(name);
  }
  if (current.heads == 1) {
    record.does_not_matter.emplace_back("heads");
  } else if (record.complete) {
    record.matters.push_back(fmt::format("heads >= {}", current.heads));
  }
  const int64_t largest = std::get<ReproId::Plan>(current.positions).largest;
  record.text = fmt::format("{}; cases up to position {}; {} head{}", Text(current.scheme), largest,
                            current.heads, current.heads == 1 ? "" : "s");
  record.repro = fmt::format("posgauge repro {}{}", current.Text(), failed.repro_options);
  record.repro_is_minimal = true;
}

}  // namespace posgauge::cli
