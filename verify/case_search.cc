#include "posgauge/verify/case_search.h"

namespace posgauge {

CaseSearch::CaseSearch(const KernelInfo& info, const CaseFile& failing, const JudgedBy& judged_by,
                       const SearchLimits& limits)
    : info_(info),
      judged_by_(judged_by),
      limits_(limits),
      first_(PlainCase::Of(failing)),
      current_(first_) {
  if (std::optional<End> end = Ask(first_)) {
    end_ = *std::move(end);
    failed_ = true;
  }
}

std::optional<CaseSearch::End> CaseSearch::Ask(const PlainCase& plain) {
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin_;
  if (calls_ >= limits_.calls || elapsed.count() > limits_.seconds) ended_ = true;
  if (ended_ || !info_.Serves(plain.scheme)) return std::nullopt;
  try {
    if (!subject_ || subject_->scheme() != plain.scheme) subject_.emplace(info_, plain.scheme);
    const JudgedCase judged(*subject_, plain.ToFile(info_));
    ++calls_;
    End end;
    end.answer = judged.Answer();
    CallFindings findings = judged.Judge(end.answer, judged_by_.spacings);
    Finding& finding = judged_by_.budget ? findings.budget : findings.contract;
    if (finding.use.over() == 0) return std::nullopt;
    end.witness = std::move(finding.first_failure);
    return end;
  } catch (const Unsupported&) {
    return std::nullopt;
  } catch (const KernelFailure& failure) {
    return End{failure.failure(), {}, {}};
  } catch (const Error&) {
    return std::nullopt;  // no case of this scheme
  }
}

bool CaseSearch::Fails(const PlainCase& plain) {
  const std::optional<End> end = Ask(plain);
  return end && end->failure == end_.failure;
}

bool CaseSearch::Try(const PlainCase& plain) {
  std::optional<End> end = Ask(plain);
  if (!end || end->failure != end_.failure) return false;
  current_ = plain;
  end_ = *std::move(end);
  return true;
}

}  // namespace posgauge
