// The typed record: what an entry of a results file says of its case, and its context of variants and schedules. No
// reader takes anything from a name. analysis/scanlab_report/schema/samples.py describes it.
#pragma once

#include <vector>

#include "harness/measure/scan_backend.hpp"
#include "harness/measure/schedule_session.hpp"
#include "harness/results/provenance.hpp"

namespace scanlab::measure {

/// Adds the fields of a case to an entry.
void describe(const TimedCase& timed, Facts& entry);
void describe(const TimedSchedule& timed, Facts& entry);

/// The description that a variant, a schedule or a workload gives of itself.
Facts described(const Variant& variant);
Facts described(const streams::Schedule& schedule);
Facts described(const streams::Workload& workload);

/// The descriptions of all, by id, for the context of a file.
Facts described(const std::vector<const Variant*>& variants);

}  // namespace scanlab::measure
