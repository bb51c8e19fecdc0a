// Tables of answers: claims with their verdicts, implicit synchronisation, and drift by results file.

const ALL = "all";
const counted = (rows, of) => Object.entries(rows.reduce((counts, row) => ({ ...counts, [of(row)]: (counts[of(row)] ?? 0) + 1 }), {})).map(([what, count]) => `${count} ${what}`).join(", ");

const claims = ([view]) => ({
  title: "Claims and their verdicts",
  short: "Claims",

  controls(state, add) {
    const rows = rowsOf(view.claims);
    const verdict = add(choose("verdict", "verdict", [ALL, ...distinct(rows.map((row) => row.verdict))]));
    add(choose("of", "claimed by", [ALL, ...distinct(rows.filter((row) => verdict === ALL || row.verdict === verdict).map((row) => row.source))]));
  },

  show(state) {
    const rows = rowsOf(view.claims).filter((row) => [ALL, row.verdict].includes(state.verdict) && [ALL, row.source].includes(state.of));
    return {
      rows: [], plain: true, source: view.source, description: "Claims, one per row.",
      text: `${rows.length} claims: ${counted(rows, (row) => ({ holds: "hold", fails: "fail" })[row.verdict] ?? row.verdict)}. Each row shows the case that is farthest from its target, with its 95% interval in brackets. ` +
        "Verdicts follow the median. The last column names the figure or table that shows the claim.",
      table: { columns: ["claim", "target", "measured", "at", "verdict", "claimed by", "shown in"],
        rows: rows.map((row) => [row.claim, row.target, row.measured, row.where, row.said, row.source, row.figure]) },
    };
  },
});

const implicit_sync = (views) => ({
  title: "Implicit synchronisation",
  short: "Implicit synchronisation",

  controls(state, add) {
    const device = add(choose("device", "device", distinct(views.map((view) => view.device))));
    state.view = views.find((view) => view.device === device);
    add(choose("asks", "question", [ALL, ...distinct(state.view.experiments.asks)]));
    add(choose("answers", "answers", [ALL, "that differ from their source"]));
  },

  show(state) {
    const { view } = state;
    const rows = rowsOf(view.experiments).filter((row) => [ALL, row.asks].includes(state.asks) && (state.answers === ALL || row.differs));
    const differing = rows.filter((row) => row.differs).length;
    return {
      rows: [], plain: true, source: view.source, description: "Experiments on implicit synchronisation, one per row.",
      text: `${rows.length} experiments: this device differs from its documentation in ${differing}. An answer needs three quarters of the trials.`,
      table: { columns: ["experiment", "source says", "this device", "differs", "yes", "trials", "source"],
        rows: rows.map((row) => [row.question, row.stated, row.answer, row.differs ? "yes" : "", row.yes, row.trials, row.source]) },
    };
  },
});

const sessions = (views) => ({
  title: "Drift, outliers and clocks",
  short: "Sessions",

  controls(state, add) {
    const device = add(choose("device", "device", distinct(views.map((view) => view.device))));
    state.view = views.find((view) => view.device === device);
  },

  show: ({ view }) => ({ rows: [], plain: true, source: view.source, description: "Results files, one per row.", text: view.text, table: view }),
});

// Scans again, which begin with their speedup.
const speedups = (views) => ({
  ...scans(views),
  title: "Speedup over the fastest CUB scan",
  short: "Speedups",

  controls(state, add) {
    state.quantity ??= "speedup";
    scans(views).controls(state, add);
  },
});
